"""What is wrong with a deployment, field by field, in the same words for shell, REST and page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from mooring.kube.errors import InputError

__all__ = ["DeploymentError", "Problem", "nearest"]

_MOST_NAMES: Final = 3


class Problem(msgspec.Struct, frozen=True):
    """One field and what is wrong with it: the message goes on after the name of the field."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class DeploymentError(InputError):
    """A deployment that cannot be made; `problems` has every reason."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = tuple(problems)


def nearest(name: str, names: Collection[str]) -> str:
    """What follows a complaint about an unknown name: the names that come nearest."""
    # Asked for rarely, so it does not slow down every start.
    from difflib import get_close_matches

    by_folded = {each.lower(): each for each in names}
    folded = name.lower()
    near = sorted(each for each in by_folded if folded and (each.startswith(folded) or f"/{folded}" in each))
    near = near[:_MOST_NAMES] or get_close_matches(folded, by_folded, _MOST_NAMES, cutoff=0.5)
    return f"; did you mean {' or '.join(by_folded[each] for each in near)}?" if near else ""
