"""Equality as JSON has it. Python finds 1, 1.0 and true equal, and a patch from one to another would be lost."""

from typing import Any

__all__ = ["same"]


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal and would be written alike."""
    if left is right:
        return True
    if left.__class__ is not right.__class__:
        return False
    if left.__class__ is dict:
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if left.__class__ is list:
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)
