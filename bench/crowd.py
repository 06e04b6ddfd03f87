"""One user's requests while a crowd of connections does its worst: slow senders, huge heads, deaf watchers.

The crowd is a process of its own. Nearly all of it has a good token, so that no limit for strangers keeps it out; each
of its connections has been answered once before it turns bad.
"""

from __future__ import annotations

import json
import resource
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from bench.measured_clusters import MeasuredCluster, embedded, memory
from bench.rows import Row
from bench.wire import ApiEndpoint, Wire, quantile

CONNECTIONS = 7_000
SECONDS = 10.0
# Both ends of a connection, where the server is started from here, and what else is open.
_DESCRIPTORS = CONNECTIONS + 1_000
_THREADS = 16
_HEAD_BYTES = 200_000
_EVENT_BYTES = 20_000
_EVENTS_PER_SECOND = 10
_CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
_MERGE = "application/merge-patch+json"


def rows(quick: bool) -> list[Row]:
    count = CONNECTIONS // 10 if quick else CONNECTIONS
    found = measured(count, SECONDS)
    what = f"another user's request among {count:,} slow senders, huge heads, deaf watchers and idle connections"
    return [
        Row(f"{what}, p50", found["p50"], "ms"),
        Row("the same, p99", found["p99"], "ms", 200),
        Row("the same, the longest", found["worst"], "ms"),
        Row("descriptors of the API server with them", found["open"], "files"),
        Row("memory of the API server with them", found["memory"], "MiB"),
    ]


def measured(connections: int, seconds: float) -> dict[str, float]:
    """Milliseconds of another user's reads and writes from the first bad connection on, and MiB of the server."""
    _raise_descriptor_limit()
    with (
        tempfile.TemporaryDirectory(prefix="mooring-bench-") as name,
        embedded(Path(name) / "crowd", 1) as running,
    ):
        user = _another_user(running.endpoint)
        with _requests_of(user) as took:
            with _crowd(running.endpoint, connections), _events(running.endpoint):
                time.sleep(seconds)
                found = {"open": float(_open(running)), "memory": memory(running.pids["server"])}
            times = list(took)
        return {"p50": quantile(times, 0.5), "p99": quantile(times, 0.99), "worst": max(times), **found}


def _raise_descriptor_limit() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(most, _DESCRIPTORS),) * 2)
    except (OSError, ValueError):
        raise RuntimeError(
            f"{_DESCRIPTORS:,} descriptors are needed and {most:,} are allowed; raise it with ulimit -Hn"
        ) from None


def _another_user(endpoint: ApiEndpoint) -> ApiEndpoint:
    wire = Wire(endpoint)
    base = "/api/v1/namespaces/default/serviceaccounts"
    wire.call("POST", base, {"metadata": {"name": "other"}})
    subject = {"kind": "ServiceAccount", "name": "other", "namespace": "default"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    binding = {"metadata": {"name": "other"}, "roleRef": role, "subjects": [subject]}
    wire.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
    for name in ("mine", "told"):
        wire.call("POST", _CONFIGMAPS, {"metadata": {"name": name}})
    token = wire.call("POST", f"{base}/other/token", {"spec": {}})["status"]["token"]
    wire.close()
    return endpoint._replace(token=token)


@contextmanager
def _requests_of(endpoint: ApiEndpoint) -> Iterator[list[float]]:
    """A read and a write every twenty milliseconds, and how long each took."""
    took: list[float] = []
    over = threading.Event()
    wire = Wire(endpoint)
    requests = (
        wire.request("GET", f"{_CONFIGMAPS}/mine"),
        wire.request("PATCH", f"{_CONFIGMAPS}/mine", b'{"data":{"a":"b"}}', _MERGE),
    )

    def ask() -> None:
        while not over.wait(0.02):
            for request in requests:
                started = time.perf_counter()
                code, answer = wire.ask(request)
                took.append((time.perf_counter() - started) * 1000)
                if code != 200:
                    raise RuntimeError(f"the other user was answered {code}: {answer[:300]!r}")

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask)
        try:
            yield took
        finally:
            over.set()
        asking.result()
    wire.close()


@contextmanager
def _events(endpoint: ApiEndpoint) -> Iterator[None]:
    """What the deaf watchers are told."""
    over = threading.Event()
    wire = Wire(endpoint)

    def write() -> None:
        number = 0
        while not over.wait(1 / _EVENTS_PER_SECOND):
            number += 1
            body = json.dumps({"data": {"a": f"{number}-{'x' * _EVENT_BYTES}"}}).encode()
            wire.ask(wire.request("PATCH", f"{_CONFIGMAPS}/told", body, _MERGE))

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        wire.close()


@contextmanager
def _crowd(endpoint: ApiEndpoint, connections: int) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.crowd", endpoint.text(), str(connections)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        if not process.stdout.readline():
            raise RuntimeError("the crowd could not connect")
        yield
    finally:
        process.communicate("")


def _open(running: MeasuredCluster) -> int:
    return sum(1 for _ in Path(f"/proc/{running.pids['server']}/fd").iterdir())


# The crowd


class _Crowd:
    def __init__(self, endpoint: ApiEndpoint) -> None:
        url = urlsplit(endpoint.url)
        self._address = url.hostname or "", url.port or 443
        self._tls = ssl.create_default_context(cafile=endpoint.ca)
        known = f"Host: {url.netloc}\r\nAuthorization: Bearer {endpoint.token}\r\n"
        self._greeting = f"GET /version HTTP/1.1\r\n{known}\r\n".encode()
        self._beginning = f"POST {_CONFIGMAPS} HTTP/1.1\r\n{known}".encode()
        self._watch = f"GET {_CONFIGMAPS}?watch=1 HTTP/1.1\r\n{known}\r\n".encode()
        self.slow: list[ssl.SSLSocket] = []
        self.others: list[ssl.SSLSocket] = []

    def join(self, number: int) -> None:
        """One more connection: a slow sender, a huge head, a deaf watcher, one that stays idle, and a stranger."""
        with suppress(OSError):
            plain = socket.socket()
            # Little room in the kernel, so that what is not read stays in the server.
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.settimeout(60)
            plain.connect(self._address)
            sock = self._tls.wrap_socket(plain, server_hostname=self._address[0])
            part = number % 5
            if part < 4:
                sock.sendall(self._greeting)
                sock.recv(65536)
            if part == 0:
                sock.sendall(self._beginning + b"Content-Length: 3000000\r\n\r\n{")
            elif part == 1:
                sock.sendall(self._beginning + b"X-Huge: " + b"x" * _HEAD_BYTES)
            elif part == 2:
                sock.sendall(self._watch)
            elif part == 4:
                sock.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
            (self.slow if part in (0, 1, 4) else self.others).append(sock)

    def go_on(self) -> None:
        """One more byte of everything that is sent slowly; what the server has closed is left."""
        going: list[ssl.SSLSocket] = []
        for sock in self.slow:
            with suppress(OSError):
                sock.sendall(b"x")
                going.append(sock)
        self.slow = going


def _until_told(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def main(endpoint: str, connections: str) -> None:
    _raise_descriptor_limit()
    crowd = _Crowd(ApiEndpoint.of(endpoint))
    over = threading.Event()
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(crowd.join, range(int(connections))))
    print("here", flush=True)
    threading.Thread(target=_until_told, args=(over,), daemon=True).start()
    while not over.wait(0.5):
        crowd.go_on()


if __name__ == "__main__":
    main(*sys.argv[1:])
