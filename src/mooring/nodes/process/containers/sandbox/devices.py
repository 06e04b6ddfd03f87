"""The devices of this machine that a container sees beyond the usual ones."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["devices"]

_OTHERS: Final = ("infiniband", "fuse", "net", "kvm")
# The ways to a GPU that are not NVIDIA's own.
_GRAPHICS: Final = ("dri", "kfd")


def devices(assigned: list[str], *, has_gpus: bool) -> list[str]:
    """`assigned` are the devices of the container's GPUs, `has_gpus` is whether there are any to be assigned."""
    names = _OTHERS if has_gpus and not assigned else (*_OTHERS, *_GRAPHICS)
    return [*assigned, *(str(path) for path in (Path("/dev") / name for name in names) if path.exists())]
