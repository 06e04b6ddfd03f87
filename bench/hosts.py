"""Many hosts claimed at once on the embedded cluster: from the apply of the pools until every host is a Node.

What it costs is told in calls to the API and in CPU, because those do not depend on who else uses the machine. A host
that two machines claim, or a machine that has two hosts, would be the end of the run.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bench.groups import api_calls
from bench.measured_clusters import MeasuredCluster, embedded
from bench.wire import Wire

HOSTS = 1000
POOLS = 20
CLAIMED = 500
WAIT_SECONDS = 900.0
_POLL_SECONDS = 0.5
_HOSTS = "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/default"
_MACHINES = "/apis/cluster.x-k8s.io/v1beta2/namespaces/default"
_CLUSTER = "my-cluster"
_GROUP = "infrastructure.cluster.x-k8s.io"


def measured(hosts: int = HOSTS, claimed: int = CLAIMED) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="mooring-bench-") as name:
        # A heartbeat of every host every 30 seconds would be counted as well.
        quiet = ("--host-heartbeat-timeout=1h", "--simulated-host-heartbeat=30m")
        with embedded(Path(name) / "embedded", 1, "--controllers", "-process-node", *quiet) as running:
            return _claimed(running, hosts, claimed)


def _claimed(running: MeasuredCluster, hosts: int, claimed: int) -> dict[str, float]:
    wire = Wire(running.endpoint)
    _furnish(wire, hosts)
    _wait(lambda: _phases(wire)["Available"] == hosts, "hosts are available")
    calls, cpu = api_calls(wire), sum(running.cpu().values())
    started = time.perf_counter()
    for pool in range(POOLS):
        wire.call("POST", f"{_MACHINES}/machinedeployments", _pool(pool, claimed // POOLS))
    asked = _wait(lambda: _ready(wire) == claimed, "machines are ready")
    seconds = time.perf_counter() - started
    spent = sum(running.cpu().values()) - cpu
    made = api_calls(wire) - calls - asked
    return {
        "seconds": seconds,
        "calls": made / claimed,
        "cpu": spent * 1000 / claimed,
        "double claims": float(_double_claims(wire)),
    }


def _furnish(wire: Wire, hosts: int) -> None:
    """A cluster, a template for each pool, and hosts of which each pool has as many."""
    ref = {"apiGroup": _GROUP, "kind": "ByoCluster", "name": _CLUSTER}
    wire.call("POST", f"{_HOSTS}/byoclusters", {"metadata": {"name": _CLUSTER}, "spec": {}})
    wire.call("POST", f"{_MACHINES}/clusters", {"metadata": {"name": _CLUSTER}, "spec": {"infrastructureRef": ref}})
    wire.call("POST", f"{_HOSTS}/bootstrapkubeconfigs", {"metadata": {"name": "join"}, "spec": {}})
    for pool in range(POOLS):
        wanted = {"selector": {"matchLabels": {"pool": f"p{pool}"}}, "joinMode": "tlsBootstrap"}
        body = {"metadata": {"name": f"p{pool}"}, "spec": {"template": {"spec": wanted}}}
        wire.call("POST", f"{_HOSTS}/byomachinetemplates", body)
    for number in range(hosts):
        metadata = {"name": f"h{number}", "labels": {"pool": f"p{number % POOLS}"}}
        body = {"metadata": metadata, "spec": {"capacity": {"cpu": "16", "memory": "64Gi"}}}
        wire.call("POST", f"{_HOSTS}/byohosts", body)


def _pool(number: int, replicas: int) -> dict[str, Any]:
    labels = {"cluster.x-k8s.io/cluster-name": _CLUSTER}
    spec = {
        "clusterName": _CLUSTER,
        "version": "v1.34.1",
        "bootstrap": {"configRef": {"apiGroup": _GROUP, "kind": "BootstrapKubeconfig", "name": "join"}},
        "infrastructureRef": {"apiGroup": _GROUP, "kind": "ByoMachineTemplate", "name": f"p{number}"},
    }
    template = {"metadata": {"labels": {**labels, "pool": f"p{number}"}}, "spec": spec}
    own = {"clusterName": _CLUSTER, "replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"metadata": {"name": f"p{number}"}, "spec": own}


def _items(wire: Wire, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = wire.call("GET", path)["items"]
    return found


def _phases(wire: Wire) -> Counter[str]:
    return Counter(each.get("status", {}).get("phase", "") for each in _items(wire, f"{_HOSTS}/byohosts"))


def _ready(wire: Wire) -> int:
    pools = _items(wire, f"{_MACHINES}/machinedeployments")
    return sum(int(each.get("status", {}).get("readyReplicas", 0)) for each in pools)


def _double_claims(wire: Wire) -> int:
    """Machines with more than one host, and hosts of the wrong pool."""
    hosts = [each for each in _items(wire, f"{_HOSTS}/byohosts") if each["status"].get("machineRef")]
    owners = Counter(each["status"]["machineRef"]["uid"] for each in hosts)
    pools = [(each["status"]["machineRef"]["name"].split("-")[0], each["metadata"]["labels"]["pool"]) for each in hosts]
    return sum(count > 1 for count in owners.values()) + len([claimer for claimer, own in pools if claimer != own])


def _wait(reached: Any, what: str) -> int:
    """How often was asked until it was so."""
    end = time.perf_counter() + WAIT_SECONDS
    asked = 1
    while not reached():
        if time.perf_counter() > end:
            raise RuntimeError(f"after {WAIT_SECONDS:.0f} s not all {what}")
        time.sleep(_POLL_SECONDS)
        asked += 1
    return asked


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else HOSTS
    found = measured(count, count // 2)
    print(json.dumps({name: round(value, 2) for name, value in found.items()}, indent=1))
