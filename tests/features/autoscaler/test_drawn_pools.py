"""What is told of drawn pools, hosts and claims, and which pods are taken for alike."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

import msgspec

from mooring.features.autoscaler.scale_up.similar_pods import MAX_SHAPES, SimilarPods, are_alike
from mooring.features.autoscaler.views import AutoscalerPod
from mooring.kube.objects import Object
from mooring.placement.node_pools import NodePool
from mooring.testing.builders import pod
from tests.features.autoscaler.test_diagnosis import claim, host, pool
from tests.features.autoscaler.test_node_pools import CPU, MEMORY, read
from tests.support.golden import same_as_recorded

PURPOSES = ("worker", "gpu")


def drawn_world(draw: Random) -> list[Object]:
    made: list[Object] = []
    for purpose in PURPOSES[: draw.choice((1, 2))]:
        wanted = draw.choice((0, 1, 1, 2, 3))
        each = pool(
            purpose, wanted, ready=draw.choice((wanted, wanted, 0)), most=draw.choice((0, 1, 3, 9, 2000, "many"))
        )
        metadata, template = each["metadata"], each["spec"]["template"]
        if draw.random() < 0.3:
            metadata.setdefault("annotations", {}).update({CPU: draw.choice(("32", "x")), MEMORY: "64Gi"})
        if draw.random() < 0.2:
            del metadata["annotations"]
        if draw.random() < 0.3:
            template.setdefault("metadata", {})["labels"] = {"node.cluster.x-k8s.io/pool": purpose, "other": "x"}
        if draw.random() < 0.3:
            template["spec"]["taints"] = [{"key": "gpu", "value": draw.choice(("", "a")), "effect": "NoSchedule"}]
        if draw.random() < 0.15:
            template["spec"]["infrastructureRef"]["name"] = "gone"
        if draw.random() < 0.1:
            metadata["namespace"] = "other"
        made.append(each)
    for number in range(draw.randrange(5)):
        owner = draw.choice(("", "", "", "worker-pool", "gpu-pool"))
        each = host(
            f"h{number}",
            draw.choice((*PURPOSES, "worker", "none")),
            heard=draw.random() < 0.9,
            claimed_by=owner,
            cpu=draw.choice(("8", "16")),
        )
        if draw.random() < 0.1:
            each["metadata"]["namespace"] = "other"
        made.append(each)
    for number in range(draw.randrange(4)):
        each = deepcopy(claim(draw.choice(("worker-pool", "gpu-pool"))))
        each["metadata"]["name"] += str(number)
        if draw.random() < 0.6:
            each["status"] = {"hostRef": {"name": f"h{number}", "namespace": "default"}}
        if draw.random() < 0.1:
            each["metadata"]["namespace"] = "other"
        made.append(each)
    return draw.sample(made, len(made))


def said(each: NodePool) -> str:
    growths = (f"{growth.how} with {growth.capacity}" for growth in each.growths)
    return "\n".join(
        [f"{each.name} {each.labels} {each.taints}", each.waiting, *growths, each.otherwise, f"{each.raisable}"]
    )


def test_drawn_pools_are_told_as_before() -> None:
    draw = Random(11)
    same_as_recorded(
        "autoscaler-pools", {f"{number}": "\n".join(map(said, read(drawn_world(draw)))) for number in range(400)}
    )


def drawn_pod(draw: Random, number: int) -> AutoscalerPod:
    made = pod(f"p{number}", cpu=draw.choice(("1", "2", "3", "4", "5", "6", "7")))
    made["metadata"]["labels"] = draw.choice(({}, {"a": "b"}))
    owner = draw.choice((None, "one", "one", "one", "two", "daemon"))
    if owner is not None:
        kind = "DaemonSet" if owner == "daemon" else "ReplicaSet"
        reference: dict[str, Any] = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner}
        made["metadata"]["ownerReferences"] = [{**reference, "controller": draw.random() < 0.9}]
    if draw.random() < 0.1:
        made["metadata"]["annotations"] = {"cluster-autoscaler.kubernetes.io/daemonset-pod": "true"}
    return msgspec.convert(made, AutoscalerPod)


def test_what_was_found_of_a_pod_holds_for_those_of_its_controller_with_its_labels_and_spec() -> None:
    draw = Random(12)
    for _ in range(20):
        similar, known = SimilarPods(), dict[str, list[tuple[Any, Any]]]()
        for number in range(60):
            each = drawn_pod(draw, number)
            owner, shape = each.metadata.controller, (each.metadata.labels or {}, each.spec)
            kept = [] if owner is None else known.setdefault(owner.uid, [])
            assert similar.has_like(each) == (shape in kept)
            if draw.random() < 0.7:
                similar.add(each)
                daemon = each.metadata.annotations.get("cluster-autoscaler.kubernetes.io/daemonset-pod") == "true"
                if owner is not None and owner.kind != "DaemonSet" and not daemon and len(kept) < 10:
                    kept.append(shape)
    assert MAX_SHAPES == 10
    one, other = (msgspec.convert(pod("p", cpu=cpu), AutoscalerPod) for cpu in ("1", "2"))
    assert are_alike(one, one)
    assert not are_alike(one, other)
