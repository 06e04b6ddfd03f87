"""Who sends a request: what authentication finds out and everything behind it takes for granted."""

from dataclasses import dataclass

__all__ = ["User"]


@dataclass(frozen=True, slots=True)
class User:
    """An authenticated user. `groups` includes system:authenticated; `extra` holds pairs of a key and its values."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()
