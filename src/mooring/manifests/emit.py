"""Writes objects as kubectl prints them: sorted keys, list items at their key's own indentation, few quotes.

People compare Mooring's YAML with kubectl's, and snapshots made for tests and benchmarks must look like real ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mooring.manifests.scalars import NotJsonError, resolve

_PLAIN = re.compile(r"[A-Za-z0-9_./+()~^$;<=\\-](?:[A-Za-z0-9_./+()~^$;<=>\\@%*&!|'\",-]|:(?=[^\s])| (?=[^\s#]))*")
_SPECIAL_START = re.compile(r"(?:[-?:](?:\s|$)|---|\.\.\.)")
_PRINTABLE = re.compile(r"[\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?")


def to_yaml(value: Any) -> str:
    """One document in kubectl's style, ending in a newline."""
    lines: list[str] = []
    _block(value, "", "", lines)
    return "\n".join(lines) + "\n"


def _block(value: Any, first: str, indent: str, lines: list[str]) -> None:
    """Appends a value whose first line starts with `first` (dashes included) and whose others start with `indent`."""
    if isinstance(value, Mapping) and value:
        for key in sorted(value):
            _entry(f"{first}{_text(key)}:", value[key], indent, lines)
            first = indent
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for item in value:
            _block(item, first + "- ", indent + "  ", lines)
            first = indent
    else:
        lines.append(first + _scalar(value, indent))


def _entry(head: str, value: Any, indent: str, lines: list[str]) -> None:
    if isinstance(value, Mapping) and value:
        lines.append(head)
        _block(value, indent + "  ", indent + "  ", lines)
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        lines.append(head)
        _block(value, indent, indent, lines)
    else:
        lines.append(f"{head} {_scalar(value, indent + '  ')}")


def _scalar(value: Any, indent: str) -> str:
    if isinstance(value, str):
        if "\n" in value and not value[0].isspace() and all(map(_PRINTABLE.fullmatch, value.split("\n"))):
            return _literal(value, indent)
        return _text(value)
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, Sequence):
        return "[]"
    return json.dumps(value)


def _text(value: str) -> str:
    if not _PRINTABLE.fullmatch(value):
        # JSON writes what is beyond 16 bits as a pair of surrogates, which YAML does not read.
        return "".join(f"\\U{ord(c):08X}" if ord(c) > 0xFFFF else json.dumps(c)[1:-1] for c in value).join('""')
    if value == "<<" or not _is_string(value):
        return f'"{value}"'
    if not _PLAIN.fullmatch(value) or _SPECIAL_START.match(value):
        return "'" + value.replace("'", "''") + "'"
    return value


def _is_string(value: str) -> bool:
    """Whether this text without quotes would be read as a string, by us and by stricter readers of YAML 1.1."""
    if _BASE_60.fullmatch(value) or _DATE.fullmatch(value):
        return False
    try:
        return isinstance(resolve(value), str)
    except NotJsonError:
        return False


def _literal(value: str, indent: str) -> str:
    body = value.rstrip("\n")
    ends = len(value) - len(body)
    lines = [indent + line if line else "" for line in body.split("\n")] + [""] * max(0, ends - 1)
    return "\n".join([("|-", "|", "|+")[min(ends, 2)], *lines])
