"""Pods per second: placing pods one after another, every node scored, each pod bound before the next.

Every real cluster has DaemonSets, whose pods name their node. So the main loads are placed once more with such a pod on
every node before, and one more between every ten pods; identical ones also with one after every single pod.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from mooring.api.core.types import Node, Pod, Service
from mooring.kube.objects import Object
from mooring.placement.engine import Engine
from mooring.placement.scheduler_cache import SchedulerCache

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
SHAPES = (
    ("100m", "128Mi"),
    ("250m", "512Mi"),
    ("500m", "1Gi"),
    ("1", "2Gi"),
    ("2", "4Gi"),
    ("1500m", "3Gi"),
    ("300m", "700Mi"),
)
# How long one row is measured, at most.
SECONDS = 2.0
# Pods between two of a DaemonSet.
APART = 10


class Load(NamedTuple):
    name: str
    pod: Callable[[int], Object]
    services: bool = False
    # Pods per second asked for at 5,000 nodes.
    budget: int | None = None
    # The name under which the real scheduler runs the same load.
    peer: str = ""
    # How many pods come between two of a DaemonSet, which has one on every node before; 0 stands for no DaemonSet.
    apart: int = 0


def node(number: int) -> Object:
    labels = {HOST: f"n{number}", ZONE: f"z{number % 3}", "pool": f"p{number % 10}"}
    allocatable = {"cpu": "32", "memory": "128Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    return {"metadata": {"name": f"n{number}", "labels": labels}, "status": {"allocatable": allocatable}}


def pod(number: int, app: str, cpu: str = "500m", memory: str = "1Gi", **spec: Any) -> Object:
    container = {"name": "c", "image": "reg/web:v1", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    meta = {"name": f"p{number}", "namespace": "default", "uid": f"p{number}", "labels": {"app": app}}
    return {"metadata": meta, "spec": {"containers": [container], **spec}}


def daemon(number: int, node: int) -> Object:
    """A pod as the DaemonSet controller makes it for a node."""
    field = {"key": "metadata.name", "operator": "In", "values": [f"n{node}"]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    taints = ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    tolerations = [{"key": f"node.kubernetes.io/{name}", "operator": "Exists"} for name in taints]
    found = pod(number, "agent", "10m", "16Mi", affinity=affinity, tolerations=tolerations)
    return {**found, "metadata": {**found["metadata"], "name": f"agent-{number}", "uid": f"agent-{number}"}}


def term(key: str, app: str) -> Object:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


def required(kind: str, key: str, app: str) -> Object:
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term(key, app)]}}


def spread(app: str, skew: int) -> list[Object]:
    return [{"maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule", **term(ZONE, app)}]


def mixed(number: int) -> Object:
    """Eight kinds of pods of twenty apps, all behind Services, so default spreading is in most of them."""
    app = f"a{number % 20}"
    shape = SHAPES[number % len(SHAPES)]
    match number % 8:
        case 0:
            return pod(number, app, *shape, affinity=required("podAntiAffinity", HOST, app))
        case 1:
            return pod(number, app, *shape, topologySpreadConstraints=spread(app, 5))
        case 2:
            return pod(number, app, *shape, nodeSelector={"pool": f"p{number % 10}"})
        case 3:
            wish = [{"weight": 10, "podAffinityTerm": term(ZONE, app)}]
            affinity = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wish}}
            return pod(number, app, *shape, affinity=affinity)
    return pod(number, app, *shape)


BASIC = Load("basic, seven shapes", lambda i: pod(i, "x", *SHAPES[i % len(SHAPES)]), budget=20_000, peer="basic")
MIXED = Load("mixed, default spreading", mixed, services=True, budget=3_000)
IDENTICAL = Load("identical", lambda i: pod(i, "x"), budget=50_000, peer="basic")
SPREAD = Load("identical, default spreading", lambda i: pod(i, "a0"), services=True, budget=15_000, peer="service")

LOADS = (
    BASIC,
    Load("every pod of another shape", lambda i: pod(i, f"x{i}", f"{100 + i % 997}m", f"{128 + i % 463}Mi")),
    Load("node affinity", lambda i: pod(i, "x", nodeSelector={"pool": f"p{i % 10}"}), budget=20_000),
    Load("zone spread", lambda i: pod(i, "a0", topologySpreadConstraints=spread("a0", 1)), peer="zone-spread"),
    Load(
        "anti-affinity by host",
        lambda i: pod(i, "a0", affinity=required("podAntiAffinity", HOST, "a0")),
        peer="anti-affinity",
    ),
    Load("affinity by zone", lambda i: pod(i, "a0", affinity=required("podAffinity", ZONE, "a0"))),
    MIXED,
    Load("unschedulable", lambda i: pod(i, "x", cpu="64")),
    IDENTICAL,
    SPREAD,
    Load("a DaemonSet", lambda i: daemon(i, i), budget=20_000),
    *(
        load._replace(name=f"{load.name}, DaemonSets", peer="", apart=APART)
        for load in (BASIC, MIXED, IDENTICAL, SPREAD)
    ),
    IDENTICAL._replace(name="identical, a DaemonSet's after each", peer="", apart=1),
)


def budget_of(load: Load, nodes: int) -> float | None:
    """Pods per second asked for; three times as many nodes may take three times as long."""
    shares = {5_000: 1, 15_000: 3}
    return load.budget / shares[nodes] if load.budget is not None and nodes in shares else None


def pods_per_second(load: Load, nodes: int) -> float:
    cluster = SchedulerCache(nodes)
    for number in range(nodes):
        cluster.set_node(msgspec.convert(node(number), Node))
    if load.services:
        for app in range(20):
            service = {
                "metadata": {"name": f"s{app}", "namespace": "default"},
                "spec": {"selector": {"app": f"a{app}"}},
            }
            cluster.default_selectors.set_service(msgspec.convert(service, Service))
    engine = Engine(cluster)
    # Anti-affinity by host runs out of nodes.
    count = min(20_000, nodes * 9 // 10)
    made = [load.pod(i) for i in range(count)]
    if load.apart:
        for number in range(nodes):
            first = cluster.compiler.compile(msgspec.convert(daemon(number, number), Pod))
            cluster.bind(first, engine.schedule(first).slot)
        # Another DaemonSet's, so that they find room; the step is none of the divisors of the size.
        for place in range(count - count % load.apart, 0, -load.apart):
            made.insert(place, daemon(nodes + place, place * 7 % nodes))
    pods = [cluster.compiler.compile(msgspec.convert(each, Pod)) for each in made]
    started = time.perf_counter()
    done = 0
    for incoming in pods:
        placement = engine.schedule(incoming)
        if placement.slot >= 0:
            cluster.bind(incoming, placement.slot)
        done += 1
        if not done % 50 and time.perf_counter() - started > SECONDS:
            break
    return done / (time.perf_counter() - started)
