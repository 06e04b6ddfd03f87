"""Drawn pods: what a pod can ask of nodes, of other pods and of itself, one feature at a time and several at once."""

from __future__ import annotations

from collections.abc import Callable

from mooring.kube.objects import Object
from tests.placement.drawn.dice import Dice
from tests.placement.drawn.nodes import (
    ARCH,
    CARD,
    DISKS,
    GPU,
    HOSTNAME,
    IMAGES,
    PAGES,
    POOLS,
    RACK,
    RACKS,
    REGION,
    TAINTS,
    ZONE,
    ZONES,
)

APPS = ("web", "db", "train")
TIERS = ("front", "back")
NAMESPACES = ("default", "default", "shop", "lab")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
# What admission makes of these names.
PRIORITIES = {"low": -5, "mid": 50, "high": 1000}
OVERHEAD = {"cpu": "250m", "memory": "120Mi"}

Nodes = list[Object]
Feature = Callable[[Dice, Object, Nodes], None]


def draw_pod(dice: Dice, name: str, nodes: Nodes, features: list[Feature]) -> Object:
    labels = {"app": dice.pick(APPS), "tier": dice.pick(TIERS)}
    if dice.chance(0.5):
        labels["version"] = dice.pick(("1", "2"))
    container: Object = {"name": "main", "image": dice.pick(IMAGES[:2])}
    cpu, memory = dice.pick(("100m", "500m", "1", "1500m")), dice.pick(("64Mi", "512Mi", "1Gi"))
    if dice.chance(0.9):
        container["resources"] = {"requests": {"cpu": cpu, "memory": memory}}
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": dice.pick(NAMESPACES), "labels": labels},
        "spec": {"containers": [container]},
    }
    for feature in features:
        feature(dice, pod, nodes)
    return pod


# Resources


def _requests(container: Object) -> Object:
    found: Object = container.setdefault("resources", {}).setdefault("requests", {})
    return found


