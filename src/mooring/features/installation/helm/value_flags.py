"""Values as flags of Helm: what `helm upgrade` is given at a shell prompt to have the same values as from a file.

`--set` reads `true`, `12` and `null` as what they look like, and ends a value at a comma. So only booleans, integers,
null and strings that look like nothing else are written with it. All other values are `--set-json`, which keeps lists,
decimals and strings of any content as they are.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from mooring.kube.errors import InputError

# Helm refuses names that are nested deeper.
MAX_DEPTH: Final = 30
# Helm reads JSON numbers as doubles, which hold no greater integers exactly.
_MAX_INTEGER: Final = 2**53
# Helm ends a part of a name at these, unless a backslash is before them.
_SEPARATORS: Final = re.compile(r"([\\,.=\[])")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:@%+-]+")
# Strings that `--set` does not read as strings.
_TYPED: Final = re.compile(r"true|false|null|[+-]?[0-9]+", re.IGNORECASE)

_NOT_IN_YAML: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def flatten(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The flags that give Helm these values, each with its argument: `("--set", "image.tag=v1")`."""
    check(values)
    return tuple(_flags(values, ""))


def check(values: Mapping[str, Any]) -> None:
    """Raise InputError for values that Helm cannot be given: neither by flags nor by a file."""
    if "" in values:
        raise InputError("a value must have a name; Helm has none for the empty one", "values")
    _check(values, "values", 0)


def values_text(values: Mapping[str, Any]) -> str:
    """A values file, which Helm reads as YAML: JSON in which characters are escaped that YAML does not let through."""
    check(values)
    text = json.dumps(values, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _check(value: Any, path: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InputError(f"is nested deeper than {MAX_DEPTH} levels, which is as far as Helm goes", path)
    if isinstance(value, Mapping):
        for key, each in value.items():
            if not isinstance(key, str):
                raise InputError(f"has the key {key!r}, which is no string; put it into quotes", path)
            _check_text(key, path)
            _check(each, f"{path}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            _check(each, f"{path}[{index}]", depth + 1)
    elif isinstance(value, str):
        _check_text(value, path)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"is {value}, which JSON has no word for; give a number", path)
    elif isinstance(value, int):
        if abs(value) > _MAX_INTEGER:
            raise InputError(f"is {value}, which Helm would round; put it into quotes", path)
    elif value is not None:
        raise InputError(f"is of type {type(value).__name__}, which no value of a chart has", path)


def _check_text(text: str, path: str) -> None:
    if "\0" in text:
        raise InputError(f"holds {text!r}, which no command line can: a NUL character", path)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"holds {text!r}, which is no text: half of a surrogate pair", path)


def _flags(values: Mapping[str, Any], prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in values.items():
        path = prefix + _SEPARATORS.sub(r"\\\1", key)
        # A name has no empty part, but JSON has one.
        if isinstance(value, Mapping) and value and "" not in value:
            found += _flags(value, f"{path}.")
        else:
            found.append(_flag(path, value))
    return found


def _flag(path: str, value: Any) -> tuple[str, str]:
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value) and not _TYPED.fullmatch(value)
    if is_plain:
        return "--set", f"{path}={value}"
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "--set" if value is None or isinstance(value, int) else "--set-json", f"{path}={text}"
