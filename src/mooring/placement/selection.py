"""Which nodes are looked at, and which of the best ones wins.

The scheduler of 1.35 breaks ties by the order of a heap built over the feasible list, not at random: among the tied
nodes the first in pre-order of that heap wins. The rank of a position in pre-order does not depend on the length of
the list, so it is a table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]

# Up to this many nodes are all looked at.
MIN_FEASIBLE = 100
MIN_PERCENTAGE = 5

_WIDTH = 32


def _preorder(size: int) -> Positions:
    """A number per heap position that sorts positions in pre-order: the path from the root, then its length."""
    positions = np.arange(1, size + 1, dtype=np.int64)
    length = np.floor(np.log2(positions)).astype(np.int64) + 1
    return (positions << (_WIDTH - length)) * 64 + length


_ranks: Positions = _preorder(1024)


def heap_ranks(size: int) -> Positions:
    """The pre-order of the positions of a list of this size; the lowest among the best wins."""
    global _ranks
    if size > _ranks.size:
        _ranks = _preorder(2 * size)
    return _ranks[:size]


_dense: Positions = np.zeros(0, dtype=np.int64)


def dense_ranks(size: int) -> Positions:
    """The same as numbers from 0 to size - 1."""
    global _dense
    if size != _dense.size:
        _dense = np.empty(size, dtype=np.int64)
        _dense[np.argsort(heap_ranks(size))] = np.arange(size)
    return _dense


def winner(totals: Positions) -> int:
    """The position of the node that is chosen, given the total scores in the order of the feasible list."""
    tied = np.flatnonzero(totals == totals.max())
    return int(tied[np.argmin(heap_ranks(totals.size)[tied])])


def wanted_feasible(nodes: int, percentage: int) -> int:
    """How many feasible nodes end the search; `percentage` 0 lets the size of the cluster decide."""
    if nodes < MIN_FEASIBLE:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, MIN_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE)
