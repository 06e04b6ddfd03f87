"""Where two answers differ, in words: a path and both values."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any


def differences(before: Any, now: Any) -> list[str]:
    return list(_differences(before, now, "$"))


def _differences(before: Any, now: Any, path: str) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            if key not in before or key not in now:
                yield f"{path}.{key} is {'new' if key in now else 'gone'}: {_short(now.get(key, before.get(key)))}"
            else:
                yield from _differences(before[key], now[key], f"{path}.{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from _differences(one, other, f"{path}[{number}]")
    elif before != now:
        if isinstance(before, str) and isinstance(now, str) and "\n" in before:
            lines = difflib.unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=0)
            yield f"{path}: " + "\n".join(lines)
        else:
            yield f"{path} was {_short(before)}, is {_short(now)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else text[:300] + "..."
