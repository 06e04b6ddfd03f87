"""Many Workspaces on a large embedded cluster: until all have their StatefulSets, and until a lost node is told.

Every Workspace has a pool of nodes of its own and needs all of them, so that one node less is one too few. What it
costs is told in calls to the API and in CPU, because those do not depend on who else uses the machine.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from bench.groups import api_calls
from bench.measured_clusters import MeasuredCluster, embedded, wait_for_nodes
from bench.wire import Wire

WORKSPACES = 500
NODES_EACH = 4
LOST = 5
WAIT_SECONDS = 900.0
_POLL_SECONDS = 0.25
_LOOK_SECONDS = 0.005
_WORKSPACES = "/apis/kaito.sh/v1beta1/namespaces/default/workspaces"
_STATEFUL_SETS = "/apis/apps/v1/namespaces/default/statefulsets"
_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"


def measured(count: int = WORKSPACES) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="mooring-bench-") as name:
        fleet = Path(name) / "fleet.yaml"
        fleet.write_text(yaml.safe_dump_all(map(_pool, range(count))), encoding="utf-8")
        options = ("--fleet", str(fleet), "--controllers", "-process-node")
        with embedded(Path(name) / "embedded", 0, *options) as running:
            return _applied(running, count)


def _applied(running: MeasuredCluster, count: int) -> dict[str, float]:
    wire = Wire(running.endpoint)
    wait_for_nodes(wire, count * NODES_EACH)
    calls, cpu = api_calls(wire), sum(running.cpu().values())
    started = time.perf_counter()
    for number in range(count):
        wire.call("POST", _WORKSPACES, _workspace(number))
    asked = _until(lambda: _listed(wire, _STATEFUL_SETS) >= count, "StatefulSets")
    seconds = time.perf_counter() - started
    spent, made = sum(running.cpu().values()) - cpu, api_calls(wire) - calls - asked
    _until(lambda: _serving(wire) >= count, "Workspaces that serve")
    return {
        "seconds": seconds,
        "calls": made / count,
        "cpu": spent * 1000 / count,
        "lost": statistics.median(_lose(wire, number) for number in range(LOST)) * 1000,
    }


def _until(is_there: Callable[[], bool], what: str) -> int:
    """How often it asked."""
    asked, deadline = 1, time.perf_counter() + WAIT_SECONDS
    while not is_there():
        if time.perf_counter() > deadline:
            raise RuntimeError(f"after {WAIT_SECONDS:.0f} s not all {what} were there")
        time.sleep(_POLL_SECONDS)
        asked += 1
    return asked


def _listed(wire: Wire, path: str) -> int:
    found = wire.call("GET", f"{path}?limit=1")
    return len(found["items"]) + int(found["metadata"].get("remainingItemCount", 0))


def _serving(wire: Wire) -> int:
    return sum(each.get("status", {}).get("state") == "Ready" for each in wire.call("GET", _WORKSPACES)["items"])


def _lose(wire: Wire, number: int) -> float:
    """Seconds from the node's own condition to that of the Workspace."""
    node = f"/api/v1/nodes/pool-{number}-1"
    # Its kubelet would say at once that it is ready.
    wire.call("PATCH", node, {"metadata": {"annotations": {"mooring.dev/lost": "yes"}}}, _MERGE)
    condition = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "lost by a benchmark"}
    started = time.perf_counter()
    wire.call("PATCH", f"{node}/status", {"status": {"conditions": [condition]}}, _STRATEGIC)
    while _nodes_ready(wire.call("GET", f"{_WORKSPACES}/llm-{number}")) != "False":
        if time.perf_counter() - started > WAIT_SECONDS:
            raise RuntimeError(f"Workspace llm-{number} did not tell of its lost node")
        time.sleep(_LOOK_SECONDS)
    return time.perf_counter() - started


def _nodes_ready(workspace: dict[str, Any]) -> str:
    found: dict[str, str] = {each["type"]: each["status"] for each in workspace["status"]["conditions"]}
    return found.get("NodesReady", "")


def _pool(number: int) -> dict[str, Any]:
    amounts = {"cpu": "32", "memory": "128Gi", "pods": "110", "nvidia.com/gpu": "1"}
    labels = {
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "pool": f"p{number}",
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
        "nvidia.com/gpu.count": "1",
        "nvidia.com/gpu.memory": "81920",
    }
    annotations = {"kwok.x-k8s.io/node": "fake", "mooring.dev/replicas": str(NODES_EACH)}
    metadata = {"name": f"pool-{number}", "labels": labels, "annotations": annotations}
    status = {"capacity": amounts, "allocatable": amounts}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


def _workspace(number: int) -> dict[str, Any]:
    return {
        "metadata": {"name": f"llm-{number}"},
        "resource": {"count": NODES_EACH, "labelSelector": {"matchLabels": {"pool": f"p{number}"}}},
        "inference": {"preset": {"name": "phi-4"}},
    }


if __name__ == "__main__":
    told = measured(int(sys.argv[1]) if len(sys.argv) > 1 else WORKSPACES)
    print(json.dumps({name: round(value, 2) for name, value in told.items()}, indent=1))
