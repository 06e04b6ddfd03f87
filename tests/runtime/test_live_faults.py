"""The live driver on real sockets, with servers that die, forget, refuse, dawdle and break off: nothing is lost."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mooring.apiserver.authentication.token_file import add_token, put_token
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.client.transport import UnknownOutcome, Unreachable
from mooring.kube.status import ApiError
from mooring.registry import Registry
from mooring.runtime.drivers.live import Live
from mooring.runtime.logs import logger
from tests.client.faulty import Proxy
from tests.client.stories import Served, awaited, config_map, creation, now, served, until
from tests.runtime.living import at_work, data_of, drop, edit, names, over_http, put
from tests.runtime.sample import COPIER


@asynccontextmanager
async def behind_a_proxy(**options: float) -> AsyncIterator[tuple[Live, Proxy, Served]]:
    """A copier at work on a server that it reaches through a proxy."""
    async with served() as server:
        proxy = Proxy(server.port)
        await proxy.start()
        transport = HttpTransport(Access(proxy.url), **options)  # type: ignore[arg-type]
        live = Live([COPIER], transport, grace=1.0)
        try:
            async with at_work(live):
                await until(lambda: not live.missing)
                yield live, proxy, server
        finally:
            await transport.close()
            await proxy.stop()


def copies(registry: Registry, name: str) -> list[str]:
    return [each for each in names(registry) if each.startswith(f"{name}-")]


@awaited
async def test_what_happens_while_connections_are_refused_is_seen_afterwards(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger.name):
        async with behind_a_proxy() as (live, proxy, server):
            put(server.registry, config_map("a", copies="1"))
            await until(lambda: data_of(server.registry, "a").get("seen") == "1")
            await proxy.stop()
            put(server.registry, config_map("b", copies="2"))
            edit(server.registry, "a", {"data": {"copies": "0"}})
            await until(lambda: live.reflector_metrics.troubles.value("v1/ConfigMap") >= 3)
            await proxy.start()
            await until(lambda: data_of(server.registry, "b").get("seen") == "2")
            await until(lambda: copies(server.registry, "a") == [])
            # The watch went on where it was: nothing had to be listed again.
            assert live.metrics.relists.value("v1/ConfigMap") == 1
    told = [record.getMessage() for record in caplog.records]
    assert len([line for line in told if "cannot be followed" in line]) == 1
    assert len([line for line in told if "can be followed again" in line]) == 1


@awaited
async def test_connections_that_are_cut_again_and_again_lose_nothing() -> None:
    async with behind_a_proxy() as (_, proxy, server):
        for number in range(20):
            put(server.registry, config_map(f"c{number}", copies="2"))
            if number % 4 == 0:
                proxy.cut()
            await asyncio.sleep(0.01)
        await until(lambda: all(data_of(server.registry, f"c{n}").get("seen") == "2" for n in range(20)))
        assert all(len(copies(server.registry, f"c{number}")) == 2 for number in range(20))


@awaited
async def test_streams_that_break_off_in_the_middle_of_a_line_lose_nothing() -> None:
    async with behind_a_proxy() as (live, proxy, server):
        for number in range(20):
            proxy.budget = 700
            put(server.registry, config_map(f"c{number}", copies="1", text="x" * 1000))
            await asyncio.sleep(0.02)
        await until(lambda: all(data_of(server.registry, f"c{n}").get("seen") == "1" for n in range(20)))
        assert live.reflector_metrics.troubles.value("v1/ConfigMap") > 0


@awaited
async def test_a_watch_that_falls_silent_is_replaced() -> None:
    async with behind_a_proxy(idle=0.2, seconds=0.5) as (_, proxy, server):
        proxy.muted = True
        put(server.registry, config_map("a", copies="1"))
        await asyncio.sleep(0.4)
        proxy.cut()
        proxy.muted = False
        await until(lambda: data_of(server.registry, "a").get("seen") == "1")


@awaited
async def test_a_watch_that_stays_silent_is_not_alive() -> None:
    async with behind_a_proxy(idle=0.1, seconds=0.1) as (live, proxy, _):
        live._silence = 0.5
        assert live.silent == []
        proxy.muted = True
        await until(lambda: live.silent)
        assert live.silent[0].startswith("v1/ConfigMap has been silent for")
        proxy.cut()
        proxy.muted = False
        await until(lambda: not live.silent)


@awaited
async def test_after_a_cut_history_everything_is_listed_and_compared() -> None:
    async with behind_a_proxy() as (live, proxy, server):
        registry = server.registry
        put(registry, config_map("a", copies="2"))
        put(registry, config_map("b", copies="1"))
        await until(lambda: data_of(registry, "a").get("seen") == "2" and data_of(registry, "b").get("seen") == "1")
        await proxy.stop()
        drop(registry, "b")
        drop(registry, "a-1")
        put(registry, config_map("c", copies="1"))
        registry.compact(registry.revision)
        await proxy.start()
        await until(lambda: data_of(registry, "c").get("seen") == "1")
        await until(lambda: copies(registry, "a") == ["a-0", "a-1"])
        assert live.metrics.relists.value("v1/ConfigMap") >= 2
        assert ("default", "b") not in {
            (key.namespace, key.name) for key in live.dispatcher.stores[live.dispatcher.kinds[0]]._views
        }


@awaited
async def test_a_server_that_has_forgotten_everything_is_believed() -> None:
    """What lives in memory only counts its versions anew when it starts again."""
    async with behind_a_proxy() as (live, proxy, server):
        for number in range(5):
            put(server.registry, config_map(f"c{number}", copies="2"))
        await until(lambda: all(data_of(server.registry, f"c{n}").get("seen") == "2" for n in range(5)))
        await proxy.stop()
        async with served() as fresh:
            put(fresh.registry, config_map("c0", copies="1"))
            assert fresh.registry.revision < server.registry.revision
            proxy.target = fresh.port
            await proxy.start()
            await until(lambda: data_of(fresh.registry, "c0").get("seen") == "1")
            assert copies(fresh.registry, "c0") == ["c0-0"]
            edit(fresh.registry, "c0", {"data": {"copies": "3"}})
            await until(lambda: data_of(fresh.registry, "c0").get("seen") == "3")
            held = live.dispatcher.stores[live.dispatcher.kinds[0]]
            assert {key.name for key in held._views if key.name.startswith("c")} == {"c0", "c0-0", "c0-1", "c0-2"}


@awaited
async def test_a_server_that_asks_for_patience_gets_it() -> None:
    async with over_http(COPIER) as (live, server):
        await until(lambda: not live.missing)
        server.front.refuse("POST", "configmaps", 429, times=3, retry_after="0")
        put(server.registry, config_map("a", copies="3"))
        await until(lambda: data_of(server.registry, "a").get("seen") == "3")
        assert live.metrics.reconciles.value("copier", "failed") >= 1


@awaited
async def test_a_server_that_fails_is_asked_again() -> None:
    async with served() as server:
        server.front.refuse("GET", "configmaps", 500, times=3)
        server.front.refuse("PATCH", "configmaps", 500, times=3)
        server.front.refuse("POST", "configmaps", 503, times=2)
        put(server.registry, config_map("a", copies="2"))
        transport = HttpTransport(Access(server.url))
        async with at_work(Live([COPIER], transport)):
            await until(lambda: data_of(server.registry, "a").get("seen") == "2")
        assert copies(server.registry, "a") == ["a-0", "a-1"]
        await transport.close()


@awaited
async def test_a_server_slower_than_the_patience_makes_nothing_twice() -> None:
    async with over_http(COPIER, seconds=0.15) as (_, server):
        slow = {"left": 4}

        def dawdle(method: str, path: str) -> float:
            if method in ("POST", "PATCH") and slow["left"]:
                slow["left"] -= 1
                return 0.3
            return 0.0

        server.front.delay = dawdle
        put(server.registry, config_map("a", copies="2"))
        await until(lambda: data_of(server.registry, "a").get("seen") == "2")
        assert copies(server.registry, "a") == ["a-0", "a-1"]


@awaited
async def test_a_refused_write_is_tried_again_because_what_refuses_may_lie_outside_of_what_is_seen() -> None:
    async with over_http(COPIER) as (live, server):
        await until(lambda: not live.missing)
        server.front.refuse("POST", "configmaps", 403)
        put(server.registry, config_map("a", copies="2"))
        await until(lambda: live.metrics.reconciles.value("copier", "terminal") >= 3)
        assert copies(server.registry, "a") == []
        server.front.relent()
        await until(lambda: data_of(server.registry, "a").get("seen") == "2")


class Process:
    """The server as a process of its own, on one port and one folder, to be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.token = add_token(folder / "tokens", "tester", ("system:masters",))
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        # The socket is the parent's, as it is in `mooring up`: whoever connects meanwhile waits.
        fd = self._socket.fileno()
        command = ("--tokens", self._folder / "tokens", "--data", self._folder / "data", "--fd", fd)
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "mooring.apiserver", *map(str, command), pass_fds=(fd,)
        )

    async def kill(self) -> None:
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    def replace_token(self) -> None:
        """The old one is refused from now on."""
        self.token = put_token(self._folder / "tokens", "tester", ("system:masters",))

    def hang(self) -> None:
        """It is there, holds its connections, and says nothing any more."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def wake(self) -> None:
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    async def end(self) -> None:
        if self._process is not None and self._process.returncode is None:
            await self.kill()
        self._socket.close()


@pytest.mark.slow
@awaited
async def test_a_server_killed_in_the_middle_of_work_is_worked_on_when_it_is_back(tmp_path: Path) -> None:
    server = Process(tmp_path)
    access = Access(server.url, headers=lambda: {"Authorization": f"Bearer {server.token}"})
    transport, mine = HttpTransport(access), HttpTransport(access)
    await server.start()
    try:
        async with at_work(Live([COPIER], transport, clock=now, grace=1.0)):
            for number in range(30):
                await ensure(mine, f"c{number}")
                if number in (10, 20):
                    await server.kill()
                    await server.start()
            for number in range(30):
                await seen(mine, f"c{number}", "2")
        found = [item async for page in mine.list("v1", "ConfigMap") for item in page.items]
        assert len([item for item in found if b'"name":"c' in bytes(item)]) == 90  # type: ignore[arg-type]
    finally:
        await transport.close()
        await mine.close()
        await server.end()


@pytest.mark.slow
@awaited
async def test_a_server_that_hangs_is_noticed_said_once_and_worked_on_when_it_wakes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = Process(tmp_path)
    access = Access(server.url, headers=lambda: {"Authorization": f"Bearer {server.token}"})
    transport, mine = HttpTransport(access, idle=1.0, seconds=1.0), HttpTransport(access, seconds=1.0)
    await server.start()
    try:
        with caplog.at_level(logging.INFO, logger.name):
            live = Live([COPIER], transport, clock=now, grace=1.0)
            async with at_work(live):
                await ensure(mine, "before")
                await seen(mine, "before", "2")
                # To start may take longer than the little patience of this test.
                caplog.clear()
                known = live.reflector_metrics.troubles.value("v1/ConfigMap")
                server.hang()
                with pytest.raises((Unreachable, UnknownOutcome), match="no answer in 1 s"):
                    await mine.write(creation(config_map("during", copies="2")))
                await until(lambda: live.reflector_metrics.troubles.value("v1/ConfigMap") >= known + 2)
                server.wake()
                await ensure(mine, "during")
                await ensure(mine, "after")
                for name in ("during", "after"):
                    await seen(mine, name, "2")
        told = [record.getMessage() for record in caplog.records]
        # Whether it was a watch or a write that noticed first, it is one outage.
        assert len([line for line in told if "cannot be followed" in line]) == 1, told
        assert len([line for line in told if "can be followed again" in line]) == 1, told
    finally:
        await transport.close()
        await mine.close()
        server.wake()
        await server.end()


@pytest.mark.slow
@awaited
async def test_a_token_that_has_run_out_holds_up_work_until_there_is_a_new_one(tmp_path: Path) -> None:
    server = Process(tmp_path)
    held, handed_out = [server.token], asyncio.Event()
    asked = 0

    async def refresh() -> bool:
        nonlocal asked
        asked += 1
        if not handed_out.is_set():
            return False
        held[0] = server.token
        return True

    access = Access(server.url, headers=lambda: {"Authorization": f"Bearer {held[0]}"}, refresh=refresh)
    mine = HttpTransport(Access(server.url, headers=lambda: {"Authorization": f"Bearer {server.token}"}))
    transport = HttpTransport(access)
    await server.start()
    try:
        async with at_work(Live([COPIER], transport, clock=now, grace=1.0)):
            await ensure(mine, "before")
            await seen(mine, "before", "2")
            server.replace_token()
            await ensure(mine, "after")
            # Its watch goes on, but nothing that it writes is taken.
            await until(lambda: asked >= 2)
            assert "seen" not in (await mine.get("v1", "ConfigMap", "default", "after"))["data"]
            handed_out.set()
            await seen(mine, "after", "2")
    finally:
        await transport.close()
        await mine.close()
        await server.end()


async def ensure(transport: HttpTransport, name: str) -> None:
    """Create, whatever happens to the server meanwhile."""
    while True:
        try:
            await transport.write(creation(config_map(name, copies="2")))
            return
        except (UnknownOutcome, Unreachable):
            await asyncio.sleep(0.05)
        except ApiError as error:
            if error.code != 409:
                raise
            return


async def seen(transport: HttpTransport, name: str, count: str) -> None:
    while True:
        try:
            found = await transport.get("v1", "ConfigMap", "default", name)
        except Unreachable:
            found = {}
        if found.get("data", {}).get("seen") == count:
            return
        await asyncio.sleep(0.02)
