"""Why nodes do not take a pod: reasons, one bit each, and the pod that is turned away before any node is looked at.

A node's verdict is one integer: a bit for every reason that rejects it, from every filter. The scheduler stops at the
first plugin that rejects; `Verdicts` can say what it would report as well as everything it would not get to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.int64]

UNSCHEDULABLE = "Unschedulable"
UNRESOLVABLE = "UnschedulableAndUnresolvable"
ERROR = "Error"


class Rejection(NamedTuple):
    """Why a pod is turned away before any node is looked at."""

    plugin: str
    code: str
    text: str


class Reason(NamedTuple):
    plugin: str
    code: str
    text: str
    # The resource or constraint that the text is about, for those who explain it.
    subject: str = ""


class Verdicts:
    """Why each node is rejected: `bits` per slot, `reasons` per bit."""

    def __init__(self, size: int) -> None:
        self.bits: Bits = np.zeros(size, dtype=np.int64)
        self.reasons: list[Reason] = []
        # A plugin that ends in an error has one bit for all of them; each node has its own text.
        self.errors: dict[tuple[str, int], Reason] = {}

    def reject(self, reason: Reason, where: NDArray[np.bool_]) -> None:
        self.bits |= where.astype(np.int64) << len(self.reasons)
        self.reasons.append(reason)

    def add(self, reasons: tuple[Reason, ...]) -> int:
        """Make bits for reasons that are found node by node, and one for an error of the same plugin; the first."""
        start = len(self.reasons)
        self.reasons.extend((*reasons, failure(reasons[0].plugin)))
        return start

    def fail(self, slot: int, error: Reason) -> None:
        self.bits[slot] |= self.bit(failure(error.plugin))
        self.errors[error.plugin, slot] = error

    def bit(self, reason: Reason) -> int:
        return 1 << self.reasons.index(reason)

    def of(self, bits: int) -> list[Reason]:
        """All reasons of a verdict, in the order of the filters."""
        return [reason for i, reason in enumerate(self.reasons) if bits >> i & 1]

    def first(self, bits: int) -> list[Reason]:
        """The reasons of the first plugin that rejects: what the scheduler reports."""
        found = self.of(bits)
        return [r for r in found if r.plugin == found[0].plugin]

    def by_plugin(self, bits: int) -> Iterator[list[Reason]]:
        found = self.of(bits)
        while found:
            plugin = found[0].plugin
            yield [r for r in found if r.plugin == plugin]
            found = [r for r in found if r.plugin != plugin]

    def error_at(self, slot: int) -> str:
        """The error that ends the attempt when the scheduler comes to a node; empty where there is none."""
        bits = int(self.bits[slot])
        if not self.errors or not bits:
            return ""
        first = self.first(bits)[0]
        return failed(self.errors[first.plugin, slot]) if first.code == ERROR else ""


def failure(plugin: str) -> Reason:
    """What stands for any error of a plugin."""
    return Reason(plugin, ERROR, "")


def failed(error: Reason) -> str:
    return f'running "{error.plugin}" filter plugin: {error.text}'


def code_of(reasons: list[Reason]) -> str:
    """A rejection that no preemption can lift outweighs one that it could."""
    codes = {reason.code for reason in reasons}
    return next((code for code in (ERROR, UNRESOLVABLE) if code in codes), UNSCHEDULABLE)
