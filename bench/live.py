"""The live driver at size, over HTTP: a large cluster taken in, and events to reconciles.

The server is a process of its own that sends bytes it has made ready before, so that what is measured is the client.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.snapshots import NODES, PODS, prepare

EVENTS = 20_000
WATCHED = 2_000


def measured(what: str, folder: Path) -> dict[str, float]:
    """Server and client each in a process of their own."""
    fleet = str(prepare(folder, "json"))
    server = subprocess.Popen(
        [sys.executable, "-m", "bench.live", "serve", what, fleet], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        command = [sys.executable, "-m", "bench.live", what, port]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    finally:
        server.kill()
        server.wait()
    found: dict[str, float] = json.loads(done.stdout)
    return found


# The server


class Stub:
    """Answers lists of pods and nodes in pages, and watches of pods with events as fast as they are read."""

    def __init__(self, items: dict[str, list[bytes]], events: int) -> None:
        self._items = items
        pods = items["pods"][:WATCHED]
        # Each event has a version and a phase of its own: something has changed every time.
        self._events = [
            b'{"type":"MODIFIED","object":'
            + pods[number % len(pods)]
            .replace(b'"resourceVersion":"1"', b'"resourceVersion":"%d"' % (number + 10))
            .replace(b'"phase":"Running"', b'"phase":"Phase%d"' % number)
            + b"}\n"
            for number in range(events)
        ]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                path, _, query = head.split()[1].partition("?")
                options = dict(pair.split("=") for pair in query.split("&"))
                if "watch" in options:
                    await self._watch(writer, path.endswith("pods"))
                else:
                    self._page(writer, path.rpartition("/")[2], int(options["limit"]), int(options.get("continue", 0)))
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _page(self, writer: asyncio.StreamWriter, plural: str, limit: int, start: int) -> None:
        items = self._items.get(plural, [])
        end = start + limit
        more = b',"continue":"%d"' % end if end < len(items) else b""
        body = b'{"metadata":{"resourceVersion":"5"%b},"items":[%b]}' % (more, b",".join(items[start:end]))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))

    async def _watch(self, writer: asyncio.StreamWriter, sends: bool) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        if sends:
            # The keys that the list woke have run by then.
            await asyncio.sleep(1)
            for event in self._events:
                writer.write(b"%x\r\n%b\r\n" % (len(event), event))
                await writer.drain()
        await asyncio.sleep(3600)


def serve(what: str, fleet: str) -> None:
    import msgspec

    class Item(msgspec.Struct):
        kind: str

    whole = msgspec.json.decode(Path(fleet).read_bytes(), type=dict[str, msgspec.Raw])
    items: dict[str, list[bytes]] = {"pods": [], "nodes": []}
    for raw in msgspec.json.decode(whole["items"], type=list[msgspec.Raw]):
        plural = {"Pod": "pods", "Node": "nodes"}.get(msgspec.json.decode(raw, type=Item).kind)
        if plural is not None and not (what == "events" and len(items[plural]) >= WATCHED):
            obj: dict[str, Any] = msgspec.json.decode(raw)
            obj["metadata"]["resourceVersion"] = "1"
            items[plural].append(msgspec.json.encode(obj))
    stub = Stub(items, EVENTS if what == "events" else 0)

    async def main() -> None:
        server = await asyncio.start_server(stub.handle, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(main())


# The client


async def load(port: int) -> dict[str, float]:
    """From nothing to every pod and node in view."""
    from mooring.runtime.controller import Controller
    from mooring.runtime.decision import Decision
    from mooring.workloads.kinds import NODE, POD

    idle = Controller("idle", lambda key, view, now: Decision(), reads=(POD, NODE))
    started = time.perf_counter()
    live, stop, task = _start(port, idle)
    while live.missing:
        await asyncio.sleep(0.001)
    seconds = time.perf_counter() - started
    # A few pods of the fleet have the same name.
    assert len(live.dispatcher.stores[POD]) > 0.99 * PODS
    assert len(live.dispatcher.stores[NODE]) == NODES
    stop.set()
    await task
    return {"seconds": seconds, "peak": _peak()}


async def events(port: int) -> dict[str, float]:
    """Events of a watch to runs of a controller that reads its pod and writes nothing."""
    from mooring.api.kinds import Key
    from mooring.runtime.controller import Controller
    from mooring.runtime.decision import Decision
    from mooring.runtime.view import View
    from mooring.workloads.kinds import POD

    ran = 0

    def reconcile(key: Key, view: View, now: object) -> Decision:
        nonlocal ran
        view.get(POD, *key)
        ran += 1
        return Decision()

    live, stop, task = _start(port, Controller("counting", reconcile, of=POD))
    while ran < WATCHED:
        await asyncio.sleep(0.001)
    before = ran
    while not live.reflector_metrics.events.value("v1/Pod"):
        await asyncio.sleep(0)
    started = time.perf_counter()
    while live.reflector_metrics.events.value("v1/Pod") < EVENTS or len(live.dispatcher.queue):
        await asyncio.sleep(0)
    seconds = time.perf_counter() - started
    stop.set()
    await task
    return {"speed": EVENTS / seconds, "runs": ran - before, "peak": _peak()}


def _start(port: int, controller: Any) -> tuple[Any, asyncio.Event, asyncio.Task[None]]:
    from mooring.client.access import Access
    from mooring.client.http import HttpTransport
    from mooring.runtime.drivers.live import Live

    live = Live([controller], HttpTransport(Access(f"http://127.0.0.1:{port}")))
    stop = asyncio.Event()
    return live, stop, asyncio.create_task(live.run(stop))


def _peak() -> float:
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def main(arguments: list[str]) -> None:
    if arguments[0] == "serve":
        serve(*arguments[1:])
        return
    from mooring.runtime.drivers.eventloop import run

    print(json.dumps(run({"load": load, "events": events}[arguments[0]](int(arguments[1])))))


if __name__ == "__main__":
    main(sys.argv[1:])
