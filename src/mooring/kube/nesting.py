"""How deep objects and lists may be nested. What is stored is walked recursively, and Python's stack has an end."""

from typing import Any, Final

__all__ = ["DEPTH_LIMIT", "TOO_DEEP", "is_deeper"]

# The real server stops at 10,000; no kind comes near either. The deepest schema of a real definition nests about 60.
DEPTH_LIMIT: Final = 200
TOO_DEEP: Final = f"exceeded max depth: objects and lists may be nested {DEPTH_LIMIT} deep"


def is_deeper(value: Any, limit: int = DEPTH_LIMIT) -> bool:
    """Whether there are more objects and lists in one another than that; walked level by level, without a stack."""
    level = [value] if value.__class__ is dict or value.__class__ is list else []
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if outer.__class__ is dict else outer)
            if inner.__class__ is dict or inner.__class__ is list
        ]
        if not level:
            return False
    return bool(level)
