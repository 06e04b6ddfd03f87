"""What a process node makes of the specs of drawn containers, recorded."""

from __future__ import annotations

import json

from tests.nodes.process.drawn_containers import rows
from tests.nodes.process.record import CONTAINERS, COUNT
from tests.support.recordings import difference, recorded


def test_specs_of_containers_become_what_they_became() -> None:
    for number, (expected, found) in enumerate(zip(recorded(CONTAINERS), rows(COUNT), strict=True)):
        told = difference(expected, json.loads(json.dumps(found)))
        assert not told, f"row {number}, {expected[0]}: {told}"
