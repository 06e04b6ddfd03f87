"""The devices of this machine that a container sees beyond the usual ones."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["devices"]

_OTHERS: Final = ("dri", "kfd", "infiniband", "fuse", "net", "kvm")


def devices() -> list[str]:
    return [str(path) for path in (Path("/dev") / name for name in _OTHERS) if path.exists()]
