"""Status that nobody reads: a simulation whose end alone counts writes it once, when nothing else moves."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from mooring.api.kinds import Key
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, status
from mooring.runtime.drivers.simulation import HOUR, START, Simulation
from mooring.runtime.view import View
from mooring.testing.workloads import stateful_set
from mooring.workloads.kinds import STATEFUL_SET

STEPS = 5


def tell_the_seconds(key: Key, view: View, now: datetime) -> Decision:
    found = view.get(STATEFUL_SET, *key)
    passed = [second for second in range(1, STEPS + 1) if view.reached(START + timedelta(seconds=second))]
    if found is None or found.status.replicas == len(passed):
        return Decision()
    return Decision(status=(status(STATEFUL_SET, found, {"replicas": len(passed)}),), final=True)


def look(key: Key, view: View, now: datetime) -> Decision:
    view.get(STATEFUL_SET, *key)
    return Decision()


TELLING = Controller("telling", tell_the_seconds, of=STATEFUL_SET, writes={STATEFUL_SET: ("status",)})
LOOKING = Controller("looking", look, of=STATEFUL_SET)


@pytest.mark.parametrize(
    ("controllers", "status_at_rest", "horizon", "writes", "told"),
    [
        ([TELLING], False, HOUR, STEPS, STEPS),
        ([TELLING], True, HOUR, 1, STEPS),
        ([TELLING, LOOKING], True, HOUR, STEPS, STEPS),
        ([TELLING], True, timedelta(seconds=3), 1, 3),
    ],
    ids=["every change is told", "only the end is", "somebody else reads it", "the end is a horizon"],
)
def test_status_that_nobody_reads_is_written_at_the_end(
    controllers: list[Controller], status_at_rest: bool, horizon: timedelta, writes: int, told: int
) -> None:
    simulation = Simulation(controllers, status_at_rest=status_at_rest)
    registry = simulation.registry
    sets = registry.resource("apps/v1", "StatefulSet")
    registry.create(sets, stateful_set("db", 1), now=START, namespace="default")
    simulation.run(horizon)
    assert simulation.metrics.writes.value("telling", "patch") == writes
    assert registry.get(sets, "default", "db")["status"]["replicas"] == told
