"""Sequences of writes under quotas and limit ranges: what is refused, what is filled in, and what is counted."""

from __future__ import annotations

import random
from typing import Any

from mooring.kube.objects import Object
from tests.conformance.questions.drawn.templates import drawn, many, maybe, one
from tests.conformance.questions.stories import Step

NS = "/api/v1/namespaces/$NS"
CPU = ("100m", "250m", "1", "1500m", "2", "0")
MEMORY = ("64Mi", "128Mi", "1Gi", "500M", "2Gi", "1")
AMOUNTS = {
    "cpu": maybe(one(*CPU)),
    "memory": maybe(one(*MEMORY)),
    "ephemeral-storage": one("1Gi", None, None, None),
    "example.com/gpu": one("1", "2", None, None, None),
    "hugepages-2Mi": one("4Mi", None, None, None, None, None),
}
HARD = {
    "pods": ("1", "2", "4"),
    "count/pods": ("3", "5"),
    "cpu": ("1", "3"),
    "requests.cpu": ("500m", "2"),
    "limits.cpu": ("2", "4"),
    "memory": ("1Gi", "3Gi"),
    "requests.memory": ("256Mi", "2Gi"),
    "limits.memory": ("1Gi", "4Gi"),
    "requests.ephemeral-storage": ("1Gi",),
    "limits.ephemeral-storage": ("2Gi",),
    "ephemeral-storage": ("1Gi",),
    "requests.example.com/gpu": ("1", "3"),
    "requests.hugepages-2Mi": ("4Mi",),
    "hugepages-2Mi": ("8Mi",),
}
OTHER_HARD = {
    "services": ("1", "3"),
    "count/services": ("2",),
    "services.nodeports": ("0", "2"),
    "services.loadbalancers": ("0", "1"),
    "configmaps": ("1", "2"),
    "count/configmaps": ("2",),
    "secrets": ("1",),
    "count/secrets": ("2",),
    "persistentvolumeclaims": ("1", "2"),
    "count/persistentvolumeclaims": ("2",),
    "requests.storage": ("2Gi", "5Gi"),
    "gold.storageclass.storage.k8s.io/requests.storage": ("1Gi", "3Gi"),
    "gold.storageclass.storage.k8s.io/persistentvolumeclaims": ("1",),
    "silver.storageclass.storage.k8s.io/requests.storage": ("0",),
    "count/deployments.apps": ("1",),
    "count/jobs.batch": ("1",),
    "count/roles.rbac.authorization.k8s.io": ("1",),
    "replicationcontrollers": ("1",),
    "count/replicationcontrollers": ("1",),
    "count/resourceclaims.resource.k8s.io": ("2",),
    "gpu.deviceclass.resource.k8s.io/devices": ("2", "40"),
    "count/leases.coordination.k8s.io": ("1",),
    "resourcequotas": ("2", "4"),
    "count/serviceaccounts": ("2",),
}
POD_SCOPES = (
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
)
TERM = {
    "labelSelector": {"matchLabels": {"a": "b"}},
    "namespaces": maybe(["x"]),
    "topologyKey": "zone",
    "namespaceSelector": one({}, None, None),
}
CONTAINER = {
    "image": "i",
    "resources": one({}, {"requests": AMOUNTS, "limits": AMOUNTS}, {"requests": AMOUNTS}, {"limits": AMOUNTS}),
}
POD = {
    "containers": many((1, 1, 2), CONTAINER, "name"),
    "initContainers": one(
        None, None, many((1, 2), {**CONTAINER, "name": one("i", "j"), "restartPolicy": one(None, "Always")})
    ),
    "activeDeadlineSeconds": one(None, None, 30),
    "priorityClassName": one(None, None, None, "system-cluster-critical", "system-node-critical"),
    "overhead": None,
    "resources": one(None, None, None, {"requests": {"cpu": "2"}, "limits": {"cpu": "4"}}),
    "affinity": one(
        None,
        None,
        None,
        {
            one("podAffinity", "podAntiAffinity").options[0]: {
                "requiredDuringSchedulingIgnoredDuringExecution": [TERM]
            },
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": TERM}]
            },
        },
    ),
}
PORTS = many((1, 2, 3), {"port": one(80, 81, 82, 83), "name": one("a", "b", "c", "d")})
SERVICE = {
    "type": one("ClusterIP", "NodePort", "LoadBalancer", "LoadBalancer", "ExternalName"),
    "ports": PORTS,
    "allocateLoadBalancerNodePorts": one(None, None, False),
    "selector": {"a": "b"},
}
CLAIM = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": one("1Gi", "2Gi", "500M", "1")}},
    "storageClassName": one("gold", "silver", "", None),
    "volumeAttributesClassName": one(None, None, "fast"),
}
EXACTLY = {
    "deviceClassName": one("gpu", "gpu", "nic"),
    "allocationMode": one(None, "All", "ExactCount"),
    "count": one(None, None, 2),
}
DEVICES = {
    "requests": many(
        (1, 2), one({"exactly": EXACTLY}, {"firstAvailable": many((1, 2), {**EXACTLY, "name": one("s", "t")})}), "name"
    )
}
WORKLOAD: Object = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
OBJECTS = {
    f"{NS}/services": {"spec": SERVICE},
    f"{NS}/configmaps": {},
    f"{NS}/secrets": {},
    f"{NS}/serviceaccounts": {},
    f"{NS}/replicationcontrollers": {"spec": {"selector": {"a": "b"}, "template": WORKLOAD}},
    f"{NS}/persistentvolumeclaims": {"spec": CLAIM},
    "/apis/apps/v1/namespaces/$NS/deployments": {
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": WORKLOAD}
    },
    "/apis/batch/v1/namespaces/$NS/jobs": {
        "spec": {"template": {"spec": WORKLOAD["spec"] | {"restartPolicy": "Never"}}}
    },
    "/apis/rbac.authorization.k8s.io/v1/namespaces/$NS/roles": {"rules": []},
    "/apis/resource.k8s.io/v1/namespaces/$NS/resourceclaims": {"spec": {"devices": DEVICES}},
    "/apis/coordination.k8s.io/v1/namespaces/$NS/leases": {},
    f"{NS}/events": {"involvedObject": {"namespace": "$NS"}},
}


