"""Slips of the people who write manifests: a letter too many in a label, a key, a name of a class."""

from __future__ import annotations

from collections.abc import Callable

from mooring.kube.objects import Object
from tests.placement.drawn.dice import Dice
from tests.placement.drawn.nodes import GPU, HOSTNAME, ZONE
from tests.placement.drawn.pods import REQUIRED, Nodes


def misspelt(dice: Dice, text: str) -> str:
    place = dice.randrange(max(len(text) - 1, 1))
    match dice.randrange(4):
        case 0:
            return text[:place] + text[place + 1 :]
        case 1:
            return text[: place + 1] + text[place:]
        case 2:
            return text[:place] + text[place + 1 : place + 2] + text[place : place + 1] + text[place + 2 :]
    return text[:-1] + ("x" if text[-1] != "x" else "y")


def _selector(dice: Dice, pod: Object, nodes: Nodes) -> None:
    labels = dice.pick(nodes)["metadata"]["labels"]
    key = dice.pick([key for key in labels if key not in ("rank", ZONE)])
    wrong_key = dice.chance(0.3)
    pod["spec"].setdefault("nodeSelector", {})[misspelt(dice, key) if wrong_key else key] = (
        labels[key] if wrong_key else misspelt(dice, labels[key])
    )


def _affinity(dice: Dice, pod: Object, nodes: Nodes) -> None:
    labels = dice.pick(nodes)["metadata"]["labels"]
    key = dice.pick(("pool", "disk", "kubernetes.io/arch"))
    operator = dice.pick(("In", "In", "In", "NotIn", "Exists"))
    body: Object = {"key": misspelt(dice, key) if dice.chance(0.4) else key, "operator": operator}
    if operator != "Exists":
        body["values"] = [misspelt(dice, labels[key])]
    terms = [{"matchExpressions": [body]}]
    if dice.chance(0.3):
        name = misspelt(dice, dice.pick(nodes)["metadata"]["name"])
        terms.append({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]})
    affinity = pod["spec"].setdefault("affinity", {})
    affinity["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": terms}}


def _toleration(dice: Dice, pod: Object, nodes: Nodes) -> None:
    taints = [taint for node in nodes for taint in node["spec"].get("taints", ()) if taint.get("value")]
    if not taints:
        return
    taint = dict(dice.pick(taints))
    field = dice.pick(("key", "value"))
    pod["spec"]["tolerations"] = [{**taint, "operator": "Equal", field: misspelt(dice, taint[field])}]


def _topology(dice: Dice, pod: Object, nodes: Nodes) -> None:
    key = misspelt(dice, dice.pick((HOSTNAME, ZONE)))
    selector = {"matchLabels": dict(list(pod["metadata"]["labels"].items())[:1])}
    if dice.chance(0.5):
        spread = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        pod["spec"]["topologySpreadConstraints"] = [spread]
    else:
        affinity = pod["spec"].setdefault("affinity", {})
        affinity["podAffinity"] = {REQUIRED: [{"topologyKey": key, "labelSelector": selector}]}


def _resource(dice: Dice, pod: Object, nodes: Nodes) -> None:
    name = dice.pick((misspelt(dice, GPU), "nvdia.com/gpu", "amd.com/gpu"))
    amounts = pod["spec"]["containers"][0].setdefault("resources", {})
    amounts.setdefault("limits", {})[name] = amounts.setdefault("requests", {})[name] = "1"


def _priority(dice: Dice, pod: Object, nodes: Nodes) -> None:
    pod["spec"].pop("priority", None)
    pod["spec"]["priorityClassName"] = misspelt(dice, "high")


def _too_much(dice: Dice, pod: Object, nodes: Nodes) -> None:
    amounts = pod["spec"]["containers"][0].setdefault("resources", {})
    amounts.setdefault("requests", {})[dice.pick(("cpu", "memory"))] = "300G"
    amounts["requests"]["cpu"] = dice.pick(("20", "9", "64"))
    if dice.chance(0.4):
        amounts.setdefault("limits", {}).update(amounts["requests"])


def _devices_twice(dice: Dice, pod: Object, nodes: Nodes) -> None:
    for container in pod["spec"]["containers"] + pod["spec"].get("initContainers", []):
        amounts = container.setdefault("resources", {})
        for field in ("requests", "limits"):
            amounts.setdefault(field, {})[GPU] = "4"


MISTAKES: tuple[Callable[[Dice, Object, Nodes], None], ...] = (
    _selector,
    _selector,
    _affinity,
    _affinity,
    _toleration,
    _toleration,
    _topology,
    _resource,
    _priority,
    _too_much,
    _devices_twice,
)
