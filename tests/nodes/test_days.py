"""Whole days of simulated nodes, drawn and recorded: every status, Lease, volume and event."""

from __future__ import annotations

import json

from tests.nodes.drawn_days import days
from tests.nodes.record import COUNT, RECORDED
from tests.support.recordings import difference, recorded


def test_simulated_nodes_do_what_they_did() -> None:
    for number, (expected, found) in enumerate(zip(recorded(RECORDED), days(COUNT), strict=True)):
        for one, other in zip(expected, json.loads(json.dumps(found)), strict=True):
            told = difference(one, other)
            assert not told, f"day {number}, where {one[1]}: {told}"
