"""The REST API for people: how long lists take on a large cluster, and what a stream for two hundred clients costs.

An API server with the objects in memory and the REST server are one process, the clients another. Every change carries
the moment it was written, so that each client tells how late it heard of it.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from bench.measured_clusters import cpu_seconds, memory
from bench.wire import quantile
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.client.transport import Request

NODES, PODS = 1_000, 10_000
CLIENTS, PER_SECOND = 200, 100
_REQUESTS = 200
_HEAD = "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer any\r\n\r\n"
_HEARD = re.compile(rb'"type":"ADDED","object":\{[^}]*"message":"sent ([0-9.]+)"')


def measured(nodes: int = NODES, pods: int = PODS, seconds: float = 5.0) -> dict[str, float]:
    """Milliseconds of requests, what clients of a stream heard and how late, and CPU seconds a second meanwhile."""
    with serving(nodes, pods) as server:
        return asyncio.run(_measure(server, seconds))


class RestUnderTest(NamedTuple):
    """The process of both servers, and where each answers."""

    pid: int
    api: str
    rest: str


@contextmanager
def serving(nodes: int, pods: int) -> Iterator[RestUnderTest]:
    command = [sys.executable, "-m", "bench.rest", str(nodes), str(pods)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        if not told:
            raise RuntimeError("the server could not begin")
        yield RestUnderTest(process.pid, **json.loads(told))
    finally:
        process.kill()
        process.communicate()


async def _measure(server: RestUnderTest, seconds: float) -> dict[str, float]:
    url = urlsplit(server.rest)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    found: dict[str, float] = {}
    for name in ("nodes", "workloads"):
        started = time.perf_counter()
        size = await _ask(reader, writer, f"/api/{name}", url.netloc)
        found[f"{name} first"] = (time.perf_counter() - started) * 1000
        found[f"{name} kB"] = size / 1000
        taken = []
        for _ in range(_REQUESTS):
            started = time.perf_counter()
            await _ask(reader, writer, f"/api/{name}", url.netloc)
            taken.append((time.perf_counter() - started) * 1000)
        found[f"{name} p50"], found[f"{name} p99"] = quantile(sorted(taken), 0.5), quantile(sorted(taken), 0.99)
    writer.close()
    found["MiB"] = memory(server.pid)
    before = cpu_seconds(server.pid)
    found |= await _stream(server.api, url.hostname or "", url.port or 0, int(PER_SECOND * seconds))
    found["cpu"] = (cpu_seconds(server.pid) - before) / seconds
    return found


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, host: str) -> int:
    writer.write(_HEAD.format(path=path, host=host).encode())
    head = await reader.readuntil(b"\r\n\r\n")
    found = re.search(rb"content-length: (\d+)", head.lower())
    assert found is not None, "The answer does not say how long it is."
    length = int(found[1])
    await reader.readexactly(length)
    return length


async def _stream(api: str, host: str, port: int, count: int) -> dict[str, float]:
    ready = asyncio.Event()
    connected = 0

    async def client() -> list[float]:
        nonlocal connected
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(_HEAD.format(path="/api/stream?topics=events", host=f"{host}:{port}").encode())
        late: list[float] = []
        rest, began = b"", False
        while len(late) < count:
            part = await reader.read(1 << 16)
            now = time.monotonic()
            whole, _, rest = (rest + part).rpartition(b"\n\n")
            if not began and b"RESET" in whole:
                began = True
                connected += 1
                if connected == CLIENTS:
                    ready.set()
            late += [(now - float(each)) * 1000 for each in _HEARD.findall(whole)]
        writer.close()
        return late

    clients = [asyncio.create_task(client()) for _ in range(CLIENTS)]
    await ready.wait()
    transport = HttpTransport(Access(api))
    begin = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(begin + number / PER_SECOND - time.monotonic(), 0))
        body = {
            "metadata": {"name": f"e{number}", "namespace": "default"},
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"},
            "message": f"sent {time.monotonic():.6f}",
        }
        await transport.write(Request("create", "v1", "Event", "default", f"e{number}", body))
    done, missing = await asyncio.wait(clients, timeout=10)
    await transport.close()
    for each in missing:
        each.cancel()
    late = sorted(delay for each in done for delay in each.result())
    return {
        "lost": float(CLIENTS * count - len(late)),
        "late p50": quantile(late, 0.5),
        "late p99": quantile(late, 0.99),
    }


# The server


def _objects(nodes: int, pods: int) -> list[dict[str, Any]]:
    capacity = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
    status = {"allocatable": capacity, "conditions": [{"type": "Ready", "status": "True"}]}
    found: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"gpu-{n:05}"}, "spec": {}, "status": status}
        for n in range(nodes)
    ]
    return [*found, *(pod(n, nodes) for n in range(pods))]


def pod(number: int, nodes: int) -> dict[str, Any]:
    """A running pod; the first eight of every node hold a GPU each."""
    amounts = {"cpu": "1", "nvidia.com/gpu": "1"}
    resources = dict.fromkeys(("limits", "requests"), amounts) if number < 8 * nodes else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{number:05}", "namespace": "default"},
        "spec": {
            "nodeName": f"gpu-{number % nodes:05}",
            "containers": [{"name": "main", "image": "x:1", "resources": resources}],
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _serve(nodes: int, pods: int) -> None:
    from mooring.apiserver.app import Application
    from mooring.apiserver.authentication.users import User
    from mooring.apiserver.server import Server
    from mooring.registry import MemoryStorage, Registry
    from mooring.runway.rest.app import rest_app
    from mooring.runway.rest.callers import Callers
    from mooring.runway.rest.server import rest_server
    from mooring.runway.rest.service import RestService, ServiceFacts

    storage = MemoryStorage()
    registry = Registry(storage, now=datetime.now(UTC))
    stores = {(each.api_version, each.kind): each.store for each in registry.resources}
    for obj in _objects(nodes, pods):
        metadata, revision = obj["metadata"], storage.revision + 1
        known = {**metadata, "uid": f"{obj['kind']}-{metadata['name']}", "resourceVersion": str(revision)}
        where = (metadata.get("namespace", ""), metadata["name"])
        storage.put(stores[obj["apiVersion"], obj["kind"]], *where, {**obj, "metadata": known}, revision)
    api, people = (socket.create_server(("127.0.0.1", 0), backlog=1024) for _ in range(2))
    user = User("bench", ("system:masters",))
    app = Application(registry, clock=lambda: datetime.now(UTC), authenticate=lambda header: user)
    threading.Thread(target=lambda: asyncio.run(Server(app).serve(api)), daemon=True).start()
    urls = {"api": f"http://127.0.0.1:{api.getsockname()[1]}", "rest": f"http://127.0.0.1:{people.getsockname()[1]}"}

    async def serve() -> None:
        service = RestService(Callers(Access(urls["api"])), ServiceFacts(urls["api"], "bench", "mooring"))
        await rest_server(rest_app(service)).serve(sockets=[people])

    print(json.dumps(urls), flush=True)
    from mooring.runtime.drivers.eventloop import run

    run(serve())


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]))
