"""Nothing is answered or told before it is durable."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Awaitable, Callable

import httpx2
import pytest

from mooring.apiserver import group_commit as group_commit_module
from mooring.apiserver.app import Application
from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.server import run as serve
from mooring.kube.status import InternalError
from mooring.registry import MemoryStorage, Registry
from tests.apiserver.world import ADMIN, CONFIGMAPS, START, Api, failed
from tests.registry.world import config


class Disk(MemoryStorage):
    """A storage that loses what was not committed, and notes what happens in which order."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = 1
        self.story: list[str] = []
        self.broken = False

    @property
    def durable(self) -> int:
        return self.kept

    def write(self) -> None:
        self.revision += 1

    def commit(self) -> None:
        if self.broken:
            raise OSError("No space left on device")
        self.story.append(f"commit {self.revision}")
        self.kept = self.revision


def test_a_server_that_cannot_store_stops_and_says_that_it_failed() -> None:
    disk = Disk()
    registry = Registry(disk)
    disk.commit()
    sock = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    outcome: list[bool] = []

    def make(on_failure: Callable[[], None]) -> Application:
        return Application(registry, clock=lambda: START, authenticate=lambda _: ADMIN, on_failure=on_failure)

    thread = threading.Thread(target=lambda: outcome.append(serve(make, sock)))
    thread.start()
    assert httpx2.post(url + CONFIGMAPS, json=config("c")).status_code == 201
    disk.broken = True
    assert httpx2.post(url + CONFIGMAPS, json=config("d")).status_code == 500
    thread.join(20)
    assert outcome == [False]


def run(story: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await story()

    asyncio.run(main())


def test_writes_of_one_turn_share_one_commit() -> None:
    disk = Disk()
    group_commit = GroupCommit(disk)

    async def request(name: str) -> None:
        disk.write()
        await group_commit.wait()
        disk.story.append(name)

    async def story() -> None:
        await asyncio.gather(*(request(f"answer {number}") for number in range(5)))

    run(story)
    assert disk.story == ["commit 6", *(f"answer {number}" for number in range(5))]
    assert group_commit.commits == 1


def test_a_read_that_saw_a_write_waits_for_its_commit() -> None:
    disk = Disk()
    group_commit = GroupCommit(disk)

    async def write() -> None:
        disk.write()
        await group_commit.wait()

    async def read() -> None:
        await group_commit.wait()
        disk.story.append("read")

    async def story() -> None:
        writing = asyncio.create_task(write())
        await asyncio.sleep(0)
        await read()
        await writing
        await read()

    run(story)
    assert disk.story == ["commit 2", "read", "read"]


def test_watches_are_woken_once_and_after_the_commit() -> None:
    disk = Disk()
    group_commit = GroupCommit(disk)

    def callback() -> None:
        disk.story.append("wake")

    async def story() -> None:
        for _ in range(3):
            disk.write()
            group_commit.call_when_durable(callback)
        await asyncio.sleep(0.01)

    run(story)
    assert disk.story == ["commit 4", "wake"]


def test_who_stops_waiting_is_not_waited_for() -> None:
    disk = Disk()
    group_commit = GroupCommit(disk)

    async def story() -> None:
        disk.write()
        leaving, staying = (asyncio.create_task(group_commit.wait()) for _ in range(2))
        await asyncio.sleep(0)
        leaving.cancel()
        await staying

    run(story)
    assert disk.story == ["commit 2"]


def test_a_failed_commit_ends_everything() -> None:
    disk = Disk()
    disk.broken = True
    called: list[str] = []
    group_commit = GroupCommit(disk, lambda: called.append("failed"))

    async def story() -> None:
        disk.write()
        group_commit.call_when_durable(lambda: called.append("woken"))
        for _ in range(2):
            with pytest.raises(InternalError, match="No space left on device"):
                await group_commit.wait()
        disk.broken = False
        with pytest.raises(InternalError):
            await group_commit.wait()

    run(story)
    assert called == ["failed"]
    assert not group_commit.settled


class SlowDisk(Disk):
    """Takes its time: so many seconds for each commit in turn, then none."""

    def __init__(self, *seconds: float) -> None:
        super().__init__()
        self.seconds = list(seconds)
        self.threads: list[str] = []

    def commit(self) -> None:
        time.sleep(self.seconds.pop(0) if self.seconds else 0)
        self.threads.append("loop" if threading.current_thread() is threading.main_thread() else "other")
        super().commit()


def _written(disk: SlowDisk, commits: int) -> GroupCommit:
    group_commit = GroupCommit(disk)

    async def story() -> None:
        for _ in range(commits):
            disk.write()
            await group_commit.wait()
        group_commit.close()

    run(story)
    assert group_commit.commits == commits
    return group_commit


def test_a_quick_disk_is_waited_for_on_the_spot() -> None:
    disk = SlowDisk()
    _written(disk, 20)
    assert set(disk.threads) == {"loop"}


def test_one_slow_commit_does_not_make_a_slow_disk() -> None:
    disk = SlowDisk(0.01)
    _written(disk, 5)
    assert set(disk.threads) == {"loop"}


def test_a_slow_disk_is_waited_for_on_a_thread() -> None:
    disk = SlowDisk(*[0.02] * 6)
    _written(disk, 6)
    assert disk.threads[0] == "loop"
    assert disk.threads[-1] == "other"


def test_a_disk_that_was_slow_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit_module, "_SLOW_DISK_SECONDS", 0.05)
    disk = SlowDisk(*[0.02] * 6)
    group_commit = GroupCommit(disk)

    async def story() -> None:
        for _ in range(6):
            disk.write()
            await group_commit.wait()
        await asyncio.sleep(0.06)
        for _ in range(3):
            disk.write()
            await group_commit.wait()
        group_commit.close()

    run(story)
    assert disk.threads[-3:] == ["loop"] * 3


