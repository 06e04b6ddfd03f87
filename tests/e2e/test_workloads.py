"""The same manifests end in the same objects: on the embedded cluster, and on a real control plane.

Both have the same nodes, simulated by Mooring. The stories are played side by side, because most of their time is
waiting; each is reported on its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from mooring.testing.fixtures import missing
from mooring.testing.tools import ToolMissing
from tests.e2e.playing import Both, both
from tests.e2e.stories import (
    autoscalers,
    daemon_sets,
    deployments,
    devices,
    housekeeping,
    jobs,
    leader_worker_sets,
    nodes,
    pods,
    services,
    stateful_sets,
    volumes,
)

# The longest ones first.
STORIES = (
    *nodes.STORIES,
    *autoscalers.STORIES,
    *leader_worker_sets.STORIES,
    *daemon_sets.STORIES,
    *deployments.STORIES,
    *stateful_sets.STORIES,
    *jobs.STORIES,
    *housekeeping.STORIES,
    *services.STORIES,
    *pods.STORIES,
    *devices.STORIES,
    *volumes.STORIES,
)
AT_ONCE = 16


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    starting = both(tmp_path_factory.mktemp("workloads"))
    try:
        running = starting.__enter__()
    except ToolMissing as error:
        missing(error)
    try:
        yield running
    finally:
        starting.__exit__(None, None, None)


@pytest.mark.slow
def test_the_same_manifests_end_in_the_same_objects(clusters: Both, subtests: pytest.Subtests) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        playing = {story.__name__: pool.submit(clusters.play, story) for story in STORIES}
        for name, played in playing.items():
            with subtests.test(name.replace("_", " ")):
                played.result()
