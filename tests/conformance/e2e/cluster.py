"""The cluster that Kubernetes' tests run on: three nodes that Mooring simulates, whosever control plane it is."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mooring.testing.builders import node
from mooring.testing.conditions import has_condition
from mooring.testing.homes import whole
from mooring.testing.http import Api
from mooring.testing.tools import tool
from tests.conformance.e2e.batches import Runner

NODES = tuple(node(f"n{number}") for number in range(1, 4))
READY_SECONDS = 60.0


@contextmanager
def running(home: str, folder: Path, *, seconds: float) -> Iterator[Runner]:
    """A new cluster below the folder, in the place of one that an earlier run left there."""
    binary, kubectl = tool("e2e.test"), tool("kubectl")
    for old in (folder / home, folder / f"{home}-batches"):
        shutil.rmtree(old, ignore_errors=True)
    with whole(home, folder / home, NODES) as cluster:
        with cluster.api() as api:
            _wait_for_nodes(api)
        yield Runner(binary, kubectl, cluster.kubeconfig.resolve(), folder / f"{home}-batches", seconds)


def _wait_for_nodes(api: Api) -> None:
    end = time.monotonic() + READY_SECONDS
    while sum(has_condition(item, "Ready") for item in api.get("/api/v1/nodes").body["items"]) < len(NODES):
        assert time.monotonic() < end, f"the nodes were not ready in {READY_SECONDS:g} s"
        time.sleep(0.2)
