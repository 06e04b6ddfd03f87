"""A LeaderWorkerSet of many groups on the embedded cluster: from the apply until the last pod runs.

What it costs is told in calls to the API and in CPU, because those do not depend on who else uses the machine.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path

from bench.measured_clusters import MeasuredCluster, embedded, wait_for_nodes
from bench.wire import Wire

GROUPS = 500
SIZE = 8
NODES = 200
WAIT_SECONDS = 900.0
_POLL_SECONDS = 0.25
_SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"
_COUNT = re.compile(rb'^apiserver_request_total\{verb="(\w+)".*\} (\d+)', re.MULTILINE)


def measured(groups: int = GROUPS) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="mooring-bench-") as name:
        folder = Path(name) / "embedded"
        with embedded(folder, NODES, "--controllers", "-process-node") as running:
            return _applied(running, groups)


def _applied(running: MeasuredCluster, groups: int) -> dict[str, float]:
    wire = Wire(running.endpoint)
    wait_for_nodes(wire, NODES)
    calls, cpu = api_calls(wire), sum(running.cpu().values())
    started = time.perf_counter()
    wire.call("POST", _SETS, _set(groups))
    asked = 0
    while True:
        asked += 1
        status = wire.call("GET", f"{_SETS}/serve").get("status") or {}
        if status.get("readyReplicas") == groups:
            break
        if time.perf_counter() - started > WAIT_SECONDS:
            raise RuntimeError(f"after {WAIT_SECONDS:.0f} s only {status.get('readyReplicas', 0)} groups are ready")
        time.sleep(_POLL_SECONDS)
    seconds = time.perf_counter() - started
    spent = sum(running.cpu().values()) - cpu
    return {
        "seconds": seconds,
        "calls": (api_calls(wire) - calls - asked) / groups,
        "cpu": spent * 1000 / groups,
    }


def api_calls(wire: Wire) -> int:
    """Writes and reads so far; watches and heartbeats of nodes aside."""
    code, text = wire.ask(wire.request("GET", "/metrics"))
    if code != 200:
        raise RuntimeError(f"/metrics answered {code}")
    lines = [line for line in text.splitlines() if b"leases" not in line]
    return sum(int(count) for verb, count in _COUNT.findall(b"\n".join(lines)) if verb != b"WATCH")


def _set(groups: int) -> dict[str, object]:
    container = {"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "100m"}}}
    template = {"size": SIZE, "workerTemplate": {"spec": {"containers": [container]}}}
    return {"metadata": {"name": "serve"}, "spec": {"replicas": groups, "leaderWorkerTemplate": template}}


if __name__ == "__main__":
    found = measured(int(sys.argv[1]) if len(sys.argv) > 1 else GROUPS)
    print(json.dumps({name: round(value, 2) for name, value in found.items()}, indent=1))
