"""What a pod that finds no node is told of pools: how one gets the next node, or why none of its hosts can be that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from mooring.api.core.types import Pod
from mooring.features.autoscaler.node_pools import MACHINE_DEPLOYMENTS
from mooring.kube.objects import Object
from mooring.placement.node_pools import NodePool, pool_notes
from mooring.testing.builders import pod
from tests.features.autoscaler.test_diagnosis import TEMPLATES, claim, host, pool

CPU = "capacity.cluster-autoscaler.kubernetes.io/cpu"
MEMORY = "capacity.cluster-autoscaler.kubernetes.io/memory"
SUITS = "MachineDeployment default/worker-pool brings nodes that web suits: "
LABELS = "MachineDeployment default/worker-pool brings nodes whose labels and taints web suits"
RAISE = "raise pool worker-pool from 0 to 1 (kubectl scale machinedeployment worker-pool -n default --replicas=1)"


def claimed(name: str = "worker-pool") -> Object:
    return {**claim(name), "status": {"hostRef": {"name": "w1", "namespace": "default"}}}


def read(objects: Iterable[Object]) -> list[NodePool]:
    objects = [*TEMPLATES, *objects]
    world: dict[str, list[Any]] = {
        kind: [msgspec.convert(each, view) for each in objects if each["kind"] == kind]
        for (_, kind), view in MACHINE_DEPLOYMENTS.views.items()
    }
    return MACHINE_DEPLOYMENTS.pools_of(world)


def told(objects: Iterable[Object], **parts: Any) -> list[str]:
    wanting = msgspec.convert(pod("web", nodeSelector={"purpose": "worker"}, **parts), Pod)
    return pool_notes(wanting, read(objects))


@pytest.mark.parametrize(
    ("objects", "parts", "note"),
    [
        pytest.param([pool(), host("w1")], {"cpu": "8"}, SUITS + RAISE, id="a free host is large enough"),
        pytest.param(
            [pool(), host("w1"), host("w2", cpu="64")],
            {"cpu": "16"},
            f"{LABELS}, and too small ones: it asks for 16 of cpu, and the next node has 8",
            id="the next node is as small as the smallest free host",
        ),
        pytest.param(
            [pool(annotations={CPU: "32", MEMORY: "64Gi"}), host("w1")],
            {"cpu": "16"},
            SUITS + RAISE,
            id="annotations say how large the next node is",
        ),
        pytest.param(
            [pool(replicas=1, ready=1, most=2), claimed(), host("w1", claimed_by="worker-pool")],
            {},
            f"{LABELS}: none of the 1 hosts that match is to spare; "
            "register a host with the labels purpose=worker (mooring agent)",
            id="no host is free",
        ),
        pytest.param(
            [pool()],
            {},
            f"{LABELS}: no host matches; register a host with the labels purpose=worker (mooring agent)",
            id="there is no host",
        ),
        pytest.param(
            [pool(), host("g1", "other", gpu=1), host("g2", "gpu", gpu=1), pool("gpu", most=0)],
            {},
            f"{SUITS}label host g1 (kubectl label byohost g1 -n default purpose=worker --overwrite), and {RAISE}",
            id="a free host of no pool can be labelled",
        ),
        pytest.param(
            [pool(), host("o1", "other"), host("o2", "other", gpu=1)],
            {"gpu": 1},
            f"{SUITS}label host o2 (kubectl label byohost o2 -n default purpose=worker --overwrite), and {RAISE}",
            id="the host to label is one that is large enough",
        ),
        pytest.param(
            [pool(replicas=1, ready=1), claimed(), host("w1", claimed_by="worker-pool"), host("w2")],
            {},
            f"{SUITS}it is at its maximum of 1; raise the annotation "
            "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size",
            id="the pool is at its maximum",
        ),
    ],
)
def test_a_pod_is_told_how_a_pool_gets_a_node_for_it(objects: list[Object], parts: dict[str, Any], note: str) -> None:
    assert told(objects, **parts) == [note]


def test_a_host_that_a_machine_waits_for_is_not_free_for_another() -> None:
    waiting = pool(replicas=2, ready=1, most=3)
    waiting["status"]["readyReplicas"] = 2
    notes = told([waiting, claimed(), host("w1", claimed_by="worker-pool"), host("w2")])
    assert "none of the 2 hosts that match is to spare" in notes[0]


@pytest.mark.parametrize(
    ("objects", "most"),
    [
        pytest.param([pool(most=9), host("w1"), host("w2")], 2, id="no further than there are free hosts"),
        pytest.param([pool(most=1), host("w1"), host("w2")], 1, id="no further than the maximum"),
        pytest.param([pool(most=9), host("w1", "other")], None, id="not where a host has to be labelled first"),
        pytest.param(
            [pool(replicas=1, ready=1, most=1), claimed(), host("w1", claimed_by="worker-pool"), host("w2")],
            None,
            id="not at its maximum",
        ),
        pytest.param([pool(replicas=1, most=9), host("w1"), host("w2")], None, id="not while it waits for a node"),
    ],
)
def test_a_pool_can_be_raised_as_far_as_bounds_and_hosts_allow(objects: list[Object], most: int | None) -> None:
    (worker_pool,) = (each for each in read(objects) if each.name.endswith("/worker-pool"))
    assert (worker_pool.raisable and worker_pool.raisable.most) == most
