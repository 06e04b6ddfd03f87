"""Objects of a snapshot become a cluster; those that cannot be used say which field is to blame."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.core.types import Node, Pod
from mooring.api.scheduling.views import PriorityClass
from mooring.kube.errors import MooringError
from mooring.placement.snapshot import VIEWS, Snapshot, describe, to_object


def node(name: str = "n1", **allocatable: Any) -> Node:
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "110", **allocatable}
    return msgspec.convert({"metadata": {"name": name}, "status": {"allocatable": amounts}}, Node)


def pod(name: str = "web", on: str = "n1", phase: str = "Running", **resources: Any) -> Pod:
    container = {"name": "c", "resources": resources}
    value = {
        "metadata": {"name": name, "namespace": "shop", "labels": {"tier": ""}},
        "spec": {"nodeName": on, "containers": [container]},
        "status": {"phase": phase},
    }
    return msgspec.convert(value, Pod)


def test_objects_may_come_in_any_order() -> None:
    snapshot = Snapshot()
    snapshot.add(pod(requests={"cpu": "3"}))
    snapshot.add(node())
    assert snapshot.cluster.used_cpu[0] == 3000


def test_pods_that_have_ended_hold_nothing() -> None:
    snapshot = Snapshot()
    snapshot.add(node())
    for phase in ("Succeeded", "Failed"):
        snapshot.add(pod(phase, phase=phase, requests={"cpu": "3"}))
    assert snapshot.cluster.pod_count[0] == 0


def test_limits_are_requests_where_these_are_missing() -> None:
    snapshot = Snapshot()
    snapshot.add(node())
    snapshot.add(pod(limits={"cpu": "3", "memory": "1Gi"}, requests={"cpu": "1"}))
    assert (snapshot.cluster.used_cpu[0], snapshot.cluster.used_memory[0]) == (1000, 2**30)


def test_wanted_pods_are_kept() -> None:
    snapshot = Snapshot(wanted=lambda view: view.metadata.name == "web")
    for name in ("other", "web", "another"):
        snapshot.add(pod(name))
    assert list(snapshot.kept) == ["shop/web"]
    assert snapshot.kept["shop/web"].metadata.name == "web"


def test_a_view_becomes_the_object_again() -> None:
    value = to_object(pod(requests={"cpu": "1"}))
    assert value == {
        "metadata": {"name": "web", "namespace": "shop", "labels": {"tier": ""}},
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {"phase": "Running"},
    }


def test_system_classes_are_always_known() -> None:
    snapshot = Snapshot()
    snapshot.add(msgspec.convert({"metadata": {"name": "gold"}, "value": 7}, PriorityClass))
    assert snapshot.priorities == {
        "system-cluster-critical": 2_000_000_000,
        "system-node-critical": 2_000_001_000,
        "gold": 7,
    }


def test_what_the_snapshot_leaves_open_is_told() -> None:
    snapshot = Snapshot()
    snapshot.add(node())
    for view in (pod("waits", on=""), pod("asked", on=""), pod("lost", on="gone"), pod("lost-2", on="gone")):
        snapshot.add(view)
    assert snapshot.remarks({"shop/asked"}) == [
        "pod shop/waits waits for a node too and was not placed first",
        "2 pods are on nodes that are not there (gone)",
    ]


@pytest.mark.parametrize(
    ("view", "problem"),
    [
        (node(memory="lots"), 'status.allocatable[memory]: "lots" is not a quantity: '),
        (pod(requests={"cpu": "1", "memory": "1Q"}), 'spec.containers[0].resources.requests[memory]: "1Q" is not a '),
        (node(""), "metadata.name: a name is needed"),
        (pod(""), "metadata.name: a name is needed"),
    ],
)
def test_objects_that_cannot_be_used(view: Node | Pod, problem: str) -> None:
    with pytest.raises(MooringError) as caught:
        Snapshot().add(view)
    assert str(caught.value).startswith(problem)


def test_objects_are_described_by_kind_and_name() -> None:
    assert describe(pod()) == "Pod shop/web"
    assert describe(node()) == "Node n1"


def test_every_view_can_be_added() -> None:
    snapshot = Snapshot()
    for (_, kind), view in VIEWS.items():
        snapshot.add(msgspec.convert({"metadata": {"name": kind.lower()}}, view))
    assert list(snapshot.cluster.slots) == ["node"]
    assert list(snapshot.cluster.pods) == ["/pod"]
