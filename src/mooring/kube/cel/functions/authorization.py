"""Rights in expressions: `authorizer.group("apps").resource("deployments").check("create").allowed()`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, Final

from mooring.kube.cel.authorizer import Authorizer, CheckAnswer, GroupCheck, PathCheck, ResourceCheck
from mooring.kube.cel.functions.model import Function, size
from mooring.kube.names import is_dns1123_label, is_dns1123_subdomain

_HEAD: Final = "kubernetes.authorization."
AUTHORIZER: Final = f"{_HEAD}Authorizer"
_PATH: Final = f"{_HEAD}PathCheck"
_GROUP: Final = f"{_HEAD}GroupCheck"
RESOURCE_CHECK: Final = f"{_HEAD}ResourceCheck"
_DECISION: Final = f"{_HEAD}Decision"
# So many that one expression can ask twice.
_CHECK_COST: Final = 350_000
_LIST_COST: Final = 10
_REQUIREMENT_COST: Final = 50


def _path(authorizer: Authorizer, path: str) -> PathCheck:
    if not path.strip():
        raise ValueError("path must not be empty")
    return PathCheck(authorizer, path)


def _service_account(authorizer: Authorizer, namespace: str, name: str) -> Authorizer:
    if texts := is_dns1123_subdomain(name):
        raise ValueError(f"Invalid service account name: {', '.join(texts)}")
    if texts := is_dns1123_label(namespace):
        raise ValueError(f"Invalid service account namespace: {', '.join(texts)}")
    return replace(authorizer, service_account=(namespace, name))


def _resource(group: GroupCheck, resource: str) -> ResourceCheck:
    if not resource.strip():
        raise ValueError("resource must not be empty")
    return ResourceCheck(group.authorizer, group.group, resource)


def _with(field: str) -> Callable[[ResourceCheck, str], ResourceCheck]:
    def call(check: ResourceCheck, value: str) -> ResourceCheck:
        changes: dict[str, Any] = {field: value}
        return replace(check, **changes)

    return call


def _check(check: PathCheck | ResourceCheck, verb: str) -> CheckAnswer:
    return check.authorizer.ask(check, verb)


def _asked(_: Sequence[Any], __: Any) -> int:
    return _CHECK_COST


def _selector(arguments: Sequence[Any], _: Any) -> int:
    length = size(arguments[1])
    return _LIST_COST + ceil(length * 0.1) + ceil(ceil(length * 0.5) * _REQUIREMENT_COST)


AUTHORIZATION: Final = (
    Function("path", (AUTHORIZER, "string"), _PATH, _path, member=True),
    Function("group", (AUTHORIZER, "string"), _GROUP, GroupCheck, member=True),
    Function("serviceAccount", (AUTHORIZER, "string", "string"), AUTHORIZER, _service_account, member=True),
    Function("resource", (_GROUP, "string"), RESOURCE_CHECK, _resource, member=True),
    Function("subresource", (RESOURCE_CHECK, "string"), RESOURCE_CHECK, _with("subresource"), member=True),
    Function("namespace", (RESOURCE_CHECK, "string"), RESOURCE_CHECK, _with("namespace"), member=True),
    Function("name", (RESOURCE_CHECK, "string"), RESOURCE_CHECK, _with("name"), member=True),
    Function("fieldSelector", (RESOURCE_CHECK, "string"), RESOURCE_CHECK, _with("field_selector"), True, _selector),
    Function("labelSelector", (RESOURCE_CHECK, "string"), RESOURCE_CHECK, _with("label_selector"), True, _selector),
    Function("check", (_PATH, "string"), _DECISION, _check, member=True, cost=_asked, idle=True),
    Function("check", (RESOURCE_CHECK, "string"), _DECISION, _check, member=True, cost=_asked, idle=True),
    Function("errored", (_DECISION,), "bool", lambda decision: bool(decision.error), member=True),
    Function("error", (_DECISION,), "string", lambda decision: decision.error, member=True),
    Function("allowed", (_DECISION,), "bool", lambda decision: decision.allowed, member=True),
    Function("reason", (_DECISION,), "string", lambda decision: decision.reason, member=True),
)
