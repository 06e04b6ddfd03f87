"""What metrics.k8s.io says of drawn clusters: of what a kubelet measured, and of what annotations say."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest

from mooring.apiserver.nodes.kubelets import NodeAccess
from mooring.kube.objects import Object
from mooring.net.certificates import Certificates
from tests.apiserver.test_logs import NODES, SECRET, Node, certificates, node, register
from tests.apiserver.world import PODS, Api

__all__ = ["certificates", "node"]

METRICS: Final = "/apis/metrics.k8s.io/v1beta1"
NOW: Final = "2026-01-01T12:00:00Z"
SAID: Final = "mooring.dev/usage"
# Thousandths of cores, and Ki of memory; None where nothing is said or measured of it.
Usage = tuple[int | None, int | None]


def cores(nanos: int) -> str:
    for suffix, size in (("", 10**9), ("m", 10**6), ("u", 10**3)):
        if nanos % size == 0:
            return f"{nanos // size}{suffix if nanos else ''}"
    return f"{nanos}n"


def memory(kibis: int) -> str:
    for suffix, size in (("Gi", 2**20), ("Mi", 2**10)):
        if kibis and kibis % size == 0:
            return f"{kibis // size}{suffix}"
    return f"{kibis}Ki" if kibis else "0"


def shown(usage: Usage) -> dict[str, str]:
    return {"cpu": cores((usage[0] or 0) * 10**6), "memory": memory(usage[1] or 0)}


def draw_usage(chance: random.Random) -> Usage:
    milli = chance.choice((None, 0, 1, 250, 999, 1000, 1500))
    return milli, chance.choice((None, 0, 1, 1023, 1024, 3 << 20))


class DrawnPod(NamedTuple):
    """A pod of some containers, maybe with a sidecar."""

    name: str
    node: str
    phase: str
    containers: tuple[str, ...]
    sidecar: bool
    labels: dict[str, str] | None
    # What the annotation says, by container, "" for none; None without one.
    said: dict[str, Usage] | None
    # What the kubelet has of it, by container, and the second in which it looked; None where it knows nothing.
    measured: list[tuple[str, Usage, int]] | None
    measured_uid: str

    def body(self) -> Object:
        metadata: Object = {"name": self.name}
        if self.labels is not None:
            metadata["labels"] = self.labels
        if self.said is not None:
            metadata["annotations"] = {SAID: annotation(self.said)}
        spec: Object = {"containers": [{"name": each, "image": "x"} for each in self.containers]}
        spec["initContainers"] = [{"name": "init", "image": "x"}]
        if self.sidecar:
            spec["initContainers"].append({"name": "side", "image": "x", "restartPolicy": "Always"})
        if self.node:
            spec["nodeName"] = self.node
        return {"metadata": metadata, "spec": spec}

    def lasting(self) -> list[str]:
        return [*self.containers, *(["side"] if self.sidecar else [])]

    def metrics(self) -> tuple[str, str, list[tuple[str, dict[str, str]]]] | None:
        """The time, the window and what each container uses; None where the pod has no metrics."""
        if self.phase != "Running" or not self.node:
            return None
        if self.node == "sim":
            if self.said is None:
                return None
            found = []
            for name in self.lasting():
                own = self.said.get(name, (None, None))
                unnamed = self.said.get("", (None, None)) if name == self.containers[0] else (None, None)
                pair = [first if first is not None else second for first, second in zip(own, unnamed, strict=True)]
                found.append((name, shown((pair[0], pair[1]))))
            return NOW, "0s", found
        if not self.measured or self.measured_uid == "other":
            return None
        whole = [each for each in self.measured if None not in each[1]]
        if not set(self.containers) <= {each[0] for each in whole}:
            return None
        # A container that has no reading of its processor has no time.
        seconds = min(each[2] for each in self.measured if each[1][0] is not None)
        return f"2026-01-01T12:00:{seconds:02}Z", "15s", [(name, shown(usage)) for name, usage, _ in whole]


def annotation(said: dict[str, Usage]) -> str:
    entries = []
    for name, (milli, kibis) in said.items():
        place = f"{name}/" if name else ""
        entries += [f"{place}cpu={milli}m"] if milli is not None else []
        entries += [f" {place}memory={kibis}Ki"] if kibis is not None else []
    return ",".join(entries)


def draw_pod(chance: random.Random, number: int) -> DrawnPod:
    containers, sidecar = chance.choice((("a",), ("a", "b"))), chance.random() < 0.4
    said = None
    if chance.random() < 0.75:
        said = {name: draw_usage(chance) for name in ("", *containers, "side", "nobody") if chance.random() < 0.5}
        said = {name: usage for name, usage in said.items() if usage != (None, None)} or None
    measured = None
    if chance.random() < 0.85:
        whole = chance.random() < 0.6
        measured = []
        for name in (*containers, "side"):
            milli, kibis = draw_usage(chance)
            usage = (milli or 0, kibis or 0) if whole else (milli, kibis)
            if whole or chance.random() < 0.8:
                measured.append((name, usage, chance.randrange(60)))
    return DrawnPod(
        f"p{number:02}",
        chance.choice(("real", "real", "sim", "sim", "")),
        chance.choice(("Running", "Running", "Running", "Running", "Pending", "Succeeded")),
        containers,
        sidecar,
        chance.choice((None, {"app": "x"}, {"app": "y"})),
        said,
        measured,
        chance.choice(("", "own", "own", "other")),
    )


def stats(usage: Usage, second: int) -> Object:
    found: Object = {"cpu": None, "memory": {"time": "ignored"}}
    if usage[0] is not None:
        found["cpu"] = {"time": f"2026-01-01T12:00:{second:02}Z", "usageNanoCores": usage[0] * 10**6}
    if usage[1] is not None:
        found["memory"]["workingSetBytes"] = usage[1] * 1024
    return found


def summary(pods: list[DrawnPod], uids: dict[str, str], used: Usage) -> bytes:
    listed = []
    for pod in pods:
        if pod.node == "real":
            reference = {"name": pod.name, "namespace": "default"}
            if pod.measured_uid:
                reference["uid"] = uids[pod.name] if pod.measured_uid == "own" else "other"
            known = (
                None
                if pod.measured is None
                else [{"name": each, **stats(usage, when)} for each, usage, when in pod.measured]
            )
            listed.append({"podRef": reference, "containers": known})
    return json.dumps({"node": stats(used, 7), "pods": listed or None}).encode()


def told(item: Object) -> tuple[str, str, list[tuple[str, dict[str, str]]]]:
    assert item["metadata"]["creationTimestamp"] == item["timestamp"]
    return item["timestamp"], item["window"], [(each["name"], each["usage"]) for each in item["containers"]]


def nodes_metrics(pods: list[DrawnPod], own: Usage | None, used: Usage) -> dict[str, tuple[str, str, Any]]:
    found: dict[str, tuple[str, str, Any]] = {}
    if None not in used:
        found["real"] = ("2026-01-01T12:00:07Z", "15s", shown(used))
    speaking = [pod.said for pod in pods if pod.node == "sim" and pod.phase == "Running" and pod.said]
    if own is not None:
        found["sim"] = (NOW, "0s", shown(own))
    elif speaking:
        usages = [usage for said in speaking for usage in said.values()]
        total = tuple(sum(usage[index] or 0 for usage in usages) for index in (0, 1))
        found["sim"] = (NOW, "0s", shown((total[0], total[1])))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_metrics_of_a_drawn_cluster_are_what_was_measured_or_said(
    make_api: Callable[..., Api], node: Node, certificates: Certificates, seed: int
) -> None:
    chance = random.Random(seed)
    api = make_api(nodes=NodeAccess(certificates, SECRET))
    register(api, "real", node.port)
    own = chance.choice(((3000, None), (None, 2048))) if seed % 3 == 0 else None
    annotations = {"kwok.x-k8s.io/node": "fake"} | ({SAID: annotation({"": own})} if own else {})
    api.made(NODES, {"metadata": {"name": "sim", "annotations": annotations}})
    pods = [draw_pod(chance, number) for number in range(16)]
    uids = {}
    for pod in pods:
        uids[pod.name] = api.made(PODS, pod.body())["metadata"]["uid"]
        assert api.merge(f"{PODS}/{pod.name}/status", {"status": {"phase": pod.phase}}).code == 200
    used = (1500, 3 << 20) if seed % 2 else chance.choice(((None, 1), (1, None), (0, 0)))
    node.answer = (200, [summary(pods, uids, used)])
    expected = {pod.name: found for pod in pods if (found := pod.metrics()) is not None}
    assert len(expected) > 2
    answer = api.get(f"{METRICS}/pods").body
    assert {item["metadata"]["name"]: told(item) for item in answer["items"]} == expected
    for pod in pods:
        one = api.get(f"{METRICS}/namespaces/default/pods/{pod.name}")
        assert (told(one.body) if one.code == 200 else None) == expected.get(pod.name), pod
        if one.code == 200:
            metadata = {"name": pod.name, "namespace": "default", "creationTimestamp": one.body["timestamp"]}
            assert one.body["metadata"] == metadata | ({} if pod.labels is None else {"labels": pod.labels})
            assert (one.body["kind"], one.body["apiVersion"]) == ("PodMetrics", "metrics.k8s.io/v1beta1")
    for query, chosen in (
        ("labelSelector=app%3Dx", [pod.name for pod in pods if pod.labels == {"app": "x"}]),
        ("fieldSelector=spec.nodeName%3Dsim", [pod.name for pod in pods if pod.node == "sim"]),
        ("fieldSelector=metadata.name%3Dp03", ["p03"]),
    ):
        items = api.get(f"{METRICS}/namespaces/default/pods?{query}").body["items"]
        assert [each["metadata"]["name"] for each in items] == [name for name in chosen if name in expected], query
    assert api.get(f"{METRICS}/namespaces/other/pods").body["items"] == []
    of_nodes = nodes_metrics(pods, own, used)
    items = api.get(f"{METRICS}/nodes").body["items"]
    assert {each["metadata"]["name"]: (each["timestamp"], each["window"], each["usage"]) for each in items} == of_nodes
    for name in ("real", "sim"):
        one = api.get(f"{METRICS}/nodes/{name}")
        assert (one.code == 200) is (name in of_nodes), name
        if one.code == 200:
            assert one.body["kind"] == "NodeMetrics"
            assert one.body["metadata"] == {"name": name, "creationTimestamp": one.body["timestamp"]}
    # One question for all of this.
    assert node.asked == ["/stats/summary?only_cpu_and_memory=true"]
