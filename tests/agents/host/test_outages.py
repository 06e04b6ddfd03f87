"""The agent while its API server is away: it waits, resumes its watch, and frees its host once the server is back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mooring.agents.host import process
from mooring.agents.host.agent import HostAgent
from mooring.agents.host.detection.hardware import Hardware
from mooring.agents.host.process import AgentHealth
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.services.service import NodeService
from mooring.agents.host.settings import AgentSettings
from mooring.api.crds.resource import definition
from mooring.client.inprocess import AsyncInProcess
from mooring.client.transport import EVERYTHING, Batch, Page, Request, Scope, UnknownOutcome, Unreachable
from mooring.features.hosts.api.definitions import BYO_HOSTS
from mooring.features.hosts.api.names import API_VERSION, UNREGISTERING
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.registry import Registry
from mooring.runtime.drivers.health import answer

HARDWARE = Hardware("linux", "Debian GNU/Linux 12 (bookworm)", "amd64", 2, 1024)
SECONDS = 10.0


def now() -> datetime:
    return datetime.now(UTC)


class Outage(AsyncInProcess):
    """A server that can be away, and that can lose the answer to a write that it carried out."""

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry, now)
        self.away = asyncio.Event()
        self.back = asyncio.Event()
        self.back.set()
        self.loses_next_answer = False
        self.written: list[Request] = []

    def leave(self) -> None:
        self.away.set()
        self.back.clear()

    def come_back(self) -> None:
        self.away.clear()
        self.back.set()

    def _reached(self) -> None:
        if self.away.is_set():
            raise Unreachable("the server is away")

    async def get(
        self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False
    ) -> Object:
        self._reached()
        return await super().get(api_version, kind, namespace, name, metadata_only=metadata_only)

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        self._reached()
        async for page in super().list(api_version, kind, scope):
            yield page

    async def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        self._reached()
        stream = super().watch(api_version, kind, resource_version, scope)
        try:
            while True:
                batch = asyncio.ensure_future(anext(stream))
                leaving = asyncio.create_task(self.away.wait())
                await asyncio.wait((batch, leaving), return_when=asyncio.FIRST_COMPLETED)
                leaving.cancel()
                if not batch.done():
                    batch.cancel()
                    await asyncio.gather(batch, return_exceptions=True)
                    raise Unreachable("the watch was cut off")
                yield batch.result()
        finally:
            await stream.aclose()

    async def write(self, request: Request) -> Object:
        self._reached()
        found = await super().write(request)
        self.written.append(request)
        if self.loses_next_answer and request.verb == "patch":
            self.loses_next_answer = False
            raise UnknownOutcome("the answer was lost")
        return found


class NoServices:
    """A machine on which no service was ever started."""

    async def ensure(self, service: NodeService) -> None:
        raise AssertionError(service.name)

    async def is_running(self, name: str) -> bool:
        return False

    async def stop(self, name: str) -> None:
        return

    async def stop_pods(self) -> None:
        return

    async def close(self) -> None:
        return


class AgentInOutages:
    def __init__(self, folder: Path) -> None:
        self.registry = Registry(now=now())
        crds = self.registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        self.registry.create(crds, definition(BYO_HOSTS), now=now())
        self.server = Outage(self.registry)
        root = RootFolder(folder)
        root.prepare()
        # No program is found below an empty folder and no PATH, so that every install fails.
        settings = AgentSettings("node10", "default", root, folder / "bundles", skip_installation=True)
        self.agent = HostAgent(settings, HARDWARE, self.server, NoServices(), now)
        self.stop = asyncio.Event()

    @property
    def _resource(self) -> Any:
        return self.registry.resource(API_VERSION, "ByoHost")

    def host(self) -> Object:
        try:
            return self.registry.get(self._resource, "default", "node10")
        except NotFoundError:
            return {}

    def patch(self, body: Object, subresource: str = "") -> None:
        self.registry.patch(
            self._resource, "default", "node10", "merge", body, now=now(), subresource=subresource, manager="test"
        )

    def condition(self, kind: str) -> Object:
        found = (self.host().get("status") or {}).get("conditions") or ()
        return next((each for each in found if each["type"] == kind), {})

    async def until(self, holds: Callable[[], object], what: str) -> None:
        async with asyncio.timeout(SECONDS):
            while not holds():
                await asyncio.sleep(0.01)


def played(folder: Path, story: Callable[[AgentInOutages], Coroutine[Any, Any, None]]) -> None:
    async def play() -> None:
        played = AgentInOutages(folder)
        running = asyncio.create_task(played.agent.run(played.stop))
        try:
            await story(played)
        finally:
            played.stop.set()
            await asyncio.wait_for(running, SECONDS)

    asyncio.run(play())


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mooring.agents.host.host_work.search_path", lambda _: "/nonexistent")


def test_an_agent_that_starts_before_its_server_registers_when_it_is_there(short_path: Path) -> None:
    async def story(played: AgentInOutages) -> None:
        await played.until(lambda: played.condition("HostClean").get("status") == "True", "a registered host")
        health = AgentHealth(played.agent.client, HARDWARE)
        assert answer("/readyz", health).status == 200
        assert 'byoh_agent_info{version="' in answer("/metrics", health).text

    async def begun_away(played: AgentInOutages) -> None:
        played.server.leave()
        await asyncio.sleep(0.2)
        assert answer("/readyz", AgentHealth(played.agent.client, HARDWARE)).status == 503
        played.server.come_back()
        await story(played)

    played(short_path, begun_away)


def test_a_release_that_is_asked_for_while_the_server_is_away_is_done_and_told_once_it_is_back(
    short_path: Path,
) -> None:
    async def story(played: AgentInOutages) -> None:
        await played.until(lambda: played.condition("HostClean").get("status") == "True", "a registered host")
        reference = {"kind": "ByoMachine", "name": "worker-1", "namespace": "default", "uid": "uid-1"}
        played.patch({"status": {"machineRef": reference}}, "status")
        played.patch({"spec": {"joinMode": "tlsBootstrap", "bootstrapSecret": {"name": "b"}}})
        kind = "K8sComponentsInstallationSucceeded"
        await played.until(lambda: "is not on this machine" in played.condition(kind).get("message", ""), "a failure")

        played.server.leave()
        await asyncio.sleep(0.05)
        played.patch({"metadata": {"annotations": {UNREGISTERING: ""}}})
        played.server.written.clear()
        played.server.loses_next_answer = True
        played.server.come_back()
        await played.until(lambda: "machineRef" not in played.host()["status"], "a released host")
        await played.until(lambda: not played.server.loses_next_answer, "a lost answer")
        await played.until(lambda: not (short_path / "agent" / "journal.json").exists(), "a journal without a claim")
        freeing = [request for request in played.server.written if request.verb == "patch"]
        # Written twice, because the answer to the first was lost; each decided on what was just read.
        assert all(request.resource_version for request in freeing)
        assert played.condition("HostClean")["status"] == "True"
        assert played.condition(kind) == {}

    played(short_path, story)


def test_one_agent_at_a_time_has_a_folder(short_path: Path) -> None:
    root = RootFolder(short_path)
    root.prepare()
    settings = AgentSettings("node10", "default", root, short_path)
    with process.only_agent(settings), pytest.raises(Exception, match="another agent"), process.only_agent(settings):
        pass
    with process.only_agent(settings):
        pass
