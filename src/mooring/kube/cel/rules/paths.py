"""The fieldPath of a rule: a path of JSON to a field of the value that the rule is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Protocol

__all__ = ["Fields", "read_path"]


class Fields(Protocol):
    """What a path leads through: a schema, or what may become one."""

    @property
    def properties(self) -> Mapping[str, Fields]: ...

    @property
    def additional_properties(self) -> Fields | None: ...


_TOKEN: Final = re.compile(r"'(?:[^'\\]|\\.)*'|[.\[\]]|[^.\[\]']+")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


def read_path(path: str, schema: Fields) -> str | None:
    """The path as errors write it, or None where it leads to no field of the schema."""
    tokens = _TOKEN.findall(path)
    if "".join(tokens) != path or not tokens:
        return None
    shown, at = "", 0
    while at < len(tokens):
        if tokens[at] == "." and at + 1 < len(tokens):
            name, at = tokens[at + 1], at + 2
        elif tokens[at] == "[" and tokens[at + 2 : at + 3] == ["]"] and tokens[at + 1].startswith("'"):
            name, at = _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], ""), tokens[at + 1][1:-1]), at + 3
        else:
            return None
        if schema.properties:
            if name not in schema.properties:
                return None
            schema, shown = schema.properties[name], f"{shown}.{name}"
        elif schema.additional_properties is not None:
            schema, shown = schema.additional_properties, f"{shown}[{name}]"
        else:
            return None
    return shown.removeprefix(".")
