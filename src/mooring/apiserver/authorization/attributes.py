"""A request as authorizers see it, and their answer."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from mooring.apiserver.authentication.users import User

__all__ = ["AccessAnswer", "AccessDecision", "Attributes", "Authorizer"]


class Attributes(NamedTuple):
    """One request. `path` is set for non-resource requests only, the fields around it for the others only.

    `namespace` is empty for what is in no namespace and for requests across all of them. `fields` are the pairs of a
    field and its value that the field selector of a list, watch or deletecollection demands.
    """

    user: User
    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    version: str = ""
    path: str = ""
    fields: tuple[tuple[str, str], ...] = ()


class AccessDecision(Enum):
    """What an authorizer says. NO_OPINION asks the next one; when none is left, the request is forbidden."""

    ALLOW = "allow"
    DENY = "deny"
    NO_OPINION = "no opinion"


class AccessAnswer(NamedTuple):
    decision: AccessDecision
    reason: str = ""


Authorizer = Callable[[Attributes], AccessAnswer]
