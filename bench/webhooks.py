"""Webhooks under load: two hundred clients create pods at once on the embedded server, and a webhook of ours is asked.

Clients, API server and, where it is served over HTTPS, the webhook are processes of their own. What is told is how long
the webhook takes of a write, as the API server sees it, and how long the write takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mooring.kube.objects import Object

CLIENTS = 200
PODS = 4_000


def measured(how: str) -> dict[str, float]:
    """`how` is `none`, `direct` or `https`; milliseconds."""
    with tempfile.TemporaryDirectory() as folder, _started("serve", how) as server:
        port = server.readline()
        if how != "https":
            return _loaded(server, port)
        with _started("webhook", port, folder) as webhook:
            webhook.readline()
            return _loaded(server, port)


def _loaded(server: _Child, port: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.webhooks", "load", port], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = {**json.loads(done.stdout), **json.loads(server.stop())}
    return found


class _Child:
    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "bench.webhooks", *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def readline(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def stop(self) -> str:
        """Ask it to end; the last thing it says."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self.readline()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def _started(*arguments: str) -> Iterator[_Child]:
    child = _Child(*arguments)
    try:
        yield child
    finally:
        child.kill()


def _spread(name: str, seconds: list[float]) -> dict[str, float]:
    if not seconds:
        return {f"{name} p50": 0.0, f"{name} p99": 0.0}
    ordered = sorted(seconds)
    return {
        f"{name} p50": ordered[len(ordered) // 2] * 1000,
        f"{name} p99": ordered[len(ordered) * 99 // 100] * 1000,
    }


# The webhook: that of pods of LeaderWorkerSets, with all it can be asked for but TPUs


def _webhook() -> Any:
    from mooring.features.groups.pods.webhook import POD_WEBHOOK

    return POD_WEBHOOK


# The processes


async def _serve(how: str) -> None:
    from mooring.apiserver.app import Application
    from mooring.apiserver.authentication.users import User
    from mooring.apiserver.server import Server
    from mooring.apiserver.webhooks.http import WebhookClient
    from mooring.registry import Registry
    from mooring.runtime.webhooks.direct import install

    took: list[float] = []
    registry = Registry(now=datetime.now(UTC))
    if how == "direct":
        install(registry, [_webhook()], clock=lambda: datetime.now(UTC))
        functions = registry.admission.mutating
        inner = functions[-1]

        def timed(request: Any, view: Any) -> Any:
            started = time.perf_counter()
            made = inner(request, view)
            took.append(time.perf_counter() - started)
            return made

        functions[-1] = timed
    post = WebhookClient.post

    async def timed_post(self: WebhookClient, *arguments: Any) -> Any:
        started = time.perf_counter()
        answer = await post(self, *arguments)
        took.append(time.perf_counter() - started)
        return answer

    WebhookClient.post = timed_post  # type: ignore[method-assign,assignment]
    user = User("bench", ("system:masters",))
    app = Application(registry, clock=lambda: datetime.now(UTC), authenticate=lambda _: user)
    sock = socket.create_server(("127.0.0.1", 0), backlog=CLIENTS * 2)
    server = Server(app)
    serving = asyncio.create_task(server.serve(sock))
    print(sock.getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(json.dumps(_spread("webhook", took)), flush=True)
    server.stop()
    await serving


def _transport(port: str, connections: int) -> Any:
    from mooring.client.access import Access
    from mooring.client.http import HttpTransport

    return HttpTransport(Access(f"http://127.0.0.1:{port}"), connections=connections)


async def _serve_webhook(port: str, folder: str) -> None:
    from mooring.client.transport import Request
    from mooring.runtime.webhooks.certificate_stores import CertificateFolder
    from mooring.runtime.webhooks.server import WebhookServer
    from mooring.runtime.webhooks.target import WebhookUrl

    transport = _transport(port, 4)
    free = socket.create_server(("127.0.0.1", 0))
    listen = free.getsockname()[1]
    free.close()
    server = WebhookServer(
        [_webhook()],
        transport,
        listen=("127.0.0.1", listen),
        target=WebhookUrl(f"https://127.0.0.1:{listen}"),
        store=CertificateFolder(Path(folder)),
    )
    await server.start()
    stop = asyncio.Event()
    running = asyncio.create_task(server.run(stop))
    # The first pod that comes back changed says that the API server calls.
    for number in range(1000):
        probe = _pod(PODS + number)
        made = await transport.write(Request("create", "v1", "Pod", "default", probe["metadata"]["name"], probe))
        if "leaderworkerset.sigs.k8s.io/worker-index" in made["metadata"]["labels"]:
            break
        await asyncio.sleep(0.01)
    print("ready", flush=True)
    await running


def _pod(number: int) -> Object:
    """A worker as its StatefulSet makes it."""
    prefix, leader = "leaderworkerset.sigs.k8s.io", f"serve-{number // 7}"
    labels = {"name": "serve", "group-index": str(number // 7), "group-key": "0123", "template-revision-hash": "b"}
    notes = {
        "size": "8",
        "leader-name": leader,
        "subgroup-size": "4",
        "subgroup-exclusive-topology": "rack",
        "replicaUniqueNodeSelector": "example.com/node-group",
        "replicaUniqueTolerationKey": "example.com/node-group",
        "replicaUniqueTolerationEffect": "NoSchedule",
    }
    container = {"name": "main", "image": "main:1", "resources": {"requests": {"cpu": "1"}}}
    metadata = {
        "name": f"{leader}-{number % 7 + 1}",
        "labels": {f"{prefix}/{key}": value for key, value in labels.items()},
        "annotations": {f"{prefix}/{key}": value for key, value in notes.items()},
    }
    return {"metadata": metadata, "spec": {"containers": [container], "subdomain": "serve"}}


async def _load(port: str) -> None:
    from mooring.client.transport import Request

    transport = _transport(port, CLIENTS)
    took: list[float] = []
    names = iter(range(PODS))

    async def client() -> None:
        for number in names:
            pod = _pod(number)
            started = time.perf_counter()
            made = await transport.write(Request("create", "v1", "Pod", "default", pod["metadata"]["name"], pod))
            took.append(time.perf_counter() - started)
            assert made["metadata"]["uid"]

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    speed = PODS / (time.perf_counter() - began)
    await transport.close()
    print(json.dumps(_spread("write", took) | {"speed": speed}))


def main() -> None:
    import uvloop

    match sys.argv[1:]:
        case ["serve", how]:
            uvloop.run(_serve(how))
        case ["webhook", port, folder]:
            uvloop.run(_serve_webhook(port, folder))
        case ["load", port]:
            uvloop.run(_load(port))
        case hows:
            for how in hows or ("none", "direct", "https"):
                print(how, {name: round(value, 2) for name, value in measured(how).items()})


if __name__ == "__main__":
    main()