def test_while_a_slow_disk_is_waited_for_others_get_their_turn() -> None:
    disk = SlowDisk(*[0.02] * 5, 0.3)
    group_commit = GroupCommit(disk)
    turns = 0

    async def story() -> None:
        nonlocal turns
        for _ in range(5):
            disk.write()
            await group_commit.wait()
        disk.write()
        waiting = asyncio.create_task(group_commit.wait())
        while not waiting.done():
            turns += 1
            await asyncio.sleep(0.01)
        group_commit.close()

    run(story)
    assert turns > 3


def test_every_answer_over_http_comes_after_its_commit(make_api: Callable[..., Api]) -> None:
    disk = Disk()
    api = make_api(storage=disk)
    for number in range(3):
        made = api.made(CONFIGMAPS, config(f"c{number}"))
        assert disk.kept >= int(made["metadata"]["resourceVersion"])
    version = api.get(CONFIGMAPS).body["metadata"]["resourceVersion"]
    with api.watch(CONFIGMAPS, resourceVersion=version) as lines:
        api.made(CONFIGMAPS, config("d"))
        assert disk.kept >= int(lines.next()["object"]["metadata"]["resourceVersion"])


def test_a_server_that_cannot_store_answers_nothing_any_more(
    make_api: Callable[..., Api], caplog: pytest.LogCaptureFixture
) -> None:
    disk = Disk()
    stopped: list[bool] = []
    api = make_api(storage=disk, on_failure=lambda: stopped.append(True))
    api.made(CONFIGMAPS, config("safe"))
    version = api.get(CONFIGMAPS).body["metadata"]["resourceVersion"]
    with api.watch(CONFIGMAPS, resourceVersion=version, timeoutSeconds=1) as lines, caplog.at_level(logging.CRITICAL):
        disk.broken = True
        answer = api.post(CONFIGMAPS, config("lost"))
        assert failed(answer) == (500, "InternalError")
        assert "could not be stored: No space left on device" in answer.body["message"]
        assert failed(api.get(f"{CONFIGMAPS}/safe")) == (500, "InternalError")
        assert failed(api.get(f"{CONFIGMAPS}/lost")) == (500, "InternalError")
        assert [event["type"] for event in lines.rest()] in ([], ["ERROR"])
    assert stopped == [True]
    assert "[-]storage failed" in api.get("/livez").body
    [record] = caplog.records
    assert "The server stops" in record.getMessage()
