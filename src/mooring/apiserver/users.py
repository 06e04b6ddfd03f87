"""Who sends a request: what authentication finds out and everything behind it takes for granted."""

from dataclasses import dataclass

__all__ = ["User"]


@dataclass(frozen=True, slots=True)
class User:
    """An authenticated user. `groups` includes system:authenticated."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
