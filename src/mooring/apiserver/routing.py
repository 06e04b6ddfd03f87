"""Routing: one function from a path to its RequestInfo, so that routing costs microseconds.

An API path names a resource by group, version, namespace, plural, name and sub-resource, whether or not it exists; the
handler looks it up. Slashes at the end and doubled ones are forgiven, because clients send them.
"""

from functools import lru_cache
from typing import Final, Literal, NamedTuple

__all__ = ["RequestInfo", "Root", "parse_path"]

# The first segment of paths that are no API paths.
Root = Literal[
    "api",
    "apis",
    "openapi",
    "openid",
    ".well-known",
    "healthz",
    "livez",
    "readyz",
    "version",
    "metrics",
    "backup",
    "",
    "unknown",
]

_ROOTS: Final = frozenset(
    {"openapi", "openid", ".well-known", "healthz", "livez", "readyz", "version", "metrics", "backup"}
)
# What stands below a namespace's name and is about the namespace itself.
_OF_NAMESPACES: Final = frozenset({"status", "finalize"})


class RequestInfo(NamedTuple):
    """What a path names. `plural` is empty for discovery, `name` for a collection; `rest` follows the sub-resource."""

    root: Root
    group: str = ""
    version: str = ""
    namespace: str | None = None
    plural: str = ""
    name: str = ""
    subresource: str = ""
    rest: tuple[str, ...] = ()


@lru_cache(maxsize=1024)
def parse_path(path: str) -> RequestInfo:
    head, *parts = path.strip("/").split("/")
    if not head:
        return RequestInfo("")
    if path.startswith("//") or "" in parts[:2]:
        return RequestInfo("unknown")
    if head == "api":
        return _resource("api", "", parts)
    if head == "apis":
        return _resource("apis", parts[0], parts[1:]) if parts else RequestInfo("apis")
    if head in _ROOTS:
        return RequestInfo(head, rest=tuple(parts))  # type: ignore[arg-type]
    return RequestInfo("unknown")


def _resource(root: Root, group: str, parts: list[str]) -> RequestInfo:
    if not parts:
        return RequestInfo(root, group)
    version, *parts = parts
    namespace = None
    if len(parts) > 2 and parts[0] == "namespaces" and parts[2] not in _OF_NAMESPACES:
        _, namespace, *parts = parts
    plural, name, subresource, *rest = (*parts, "", "", "")
    return RequestInfo(root, group, version, namespace, plural, name, subresource, tuple(filter(None, rest)))
