"""Who sends a request: what authentication finds out and everything behind it takes for granted."""

from dataclasses import dataclass
from typing import Final

__all__ = ["ANONYMOUS", "AUTHENTICATED", "LEGACY_TOKENS", "MASTERS", "UNAUTHENTICATED", "User"]

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
