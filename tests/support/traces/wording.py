"""The words of a trace: short, the same in every run, and without what means nothing.

Moments are told as seconds from the beginning, uids as the objects that have them, and a larger part of a body that was
told before by its number.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from mooring.kube.objects import Object
from mooring.runtime.drivers.simulation import START

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# A part of a body that is shorter than this is told again.
_SHORT = 70
# What every object has, and its kind and key tell already.
_SELF_EVIDENT = ("apiVersion", "kind", "name", "namespace", "managedFields")


class Wording:
    def __init__(self) -> None:
        self._told: dict[str, int] = {}
        self._uids: dict[str, str] = {}

    def meet(self, obj: Object) -> None:
        """Know an object by its uid from now on."""
        meta = obj.get("metadata", {})
        if "uid" in meta and "kind" in obj:
            self._uids.setdefault(meta["uid"], f"<{obj['kind']} {meta['name']}>")

    def body(self, obj: Object) -> str:
        shown = {key: value for key, value in obj.items() if key not in _SELF_EVIDENT}
        if "metadata" in shown:
            shown["metadata"] = {k: v for k, v in shown["metadata"].items() if k not in _SELF_EVIDENT}
            if not shown["metadata"]:
                del shown["metadata"]
        return self.plain(self._part(shown))

    def plain(self, text: str) -> str:
        """A text with moments and uids as this trace tells them."""
        text = _MOMENT.sub(lambda found: since(found.group()), text)
        return _UID.sub(lambda found: self._uids.get(found.group(), "<uid>"), text)

    def _part(self, value: Any) -> str:
        if isinstance(value, dict):
            whole = json.dumps(value, sort_keys=True)
            if len(whole) > _SHORT and whole in self._told:
                return f"#{self._told[whole]}"
            inner = ", ".join(f"{key}: {self._part(value[key])}" for key in sorted(value))
            if len(whole) <= _SHORT:
                return f"{{{inner}}}"
            self._told[whole] = number = len(self._told) + 1
            return f"#{number}{{{inner}}}"
        if isinstance(value, list):
            return f"[{', '.join(map(self._part, value))}]"
        return value if isinstance(value, str) and value and "\n" not in value else json.dumps(value)


def since(moment: str) -> str:
    """How long after the beginning."""
    form = "%Y-%m-%dT%H:%M:%S.%fZ" if "." in moment else "%Y-%m-%dT%H:%M:%SZ"
    seconds = (datetime.strptime(moment, form).replace(tzinfo=UTC) - START).total_seconds()
    return f"@{seconds:g}"