def large(dice: Dice, pod: Object, nodes: Nodes) -> None:
    """Nearly what a node has, just that, and a little more."""
    allocatable = dice.pick(nodes)["status"]["allocatable"]
    resource = dice.pick(("cpu", "memory", "ephemeral-storage"))
    unit = {"cpu": "m"}.get(resource, "Mi")
    whole = _in_units(allocatable[resource], unit)
    amount = dice.pick((whole, whole + 1, whole - 1, whole // 2, whole // 2 + 1, whole - 250, whole - 120))
    _requests(pod["spec"]["containers"][0])[resource] = f"{max(amount, 1)}{unit}"


def _in_units(text: str, unit: str) -> int:
    if unit == "m":
        return int(text[:-1]) if text.endswith("m") else int(text) * 1000
    if text.endswith("Gi"):
        return int(text[:-2]) * 1024
    return int(text[:-2]) if text.endswith("Mi") else int(text[:-1]) * 10**9 // 2**20


def devices_by_number(dice: Dice, pod: Object, nodes: Nodes) -> None:
    resource, amount = dice.pick(((GPU, "1"), (GPU, "2"), (GPU, "3"), (CARD, "1"), (CARD, "2"), (PAGES, "32Mi")))
    resources = pod["spec"]["containers"][0].setdefault("resources", {})
    resources.setdefault("requests", {})[resource] = amount
    resources.setdefault("limits", {})[resource] = amount


def init_containers(dice: Dice, pod: Object, nodes: Nodes) -> None:
    made = []
    for number in range(dice.randint(1, 3)):
        each: Object = {"name": f"init-{number}", "image": IMAGES[2]}
        each["resources"] = {"requests": {"cpu": dice.pick(("200m", "1", "2", "3500m")), "memory": "256Mi"}}
        if dice.chance(0.5):
            each["restartPolicy"] = "Always"
            if dice.chance(0.3):
                each["ports"] = [{"containerPort": 9000, "hostPort": 9000}]
        made.append(each)
    pod["spec"]["initContainers"] = made


def second_container(dice: Dice, pod: Object, nodes: Nodes) -> None:
    each: Object = {"name": "second", "image": IMAGES[1]}
    if dice.chance(0.7):
        each["resources"] = {"requests": {"cpu": "700m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}}
    pod["spec"]["containers"].append(each)


def overhead(dice: Dice, pod: Object, nodes: Nodes) -> None:
    pod["spec"] |= {"runtimeClassName": "sandboxed", "overhead": OVERHEAD}


def pod_level(dice: Dice, pod: Object, nodes: Nodes) -> None:
    cpu = dice.pick(("2", "3", "4"))
    pod["spec"]["resources"] = {"requests": {"cpu": cpu, "memory": "4Gi"}, "limits": {"cpu": "8"}}


def host_ports(dice: Dice, pod: Object, nodes: Nodes) -> None:
    ports = []
    for number in dice.some((80, 81, 82), 1, 2):
        port: Object = {"containerPort": number, "hostPort": number}
        if dice.chance(0.4):
            port["hostIP"] = dice.pick(("0.0.0.0", "127.0.0.1", "10.0.0.1"))
        if dice.chance(0.3):
            port["protocol"] = dice.pick(("UDP", "TCP"))
        ports.append(port)
    pod["spec"]["containers"][0]["ports"] = ports


# Nodes


def node_selector(dice: Dice, pod: Object, nodes: Nodes) -> None:
    wanted = dice.some((("pool", POOLS), ("disk", DISKS), (ZONE, ZONES), (RACK, RACKS), (ARCH, ("amd64",))), 1, 2)
    pod["spec"]["nodeSelector"] = {key: dice.pick(values) for key, values in wanted}


def _expression(dice: Dice) -> Object:
    key, values = dice.pick((("pool", POOLS), ("disk", DISKS), (ZONE, ZONES), (RACK, RACKS), ("rank", ("1", "5"))))
    operator = dice.pick(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    if operator in ("Gt", "Lt"):
        return {"key": "rank", "operator": operator, "values": [dice.pick(("2", "4", "9", "20"))]}
    if operator in ("Exists", "DoesNotExist"):
        return {"key": key, "operator": operator}
    return {"key": key, "operator": operator, "values": dice.some(values, 1, 2)}


def _node_term(dice: Dice, nodes: Nodes) -> Object:
    term: Object = {}
    if dice.chance(0.85):
        term["matchExpressions"] = [_expression(dice) for _ in range(dice.randint(1, 3))]
    if dice.chance(0.2) or not term:
        name = dice.pick(nodes)["metadata"]["name"]
        operator = dice.pick(("In", "In", "NotIn"))
        term["matchFields"] = [{"key": "metadata.name", "operator": operator, "values": [name]}]
    return term


def _affinity(pod: Object, kind: str) -> Object:
    found: Object = pod["spec"].setdefault("affinity", {}).setdefault(kind, {})
    return found


def node_affinity(dice: Dice, pod: Object, nodes: Nodes) -> None:
    terms = [_node_term(dice, nodes) for _ in range(dice.randint(1, 2))]
    _affinity(pod, "nodeAffinity")[REQUIRED] = {"nodeSelectorTerms": terms}


def preferred_nodes(dice: Dice, pod: Object, nodes: Nodes) -> None:
    _affinity(pod, "nodeAffinity")[PREFERRED] = [
        {"weight": dice.randint(1, 100), "preference": _node_term(dice, nodes)} for _ in range(dice.randint(1, 3))
    ]


def tolerations(dice: Dice, pod: Object, nodes: Nodes) -> None:
    found = []
    for taint in dice.some((*TAINTS, {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}), 1, 3):
        each: Object = {"key": taint["key"]}
        if dice.chance(0.7):
            each["effect"] = taint["effect"]
        if taint.get("value") and dice.chance(0.6):
            each |= {"operator": "Equal", "value": taint["value"]} if dice.chance(0.7) else {"value": taint["value"]}
        else:
            each["operator"] = "Exists"
        found.append(each)
    if dice.chance(0.1):
        found = [{"operator": "Exists"}]
    pod["spec"]["tolerations"] = found


def everything_tolerated(dice: Dice, pod: Object, nodes: Nodes) -> None:
    pod["spec"]["tolerations"] = [{"operator": "Exists"}]


# Other pods


def _labels_wanted(dice: Dice) -> Object:
    if dice.chance(0.6):
        return {"matchLabels": {"app": dice.pick(APPS)}}
    key, values = dice.pick((("app", APPS), ("tier", TIERS)))
    operator = dice.pick(("In", "NotIn", "Exists", "DoesNotExist"))
    body: Object = {"key": key, "operator": operator}
    if operator in ("In", "NotIn"):
        body["values"] = dice.some(values, 1, 2)
    return {"matchExpressions": [body]}


def _pod_term(dice: Dice) -> Object:
    term: Object = {"topologyKey": dice.pick((HOSTNAME, HOSTNAME, ZONE, RACK, REGION))}
    term["labelSelector"] = _labels_wanted(dice)
    if dice.chance(0.2):
        term["namespaces"] = dice.some(("default", "shop", "lab"), 1, 2)
    if dice.chance(0.25):
        term["namespaceSelector"] = dice.pick(
            ({}, {"matchLabels": {"team": "ml"}}, {"matchExpressions": [{"key": "team", "operator": "Exists"}]})
        )
    if dice.chance(0.15) and "matchLabels" not in term["labelSelector"]:
        term[dice.pick(("matchLabelKeys", "mismatchLabelKeys"))] = ["version"]
    return term


def pod_affinity(dice: Dice, pod: Object, nodes: Nodes) -> None:
    _affinity(pod, "podAffinity")[REQUIRED] = [_pod_term(dice) for _ in range(dice.pick((1, 1, 2)))]


def pod_anti_affinity(dice: Dice, pod: Object, nodes: Nodes) -> None:
    _affinity(pod, "podAntiAffinity")[REQUIRED] = [_pod_term(dice) for _ in range(dice.pick((1, 1, 2)))]


def preferred_pods(dice: Dice, pod: Object, nodes: Nodes) -> None:
    for kind in dice.some(("podAffinity", "podAntiAffinity"), 1, 2):
        _affinity(pod, kind)[PREFERRED] = [
            {"weight": dice.randint(1, 100), "podAffinityTerm": _pod_term(dice)} for _ in range(dice.randint(1, 2))
        ]


def spreading(dice: Dice, pod: Object, nodes: Nodes) -> None:
    found: dict[tuple[str, str], Object] = {}
    for _ in range(dice.pick((1, 1, 2))):
        key, action = dice.pick((HOSTNAME, ZONE, ZONE, RACK)), dice.pick(("DoNotSchedule", "ScheduleAnyway"))
        each: Object = {"topologyKey": key, "whenUnsatisfiable": action, "maxSkew": dice.pick((1, 1, 2, 3))}
        each["labelSelector"] = _labels_wanted(dice)
        if action == "DoNotSchedule" and dice.chance(0.3):
            each["minDomains"] = dice.pick((1, 2, 4))
        if dice.chance(0.3):
            each["nodeAffinityPolicy"] = dice.pick(("Honor", "Ignore"))
        if dice.chance(0.4):
            each["nodeTaintsPolicy"] = dice.pick(("Honor", "Ignore"))
        if dice.chance(0.2) and "version" in pod["metadata"]["labels"]:
            each["matchLabelKeys"] = ["version"]
        found[key, action] = each
    pod["spec"]["topologySpreadConstraints"] = list(found.values())


# The pod itself


def importance(dice: Dice, pod: Object, nodes: Nodes) -> None:
    name = dice.pick(tuple(PRIORITIES))
    pod["spec"] |= {"priorityClassName": name, "priority": PRIORITIES[name]}
    if dice.chance(0.15):
        pod["spec"]["preemptionPolicy"] = "Never"


def gates(dice: Dice, pod: Object, nodes: Nodes) -> None:
    pod["spec"]["schedulingGates"] = [{"name": name} for name in dice.some(("example.com/a", "example.com/b"), 1, 2)]


def other_scheduler(dice: Dice, pod: Object, nodes: Nodes) -> None:
    pod["spec"]["schedulerName"] = "other-scheduler"


# What a pod that is there already may have, and what one may have that waits.
RESIDENT: tuple[Feature, ...] = (
    large,
    devices_by_number,
    devices_by_number,
    init_containers,
    second_container,
    overhead,
    pod_level,
    host_ports,
    host_ports,
    node_selector,
    pod_affinity,
    pod_anti_affinity,
    pod_anti_affinity,
    preferred_pods,
    spreading,
    importance,
    importance,
)
WAITING: tuple[Feature, ...] = (
    *RESIDENT,
    large,
    node_selector,
    node_affinity,
    node_affinity,
    preferred_nodes,
    preferred_nodes,
    tolerations,
    tolerations,
    everything_tolerated,
    spreading,
    spreading,
    pod_affinity,
    preferred_pods,
)
