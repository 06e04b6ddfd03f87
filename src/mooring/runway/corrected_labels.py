"""Labels of a deployment's selector that no node has, and what was probably meant by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple

from mooring.runway.proposals import ProposedEdit

__all__ = ["CorrectedLabel", "corrected_labels"]

# How like a value must be to one that a node has, from 0 to 1; a whole label must be more so, as its key may be wrong.
_LIKE_A_VALUE: Final = 0.6
_LIKE_A_LABEL: Final = 0.85
_SELECTOR: Final = "/spec/nodeSelector/"


class CorrectedLabel(NamedTuple):
    """The label as it was written, and the one that nodes have."""

    key: str
    value: str
    right_key: str
    right_value: str

    @property
    def text(self) -> str:
        if self.key == self.right_key:
            return f"Correct label {self.key}: {self.right_value} instead of {self.value}"
        return f"Correct label {self.key}={self.value}: {self.right_key}={self.right_value}"

    @property
    def edits(self) -> tuple[ProposedEdit, ...]:
        """As edits of the pod's node selector."""
        if self.key == self.right_key:
            return (ProposedEdit("pod", "replace", _path(self.key), self.value, self.right_value),)
        return (
            ProposedEdit("pod", "remove", _path(self.key), self.value, None),
            ProposedEdit("pod", "add", _path(self.right_key), None, self.right_value),
        )


def corrected_labels(wanted: Mapping[str, str], nodes: Iterable[Mapping[str, str]]) -> list[CorrectedLabel]:
    """The labels that no node has and that are like one; by key."""
    values: dict[str, set[str]] = {}
    for labels in nodes:
        for key, value in labels.items():
            values.setdefault(key, set()).add(value)
    found = []
    for key, value in sorted(wanted.items()):
        if value in values.get(key, ()):
            continue
        if key in values:
            near = get_close_matches(value, sorted(values[key]), n=1, cutoff=_LIKE_A_VALUE)
            found += [CorrectedLabel(key, value, key, each) for each in near]
            continue
        every = [f"{each}={one}" for each in sorted(values) for one in sorted(values[each])]
        for each in get_close_matches(f"{key}={value}", every, n=1, cutoff=_LIKE_A_LABEL):
            right_key, _, right_value = each.partition("=")
            found.append(CorrectedLabel(key, value, right_key, right_value))
    return found


def _path(key: str) -> str:
    return _SELECTOR + key.replace("~", "~0").replace("/", "~1")
