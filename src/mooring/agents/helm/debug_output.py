"""What Helm tells of its work while it waits: which object is not ready yet, and why.

Helm says so only as debug lines on its error output. They come with the place in its source and a clock, and after an
error with a trace of calls, which are of no use to people. On its standard output it prints at that level all values
and manifests, Secrets included; that is never kept.
"""

from __future__ import annotations

import re
from typing import Final

from mooring.agents.child_process import EffectOutput

__all__ = ["DEBUG", "DebugOutput"]

DEBUG: Final = "--debug"
_TRACE: Final = re.compile(r"^helm\.go:\d+: .*\Z", re.MULTILINE | re.DOTALL)
_PLACE: Final = re.compile(r"^\w+\.go:\d+: (?:[^\[\n]*)\[debug\] ?", re.MULTILINE)
_EMPTY: Final = re.compile(r"\n{2,}")


class DebugOutput(EffectOutput):
    """Helm's error output as people read it."""

    @property
    def text(self) -> str:
        told = _PLACE.sub("", _TRACE.sub("", super().text))
        return _EMPTY.sub("\n", told)
