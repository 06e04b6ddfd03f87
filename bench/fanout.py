"""Watch fan-out: a writer that keeps its pace, a hundred watchers that each must hear of every write.

Writer and watchers are processes of their own. Every write carries the moment it was sent, and the first of the
watchers tells how late it heard.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import statistics
import subprocess
import sys
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from bench.wire import ApiEndpoint, Wire, quantile

WATCHERS = 100
PER_SECOND = 300
_WRITERS = 4
_PATH = "/api/v1/namespaces/default/configmaps"
_WAIT_SECONDS = 10.0


def measured(endpoint: ApiEndpoint, seconds: float) -> dict[str, float]:
    """What was lost, how late the rest came, and what pace was kept."""
    wire = Wire(endpoint)
    for number in range(_WRITERS):
        path = f"{_PATH}/fanout-{number}"
        if wire.ask(wire.request("GET", path))[0] == 404:
            wire.call("POST", _PATH, {"metadata": {"name": f"fanout-{number}", "labels": {"fan": "out"}}})
    wire.close()
    count = int(PER_SECOND * seconds)
    watchers = _role("watch", endpoint, count, stdin=subprocess.PIPE)
    assert watchers.stdout is not None
    if not watchers.stdout.readline():
        raise RuntimeError("the watchers could not begin")
    writer = _role("write", endpoint, count)
    written, _ = writer.communicate()
    heard, _ = watchers.communicate("")
    found: dict[str, float] = {**json.loads(written), **json.loads(heard)}
    return found


def _role(role: str, endpoint: ApiEndpoint, count: int, stdin: int | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.fanout", role, endpoint.text(), str(count)]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True)


# The writer


def write(endpoint: ApiEndpoint, count: int) -> dict[str, float]:
    """So many patches, each at its moment; several connections, so that a slow answer delays no other request."""
    wires = [Wire(endpoint) for _ in range(_WRITERS)]
    begin = time.monotonic() + 0.05
    threads = [threading.Thread(target=_pace, args=(wire, i, begin, count)) for i, wire in enumerate(wires)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"pace": count / (time.monotonic() - begin)}


def _pace(wire: Wire, first: int, begin: float, count: int) -> None:
    for number in range(first, count, _WRITERS):
        wait = begin + number / PER_SECOND - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        body = b'{"data":{"n":"%d","sent":"%.6f"}}' % (number, time.monotonic())
        code, answer = wire.ask(wire.request("PATCH", f"{_PATH}/fanout-{first}", body, "application/merge-patch+json"))
        if code != 200:
            raise RuntimeError(f"a write was refused with {code}: {answer[:300]!r}")


# The watchers


class _Watcher(asyncio.Protocol):
    """Counts the events that come; with `times` it also notes how late each was."""

    def __init__(self, request: bytes, times: bool, tell: Any) -> None:
        self.count = 0
        self.begun = False
        self.delays: list[float] | None = [] if times else None
        self._request, self._tell = request, tell
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self.begun = True
        whole, newline, rest = (self._rest + data).rpartition(b"\n")
        if not newline:
            self._rest += data
            return
        self._rest = rest
        self.count += whole.count(b'"type":"MODIFIED"')
        if self.delays is not None:
            now = time.monotonic()
            for part in whole.split(b'"sent":"')[1:]:
                self.delays.append((now - float(part[: part.index(b'"')])) * 1000)
        self._tell()


async def watch(endpoint: ApiEndpoint, count: int) -> dict[str, float]:
    loop = asyncio.get_running_loop()
    news = asyncio.Event()
    url = urlsplit(endpoint.url)
    trust = ssl.create_default_context(cafile=endpoint.ca)
    one = Wire(endpoint)
    version = one.call("GET", f"{_PATH}?limit=1")["metadata"]["resourceVersion"]
    request = one.request("GET", f"{_PATH}?watch=1&resourceVersion={version}&labelSelector=fan%3Dout")
    watchers = []
    for number in range(WATCHERS):
        _, watcher = await loop.create_connection(
            lambda first=number == 0: _Watcher(request, first, news.set),  # type: ignore[misc]
            url.hostname or "",
            url.port or 443,
            ssl=trust,
        )
        watchers.append(watcher)
    while not all(watcher.begun for watcher in watchers):
        await asyncio.sleep(0.01)
    print("watching", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    deadline = loop.time() + _WAIT_SECONDS
    while any(watcher.count < count for watcher in watchers) and loop.time() < deadline:
        news.clear()
        try:
            await asyncio.wait_for(news.wait(), 0.5)
        except TimeoutError:
            continue
    delays = watchers[0].delays or [float("inf")]
    lost = sum(max(count - watcher.count, 0) for watcher in watchers)
    return {"lost": lost, "p50": statistics.median(delays), "p99": quantile(delays, 0.99)}


def main(role: str, endpoint: str, count: str) -> None:
    if role == "write":
        print(json.dumps(write(ApiEndpoint.of(endpoint), int(count))))
        return
    from mooring.runtime.drivers.eventloop import run

    print(json.dumps(run(watch(ApiEndpoint.of(endpoint), int(count)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
