"""A town of plain Node objects and a crowd of pods that ask for a bit of everything, the same each time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from mooring.kube.objects import Object

ZONES = ("a", "b", "c")
GPU = "nvidia.com/gpu"
GPU_TAINT = {"key": GPU, "value": "present", "effect": "NoSchedule"}
SPOT_TAINT = {"key": "spot", "value": "true", "effect": "PreferNoSchedule"}
NAMESPACES = ("shop", "lab")
HIGH = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 1000,
}


# The town


def nodes() -> Iterator[Object]:
    """Thirty general nodes, eight with GPUs behind a taint, four that are better avoided, one cordoned, two for
    preemption."""
    for number in range(30):
        labels = {"pool": "general", "disk": "ssd" if number % 3 else "hdd", "number": str(number)}
        yield _node(f"general-{number:02d}", ZONES[number % 3], 8, labels)
    for number in range(8):
        product = "H100" if number % 2 else "A100"
        yield _node(f"gpu-{number}", ZONES[number % 3], 32, {"pool": "gpu", "gpu": product}, gpus=8, taint=GPU_TAINT)
    for number in range(4):
        yield _node(f"spot-{number}", ZONES[number % 2], 16, {"pool": "spot"}, taint=SPOT_TAINT)
    yield _node("cordoned", "a", 64, {"pool": "general"}, cordoned=True)
    for number in range(2):
        yield _node(f"arena-{number}", "c", 4, {"pool": "arena"})


def _node(
    name: str,
    zone: str,
    cpu: int,
    labels: dict[str, str],
    *,
    gpus: int = 0,
    taint: Object | None = None,
    cordoned: bool = False,
) -> Object:
    amounts = {"cpu": str(cpu), "memory": f"{cpu * 4}Gi", "ephemeral-storage": "100Gi", "pods": "40"}
    if gpus:
        amounts[GPU] = str(gpus)
    spec: Object = {"taints": [taint] if taint else []}
    if cordoned:
        spec["unschedulable"] = True
    every = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, **labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": every},
        "spec": spec,
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def services() -> Iterator[Object]:
    """Some of the apps have a Service, so that their pods are spread by default."""
    for namespace in NAMESPACES:
        for number in range(0, 6, 2):
            app = f"web-{number}"
            spec = {"selector": {"app": app}, "ports": [{"port": 80}]}
            meta = {"name": app, "namespace": namespace}
            yield {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


# The crowd


def crowd(seed: int = 1) -> list[Object]:
    """More than five hundred pods, in no particular order."""
    draw = random.Random(seed)
    pods = [*_plain(draw), *_selecting(draw), *_affine(draw), *_with_gpus(draw), *_spread(draw), *_social(draw)]
    pods += [*_too_large(draw), *_on_ports(draw), *_foreign(), *_low()]
    draw.shuffle(pods)
    return pods


def _pod(
    name: str, draw: random.Random | None = None, *, app: str = "", cpu: str = "", gpus: int = 0, **spec: Any
) -> Object:
    namespace = draw.choice(NAMESPACES) if draw else "shop"
    requests = {"cpu": cpu or (draw.choice(("50m", "100m", "250m", "500m")) if draw else "100m"), "memory": "128Mi"}
    resources: Object = {"requests": requests}
    if gpus:
        resources["limits"] = {GPU: str(gpus)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": app or name.rpartition("-")[0]}},
        "spec": {
            "containers": [{"name": "main", "image": "registry.example.com/app:1", "resources": resources}],
            # Nobody runs these pods, so nobody would stop them either.
            "terminationGracePeriodSeconds": 0,
            **spec,
        },
    }


def _plain(draw: random.Random) -> Iterator[Object]:
    for number in range(120):
        yield _pod(f"plain-{number}", draw, app=f"web-{number % 6}")


def _selecting(draw: random.Random) -> Iterator[Object]:
    for number in range(60):
        selector = draw.choice(({"pool": "general"}, {"disk": "hdd"}, {"pool": "spot"}, {"disk": "floppy"}))
        yield _pod(f"picky-{number}", draw, nodeSelector=selector)


def _affine(draw: random.Random) -> Iterator[Object]:
    for number in range(60):
        wanted = draw.choice(
            (
                [_needs("disk", "In", "ssd")],
                [_needs("number", "Gt", "20")],
                [_needs("pool", "NotIn", "spot", "gpu")],
                [_needs("topology.kubernetes.io/zone", "In", "b"), _needs("disk", "Exists")],
            )
        )
        preferred = [
            {"weight": draw.randint(1, 100), "preference": {"matchExpressions": [_needs("disk", "In", "hdd")]}}
        ]
        affinity: Object = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
        if number % 3:
            terms = {"nodeSelectorTerms": [{"matchExpressions": wanted}]}
            affinity["requiredDuringSchedulingIgnoredDuringExecution"] = terms
        yield _pod(f"affine-{number}", draw, affinity={"nodeAffinity": affinity})


def _needs(key: str, operator: str, *values: str) -> Object:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def _with_gpus(draw: random.Random) -> Iterator[Object]:
    tolerated = {"tolerations": [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}]}
    for number in range(60):
        spec: Object = {} if number % 6 == 0 else dict(tolerated)
        if number % 4 == 1:
            spec["nodeSelector"] = {"gpu": draw.choice(("A100", "H100"))}
        yield _pod(f"trainer-{number}", draw, gpus=draw.choice((1, 1, 2, 4, 8)), **spec)


def _spread(draw: random.Random) -> Iterator[Object]:
    for number in range(70):
        app = f"spread-{number % 5}"
        constraint = {
            "maxSkew": 1 + number % 2,
            "topologyKey": draw.choice(("topology.kubernetes.io/zone", "kubernetes.io/hostname")),
            "whenUnsatisfiable": "DoNotSchedule" if number % 5 < 3 else "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": app}},
        }
        yield _pod(f"spread-{number}", draw, app=app, topologySpreadConstraints=[constraint])


def _social(draw: random.Random) -> Iterator[Object]:
    for number in range(70):
        app = f"social-{number % 7}"
        term = {
            "topologyKey": "kubernetes.io/hostname" if number % 7 < 4 else "topology.kubernetes.io/zone",
            "labelSelector": {"matchLabels": {"app": app if number % 7 < 5 else f"web-{number % 6}"}},
        }
        soft = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 50, "podAffinityTerm": term}]}
        hard = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        affinity = (
            {"podAntiAffinity": hard},
            {"podAntiAffinity": soft},
            {"podAffinity": hard},
            {"podAffinity": soft},
        )[number % 7 % 4]
        yield _pod(f"social-{number}", draw, app=app, affinity=affinity)


def _too_large(draw: random.Random) -> Iterator[Object]:
    for number in range(25):
        yield _pod(f"large-{number}", draw, cpu=draw.choice(("4", "6", "12", "100")))


def _on_ports(draw: random.Random) -> Iterator[Object]:
    for number in range(25):
        pod = _pod(f"port-{number}", draw, nodeSelector={"pool": "spot"})
        pod["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8000 + number % 3}]
        yield pod


def _foreign() -> Iterator[Object]:
    for number in range(10):
        yield _pod(f"foreign-{number}", schedulerName="another-scheduler")


def _low() -> Iterator[Object]:
    """Pods that fill the arena, to be preempted later."""
    for number in range(8):
        yield _pod(f"low-{number}", cpu="1", nodeSelector={"pool": "arena"})


def urgent() -> Iterator[Object]:
    for number in range(4):
        pod = _pod(f"urgent-{number}", cpu="2", nodeSelector={"pool": "arena"})
        pod["spec"]["priorityClassName"] = "high"
        yield pod


def gated() -> Iterator[Object]:
    for number in range(10):
        yield _pod(f"gated-{number}", schedulingGates=[{"name": "example.com/quota"}])
