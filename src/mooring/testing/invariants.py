"""Runs of a simulation that end with a look at the dispatcher's invariants (`mooring.runtime.dispatcher.state`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from mooring.runtime.drivers.simulation import HOUR, Settled, Simulation


@contextmanager
def validated_runs() -> Iterator[None]:
    """For the length of a `with` block, every `Simulation.run` ends with `Dispatcher.validate_state`."""
    run = Simulation.run

    def validated(
        simulation: Simulation, horizon: timedelta = HOUR, until: Callable[[], bool] | None = None
    ) -> Settled:
        settled = run(simulation, horizon, until)
        simulation.dispatcher.validate_state()
        return settled

    Simulation.run = validated  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        Simulation.run = run  # type: ignore[method-assign]
