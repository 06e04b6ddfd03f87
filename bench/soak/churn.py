"""The work that never ends: writers with a ledger, Deployments that are scaled, and a watch that must miss nothing."""

from __future__ import annotations

import json
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

from bench.soak.ledger import ABSENT, Ledger
from bench.wire import ApiEndpoint, Wire

__all__ = ["DEPLOYMENTS", "MAPS", "Scaler", "Watcher", "Writer", "listed_maps"]

SPACE: Final = "soak"
MAPS: Final = f"/api/v1/namespaces/{SPACE}/configmaps"
DEPLOYMENTS: Final = f"/apis/apps/v1/namespaces/{SPACE}/deployments"
NAMES_PER_WRITER: Final = 100
_APPLY: Final = "application/apply-patch+yaml"
_MERGE: Final = "application/merge-patch+json"
# The answer of a full disk, which promises that nothing was written.
_NO_ROOM: Final = 507
_LOST: Final = (OSError, ValueError, RuntimeError)


class _Worker(ABC):
    """A thread with a connection that is made anew when it breaks, until `over`."""

    def __init__(self, endpoint: Callable[[], ApiEndpoint], over: threading.Event) -> None:
        self._endpoint, self.over = endpoint, over
        self._wire: Wire | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.problem = ""

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join(60)

    def _run(self) -> None:
        try:
            while not self.over.is_set():
                self.step()
        except Exception as error:
            self.problem = f"{type(self).__name__} ended: {error!r}"

    @abstractmethod
    def step(self) -> None: ...

    def ask(self, method: str, path: str, body: Any = None, media: str = "application/json") -> tuple[int, bytes]:
        """The answer; code 0 where none came."""
        try:
            if self._wire is None:
                self._wire = Wire(self._endpoint())
            data = b"" if body is None else json.dumps(body).encode()
            return self._wire.ask(self._wire.request(method, path, data, media))
        except _LOST:
            self.drop()
            time.sleep(0.1)
            return 0, b""

    def drop(self) -> None:
        if self._wire is not None:
            self._wire.close()
        self._wire = None


class Writer(_Worker):
    """Applies and deletes config maps of its own, and tells the ledger."""

    def __init__(self, number: int, seed: int, ledger: Ledger, *rest: Any) -> None:
        super().__init__(*rest)
        self._number, self._ledger = number, ledger
        self._draw = random.Random(seed)
        self._count = 0

    def step(self) -> None:
        draw, name = self._draw, f"w{self._number}-{self._draw.randrange(NAMES_PER_WRITER)}"
        path = f"{MAPS}/{name}"
        if draw.random() < 0.15:
            code, _ = self.ask("DELETE", path)
            self._tell(name, ABSENT, code in (200, 404), code)
        else:
            self._count += 1
            value = f"{self._number}-{self._count}"
            padding = "x" * draw.choice((10, 100, 1_000, 5_000))
            made = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"value": value, "padding": padding}}
            body = {**made, "metadata": {"name": name}}
            code, _ = self.ask("PATCH", f"{path}?fieldManager=soak&force=true", body, _APPLY)
            self._tell(name, value, code in (200, 201), code)
        time.sleep(0.005)

    def _tell(self, name: str, value: str | None, done: bool, code: int) -> None:
        if done:
            self._ledger.stored(name, value)
        elif code == _NO_ROOM:
            self._ledger.refused += 1
        elif code == 0 or code >= 500:
            self._ledger.unknown(name, value)


class Scaler(_Worker):
    """Deployments whose replicas change all the time; the last number that was answered counts."""

    def __init__(self, seed: int, *rest: Any) -> None:
        super().__init__(*rest)
        self._draw = random.Random(seed)
        self.wanted: dict[str, int] = {}

    def step(self) -> None:
        name, replicas = f"d{self._draw.randrange(5)}", self._draw.randrange(1, 15)
        if name not in self.wanted:
            code, _ = self.ask("POST", DEPLOYMENTS, _deployment(name, replicas))
        else:
            code, _ = self.ask("PATCH", f"{DEPLOYMENTS}/{name}", {"spec": {"replicas": replicas}}, _MERGE)
        if code in (200, 201, 409):
            self.wanted[name] = replicas if code != 409 else self.wanted.get(name, 0)
        self.over.wait(1.0)


def _deployment(name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


class Watcher(_Worker):
    """Follows the config maps from the first moment, and goes on from where it was after every break."""

    def __init__(self, *rest: Any) -> None:
        super().__init__(*rest)
        self.state: dict[str, str] = {}
        self.revision = ""
        self.events = self.breaks = self.relists = 0

    def step(self) -> None:
        try:
            wire = Wire(self._endpoint())
        except _LOST:
            time.sleep(0.2)
            return
        try:
            if not self.revision:
                self.relists += 1
                listed = wire.call("GET", MAPS)
                self.state = _values(listed["items"])
                self.revision = listed["metadata"]["resourceVersion"]
            path = f"{MAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion={self.revision}"
            wire.send(wire.request("GET", path))
            rest = b""
            for part in wire.stream():
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    self._take(json.loads(line))
        except _LOST:
            self.breaks += 1
        finally:
            wire.close()

    def _take(self, event: dict[str, Any]) -> None:
        if event["type"] == "ERROR":
            # Too old: what was missed is in the next list.
            self.revision = ""
            raise RuntimeError(str(event["object"]))
        metadata = event["object"]["metadata"]
        self.revision = metadata["resourceVersion"]
        if event["type"] == "BOOKMARK":
            return
        self.events += 1
        self.state.pop(metadata["name"], None)
        if event["type"] != "DELETED":
            self.state |= _values([event["object"]])


def listed_maps(endpoint: ApiEndpoint) -> dict[str, str]:
    """What the cluster has, by name."""
    wire = Wire(endpoint)
    try:
        return _values(wire.call("GET", MAPS)["items"])
    finally:
        wire.close()


def _values(items: list[dict[str, Any]]) -> dict[str, str]:
    """The values that writers wrote; the cluster's own config map has none."""
    return {each["metadata"]["name"]: each["data"]["value"] for each in items if "value" in (each.get("data") or {})}
