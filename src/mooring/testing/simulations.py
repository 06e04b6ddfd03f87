"""Simulations for stories: every decision is made twice, and every run ends with a look at the dispatcher's invariants.

`mooring.testing.decisions` says what deciding twice shows, `mooring.runtime.dispatcher.state` has the invariants.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.dispatcher.dispatcher import Dispatcher
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.testing.decisions import DecidingTwice


def checked_simulation(
    controllers: Iterable[Controller],
    *,
    registry: Registry | None = None,
    seed: int = 0,
    faults: Faults | None = None,
    now: datetime = START,
    decider: DecidingTwice | None = None,
    configuration: Configuration = DEFAULTS,
) -> Simulation:
    """`decider` counts the decisions, for those who want to know."""
    return Simulation(
        controllers,
        registry=registry,
        seed=seed,
        faults=faults,
        now=now,
        configuration=configuration,
        decider=decider or DecidingTwice(),
        at_rest=Dispatcher.validate_state,
    )
