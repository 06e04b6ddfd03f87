"""Who sends a request: what authentication finds out and everything behind it takes for granted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mooring.kube.objects import Object

__all__ = [
    "ANONYMOUS",
    "AUTHENTICATED",
    "LEGACY_TOKENS",
    "MASTERS",
    "UNAUTHENTICATED",
    "Authenticate",
    "User",
    "user_info",
]

AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"
MASTERS: Final = "system:masters"
# The group of tokens that were made when every token could do everything: they can, until they are revoked.
LEGACY_TOKENS: Final = "mooring:legacy-token"


@dataclass(frozen=True, slots=True)
class User:
    """An authenticated user. `groups` includes system:authenticated; `extra` holds pairs of a key and its values."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()


# Who sends a request without credentials.
ANONYMOUS: Final = User("system:anonymous", (UNAUTHENTICATED,))
# From a bearer token to the user that it stands for; None for one that does not count.
Authenticate = Callable[[str | None], User | None]


def user_info(user: User) -> Object:
    """A user as reviews show it."""
    extra = {key: list(values) for key, values in sorted(user.extra)}
    found: Object = {"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra}
    return {key: value for key, value in found.items() if value}
