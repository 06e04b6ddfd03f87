"""Questions about clusters with more of everything than an answer has room for: what is tried, shown and named ends."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from tests.placement.drawn.nodes import GPU, HOSTNAME, RACK, ZONE
from tests.placement.drawn.pods import REQUIRED

NODES = 60
MANY = 14


def node(number: int, taints: list[Object] | None = None, *, cordoned: bool = False, **more: Any) -> Object:
    name = f"node-{number}"
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "10", **more.pop("allocatable", {})}
    spec: Object = {"taints": taints} if taints else {}
    if cordoned:
        spec["unschedulable"] = True
    labels = {HOSTNAME: name, **more.pop("labels", {})}
    metadata = {"name": name, "labels": labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": {"allocatable": allocatable},
    }


def pod(
    name: str = "new", requests: Object | None = None, on: int = -1, labels: Object | None = None, **spec: Any
) -> Object:
    container: Object = {"name": "main", "image": "app:1", "resources": {"requests": requests or {"cpu": "1"}}}
    if "ports" in spec:
        container["ports"] = spec.pop("ports")
    if on >= 0:
        spec["nodeName"] = f"node-{on}"
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": labels or {"app": "web"}}
    made: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], **spec},
    }
    return {**made, "status": {"phase": "Running" if on >= 0 else "Pending"}}


def deployment(replicas: int, **spec: Any) -> Object:
    made = pod(**spec)
    template = {"metadata": {"labels": made["metadata"]["labels"]}, "spec": made["spec"]}
    found: Object = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": found}


def _taint(number: int, effect: str = "NoSchedule") -> Object:
    return {"key": f"team-{number}", "value": "yes", "effect": effect}


def _spread(key: str, **more: Any) -> Object:
    found = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", **more}
    return {**found, "labelSelector": {"matchLabels": {"app": "web"}}}


def _term(key: str) -> Object:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "web"}}}


def _affinity(*expressions: Object) -> Object:
    terms = [{"matchExpressions": [each]} for each in expressions]
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}


def _in(key: str, count: int) -> Object:
    return {"key": key, "operator": "In", "values": [f"{key}-{number}" for number in range(count)]}


Wide = tuple[list[Object], list[Object]]


def wide_questions() -> list[Wide]:
    """Clusters, and what is to be applied to each."""
    everywhere = range(NODES)
    zones = [node(n, labels={ZONE: f"zone-{n % MANY}", RACK: f"rack-{n}"}) for n in everywhere]
    full = {"cpu": "3500m", "memory": "1Gi"}
    crowd = [pod(f"there-{n}", on=n) for n in everywhere]
    levels = [pod(f"low-{n}", full, on=n, priority=n * 10 + 1) for n in everywhere]
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": True}
    owned = [pod(f"owned-{n}", full, on=n) for n in everywhere]
    for each in owned:
        each["metadata"]["ownerReferences"] = [owner]
    small = [pod(f"small-{n}-{i}", {"cpu": "900m"}, on=n, priority=i) for n in range(45) for i in range(4)]
    ports = [{"containerPort": port, "hostPort": port} for port in (8080, 65535)]
    taken = [pod(f"port-{n}", {"cpu": "10m"}, on=n, ports=ports) for n in range(6)]
    mixed = [
        node(
            n,
            [_taint(n)] if n % 3 == 0 else None,
            cordoned=n % 5 == 1,
            labels={"pool": f"pool-{n % 9}", ZONE: f"z{n % 4}"},
        )
        for n in range(40)
    ]
    return [
        ([node(n, [_taint(n % 30)]) for n in everywhere], [pod()]),
        ([node(n, [_taint(n), _taint(n + 100, "NoExecute")]) for n in range(12)], [pod()]),
        ([node(n, [_taint(0)]) for n in everywhere], [deployment(30, requests={"cpu": "3"})]),
        ([node(n, cordoned=True) for n in everywhere], [deployment(12, requests={"cpu": "3"})]),
        ([node(n) for n in everywhere], [pod(affinity=_affinity(*(_in(f"key{n}", 6) for n in range(MANY))))]),
        ([node(n) for n in everywhere], [pod(nodeSelector={f"key{n}": "value" for n in range(4)})]),
        (
            [node(n, labels={f"bad{n % MANY}": "x"}) for n in everywhere],
            [pod(affinity=_shunning(MANY))],
        ),
        ([*zones, *crowd], [pod(topologySpreadConstraints=[_spread(ZONE), _spread(RACK)])]),
        ([*zones, *crowd], [pod(affinity={"podAntiAffinity": {REQUIRED: [_term(ZONE)]}})]),
        ([*[node(n) for n in everywhere], *levels], [pod(priority=0)]),
        ([*[node(n) for n in everywhere], *owned], [pod(priority=0), pod("second", {"cpu": "2"}, priority=5)]),
        ([*[node(n) for n in range(45)], *small], [pod(requests={"cpu": "2"}, priority=0)]),
        ([*[node(n) for n in range(6)], *taken], [pod(ports=ports)]),
        (
            mixed,
            [
                pod(nodeSelector={"pool": "pool-1", ZONE: "z1"}, requests={"cpu": "5"}),
                deployment(20, nodeSelector={"pool": "pool-3"}),
            ],
        ),
        ([node(n, allocatable={GPU: str(n % 5)}) for n in range(30)], [deployment(5, requests={GPU: "8", "cpu": "1"})]),
        (
            [node(n, labels={ZONE: f"zone-{n}"}, cordoned=n >= 6) for n in range(9)]
            + [pod(f"spread-{n}", {"cpu": "10m"}, on=n) for n in range(6)],
            [
                pod(topologySpreadConstraints=[_spread(ZONE)]),
                pod("rack", topologySpreadConstraints=[_spread(RACK, minDomains=12)]),
            ],
        ),
    ]


def _shunning(count: int) -> Object:
    body = [{"key": f"bad{number}", "operator": "DoesNotExist"} for number in range(count)]
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": body}]}}}
