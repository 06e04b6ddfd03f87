"""Node labels as columns: one array of value codes per label key, -1 where a node lacks the key.

A selector is then answered for all nodes at once: decide for each distinct value, then look the codes up. Codes are
never reused, so anything counted per code (pods in a zone, say) stays true while nodes come and go.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mooring.kube.nodeselectors import NodeSelectorTerm
from mooring.kube.selectors import Requirement
from mooring.placement.pods import NodeTerms

Mask = NDArray[np.bool_]
Codes = NDArray[np.int32]

MISSING = -1


class LabelColumn:
    """The values of one label key over all node slots."""

    __slots__ = ("codes", "index", "values")

    def __init__(self, size: int) -> None:
        self.codes: Codes = np.full(size, MISSING, dtype=np.int32)
        self.values: list[str] = []
        self.index: dict[str, int] = {}

    def code(self, value: str) -> int:
        """The code of a value, made when it is new."""
        found = self.index.get(value)
        if found is None:
            found = self.index[value] = len(self.values)
            self.values.append(value)
        return found

    def where(self, test: Callable[[str], bool]) -> Mask:
        """Slots whose value passes; a missing key does not."""
        # The last entry answers for code -1.
        table = np.zeros(len(self.values) + 1, dtype=np.bool_)
        for value, code in self.index.items():
            table[code] = test(value)
        return table[self.codes]

    def among(self, values: tuple[str, ...]) -> Mask:
        table = np.zeros(len(self.values) + 1, dtype=np.bool_)
        for value in values:
            code = self.index.get(value)
            if code is not None:
                table[code] = True
        return table[self.codes]

    @property
    def present(self) -> Mask:
        present: Mask = self.codes != MISSING
        return present


class LabelColumns:
    """All label keys of all nodes."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.columns: dict[str, LabelColumn] = {}

    def grow(self, size: int) -> None:
        for column in self.columns.values():
            grown = np.full(size, MISSING, dtype=np.int32)
            grown[: self.size] = column.codes
            column.codes = grown
        self.size = size

    def column(self, key: str) -> LabelColumn:
        found = self.columns.get(key)
        if found is None:
            found = self.columns[key] = LabelColumn(self.size)
        return found

    def write(self, slot: int, old: dict[str, str], new: dict[str, str]) -> None:
        for key in old:
            if key not in new:
                self.columns[key].codes[slot] = MISSING
        for key, value in new.items():
            if old.get(key) != value:
                column = self.column(key)
                column.codes[slot] = column.code(value)

    def present(self, key: str) -> Mask:
        return self.column(key).present

    def requirement(self, requirement: Requirement) -> Mask:
        column = self.column(requirement.key)
        match requirement.op:
            case "In":
                return column.among(requirement.values)
            case "NotIn":
                return ~column.among(requirement.values)
            case "Exists":
                return column.present
            case "DoesNotExist":
                return ~column.present
        return column.where(lambda value: requirement.matches({requirement.key: value}))

    def term(self, term: NodeSelectorTerm, named: Callable[[str], Mask]) -> Mask:
        """Slots that match a term; an empty or unreadable one matches nothing."""
        if term.empty or term.error:
            return np.zeros(self.size, dtype=np.bool_)
        mask = np.ones(self.size, dtype=np.bool_)
        for requirement in term.labels.requirements:
            mask &= self.requirement(requirement)
        for field in term.fields.requirements:
            mask &= named(field.values[0]) if field.op == "In" else ~named(field.values[0])
        return mask

    def node_terms(self, wanted: NodeTerms, named: Callable[[str], Mask]) -> Mask:
        mask = np.ones(self.size, dtype=np.bool_)
        for key, value in wanted.node_selector:
            mask &= self.column(key).among((value,))
        if wanted.terms is not None:
            either = np.zeros(self.size, dtype=np.bool_)
            for term in wanted.terms:
                either |= self.term(term, named)
            mask &= either
        return mask
