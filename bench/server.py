"""The API server over the wire: how long a request takes with the controllers idle and busy; lists, start-up, memory.

The same requests go to the embedded server and to a real kube-apiserver with etcd, with the lightest client there is
and one at a time. The real one waits for its disk too.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench import churn, fanout
from bench.measured_clusters import MeasuredCluster, embedded, make_nodes, memory, real, simulated_nodes, wait_for_nodes
from bench.wire import ApiEndpoint, Wire, quantile
from mooring.testing.processes import free_port

LISTED = 5_000
STORED = 50_000
_ROUNDS = 2
_REQUESTS = 200
_LISTS = 5
_LOADERS = 4
_SPACE = "measured"
_PODS = f"/api/v1/namespaces/{_SPACE}/pods"
_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
_MERGE = "application/merge-patch+json"
_APPLY = "application/apply-patch+yaml"


class Latency(NamedTuple):
    """Milliseconds."""

    p50: float
    p99: float


Latencies = dict[str, Latency]


def measured(home: str, *, lists: bool = True, seconds: float = 4.0) -> dict[str, Any]:
    """Latencies of one of the two servers, idle and busy, and its fan-out."""
    with tempfile.TemporaryDirectory(prefix="mooring-bench-") as name, _home(home, Path(name)) as running:
        endpoint = running.endpoint
        wire = Wire(endpoint)
        wait_for_nodes(wire, churn.NODES)
        _furnish(wire)
        if lists:
            load(endpoint, LISTED, _PODS)
        found: dict[str, Any] = {"idle": _latencies(endpoint, "idle", lists=lists)}
        with churn.busy(endpoint):
            found["busy"] = _latencies(endpoint, "busy", lists=lists)
        found["fan-out"] = min((fanout.measured(endpoint, seconds) for _ in range(_ROUNDS)), key=_worst)
        wire.close()
        return found


def _worst(found: dict[str, float]) -> tuple[float, float]:
    return found["lost"], found["p99"]


@contextmanager
def _home(home: str, folder: Path) -> Iterator[MeasuredCluster]:
    if home == "embedded":
        with embedded(folder / home, churn.NODES) as running:
            yield running
        return
    with real(folder / home, whole=True) as running:
        make_nodes(running.endpoint, churn.NODES)
        with simulated_nodes(running, folder / home / "kubeconfig", folder) as whole:
            yield whole


def _furnish(wire: Wire) -> None:
    """A namespace to work in. Without a controller for service accounts, pods need one that is made for them."""
    wire.call("POST", "/api/v1/namespaces", {"metadata": {"name": _SPACE}})
    path = f"/api/v1/namespaces/{_SPACE}/serviceaccounts"
    wire.ask(wire.request("POST", path, b'{"metadata":{"name":"default"},"automountServiceAccountToken":false}'))


# One request at a time


def _latencies(endpoint: ApiEndpoint, mark: str, *, lists: bool) -> Latencies:
    wire = Wire(endpoint)
    rounds = [_round(wire, f"{mark}-{number}") for number in range(_ROUNDS)]
    best = {name: min(each[name] for each in rounds) for name in rounds[0]}
    if lists:
        best["list"] = _timed(wire, [wire.request("GET", _PODS)] * _LISTS, 200)
        best["table"] = _timed(wire, [wire.request("GET", _PODS, accept=_TABLE)] * _LISTS, 200)
    wire.close()
    return best


def _round(wire: Wire, mark: str) -> Latencies:
    """Every kind of request on the same new pods, which no scheduler binds; they are deleted afterwards."""
    names = [f"pod-{mark}-{number}" for number in range(_REQUESTS)]
    path = f"/api/v1/namespaces/{_SPACE}/pods"
    request = wire.request
    creations = [request("POST", path, pod(name)) for name in names]
    patches = [request("PATCH", f"{path}/{name}", b'{"metadata":{"labels":{"a":"b"}}}', _MERGE) for name in names]
    applies = [
        request("PATCH", f"{path}/{name}?fieldManager=bench&force=true", pod(name, applied=True), _APPLY)
        for name in names
    ]
    deletions = [request("DELETE", f"{path}/{name}?gracePeriodSeconds=0") for name in names]
    found = {
        "create": _timed(wire, creations, 201),
        "get": _timed(wire, [request("GET", f"{path}/{name}") for name in names], 200),
        "merge patch": _timed(wire, patches, 200),
        "server-side apply": _timed(wire, applies, 200),
    }
    _timed(wire, deletions, 200)
    return found


def _timed(wire: Wire, requests: list[bytes], wanted: int) -> Latency:
    took = []
    for request in requests:
        started = time.perf_counter()
        code, body = wire.ask(request)
        took.append((time.perf_counter() - started) * 1000)
        if code != wanted:
            raise RuntimeError(f"{request[:100]!r} was answered {code}: {body[:300]!r}")
    return Latency(statistics.median(took), quantile(took, 0.99))


def pod(name: str, *, applied: bool = False, app: int = 0) -> bytes:
    """A pod that no scheduler takes, so that it stays as it is."""
    resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    container = {"name": "main", "image": "registry.example/app:1", "resources": resources}
    metadata: dict[str, Any] = {"name": name, "labels": {"app": f"app-{app}"}}
    if applied:
        metadata["annotations"] = {"bench": "applied"}
    spec = {"containers": [container], "schedulerName": "nobody", "terminationGracePeriodSeconds": 0}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}).encode()


# Many objects


def load(endpoint: ApiEndpoint, count: int, path: str) -> float:
    """Pods of a hundred applications, made by a few clients at once; how many per second."""
    wires = [Wire(endpoint) for _ in range(_LOADERS)]
    requests = [wires[0].request("POST", path, pod(f"kept-{i:05d}", app=i % 100)) for i in range(count)]
    started = time.perf_counter()
    threads = [threading.Thread(target=_timed, args=(w, requests[i::_LOADERS], 201)) for i, w in enumerate(wires)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    speed = count / (time.perf_counter() - started)
    for wire in wires:
        wire.close()
    return speed


def stored(home: str, count: int) -> dict[str, float]:
    """Memory of the servers that hold so many objects, after they were made and after a restart."""
    with tempfile.TemporaryDirectory(prefix="mooring-bench-") as name:
        folder = Path(name) / home
        if home == "real":
            with real(folder, whole=False) as running:
                return _loaded(running, count, ("kube-apiserver", "etcd"))
        with embedded(folder, 1) as running:
            found = _loaded(running, count, ("server",))
        started = time.perf_counter()
        with embedded(folder, 1) as running:
            found["start"] = (time.perf_counter() - started) * 1000
            found["restarted"] = memory(running.pids["server"])
        return found


def _loaded(running: MeasuredCluster, count: int, processes: tuple[str, ...]) -> dict[str, float]:
    wire = Wire(running.endpoint)
    _furnish(wire)
    wire.close()
    speed = load(running.endpoint, count, _PODS)
    return {"speed": speed, "memory": sum(memory(running.pids[name]) for name in processes)}


# Start-up


def start_up() -> dict[str, float]:
    """Milliseconds from the command to the line that says that the API answers: in an empty folder, and later."""
    firsts, laters = [], []
    for _ in range(_ROUNDS):
        with tempfile.TemporaryDirectory(prefix="mooring-bench-") as name:
            firsts.append(_started(Path(name) / "data"))
            laters.append(_started(Path(name) / "data"))
    return {"first": min(firsts), "later": min(laters)}


def _started(folder: Path) -> float:
    command = [sys.executable, "-m", "mooring", "up", "--data", str(folder), "--bind", f"127.0.0.1:{free_port()}"]
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=compiling(), start_new_session=True
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("Mooring is ready"):
                return (time.perf_counter() - started) * 1000
        raise RuntimeError(f"mooring up ended with exit code {process.wait()}")
    finally:
        process.terminate()
        process.communicate()


def compiling() -> dict[str, str]:
    """The environment in which compiling is paid for once, as it is after an installation."""
    import os

    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main(what: str, home: str) -> None:
    roles: dict[str, Callable[[], Any]] = {
        "latency": lambda: measured(home),
        "quick": lambda: measured(home, lists=False, seconds=2.0),
        "stored": lambda: stored(home, STORED),
        "start": start_up,
    }
    print(json.dumps(roles[what](), indent=1))


if __name__ == "__main__":
    main(sys.argv[1], (*sys.argv, "embedded")[2])
