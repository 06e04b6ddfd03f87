"""Finds the real programs that tests compare Mooring with: etcd, the Kubernetes control plane, kubectl.

They come from KUBEBUILDER_ASSETS, as everywhere in this field, or from the cache folder that scripts/tools.sh fills.
"""

from __future__ import annotations

import os
from pathlib import Path


class ToolMissing(Exception):
    """A program is neither in KUBEBUILDER_ASSETS nor in the cache folder."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is no {name} in {folder()}. `sh scripts/tools.sh {name}` in a checkout builds it, once."
        )


def folder() -> Path:
    """Where scripts/tools.sh puts what it builds."""
    if named := os.environ.get("MOORING_TOOLS"):
        return Path(named) / "bin"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mooring" / "tools" / "bin"


def tool(name: str) -> Path:
    """The program of that name; ToolMissing says how to get it."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    for place in [*([Path(assets)] if assets else []), folder()]:
        if os.access(place / name, os.X_OK):
            return place / name
    raise ToolMissing(name)
