"""The variables of expressions about requests: matchConditions of webhooks, and admission policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from mooring.kube.cel.environment import Environment
from mooring.kube.cel.errors import CelCompileError
from mooring.kube.cel.functions.authorization import AUTHORIZER, RESOURCE_CHECK
from mooring.kube.cel.program import CelProgram
from mooring.kube.cel.types import DYN, CelType, object_type, parse_type

__all__ = ["CONDITION_BUDGET", "POLICY_BUDGET", "admission_environment", "compile_to", "variables_type"]

# What all conditions of one webhook or policy may cost for one request, and all expressions of one policy.
CONDITION_BUDGET: Final = 2_500_000
POLICY_BUDGET: Final = 10_000_000


def _object(name: str, fields: Mapping[str, str | CelType]) -> CelType:
    types = {key: parse_type(kind) if isinstance(kind, str) else kind for key, kind in fields.items()}
    return object_type(f"kubernetes.{name}", types)


_KIND: Final = _object("GroupVersionKind", dict.fromkeys(("group", "version", "kind"), "string"))
_RESOURCE: Final = _object("GroupVersionResource", dict.fromkeys(("group", "version", "resource"), "string"))
_USER: Final = _object(
    "UserInfo",
    {"username": "string", "uid": "string", "groups": "list<string>", "extra": "map<string,list<string>>"},
)
_REQUEST: Final = _object(
    "AdmissionRequest",
    {
        "kind": _KIND,
        "resource": _RESOURCE,
        "subResource": "string",
        "requestKind": _KIND,
        "requestResource": _RESOURCE,
        "requestSubResource": "string",
        "name": "string",
        "namespace": "string",
        "operation": "string",
        "userInfo": _USER,
        "dryRun": "bool",
        "options": "dyn",
    },
)
_CONDITION: Final = _object(
    "NamespaceCondition",
    {"status": "string", "type": "string", "lastTransitionTime": "timestamp", "message": "string", "reason": "string"},
)
_METADATA: Final = _object(
    "NamespaceMetadata",
    {
        **dict.fromkeys(("name", "generateName", "namespace", "UID", "resourceVersion"), "string"),
        **dict.fromkeys(("labels", "annotations"), "map<string,string>"),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), "timestamp"),
        **dict.fromkeys(("deletionGracePeriodSeconds", "generation"), "int"),
        "finalizers": "list<string>",
    },
)
_NAMESPACE: Final = _object(
    "Namespace",
    {
        "metadata": _METADATA,
        "spec": _object("NamespaceSpec", {"finalizers": "list<string>"}),
        "status": _object("NamespaceStatus", {"conditions": CelType("list", "", (_CONDITION,)), "phase": "string"}),
    },
)


@cache
def admission_environment(*, params: bool, authorizer: bool) -> Environment:
    variables: dict[str, CelType | str] = {
        "object": DYN,
        "oldObject": DYN,
        "namespaceObject": _NAMESPACE,
        "request": _REQUEST,
    }
    if params:
        variables["params"] = DYN
    if authorizer:
        variables["authorizer"] = AUTHORIZER
        variables["authorizer.requestResource"] = RESOURCE_CHECK
    return Environment(variables)


def variables_type(fields: Mapping[str, CelType]) -> CelType:
    """The type of what a policy calls `variables`."""
    return object_type("kubernetes.variables", fields)


def compile_to(environment: Environment, expression: str, kinds: Sequence[str] = ()) -> CelProgram:
    """A program whose value is of one of some types, or of any. Raises CelCompileError."""
    program = environment.compile(expression)
    if not kinds or program.result.kind in kinds:
        return program
    if len(kinds) == 1:
        raise CelCompileError(f"must evaluate to {kinds[0]} but got {program.result}")
    names = " ".join("null_type" if kind == "null" else kind for kind in kinds)
    raise CelCompileError(f"must evaluate to one of [{names}] but got {program.result}")
