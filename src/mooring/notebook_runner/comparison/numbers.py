"""Texts compared as words and numbers: words must be equal, numbers near enough.

A number is a whole token. Digits inside a word, a version such as 1.2.3 or a hexadecimal value are parts of a word, for
which no tolerance makes sense.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Final

__all__ = ["Tolerance", "number_of", "same_text"]

# Numbers may be followed by a unit (1.5s, 30MiB), not by more digits or by a word with digits in it.
_NUMBER: Final = re.compile(
    r"(?<![\w.])[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]+)?(?!\.?[0-9])(?![A-Za-z_]*[0-9])(?![A-Za-z_]{5})"
)
# Nothing a notebook prints may raise here: what overflows is infinite, and infinite differences are too large.
_EXACT_ENOUGH: Final = Context(prec=60, traps=[])


@dataclass(frozen=True)
class Tolerance:
    """Two numbers are the same when either of the two allows it. Symmetric, and wider never allows less."""

    absolute: Decimal = Decimal(0)
    relative: Decimal = Decimal(0)

    def allows(self, one: Decimal, other: Decimal) -> bool:
        if one == other:
            return True
        difference = _EXACT_ENOUGH.abs(_EXACT_ENOUGH.subtract(one, other))
        if not difference.is_finite():
            return False
        if difference <= self.absolute:
            return True
        largest = _EXACT_ENOUGH.max(_EXACT_ENOUGH.abs(one), _EXACT_ENOUGH.abs(other))
        return difference <= _EXACT_ENOUGH.multiply(self.relative, largest)


def same_text(one: str, other: str, tolerance: Tolerance, *, spaces: bool = True) -> bool:
    """Runs of white space count as one space; with `spaces=False`, they do not count at all."""
    if one == other:
        return True
    numbers, others = _NUMBER.findall(one), _NUMBER.findall(other)
    if len(numbers) != len(others) or _words(one, spaces) != _words(other, spaces):
        return False
    return all(
        first == second or tolerance.allows(number_of(first), number_of(second))
        for first, second in zip(numbers, others)
    )


def number_of(text: str) -> Decimal:
    """Exact; what is beyond all exponents is no number, and equals nothing."""
    return Decimal(text, _EXACT_ENOUGH)


def _words(text: str, spaces: bool) -> list[str]:
    # White space next to a number does not count: columns shift by one when a sign comes or goes.
    parts = [" ".join(part.split()) for part in _NUMBER.split(text)]
    if not spaces:
        parts = ["".join(part.split()) for part in parts]
    return parts
