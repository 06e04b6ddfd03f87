"""Amounts that no machine has."""

from __future__ import annotations

import pytest

from tests.cli.world import World, requests


@pytest.mark.parametrize("running", ["9E", "9999999999999999Ei"])
def test_amounts_beyond_all_memory_of_the_world_warn_of_nothing(world: World, running: str) -> None:
    """Warnings are errors in tests: what two such pods hold together is more than 64 bits."""
    world.node("cpu-1").node("cpu-2")
    for name in ("huge-1", "huge-2"):
        world.running(name, "cpu-2", resources=requests(memory=running))
    result = world.explain(world.pod("web", resources=requests(memory="9999999999999999Ei")))
    assert (result.exit_code, result.stderr) == (2, "")
    assert result.stdout.splitlines()[0] == "default/web cannot be placed: 0 of 2 nodes fit"
