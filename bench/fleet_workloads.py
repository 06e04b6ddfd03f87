"""The workloads of a generated fleet."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from mooring.kube.objects import Object

START = "2026-03-02T08:15:{:02d}Z"


TEAMS = ("search", "vision", "speech", "ranking", "fraud", "agents", "data", "platform", "evals", "robotics")


PARTS = ("api", "worker", "gateway", "ingest", "index", "cache", "trainer", "embedder", "router", "queue", "frontend")


class FleetWorkload(NamedTuple):
    """A Deployment or StatefulSet: all its pods come from one template."""

    name: str
    namespace: str
    kind: str
    replicas: int
    pool: str
    cpu_m: int
    memory_mi: int
    gpus: int
    style: int


def workloads(pods: int, rng: random.Random, pools: set[str]) -> Iterator[FleetWorkload]:
    """Uneven sizes: many small services, a few with hundreds of replicas."""
    left, number = pods, 0
    while left:
        replicas = min(left, max(1, int(rng.paretovariate(0.9) * 12)), max(8, pods // 25))
        team, part = rng.choice(TEAMS), rng.choice(PARTS)
        pool = rng.choices(("general", "memory", "a100", "h100"), (82, 12, 4, 2))[0]
        if pool not in pools:
            pool = "general"
        gpus = rng.choice((1, 1, 2, 4)) if pool in ("a100", "h100") else 0
        replicas = min(replicas, 40) if gpus else replicas
        cpu_m = rng.choice((100, 250, 500, 500, 1000, 1000, 2000))
        memory_mi = rng.choice((256, 512, 1024, 2048))
        kind = "StatefulSet" if rng.random() < 0.15 else "ReplicaSet"
        name = f"{part}-{number:03d}"
        yield FleetWorkload(name, team, kind, replicas, pool, cpu_m, memory_mi, gpus, rng.randrange(8))
        left, number = left - replicas, number + 1


def labels_of(workload: FleetWorkload) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": workload.name,
        "app.kubernetes.io/part-of": workload.namespace,
        "app.kubernetes.io/version": f"1.{workload.style}.0",
    }


def name_of_revision(workload: FleetWorkload) -> str:
    return f"{workload.name}-{hash_of(workload)}"


def controller_reference(workload: FleetWorkload) -> Object:
    name = workload.name if workload.kind == "StatefulSet" else f"{workload.name}-{hash_of(workload)}"
    return {
        "apiVersion": "apps/v1",
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": workload.kind,
        "name": name,
        "uid": uid(random.Random(name)),
    }


def uid(rng: random.Random) -> str:
    text = rng.randbytes(16).hex()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


def hash_of(workload: FleetWorkload) -> str:
    return "".join(random.Random(workload.name).choices("bcdfghjklmnpqrstvwxz2456789", k=9)) + "f"
