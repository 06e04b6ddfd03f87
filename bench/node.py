"""Pods as processes of this machine: how long one takes from its creation to Running, and how many start together."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measured_clusters import MeasuredCluster, embedded
from bench.wire import Wire
from mooring.nodes.process.containers.sandbox.machine_view import sandbox_problem
from mooring.nodes.process.machine_info import machine_info

ALONE = 15
TOGETHER = 50
WAIT_SECONDS = 120.0
_POLL_SECONDS = 0.005
_PODS = "/api/v1/namespaces/default/pods"


def missing() -> str:
    """Why this cannot be measured here; empty if it can."""
    return sandbox_problem()


def measured() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="mooring-bench-") as name, embedded(Path(name) / "embedded") as running:
        wire = Wire(running.endpoint)
        wait_for_node(wire)
        alone = [_started(wire, [f"alone-{number}"]) for number in range(ALONE)]
        before = _cpu(running)
        together = _started(wire, [f"together-{number}" for number in range(TOGETHER)])
        return {
            "alone": statistics.median(alone) * 1000,
            "together": TOGETHER / together,
            "cpu": (_cpu(running) - before) * 1000 / TOGETHER,
        }


def _started(wire: Wire, names: list[str]) -> float:
    """Seconds until all of these pods run."""
    began = time.perf_counter()
    for name in names:
        wire.call("POST", _PODS, _pod(name))
    waiting = set(names)

    def all_run() -> bool:
        for name in tuple(waiting):
            if wire.call("GET", f"{_PODS}/{name}")["status"].get("phase") == "Running":
                waiting.discard(name)
        return not waiting

    _wait(all_run, f"{len(names)} pods")
    return time.perf_counter() - began


def _pod(name: str) -> dict[str, Any]:
    container = {"name": "main", "image": "any", "command": ["sleep", "1000"]}
    spec = {
        "containers": [container],
        "tolerations": [{"key": "mooring.dev/process", "operator": "Exists"}],
        "nodeSelector": {"mooring.dev/process": "true"},
    }
    return {"metadata": {"name": name}, "spec": spec}


def wait_for_node(wire: Wire) -> None:
    _wait(lambda: _is_there(wire), "the node")


def _is_there(wire: Wire) -> bool:
    name = machine_info().name
    nodes = wire.call("GET", "/api/v1/nodes")["items"]
    return any(
        node["metadata"]["name"] == name
        and all(taint["key"] == "mooring.dev/process" for taint in node["spec"].get("taints") or ())
        and any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"].get("conditions") or ())
        for node in nodes
    )


def _cpu(running: MeasuredCluster) -> float:
    return sum(running.cpu().values())


def _wait(look: Any, what: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not look():
        if time.monotonic() > deadline:
            raise RuntimeError(f"after {WAIT_SECONDS:.0f} s there is still no sign of {what}")
        time.sleep(_POLL_SECONDS)
