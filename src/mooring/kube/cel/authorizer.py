"""What `authorizer` is in an expression: questions about the rights of the user, put together step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Authorizer", "CheckAnswer", "GroupCheck", "PathCheck", "ResourceCheck"]


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """The answer to a question."""

    allowed: bool
    reason: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class PathCheck:
    """A question about a path that is no resource."""

    authorizer: Authorizer
    path: str


@dataclass(frozen=True, slots=True)
class GroupCheck:
    authorizer: Authorizer
    group: str


@dataclass(frozen=True, slots=True)
class ResourceCheck:
    """A question about a resource; `selectors` are kept as they are written."""

    authorizer: Authorizer
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    field_selector: str = ""
    label_selector: str = ""


@dataclass(frozen=True, slots=True)
class Authorizer:
    """Answers questions about one user; `service_account` is empty, or namespace and name of one to ask for instead."""

    ask: Callable[[PathCheck | ResourceCheck, str], CheckAnswer]
    service_account: tuple[str, str] | None = None
