"""What is done to the cluster, drawn from a seed: processes die and stop, the disk is full, clients behave badly."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from bench.soak.churn import MAPS
from bench.soak.cluster import SoakedCluster
from bench.wire import Wire

__all__ = ["Disturbances"]

_CONNECTIONS: Final = 1_000
_DEAF_WATCHES: Final = 50
_BIG_BYTES: Final = 900_000
_BIG_WRITES: Final = 20
_BIG: Final = "/api/v1/namespaces/default/configmaps/big"
_HOLD_SECONDS: Final = 5.0


class Disturbances:
    def __init__(self, cluster: SoakedCluster, seed: int) -> None:
        self._cluster, self._draw = cluster, random.Random(seed)
        self.done: Counter[str] = Counter()
        kill, stop = cluster.kill, cluster.stop_for
        self._kinds: dict[str, Callable[[], None]] = {
            "kill -9 of the API server": lambda: kill("server"),
            "kill -9 of the controllers": lambda: kill("controllers"),
            "kill -9 of the process node": lambda: kill("process_node"),
            "kill -9 of the parent": lambda: kill("parent"),
            "SIGSTOP of the API server": lambda: stop("server", self._draw.uniform(1.0, 4.0)),
            "SIGSTOP of the controllers": lambda: stop("controllers", self._draw.uniform(3.0, 10.0)),
            "a full disk": self._full_disk,
            "connections that say nothing": self._silent_connections,
            "heads that do not end": self._slow_heads,
            "big objects": self._big_objects,
            "deaf watches": self._deaf_watches,
            "lists of everything": self._lists,
        }

    def next(self) -> str:
        """One of them; how it is called."""
        # Each comes once before any comes again, so that a short run has all of them.
        least = min((self.done[name] for name in self._kinds), default=0)
        name = self._draw.choice([each for each in self._kinds if self.done[each] == least])
        self.done[name] += 1
        # Clients that lose their connection, because of something else that was done, have done their part.
        with contextlib.suppress(OSError, ValueError):
            self._kinds[name]()
        return name

    def _full_disk(self) -> None:
        """Somebody else takes all room; sometimes the API server dies of something else meanwhile."""
        self._cluster.disk.fill()
        try:
            # There is still room in the files that there are; big objects need more than that.
            self._big_objects()
            time.sleep(_HOLD_SECONDS)
            if self._draw.random() < 0.5:
                self._cluster.kill("server")
        finally:
            self._cluster.disk.clear()

    def _silent_connections(self) -> None:
        self._hold(b"")

    def _slow_heads(self) -> None:
        self._hold(b"\x16\x03\x01\x02")

    def _hold(self, data: bytes) -> None:
        url = urlsplit(self._cluster.endpoint.url)
        with contextlib.ExitStack() as held:
            for _ in range(_CONNECTIONS):
                connection = held.enter_context(socket.create_connection((url.hostname, url.port), 5))
                if data:
                    connection.sendall(data)
            time.sleep(_HOLD_SECONDS)

    def _big_objects(self) -> None:
        wire = Wire(self._cluster.endpoint)
        with contextlib.closing(wire):
            for number in range(_BIG_WRITES):
                body: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "big"}}
                data = json.dumps({**body, "data": {"n": str(number), "x": "x" * _BIG_BYTES}}).encode()
                path = f"{_BIG}?fieldManager=soak&force=true"
                wire.ask(wire.request("PATCH", path, data, "application/apply-patch+yaml"))

    def _deaf_watches(self) -> None:
        wires = []
        try:
            for _ in range(_DEAF_WATCHES):
                wires.append(Wire(self._cluster.endpoint))
                wires[-1].send(wires[-1].request("GET", f"{MAPS}?watch=1"))
            time.sleep(_HOLD_SECONDS)
        finally:
            for wire in wires:
                wire.close()

    def _lists(self) -> None:
        wire = Wire(self._cluster.endpoint)
        with contextlib.closing(wire):
            for _ in range(10):
                wire.ask(wire.request("GET", "/api/v1/configmaps"))
                wire.ask(wire.request("GET", "/api/v1/events"))
