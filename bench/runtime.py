"""The runtime at size: events to reconciles, subscriptions, pods in view, and a plan of ten thousand pods."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

from mooring.kube.objects import Object

KEYS = 10_000
PODS_IN_VIEW = 100_000
PLANNED = 10_000
GROUPS, GROUP_SIZE = 1_000, 8


def measured(what: str, *more: str) -> dict[str, float]:
    """Each in a process of its own, so that memory is that of the work alone."""
    command = [sys.executable, "-m", "bench.runtime", what, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def events() -> dict[str, float]:
    """Ten thousand keys with three subscriptions each; every event wakes one of them."""
    from mooring.api.kinds import Key
    from mooring.runtime.controller import Controller
    from mooring.runtime.decision import Decision
    from mooring.runtime.dispatcher.dispatcher import Dispatcher
    from mooring.runtime.dispatcher.outcome import Outcome
    from mooring.runtime.drivers.simulation import START
    from mooring.runtime.view import View
    from mooring.workloads.kinds import POD

    def reconcile(key: Key, view: View, now: object) -> Decision:
        found = view.get(POD, *key)
        if found is not None:
            view.owned(POD, found)
        view.get(POD, key.namespace, f"beside-{key.name}")
        return Decision()

    dispatcher = Dispatcher([Controller("counting", reconcile, of=POD)], Random(0))
    dispatcher.resync(POD, [], "1")

    def drain() -> int:
        ran = 0
        dispatcher.flush(START)
        while (task := dispatcher.next(START)) is not None:
            dispatcher.settle(task, Outcome(), START)
            ran += 1
        return ran

    for number in range(KEYS):
        dispatcher.observe(POD, "ADDED", pod(number, number + 2))
    drain()
    version, ran = KEYS + 2, 0
    started = time.perf_counter()
    for round_number in range(3):
        for number in range(KEYS):
            version += 1
            dispatcher.observe(POD, "MODIFIED", pod(number, version, phase=f"Phase{round_number}"))
            if number % 10 == 9:
                ran += drain()
    return {"speed": ran / (time.perf_counter() - started), "peak": _peak()}


def pods_in_view() -> dict[str, float]:
    from mooring.runtime.dispatcher.store import Store
    from mooring.testing.controllers import whole_control_plane
    from mooring.workloads.kinds import POD

    store: Store[Any] = Store(POD, [each for controller in whole_control_plane() for each in controller.indexers])
    for number in range(PODS_IN_VIEW):
        store.put(pod(number, number + 1))
    return {"peak": _peak()}


def plan(policy: str) -> dict[str, float]:
    from mooring.plan.planner import PlannedWorkload, make_plan
    from mooring.plan.simulated_cluster import SimulatedCluster

    started = time.perf_counter()
    cluster = SimulatedCluster(node(number) for number in range(PLANNED))
    # In order, a pod takes a second of virtual time.
    planned = make_plan(cluster, [PlannedWorkload(stateful_set(policy), "")], "default", timedelta(hours=10))
    assert len(planned.pods) == PLANNED
    assert all(pod.phase == "Running" for pod in planned.pods)
    return {"seconds": time.perf_counter() - started, "peak": _peak()}


def groups() -> dict[str, float]:
    from mooring.plan.planner import PlannedWorkload, make_plan
    from mooring.plan.simulated_cluster import SimulatedCluster
    from mooring.testing.groups import leader_worker_set

    started = time.perf_counter()
    cluster = SimulatedCluster(node(number) for number in range(PLANNED))
    wanted = leader_worker_set(replicas=GROUPS, size=GROUP_SIZE)
    planned = make_plan(cluster, [PlannedWorkload(wanted, "")], "default", timedelta(hours=1))
    assert len(planned.pods) == GROUPS * GROUP_SIZE
    assert all(pod.phase == "Running" for pod in planned.pods)
    return {"seconds": time.perf_counter() - started, "peak": _peak()}


def start(path: str) -> dict[str, float]:
    """From a snapshot in a file to a world that has come to rest and can be planned on."""
    from mooring.plan.planner import make_plan
    from mooring.plan.simulated_cluster import SimulatedCluster
    from mooring.plan.snapshot import read_snapshot

    started = time.perf_counter()
    cluster = SimulatedCluster(read_snapshot(path))
    make_plan(cluster, [], "default", timedelta(hours=1))
    return {"seconds": time.perf_counter() - started, "peak": _peak()}


def pod(number: int, version: int, phase: str = "Running") -> Object:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"rs{number % 500}", "uid": f"rs{number % 500}"}
    meta = {
        "name": f"pod-{number}",
        "namespace": f"team-{number % 20}",
        "uid": f"uid-{number}",
        "resourceVersion": str(version),
        "labels": {"app": f"app-{number % 500}", "pod-template-hash": f"hash-{number % 500}"},
        "ownerReferences": [{**owner, "controller": True}],
    }
    resources = {"requests": {"cpu": "500m", "memory": "1Gi"}}
    spec = {"nodeName": f"node-{number % 5000}", "containers": [{"name": "c", "image": "x", "resources": resources}]}
    return {"metadata": meta, "spec": spec, "status": {"phase": phase, "startTime": "2026-01-01T00:00:00Z"}}


def node(number: int) -> Object:
    labels = {"kubernetes.io/hostname": f"n{number}", "topology.kubernetes.io/zone": f"z{number % 3}"}
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    meta = {"name": f"n{number}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": {"allocatable": amounts}}


def stateful_set(policy: str = "Parallel") -> Object:
    resources = {"requests": {"cpu": "500m", "memory": "1Gi"}}
    template = {
        "metadata": {"labels": {"app": "db"}},
        "spec": {"containers": [{"name": "c", "image": "x", "resources": resources}]},
    }
    spec = {
        "replicas": PLANNED,
        "podManagementPolicy": policy,
        "serviceName": "db",
        "selector": {"matchLabels": {"app": "db"}},
        "template": template,
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec}


def _peak() -> float:
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


if __name__ == "__main__":
    work: dict[str, Callable[..., dict[str, float]]] = {
        "events": events,
        "pods": pods_in_view,
        "plan": plan,
        "groups": groups,
        "start": start,
    }
    print(json.dumps(work[sys.argv[1]](*sys.argv[2:])))
