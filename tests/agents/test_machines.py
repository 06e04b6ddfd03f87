"""What agents read of machines, decide about them and write for them, drawn and recorded."""

from __future__ import annotations

import json

from tests.agents.drawn_machines import rows
from tests.agents.record import COUNT, RECORDED
from tests.support.recordings import difference, recorded


def test_agents_make_of_machines_what_they_made() -> None:
    for number, (expected, found) in enumerate(zip(recorded(RECORDED), rows(COUNT), strict=True)):
        told = difference(expected, json.loads(json.dumps(found)))
        assert not told, f"row {number}, {expected[0]}: {told}"
