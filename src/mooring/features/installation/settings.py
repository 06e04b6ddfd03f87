"""Which Helm is run: a flag that people set for a whole process."""

from __future__ import annotations

from typing import Final

from mooring.runtime.settings import Setting

__all__ = ["HELM"]

HELM: Final[Setting[str]] = Setting("helm", "helm", str, "PATH", "The Helm program (helm, from the PATH).")
