"""Says whether two outputs are the same under the rules of a comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mooring.notebook_runner.comparison.normalizers import normalizer_of
from mooring.notebook_runner.comparison.numbers import Tolerance, number_of, same_text
from mooring.notebook_runner.comparison.outputs import JSON, TEXT, OutputPart
from mooring.notebook_runner.settings import ComparisonRules

__all__ = ["Equality"]


class Equality:
    """Symmetric and reflexive. Not transitive, as nothing with a tolerance is."""

    def __init__(self, rules: ComparisonRules) -> None:
        self._exact = rules.strategy == "exact"
        self._normalized: Callable[[str], str] = normalizer_of(rules)
        self._tolerance = Tolerance(rules.tolerance, rules.relative_tolerance)
        self._spaces = "whitespace" not in rules.normalizers

    def parts(self, one: OutputPart, other: OutputPart) -> bool:
        if one.name != other.name or one.kind != other.kind:
            return False
        if one.kind == JSON:
            return self._values(one.content, other.content)
        return self.texts(one.content, other.content) if one.kind == TEXT else bool(one.content == other.content)

    def texts(self, one: str, other: str) -> bool:
        if one == other:
            return True
        if self._exact:
            return False
        first, second = self._normalized(one).strip(), self._normalized(other).strip()
        return same_text(first, second, self._tolerance, spaces=self._spaces)

    def _values(self, one: Any, other: Any) -> bool:
        """JSON: order of keys is of no matter, that of lists is."""
        if isinstance(one, dict) and isinstance(other, dict):
            return one.keys() == other.keys() and all(self._values(one[key], other[key]) for key in one)
        if isinstance(one, list) and isinstance(other, list):
            pairs = zip(one, other)
            return len(one) == len(other) and all(self._values(*pair) for pair in pairs)
        if isinstance(one, str) and isinstance(other, str):
            return self.texts(one, other)
        if _is_number(one) and _is_number(other):
            if one == other or repr(one) == repr(other):
                return True
            return not self._exact and self._tolerance.allows(number_of(repr(one)), number_of(repr(other)))
        return type(one) is type(other) and bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
