"""A process node with real processes over an API in memory."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mooring.client.inprocess import AsyncInProcess
from mooring.kube.objects import Object
from mooring.nodes.process.containers.environment.service_links import ApiAddress
from mooring.nodes.process.containers.proc import mark_of
from mooring.nodes.process.containers.sandbox.machine_view import sandbox_problem
from mooring.nodes.process.gpus import Gpu
from mooring.nodes.process.kubelet import Kubelet
from mooring.nodes.process.logs import LogOptions, read_log
from mooring.nodes.process.machine_info import MachineInfo
from mooring.nodes.process.registration import NodeRegistration
from mooring.registry import MemoryStorage, Registry

WAIT_SECONDS = 20.0
NODE = "here"
API = ApiAddress("127.0.0.1", 7443)
LINUX = sys.platform.startswith("linux")
WHY_NOT = sandbox_problem() if LINUX else "only Linux has sandboxes"

# In CI a missing sandbox is a failure, not an excuse.
needs_sandbox = pytest.mark.skipif(bool(WHY_NOT) and not os.environ.get("CI"), reason=WHY_NOT or "there is a sandbox")


def here(*gpus: Gpu) -> MachineInfo:
    return MachineInfo(NODE, "127.0.0.1", 4, 8 << 30, "amd64", "linux", "6.1", "Debian", "m", "b", 100 << 30, gpus)


def shell(script: str, name: str = "main", **more: Any) -> Object:
    return {"name": name, "image": "busybox", "command": ["sh", "-c", script], **more}


class Home:
    """An API in memory with one process node; verbs that create pods and wait for their state."""

    def __init__(self, folder: Path, problem: str, *gpus: Gpu) -> None:
        self.folder = folder
        self.registry = Registry(MemoryStorage(), now=_now())
        self.transport = AsyncInProcess(self.registry, _now)
        self.agent = Kubelet(self.transport, here(*gpus), folder, mark_of(folder), problem, API)
        self.registration = NodeRegistration(self.transport, here(*gpus), 1, _now)

    def create(self, obj: Object, kind: str = "Pod") -> Object:
        metadata = {"namespace": "default", **obj["metadata"]}
        body = {"apiVersion": "v1", "kind": kind, **obj, "metadata": metadata}
        return self.registry.create(self.registry.resource("v1", kind), body, now=_now())

    def pod(self, name: str, *containers: Object, **spec: Any) -> Object:
        """Create a pod that is bound to this node."""
        spec = {"nodeName": NODE, "terminationGracePeriodSeconds": 5, "containers": list(containers), **spec}
        return self.create({"metadata": {"name": name}, "spec": spec})

    def get(self, name: str, kind: str = "Pod") -> Object:
        return self.registry.get(self.registry.resource("v1", kind), "default", name)

    def delete(self, name: str, grace: int | None = None) -> None:
        self.registry.delete(self.registry.resource("v1", "Pod"), "default", name, now=_now(), grace=grace)

    def exists(self, name: str) -> bool:
        listed = self.registry.list(self.registry.resource("v1", "Pod")).items
        return any(each["metadata"]["name"] == name for each in listed)

    def events(self, name: str) -> list[str]:
        """Reason and message of every event about a pod."""
        listed = self.registry.list(self.registry.resource("v1", "Event")).items
        return [f"{each['reason']}: {each['message']}" for each in listed if each["involvedObject"]["name"] == name]

    def container(self, pod: str, name: str = "main") -> Object:
        status = self.get(pod)["status"]
        found = [*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ())]
        return next(each for each in found if each["name"] == name)

    async def until(self, look: Callable[[], Any], what: str = "") -> Any:
        """What `look` finds, as soon as it finds something."""
        loop = asyncio.get_running_loop()
        end = loop.time() + WAIT_SECONDS
        while loop.time() < end:
            try:
                if found := look():
                    return found
            except (KeyError, StopIteration, IndexError):
                pass
            await asyncio.sleep(0.01)
        pods = {each["metadata"]["name"]: each["status"] for each in self.registry.list(self._pods).items}
        raise AssertionError(f"not within {WAIT_SECONDS:.0f} s: {what}; pods: {pods}")

    @property
    def _pods(self) -> Any:
        return self.registry.resource("v1", "Pod")

    async def phase(self, name: str, phase: str) -> Object:
        await self.until(lambda: self.get(name)["status"].get("phase") == phase, f"{name} is {phase}")
        return self.get(name)

    async def gone(self, name: str) -> None:
        await self.until(lambda: not self.exists(name), f"{name} is gone")

    async def log(self, pod: str, container: str = "main", *, previous: bool = False, **options: Any) -> str:
        path, writer = self.agent.log_of("default", pod, container, previous=previous)
        return b"".join([data async for data in read_log(path, LogOptions(**options), writer)]).decode()


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def home(
    folder: Path, *, problem: str = "", before: Home | None = None, gpus: Sequence[Gpu] = ()
) -> AsyncIterator[Home]:
    """A node at work. With `before` it is the next one over the same API and folder."""
    found = Home(folder, problem, *gpus)
    if before is not None:
        found.registry, found.transport = before.registry, before.transport
        found.agent = Kubelet(found.transport, here(*gpus), folder, mark_of(folder), problem, API)
        found.registration = NodeRegistration(found.transport, here(*gpus), 1, _now)
    found.agent.node = await found.registration.ensure()
    stop = asyncio.Event()
    running = asyncio.create_task(found.agent.run(found.registration, stop))
    try:
        yield found
    finally:
        stop.set()
        await running


def play(story: Callable[[Home], Awaitable[None]], folder: Path, *, problem: str = "") -> None:
    async def main() -> None:
        async with home(folder, problem=problem) as found:
            await story(found)

    asyncio.run(main())
