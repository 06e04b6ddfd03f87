"""What the controllers of a feature decide in a cluster in which something is otherwise, held to the recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mooring.runtime.controller import Controller
from tests.features.traces import told
from tests.support.altered import Change, decided_if_altered
from tests.support.golden import same_as_recorded

__all__ = ["Change", "decided_as_recorded"]


def decided_as_recorded(
    feature: str,
    story: Callable[[], Any],
    controllers: Iterable[Controller],
    *,
    cases: int,
    also: Mapping[str, Sequence[Change]] | None = None,
) -> None:
    """`story` gives a world with a simulation; its name is that of the recording."""
    name = f"{feature}-{story.__name__.replace('_', '-')}"
    world = story()
    said = decided_if_altered(world.simulation, controllers, told, seed=name, cases=cases, also=also)
    assert len(said) > cases / 2
    same_as_recorded(f"altered-{name}", said)
