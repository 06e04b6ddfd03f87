"""Keeps Python's garbage collector away from what is stored.

Stored objects are no garbage, and none of them is part of a circle, so whoever drops one frees it. But the collector
does not know that, and to look at those of ten thousand pods takes it a quarter of a second in which nobody is
answered. So what has survived it for a while is put where it does not look again; it looks at what is new, and that
takes a millisecond. Circles that die old wait for the hour in which everything is looked at.
"""

import gc
from typing import Any

__all__ = ["collect_all", "collect_young_only"]


def collect_young_only() -> None:
    """From now on for this process: look at objects while they are young, and never at those that exist already."""
    gc.freeze()
    if _keep_survivors not in gc.callbacks:
        gc.callbacks.append(_keep_survivors)


def collect_all() -> None:
    """Look at everything for once: circles that were alive when they were last looked at may be dead by now."""
    gc.unfreeze()
    gc.collect()


def _keep_survivors(phase: str, info: dict[str, Any]) -> None:
    if phase == "stop" and info["generation"] >= 1:
        gc.freeze()
