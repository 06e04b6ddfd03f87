"""The types of admission policies: whether their expressions fit the kinds that they are about, in their status.

On a real cluster a controller writes this a moment later; a server adds the check to the registry's admission, so that
it is there when the policy is. It is advice: a policy that does not fit is in force all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from mooring.api.apiextensions.versions import version_schema
from mooring.kube.objects import Object
from mooring.kube.schemas import Schema, SchemaError, builtin_schema
from mooring.registry.admission.chain import AdmissionRequest, ClusterView
from mooring.registry.resources import builtin_resources

if TYPE_CHECKING:
    from mooring.kube.cel.types import CelType

__all__ = ["check_policy_types"]

_STORE: Final = "validatingadmissionpolicies.admissionregistration.k8s.io"
_DEFINITIONS: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
# As many kinds as a rule is checked for.
_MAX_KINDS: Final = 10


def check_policy_types(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Give a policy the status that says which of its expressions do not fit."""
    obj, old = request.object, request.old_object
    if obj is None or request.resource.store != _STORE or request.subresource:
        return None
    if old is not None and old["spec"] == obj["spec"]:
        return None
    generation = 1 if old is None else old["metadata"].get("generation", 0) + 1
    warnings = _warnings(obj["spec"], view)
    checked: Object = {"expressionWarnings": warnings} if warnings else {}
    status = {**(obj.get("status") or {}), "observedGeneration": generation, "typeChecking": checked}
    return {**obj, "status": status}


def _warnings(spec: Object, view: ClusterView) -> list[Object]:
    kinds = sorted(set(_kinds(spec, view)))
    found = []
    for index, validation in enumerate(spec.get("validations") or ()):
        for field in ("expression", "messageExpression"):
            text = validation.get(field) or ""
            told = "\n".join(_misfits(text, spec, kinds, view)) if text.strip() else ""
            if told:
                found.append({"fieldRef": f"spec.validations[{index}].{field}", "warning": told})
    return found


def _kinds(spec: Object, view: ClusterView) -> Iterator[tuple[str, str, str]]:
    """Group, version and kind of what the rules name without wildcards."""
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
        if any("*" in each for each in (*groups, *versions)):
            continue
        plurals = {each for each in rule.get("resources") or () if "*" not in each and "/" not in each}
        count = 0
        for group, version, plural, kind in _served(view):
            if count < _MAX_KINDS and group in groups and version in versions and plural in plurals:
                count += 1
                yield group, version, kind


def _served(view: ClusterView) -> Iterator[tuple[str, str, str, str]]:
    for resource in builtin_resources():
        yield resource.group, resource.version, resource.plural, resource.kind
    for definition in view.all(*_DEFINITIONS):
        spec = definition["spec"]
        for version in spec["versions"]:
            yield spec["group"], version["name"], spec["names"]["plural"], spec["names"]["kind"]


def _misfits(text: str, spec: Object, kinds: list[tuple[str, str, str]], view: ClusterView) -> Iterator[str]:
    from mooring.kube.cel.admission import admission_environment, variables_type
    from mooring.kube.cel.errors import CelCompileError
    from mooring.kube.cel.types import DYN

    given = spec.get("paramKind") or {}
    params = _type(*_split(given.get("apiVersion", "")), given.get("kind", ""), view) if given else None
    for group, version, kind in kinds:
        known = _type(group, version, kind, view)
        if known is None:
            continue
        typed = {"object": known, "oldObject": known} | ({"params": params} if params is not None else {})
        environment = admission_environment(params=bool(given), authorizer=True).with_variables(typed)
        fields: dict[str, CelType] = {}
        for variable in spec.get("variables") or ():
            with_others = environment.with_variables({"variables": variables_type(dict(fields))})
            try:
                fields[variable["name"]] = with_others.compile(variable["expression"]).result
            except CelCompileError:
                fields[variable["name"]] = DYN
        try:
            environment.with_variables({"variables": variables_type(fields)}).compile(text)
        except CelCompileError as error:
            yield f"{'/'.join(filter(None, (group, version)))}, Kind={kind}: {error.message}\n"


def _split(api_version: str) -> tuple[str, str]:
    group, _, version = api_version.rpartition("/")
    return group, version


def _type(group: str, version: str, kind: str, view: ClusterView) -> CelType | None:
    """The type of a kind, or None where nothing is known of it."""
    from mooring.kube.cel.rules.types import schema_type

    schema = _schema(group, version, kind, view)
    try:
        return None if schema is None else schema_type(schema, kind, resource=False)
    except RecursionError:
        # A schema that contains itself, as that of definitions does.
        return None


def _schema(group: str, version: str, kind: str, view: ClusterView) -> Schema | None:
    for resource in builtin_resources():
        if (resource.group, resource.version, resource.kind) == (group, version, kind):
            return builtin_schema(resource.api_version, kind)
    for definition in view.all(*_DEFINITIONS):
        spec = definition["spec"]
        if (spec["group"], spec["names"]["kind"]) == (group, kind):
            for index, each in enumerate(spec["versions"]):
                if each["name"] == version:
                    try:
                        return version_schema(each, f"spec.versions[{index}].schema")
                    except SchemaError:
                        return None
    return None
