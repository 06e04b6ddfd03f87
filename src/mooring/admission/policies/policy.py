"""A ValidatingAdmissionPolicy with its bindings, ready to be matched to requests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from mooring.admission.rules import Served, WebhookRule, covered_version, read_rule
from mooring.kube.objects import Object
from mooring.kube.selectors import Selector, selector_from_dict

__all__ = ["MatchResources", "Policy", "PolicyBinding", "read_policies"]

R = TypeVar("R", bound=Served)


@dataclass(frozen=True, slots=True, eq=False)
class MatchResources:
    """Which requests a policy or a binding is about. `names` belong to the rules, in their order; none means all."""

    rules: tuple[WebhookRule, ...]
    names: tuple[tuple[str, ...], ...]
    excluded: tuple[WebhookRule, ...]
    excluded_names: tuple[tuple[str, ...], ...]
    exact: bool
    namespace_selector: Selector
    object_selector: Selector

    def version_for(
        self, resource: R, subresource: str, operation: str, name: str, equivalents: Iterable[R]
    ) -> R | None:
        """The version in which the objects of a request are looked at, or None if it is not matched."""
        others = list(equivalents)
        if self._find(self.excluded, self.excluded_names, resource, subresource, operation, name, others) is not None:
            return None
        if not self.rules:
            return resource
        return self._find(self.rules, self.names, resource, subresource, operation, name, others)

    def _find(
        self,
        rules: tuple[WebhookRule, ...],
        names: tuple[tuple[str, ...], ...],
        resource: R,
        subresource: str,
        operation: str,
        name: str,
        equivalents: list[R],
    ) -> R | None:
        fitting = [rule for rule, wanted in zip(rules, names, strict=True) if not wanted or name in wanted]
        return covered_version(fitting, self.exact, resource, subresource, operation, equivalents)


@dataclass(frozen=True, slots=True, eq=False)
class PolicyBinding:
    """A binding. `param_ref` names the parameters; `actions` are what becomes of a failure."""

    name: str
    match: MatchResources | None
    param_ref: Object | None
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """A policy that some binding puts in force."""

    name: str
    match: MatchResources
    param_kind: Object | None
    fails_open: bool
    spec: Object
    bindings: tuple[PolicyBinding, ...]


def read_policies(policies: Iterable[Object], bindings: Iterable[Object]) -> tuple[Policy, ...]:
    """The policies in force, by name, each with its bindings by theirs."""
    bound: dict[str, list[PolicyBinding]] = {}
    for obj in sorted(bindings, key=lambda each: str(each["metadata"]["name"])):
        spec = obj["spec"]
        match = spec.get("matchResources")
        bound.setdefault(spec["policyName"], []).append(
            PolicyBinding(
                obj["metadata"]["name"],
                None if match is None else _match(match),
                spec.get("paramRef"),
                tuple(spec.get("validationActions") or ()),
            )
        )
    found = []
    for obj in sorted(policies, key=lambda each: str(each["metadata"]["name"])):
        name, spec = obj["metadata"]["name"], obj["spec"]
        if name in bound:
            fails_open = spec.get("failurePolicy") == "Ignore"
            match = _match(spec.get("matchConstraints") or {})
            found.append(Policy(name, match, spec.get("paramKind"), fails_open, spec, tuple(bound[name])))
    return tuple(found)


def _match(spec: Object) -> MatchResources:
    rules, excluded = spec.get("resourceRules") or (), spec.get("excludeResourceRules") or ()
    return MatchResources(
        rules=tuple(map(read_rule, rules)),
        names=tuple(tuple(rule.get("resourceNames") or ()) for rule in rules),
        excluded=tuple(map(read_rule, excluded)),
        excluded_names=tuple(tuple(rule.get("resourceNames") or ()) for rule in excluded),
        exact=spec.get("matchPolicy") == "Exact",
        namespace_selector=selector_from_dict(spec.get("namespaceSelector") or {}),
        object_selector=selector_from_dict(spec.get("objectSelector") or {}),
    )
