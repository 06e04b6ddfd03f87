"""The parts of a Workspace's pods that its author cannot edit, because the controller decides about them."""

from __future__ import annotations

from typing import Final

__all__ = ["fixed_parts"]

_WHOLE_POD: Final = ("/",)
_AFFINITY: Final = ("/spec/affinity",)


def fixed_parts(*, is_template: bool) -> tuple[str, ...]:
    """As JSON pointers. Pods of a preset follow from what it names; the affinity of a template from the selector."""
    return _AFFINITY if is_template else _WHOLE_POD
