"""Ties are broken as by a heap, and samples are cut as by the scheduler's search."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mooring.placement.selection import tie_order, wanted_feasible, winner


def heap_root(totals: list[int]) -> int:
    """The root of a heap built in place: the child moves up only when it is strictly greater."""
    heap = list(range(len(totals)))
    for start in range(len(heap) // 2 - 1, -1, -1):
        at = start
        while (left := 2 * at + 1) < len(heap):
            child = left
            if left + 1 < len(heap) and totals[heap[left + 1]] > totals[heap[left]]:
                child = left + 1
            if totals[heap[child]] <= totals[heap[at]]:
                break
            heap[at], heap[child] = heap[child], heap[at]
            at = child
    return heap[0]


def test_the_winner_is_the_root_of_the_heap() -> None:
    draw = random.Random(3)
    for _ in range(3000):
        totals = [draw.randrange(3) for _ in range(draw.randrange(1, 70))]
        assert winner(np.array(totals)) == heap_root(totals), totals


def test_the_tie_order_names_the_winner_wherever_the_search_began() -> None:
    draw = random.Random(4)
    for _ in range(2000):
        nodes = draw.randrange(1, 60)
        listed = draw.randrange(1, nodes + 1)
        offset = draw.randrange(listed)
        totals = np.array([draw.randrange(3) for _ in range(listed)])
        worth = tie_order(nodes, listed, offset)
        chosen = int(np.argmax(totals * 1000 + worth))
        turned = np.roll(totals, -offset)
        assert chosen == (winner(turned) + offset) % listed, (nodes, listed, offset, totals)


@pytest.mark.parametrize(
    ("nodes", "percentage", "wanted"),
    [
        (99, 5, 99),
        (100, 0, 100),
        (1000, 0, 420),
        (5000, 0, 500),
        (15000, 0, 750),
        (1000, 30, 300),
        (150, 10, 100),
        (5000, 100, 5000),
    ],
)
def test_large_clusters_are_sampled(nodes: int, percentage: int, wanted: int) -> None:
    assert wanted_feasible(nodes, percentage) == wanted
