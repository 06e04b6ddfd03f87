"""Recordings: what was asked and what was answered, a line of JSON each, compressed."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")


def recorded(path: Path) -> list[Any]:
    return [json.loads(line) for line in lzma.decompress(path.read_bytes()).decode().split("\n") if line]


def keep(path: Path, rows: Iterable[Any]) -> None:
    lines = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    path.write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))


class Draw:
    """Draws from a seed. Of Python's generator only `random()` stays the same from one version to the next."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def chance(self, share: float) -> bool:
        return self._random() < share

    def below(self, most: int) -> int:
        return int(self._random() * most)

    def one(self, of: Sequence[Item]) -> Item:
        return of[self.below(len(of))]

    def some(self, of: Sequence[Item], share: float = 0.5) -> list[Item]:
        """Of these, in their order."""
        return [each for each in of if self.chance(share)]


def difference(expected: Any, found: Any, place: str = "") -> str:
    """Where two answers first differ, and how; empty where they are the same."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in dict.fromkeys((*expected, *found)):
            if name not in expected or name not in found:
                return f"{place}.{name}: {expected.get(name, 'nothing')!r} became {found.get(name, 'nothing')!r}"
            if told := difference(expected[name], found[name], f"{place}.{name}"):
                return told
        return ""
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return next((told for n, (one, two) in pairs if (told := difference(one, two, f"{place}[{n}]"))), "")
    # True is 1 to Python.
    return "" if expected == found and type(expected) is type(found) else f"{place}: {expected!r} became {found!r}"
