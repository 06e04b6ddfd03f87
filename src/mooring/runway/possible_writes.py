"""The writes that proposals can have: whoever holds a token can write anything elsewhere, and here only these."""

from __future__ import annotations

from typing import Any, Final

from mooring.catalog import CATALOG
from mooring.placement.writes import Write
from mooring.runway.inverse_writes import IDENTITY_TESTS

__all__ = ["refusal_of"]

# What a proposal changes of a node: uncordon, taints and labels.
_OF_NODES: Final[tuple[str, ...]] = ("/spec/unschedulable", "/spec/taints", "/metadata/labels")
_REPLICAS: Final = "/spec/replicas"
_OPERATIONS: Final = ("test", "add", "replace", "remove")


def refusal_of(write: Write) -> str:
    """Why a write is none that a proposal can have; empty where it is one."""
    what = (write.api_version, write.kind)
    if (write.kind == "Node") == bool(write.namespace):
        return f"namespace: a {write.kind} {'has none' if write.namespace else 'must be named with its own'}"
    if write.verb in ("evict", "delete"):
        if what != ("v1", "Pod"):
            return f"kind: {write.verb} is for a v1 Pod, not for {write.api_version} {write.kind}"
        return f"body: {write.verb} takes none" if write.body else ""
    if not write.body:
        return f"body: {write.verb} needs the operations of a JSON patch"
    if what == ("v1", "Node") and write.verb == "patch":
        allowed = _OF_NODES
    elif write.verb == "scale" and what in (_workloads() | _pools()):
        allowed = (_REPLICAS,)
    elif write.verb == "patch" and what in _workloads():
        allowed = ("/spec/",)
    else:
        return f"kind: no proposal has a {write.verb} of {write.api_version} {write.kind}"
    return next((problem for each in write.body if (problem := _operation_problem(each, allowed))), "")


def _operation_problem(operation: dict[str, Any], allowed: tuple[str, ...]) -> str:
    op, path = operation.get("op"), operation.get("path")
    if op not in _OPERATIONS:
        return f"body: op must be one of {', '.join(_OPERATIONS)}, not {op!r}"
    if op == "test" and path in IDENTITY_TESTS:
        return ""
    if not isinstance(path, str) or not path.startswith(allowed):
        return f"body: path must be below {' or '.join(allowed)}, not {path!r}"
    return ""


def _workloads() -> set[tuple[str, str]]:
    return {(each.api_version, each.kind) for each in CATALOG.workloads().values()}


def _pools() -> set[tuple[str, str]]:
    return {view for each in CATALOG.node_pools() for view in each.views if view[1] == each.kind}
