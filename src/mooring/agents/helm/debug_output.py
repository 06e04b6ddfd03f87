"""What Helm tells of its work while it waits: which object is not ready yet, and why.

Helm says so only as debug lines on its error output. Those of Helm 3 come with the place in its source and a clock, and
after an error with a trace of calls; those of Helm 4 are fields, and the same every second. Neither is made for people.
On its standard output it prints at that level all values and manifests, Secrets included; that is never kept.
"""

from __future__ import annotations

import re
from typing import Final

from mooring.agents.child_process import EffectOutput

__all__ = ["DEBUG", "DebugOutput"]

DEBUG: Final = "--debug"
_TRACE: Final = re.compile(r"^helm\.go:\d+: .*\Z", re.MULTILINE | re.DOTALL)
_PLACE: Final = re.compile(r"^\w+\.go:\d+: (?:[^\[\n]*)\[debug\] ?", re.MULTILINE)
# Helm 4: level=DEBUG msg="waiting for resource" namespace=web name=web kind=Deployment ...
_FIELDS: Final = re.compile(r'^level=[A-Z]+ msg=("(?:[^"\\]|\\.)*"|\S*)(.*)$', re.MULTILINE)
_FIELD: Final = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)')
_AWAITED: Final = "waiting for resource"
_AGAIN: Final = re.compile(r"^(.*\n)\1+", re.MULTILINE)
_EMPTY: Final = re.compile(r"\n{2,}")


class DebugOutput(EffectOutput):
    """Helm's error output as people read it."""

    @property
    def text(self) -> str:
        told = _PLACE.sub("", _TRACE.sub("", super().text))
        told = _FIELDS.sub(lambda line: _sentence(line[1], line[2]), told)
        return _AGAIN.sub(r"\1", _EMPTY.sub("\n", told))


def _sentence(message: str, rest: str) -> str:
    """A line of Helm 4 as Helm 3 would have it; of what is waited for in the same words."""
    fields = {name: value.strip('"') for name, value in _FIELD.findall(rest)}
    if message.strip('"') == _AWAITED and fields.get("expectedStatus") == "Current":
        place = f"{fields.get('namespace', '')}/{fields.get('name', '')}"
        return f"{fields.get('kind', 'object')} is not ready: {place}. {fields.get('actualStatus', '')}"
    return message.strip('"') + rest
