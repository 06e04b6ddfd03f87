"""The fixtures that tests of commands start from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.live import TAINT, Live, owned
from tests.cli.served import served
from tests.cli.world import World, requests


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """An empty world, whose folder is the current one."""
    monkeypatch.chdir(tmp_path)
    return World(tmp_path)


@pytest.fixture
def live(world: World, tmp_path: Path) -> Iterator[Live]:
    with served(tmp_path) as cluster:
        yield Live(cluster, world)


@pytest.fixture
def town(live: Live) -> Live:
    """Two GPU nodes that keep others away and a plain one; a Deployment whose pod waits, and what it runs."""
    world = live.world
    world.node("gpu-1", gpu=8, taint=TAINT, zone="a").node("gpu-2", gpu=8, taint=TAINT, zone="b").node(
        "cpu-1", zone="a"
    )
    world.running("web", "cpu-1", resources=requests(cpu=2))
    world.add(world.workload("Deployment", "llm", requests(gpu=4), replicas=1))
    owned(
        world, "Deployment", "llm", {**world.workload("ReplicaSet", "llm-5d4f", requests(gpu=4)), "kind": "ReplicaSet"}
    )
    owned(
        world, "ReplicaSet", "llm-5d4f", world.pod("llm-5d4f-x7x7x", resources=requests(gpu=4), labels={"app": "llm"})
    )
    live.settle()
    return live
