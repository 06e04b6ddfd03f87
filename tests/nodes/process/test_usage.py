"""What containers use: a process that works shows, one that sleeps does not, and nobody is measured unasked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mooring.kube.objects import Object
from mooring.nodes.process import usage
from mooring.nodes.process.node_server import NodeServer
from mooring.nodes.process.streams.endpoint import StreamEndpoint
from mooring.nodes.process.usage import RunningContainer, UsageSampler
from tests.client.stories import awaited
from tests.nodes.process.test_node_server import NothingRuns, run_handler

BUSY = "import os\npid = os.fork()\nwhile not pid: pass\nkept = bytearray(32 << 20)\nos.wait()"


def now() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def running() -> Iterator[list[RunningContainer]]:
    """A container whose child is busy, and one that sleeps."""
    processes = [
        subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True),
        subprocess.Popen(["sleep", "60"], start_new_session=True),
    ]
    yield [
        RunningContainer("default", "web", "uid-1", name, process.pid)
        for name, process in zip(("busy", "idle"), processes, strict=True)
    ]
    for process in processes:
        os.killpg(process.pid, 9)
        process.wait()


def by_name(summary: Object) -> dict[str, Object]:
    (pod,) = summary["pods"]
    assert pod["podRef"] == {"name": "web", "namespace": "default", "uid": "uid-1"}
    return {each["name"]: each for each in pod["containers"]}


@awaited
async def test_a_busy_container_is_told_from_one_that_sleeps(running: list[RunningContainer]) -> None:
    found = await UsageSampler(lambda: running, now).summary("here")
    busy, idle = by_name(found)["busy"], by_name(found)["idle"]
    assert busy["cpu"]["usageNanoCores"] > 20_000_000
    assert idle["cpu"]["usageNanoCores"] < busy["cpu"]["usageNanoCores"]
    assert busy["memory"]["workingSetBytes"] > 32 << 20 > idle["memory"]["workingSetBytes"] > 0
    assert found["node"]["nodeName"] == "here"
    assert found["node"]["cpu"]["usageNanoCores"] >= busy["cpu"]["usageNanoCores"] / 2
    assert found["node"]["memory"]["workingSetBytes"] > 0


@awaited
async def test_a_look_of_some_seconds_ago_is_compared_with(
    running: list[RunningContainer], monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = UsageSampler(lambda: running, now)
    await sampler.summary("here")
    monkeypatch.setattr(usage, "_SHORTEST_SECONDS", 0.001)
    started = time.monotonic()
    assert by_name(await sampler.summary("here")).keys() == {"busy", "idle"}
    assert time.monotonic() - started < usage._FIRST_WAIT_SECONDS


@awaited
async def test_the_node_answers_with_a_summary(tmp_path: Path) -> None:
    async def summary() -> Object:
        return {"node": {"nodeName": "here"}}

    def no_logs(namespace: str, pod: str, container: str, *, previous: bool) -> tuple[Path, None]:
        return tmp_path, None

    caller = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
    server = NodeServer(no_logs, StreamEndpoint(NothingRuns()), caller, summary)
    port = await server.start(None)
    try:
        answer = await run_handler(port, "/stats/summary?only_cpu_and_memory=true")
        assert json.loads(answer.partition("\r\n\r\n")[2]) == {"node": {"nodeName": "here"}}
        assert "401" in await run_handler(port, "/stats/summary", token="another")
    finally:
        await server.close()
