"""Which nodes are looked at, in which order, and which of the best ones wins.

A search begins where the last one ended. While all nodes are looked at that is the same place each time; a search
among the nodes that a pod names, as a DaemonSet's pods do, moves it on by as many nodes as it looked at.

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


def tie_order(nodes: int, listed: int, offset: int) -> Positions:
    """What each place in the feasible list is worth among equals, the higher the better.

    The list has `listed` of `nodes` entries, numbered from the first node of the cluster on, while the search began
    `offset` entries later and came round to them last.
    """
    # The pre-order of a shorter list is that of the longer one, so one table serves lists of all lengths.
    twice = _worth_twice(nodes)
    if listed == nodes:
        return twice[nodes - offset : 2 * nodes - offset]
    return twice[:listed] if not offset else np.concatenate((twice[listed - offset : listed], twice[: listed - offset]))


_twice: Positions = np.zeros(0, dtype=np.int64)


def _worth_twice(size: int) -> Positions:
    """What each place is worth, from size - 1 down to 0, and the same again: it contains every turn of a full list."""
    global _twice
    if 2 * size != _twice.size:
        _twice = np.empty(2 * size, dtype=np.int64)
        best_first = np.argsort(heap_ranks(size))
        _twice[best_first] = np.arange(size - 1, -1, -1)
        _twice[size:] = _twice[:size]
    return _twice


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
