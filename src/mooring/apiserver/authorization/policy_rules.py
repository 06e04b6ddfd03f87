"""The rules of roles: what one rule allows, and what a set of rules lacks to cover another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

from mooring.kube.errors import go_quote
from mooring.kube.objects import Object

__all__ = ["FULL_AUTHORITY", "PolicyRule", "compact", "compact_text", "missing_rules", "quoted_list", "rules_of"]

_ALL = "*"


class PolicyRule(NamedTuple):
    """One rule. Either `urls` is set, or what is about resources is."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    def allows(self, verb: str, group: str, resource: str, subresource: str) -> bool:
        """Whether a request on a resource matches the rule, the name of the object aside."""
        return (
            (verb in self.verbs or _ALL in self.verbs)
            and (group in self.api_groups or _ALL in self.api_groups)
            and self._names_resource(resource, subresource)
        )

    def _names_resource(self, resource: str, subresource: str) -> bool:
        if _ALL in self.resources:
            return True
        if not subresource:
            return resource in self.resources
        return f"{resource}/{subresource}" in self.resources or f"*/{subresource}" in self.resources

    def allows_path(self, verb: str, path: str) -> bool:
        return (verb in self.verbs or _ALL in self.verbs) and any(_url_covers(url, path) for url in self.urls)

    def covers(self, single: PolicyRule) -> bool:
        """Whether the rule allows all that a rule with one value in each field allows."""
        return (
            _covers(self.verbs, single.verbs)
            and _covers(self.api_groups, single.api_groups)
            and all(self._covers_resource(each) for each in single.resources)
            and (
                not self.resource_names
                or (single.resource_names != () and single.resource_names[0] in self.resource_names)
            )
            and all(any(_url_covers(url, each) for url in self.urls) for each in single.urls)
        )

    def _covers_resource(self, resource: str) -> bool:
        if _ALL in self.resources or resource in self.resources:
            return True
        _, slash, subresource = resource.partition("/")
        return bool(slash) and f"*/{subresource}" in self.resources


FULL_AUTHORITY = (PolicyRule(("*",), ("*",), ("*",)), PolicyRule(("*",), urls=("*",)))


def rules_of(role: Object) -> tuple[PolicyRule, ...]:
    """The rules of a Role or ClusterRole."""
    return tuple(map(_rule_of, role.get("rules") or ()))


def _rule_of(rule: Object) -> PolicyRule:
    def values(field: str) -> tuple[str, ...]:
        found: Any = rule.get(field)
        return tuple(found or ())

    return PolicyRule(
        values("verbs"), values("apiGroups"), values("resources"), values("resourceNames"), values("nonResourceURLs")
    )


def missing_rules(owned: Sequence[PolicyRule], wanted: Iterable[PolicyRule]) -> list[PolicyRule]:
    """What of the wanted rules no owned rule covers, each with one value in each field."""
    return [
        single for rule in wanted for single in _single_rules(rule) if not any(each.covers(single) for each in owned)
    ]


def _single_rules(rule: PolicyRule) -> list[PolicyRule]:
    names: Sequence[tuple[str, ...]] = [(name,) for name in rule.resource_names] or [()]
    found = [
        PolicyRule((verb,), (group,), (resource,), name)
        for group, resource, verb, name in product(rule.api_groups, rule.resources, rule.verbs, names)
    ]
    found += [PolicyRule((verb,), urls=(url,)) for url, verb in product(rule.urls, rule.verbs)]
    return found


def compact(rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    """The rules, those together that differ by their verb alone."""
    verbs: dict[PolicyRule, list[str]] = {}
    others = []
    for rule in rules:
        if rule.urls:
            others.append(rule)
        else:
            verbs.setdefault(rule._replace(verbs=()), []).extend(rule.verbs)
    return others + [rule._replace(verbs=tuple(found)) for rule, found in verbs.items()]


def compact_text(rule: PolicyRule) -> str:
    """A rule as refusals show it: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`."""
    parts = (
        ("APIGroups", rule.api_groups),
        ("Resources", rule.resources),
        ("NonResourceURLs", rule.urls),
        ("ResourceNames", rule.resource_names),
        ("Verbs", rule.verbs),
    )
    shown = ", ".join(f"{name}:{quoted_list(values)}" for name, values in parts if values)
    return f"{{{shown}}}"


def quoted_list(values: Iterable[str]) -> str:
    """A list as Go prints one with quotes: `["a" "b"]`."""
    return f"[{' '.join(map(go_quote, values))}]"


def _covers(owned: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return _ALL in owned or all(each in owned for each in wanted)


def _url_covers(url: str, path: str) -> bool:
    return url == path or (url.endswith(_ALL) and path.startswith(url.rstrip(_ALL)))
