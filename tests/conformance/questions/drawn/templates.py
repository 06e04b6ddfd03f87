"""Templates that objects are drawn from: plain values, with choices in them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any


class _Absent:
    pass


ABSENT = _Absent()


@dataclass(frozen=True)
class Choice:
    options: tuple[Any, ...]


@dataclass(frozen=True)
class Many:
    """A list of some items, each drawn anew; `named` gives each a name of its own."""

    counts: tuple[int, ...]
    item: Any
    named: str = ""


def one(*options: Any) -> Choice:
    return Choice(options)


def maybe(value: Any) -> Choice:
    return Choice((value, ABSENT))


def many(counts: tuple[int, ...], item: Any, named: str = "") -> Many:
    return Many(counts, item, named)


def drawn(draw: random.Random, template: Any) -> Any:
    if isinstance(template, Choice):
        return drawn(draw, draw.choice(template.options))
    if isinstance(template, Many):
        items = [drawn(draw, template.item) for _ in range(draw.choice(template.counts))]
        if template.named:
            items = [{template.named: f"n{index}", **item} for index, item in enumerate(items)]
        return items
    if isinstance(template, dict):
        found = {key: drawn(draw, value) for key, value in template.items()}
        return {key: value for key, value in found.items() if value is not ABSENT}
    if isinstance(template, list):
        return [item for item in (drawn(draw, each) for each in template) if item is not ABSENT]
    return template
