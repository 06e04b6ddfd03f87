"""A node that stops, starts again, and finds what an earlier one left behind."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from mooring.client.transport import Request
from mooring.kube.objects import Object
from mooring.nodes.process.containers.proc import MARK, kill_marked, mark_of
from mooring.nodes.process.kubelet import _welcome
from mooring.nodes.process.machine_info import machine_info
from tests.nodes.process.home import LINUX, home, needs_sandbox, shell
from tests.nodes.process.marked import marked

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")


@needs_sandbox
def test_a_node_that_stops_stops_its_processes_and_the_next_one_starts_them_again(tmp_path: Path) -> None:
    async def main() -> None:
        async with home(tmp_path) as first:
            first.pod("web", shell("echo up; sleep 100"))
            first.pod("gone", shell("sleep 100"))
            await first.phase("web", "Running")
            await first.phase("gone", "Running")
            path, _ = first.agent.log_of("default", "web", "main", previous=False)
            await first.until(lambda: b"up" in path.read_bytes(), "it is up")
        await first.until(lambda: not marked(tmp_path), "nothing is left")
        first.delete("gone", grace=0)
        async with home(tmp_path, before=first) as second:
            await second.until(lambda: second.container("web")["restartCount"] == 1, "it is restarted")
            assert await second.log("web", previous=True) == "up\n"
            assert len(list((tmp_path / "pods").iterdir())) == 1

    asyncio.run(main())


def test_a_node_that_stops_waits_for_the_requests_that_it_gives_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        closed: list[str] = []
        async with home(tmp_path, problem="namespaces are off") as at:
            at.pod("web", shell("exec sleep 100"))
            await at.phase("web", "Running")
            removing, write = asyncio.Event(), at.transport.write

            async def hang(request: Request) -> Object:
                if request.verb != "delete":
                    return await write(request)
                removing.set()
                answer: asyncio.Future[Object] = asyncio.get_running_loop().create_future()
                try:
                    return await answer
                finally:
                    # A connection is closed in peace.
                    await asyncio.sleep(0.3)
                    closed.append(request.name)

            monkeypatch.setattr(at.transport, "write", hang)
            at.delete("web", grace=1)
            await removing.wait()
        assert closed == ["web"]

    asyncio.run(main())


def test_what_a_killed_node_left_behind_is_found_and_nothing_else(tmp_path: Path) -> None:
    async def main() -> None:
        mark = mark_of(tmp_path)
        ours = await asyncio.create_subprocess_exec("sleep", "100", env={**os.environ, MARK: mark})
        other = await asyncio.create_subprocess_exec("sleep", "100", env={**os.environ, MARK: f"{mark}0"})
        try:
            assert kill_marked(mark) == 1
            assert await ours.wait() == -signal.SIGKILL
            assert other.returncode is None
        finally:
            other.kill()
            await other.wait()

    asyncio.run(main())


def test_whoever_starts_a_node_is_told_what_it_cannot_do() -> None:
    machine = machine_info()
    text = f"This machine is node {machine.name}: pods that tolerate mooring.dev/process run on it as processes"
    assert _welcome(machine, "") == f"{text}."
    without = "but without volumes and not kept apart from it, because namespaces are off."
    assert _welcome(machine, "namespaces are off") == f"{text}, {without}"
