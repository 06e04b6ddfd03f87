"""Whole lives of pods, drawn and recorded: every action, every moment to look again, every status."""

from __future__ import annotations

import json

from tests.nodes.process.drawn_lives import lives
from tests.nodes.process.record import COUNT, RECORDED
from tests.support.recordings import difference, recorded


def test_pods_live_as_they_did() -> None:
    for number, (expected, found) in enumerate(zip(recorded(RECORDED), lives(COUNT), strict=True)):
        for step, (one, other) in enumerate(zip(expected, json.loads(json.dumps(found)), strict=False)):
            told = difference(one, other)
            assert not told, f"life {number}, step {step}, where {one[1] if step else 'it begins'}: {told}"
        assert len(expected) == len(found), f"life {number} has another length"
