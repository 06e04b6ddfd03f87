"""What the rules of a definition may cost at most: each by itself, and all of them together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mooring.kube.cel.estimates.ranges import UNLIMITED
from mooring.kube.errors import FieldError, forbidden

__all__ = ["RuleCosts"]

_RULE_LIMIT: Final = 10_000_000
_TOTAL_LIMIT: Final = 100_000_000
# So many of the dearest are named, if each has this share of what is allowed.
_NAMED: Final = 4
_NAMED_FROM: Final = _TOTAL_LIMIT // 100
# Beyond this a figure says nothing any more.
_FAR: Final = 100
_WAY_OUT: Final = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are"
    " declared)"
)


class RuleCosts:
    """The costs of the rules of one schema as they are found."""

    def __init__(self, *, kept: bool) -> None:
        self._kept = kept
        self._total = 0
        self._dear: list[tuple[int, str]] = []

    def errors(self, path: str, what: str, cost: int) -> Iterator[FieldError]:
        self._total = min(self._total + cost, UNLIMITED)
        if cost >= _NAMED_FROM:
            self._dear.append((cost, path))
        if cost > _RULE_LIMIT and not self._kept:
            yield forbidden(path, _exceeds(what, cost, _RULE_LIMIT))

    def total_errors(self, path: str) -> Iterator[FieldError]:
        if self._total <= _TOTAL_LIMIT:
            return
        for _, dear in sorted(self._dear, key=lambda each: -each[0])[:_NAMED]:
            detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
            yield forbidden(dear, detail)
        what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        yield forbidden(path, _exceeds(what, self._total, _TOTAL_LIMIT))


def _exceeds(what: str, cost: int, limit: int) -> str:
    times = cost / limit
    if times > _FAR:
        factor = f"more than {_FAR}x"
    else:
        factor = f"{times:.6f}x" if times < 1.5 else f"{times:.1f}x"
    return f"{what} exceeds budget by factor of {factor} {_WAY_OUT}"
