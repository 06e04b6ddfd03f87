"""Every story of a feature is traced, and held to what was recorded of it (`tests.features.traces`)."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import pytest

from mooring.testing.decisions import OBSERVERS
from tests.features.traces import Trace, difference, record, recorded, told_by

# These play one story a hundred times over, with faults that are drawn, or play others again for the rights they need,
# or ask what would be decided if something were otherwise.
REPEATED = ("test_altered.py", "test_crashes.py", "test_disturbed.py", "test_one_host_one_machine.py", "test_rights.py")
DRAWN = "test_drawn_stories.py"
_UPDATED: dict[str, dict[str, str]] = defaultdict(dict)
_recorded = cache(recorded)


@pytest.fixture(autouse=True)
def told_as_recorded(request: pytest.FixtureRequest) -> Iterator[None]:
    file, _, name = request.node.nodeid.partition("::")
    if file.endswith(REPEATED) or hasattr(request.function, "hypothesis"):
        yield
        return
    trace = Trace()
    OBSERVERS.append(trace)
    try:
        yield
    finally:
        OBSERVERS.remove(trace)
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        _UPDATED[file][name] = "\n".join(trace.lines)
        return
    before = _recorded(told_by(file)).get(name)
    if before is None:
        # A story that is new is recorded with the next update. Drawn ones are worth nothing without.
        assert not file.endswith(DRAWN), f"{name} is not recorded"
        return
    assert not (told := difference(before, trace.lines)), told


def pytest_sessionfinish() -> None:
    for file, traces in _UPDATED.items():
        kept = {name: trace for name, trace in {**recorded(told_by(file)), **traces}.items() if trace}
        if kept:
            record(told_by(file), kept)