def cleaned(value: object) -> object:
    """Without what was drawn to be absent, and without a quantity of an extended resource that stands on one side."""
    if isinstance(value, dict):
        return {key: cleaned(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    return value


def body(draw: random.Random, name: str, template: object) -> Object:
    found: Object = {"metadata": {"name": name}}
    made = cleaned(drawn(draw, template))
    assert isinstance(made, dict)
    if made.get("spec", {}).get("type") == "ExternalName":
        made["spec"]["externalName"] = "a.b"
    for container in [*made.get("spec", {}).get("containers", []), *(made.get("spec", {}).get("initContainers") or [])]:
        even(container.get("resources", {}))
    return found | made


def even(resources: Object) -> None:
    """Devices and huge pages are the same in requests and limits."""
    for name in ("example.com/gpu", "hugepages-2Mi"):
        amounts = [each.pop(name) for each in resources.values() if name in each]
        if amounts:
            resources.setdefault("requests", {})[name] = resources.setdefault("limits", {})[name] = amounts[0]


def quota(draw: random.Random, name: str, names: dict[str, tuple[str, ...]], *, scoped: bool) -> list[Step]:
    hard = {key: draw.choice(names[key]) for key in draw.sample(sorted(names), draw.choice((1, 2, 4, 6)))}
    spec: Object = {"hard": hard}
    if scoped and draw.random() < 0.6:
        spec["hard"] = {"pods": draw.choice(("0", "1", "2"))} | ({"requests.cpu": "1"} if draw.random() < 0.3 else {})
        scopes = draw.sample(POD_SCOPES, draw.choice((1, 1, 2)))
        if draw.random() < 0.5:
            spec["scopes"] = scopes
        else:
            terms: list[Object] = [{"scopeName": scope, "operator": "Exists"} for scope in scopes]
            if scopes[0] == "PriorityClass":
                values = draw.choice((["system-cluster-critical"], ["system-node-critical", "x"]))
                narrowed: tuple[Object, ...] = (
                    {},
                    {"operator": draw.choice(("In", "NotIn")), "values": values},
                    {"operator": "DoesNotExist"},
                )
                terms[0] |= draw.choice(narrowed)
            spec["scopeSelector"] = {"matchExpressions": terms}
    used = dict.fromkeys(spec["hard"], "0")
    if "resourcequotas" in used:
        used["resourcequotas"] = "1"
    if "count/serviceaccounts" in used:
        used["count/serviceaccounts"] = "1"
    return [
        {"do": f"POST {NS}/resourcequotas", "body": {"metadata": {"name": name}, "spec": spec}, "pick": ["spec"]},
        {
            "do": f"PATCH {NS}/resourcequotas/{name}/status",
            "type": "merge",
            "body": {"status": {"hard": spec["hard"], "used": used}},
            "quiet": True,
        },
    ]


def pods(number: int) -> list[Step]:
    draw = random.Random(f"quota of pods {number}")
    # With several quotas, which one is asked first is chance on a real server.
    steps = quota(draw, "q0", HARD, scoped=number % 2 == 0)
    asked: list[Step] = []
    for index in range(22):
        made = body(draw, f"p{index}", {"spec": POD})
        dry = "?dryRun=All" if draw.random() < 0.15 else ""
        asked.append({"do": f"POST {NS}/pods{dry}", "body": made, "pick": ["metadata/name"]})
        if draw.random() < 0.15:
            change = {"spec": {"activeDeadlineSeconds": 20}}
            asked.append(
                {"do": f"PATCH {NS}/pods/p{index}", "type": "merge", "body": change, "pick": ["metadata/name"]}
            )
        if draw.random() < 0.3:
            asked.append({"do": f"GET {NS}/resourcequotas/q0", "pick": ["status"]})
    asked[0] |= {"wait": 1.2}
    asked.append({"do": f"GET {NS}/resourcequotas", "pick": ["items/*/status"]})
    return [*steps, *asked]


def others(number: int) -> list[Step]:
    draw = random.Random(f"quota of others {number}")
    steps = quota(draw, "q0", OTHER_HARD, scoped=False)
    asked: list[Step] = []
    for index in range(26):
        path = draw.choice(sorted(OBJECTS))
        made = body(draw, f"o{index}", OBJECTS[path])
        asked.append({"do": f"POST {path}", "body": made, "pick": ["metadata/name"]})
        if path.endswith("/services") and made["spec"]["type"] in ("ClusterIP", "NodePort"):
            # What becomes less is counted by a controller there.
            change: Object = {"spec": {"type": "LoadBalancer"}}
            asked.append({"do": f"PATCH {path}/o{index}", "type": "merge", "body": change, "pick": ["spec/type"]})
        if draw.random() < 0.2:
            asked.append({"do": f"GET {NS}/resourcequotas/q0", "pick": ["status"]})
    asked[0] |= {"wait": 1.2}
    asked.append({"do": f"GET {NS}/resourcequotas", "pick": ["items/*/status"]})
    return [*steps, *asked]


BOUNDS = {
    "cpu": maybe(one("100m", "200m", "500m")),
    "memory": maybe(one("32Mi", "64Mi", "256Mi")),
}
MOST = {"cpu": maybe(one("1", "2")), "memory": maybe(one("1Gi", "2Gi")), "ephemeral-storage": one(None, None, "2Gi")}
LIMITS = {
    "Container": {
        "min": maybe(BOUNDS),
        "max": maybe(MOST),
        "default": maybe({"cpu": maybe("900m"), "memory": maybe("512Mi")}),
        "defaultRequest": maybe({"cpu": maybe("500m"), "memory": maybe("256Mi")}),
        "maxLimitRequestRatio": one(None, None, {"cpu": one("2", "4", "3")}),
    },
    "Pod": {
        "min": maybe(BOUNDS),
        "max": maybe({"cpu": maybe("3"), "memory": maybe("3Gi")}),
        "maxLimitRequestRatio": one(None, None, {"memory": "2"}),
    },
    "PersistentVolumeClaim": {"min": maybe({"storage": "1Gi"}), "max": maybe({"storage": one("1Gi", "3Gi")})},
    "example.com/other": {"max": {"storage": "1Gi"}},
}


def limits(number: int) -> list[Step]:
    draw = random.Random(f"limits {number}")
    kinds = draw.sample(sorted(LIMITS), draw.choice((1, 2, 3)))
    steps: list[Step] = []
    # With several, which one is asked first is chance on a real server.
    bounds: list[Any] = [cleaned(drawn(draw, LIMITS[kind])) for kind in kinds]
    spec = {"limits": [{"type": kind, **each} for kind, each in zip(kinds, bounds, strict=True)]}
    steps.append(
        {"do": f"POST {NS}/limitranges", "body": {"metadata": {"name": "one"}, "spec": spec}, "pick": ["spec"]}
    )
    asked: list[Step] = []
    pick = ["metadata/annotations", "spec/containers/*/resources", "spec/initContainers/*/resources", "status/qosClass"]
    for index in range(16):
        if draw.random() < 0.2:
            made = body(draw, f"c{index}", {"spec": CLAIM})
            asked.append(
                {"do": f"POST {NS}/persistentvolumeclaims?dryRun=All", "body": made, "pick": ["spec/resources"]}
            )
            continue
        # What a pod says as a whole is held against its containers in an order that is chance there.
        made = body(draw, f"p{index}", {"spec": {**POD, "resources": None}})
        asked.append({"do": f"POST {NS}/pods?dryRun=All", "body": made, "pick": pick})
    asked[0] |= {"wait": 0.8}
    return [*steps, *asked]


def stories() -> dict[str, list[Step]]:
    found = {f"quota-pods-{number}": pods(number) for number in range(24)}
    found |= {f"quota-others-{number}": others(number) for number in range(18)}
    return found | {f"limits-{number}": limits(number) for number in range(16)}
