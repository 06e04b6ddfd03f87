"""Nodes that are lost, and pods that cannot stay or cannot be placed."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.kube.objects import Object
from mooring.testing.workloads import deployment, template
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]

_LOST: Object = {"key": "mooring.test/lost", "operator": "Exists"}
_UNREACHABLE = "node.kubernetes.io/unreachable"


def a_node_is_lost_and_found(town: Town) -> Scenes:
    """Nobody renews its Lease: it is tainted, and pods leave it when the time that they tolerate that is up."""
    here = {"kubernetes.io/hostname": "lost"}
    leaves = [_LOST, {"key": _UNREACHABLE, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}]
    stays = [_LOST, {"key": _UNREACHABLE, "operator": "Exists", "effect": "NoExecute"}]
    town.create(deployment("leaves", 1, pods=template("leaves", nodeSelector=here, tolerations=leaves)))
    town.create(deployment("stays", 1, pods=template("stays", nodeSelector=here, tolerations=stays)))
    town.until(lambda: len(town.pods(phase="Running")) == 2, "two pods on it")
    node = "/api/v1/nodes/lost"
    assert town.api.patch(node, "merge", {"metadata": {"annotations": {"kwok.x-k8s.io/node": None}}}).code == 200
    town.until(lambda: _taints(town) >= {(_UNREACHABLE, "NoSchedule"), (_UNREACHABLE, "NoExecute")}, "its taints")
    # What leaves cannot end, because nobody is there to end it; its replacement waits.
    town.until(lambda: len(town.pods()) == 3, "a replacement")
    town.until(lambda: sum("deletionTimestamp" in pod["metadata"] for pod in town.pods()) == 1, "one that leaves")
    yield None
    assert _conditions(town) == {"Ready": "Unknown", **dict.fromkeys(_PRESSURES, "Unknown")}
    fake = {"metadata": {"annotations": {"kwok.x-k8s.io/node": "fake"}}}
    assert town.api.patch(node, "merge", fake).code == 200
    town.until(lambda: _taints(town) == {("mooring.test/lost", "NoSchedule")}, "no taints but its own")
    town.until(lambda: len(town.pods()) == 2 == len(town.pods(phase="Running")), "two pods again")
    assert _conditions(town) == {"Ready": "True", **dict.fromkeys(_PRESSURES, "False")}
    yield None


_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")


def _taints(town: Town) -> set[tuple[str, str]]:
    found = town.api.get("/api/v1/nodes/lost").body["spec"].get("taints") or ()
    return {(taint["key"], taint["effect"]) for taint in found}


def _conditions(town: Town) -> dict[str, str]:
    found = town.api.get("/api/v1/nodes/lost").body["status"]["conditions"]
    return {each["type"]: each["status"] for each in found if each["type"] in ("Ready", *_PRESSURES)}


def pods_that_cannot_be_placed_say_why(town: Town) -> Scenes:
    town.create(deployment("nowhere", 1, pods=template("nowhere", nodeSelector={"no": "where"})))
    large = template("large")
    large["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1000"
    town.create(deployment("large", 1, pods=large))
    gated = template("gated", schedulingGates=[{"name": "mooring.test/gate"}])
    town.create(deployment("gated", 1, pods=gated))
    town.until(lambda: len([pod for pod in town.pods() if pod["status"].get("conditions")]) == 3, "three reasons")
    yield None


def a_pod_is_bound_where_it_says(town: Town) -> Scenes:
    pods = template("near", nodeSelector={"kubernetes.io/hostname": "n2"})
    town.create(deployment("near", 2, pods=pods))
    town.until(lambda: len(town.pods(phase="Running")) == 2, "two pods")
    assert {pod["spec"]["nodeName"] for pod in town.pods()} == {"n2"}
    yield None


STORIES = (a_node_is_lost_and_found, pods_that_cannot_be_placed_say_why, a_pod_is_bound_where_it_says)
