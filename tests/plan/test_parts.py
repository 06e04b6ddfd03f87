"""The parts of a plan by themselves: which pods are due when, what new nodes report, which volumes claims are given."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from datetime import timedelta
from random import Random
from typing import Any

import msgspec
import pytest

from mooring.api.core.views import Pod
from mooring.api.kinds import Key
from mooring.kube.objects import Object
from mooring.plan import new_nodes
from mooring.plan.claims import provisioner
from mooring.plan.gc_threshold import raised_gc_threshold
from mooring.plan.identities import identified
from mooring.plan.nodes import DueQueue, controller
from mooring.runtime.decision import Create, Patch
from mooring.runtime.dispatcher.store import Changed
from mooring.testing import node, pod
from mooring.testing.views import NOON, view_of
from mooring.workloads.kinds import NODE, PERSISTENT_VOLUME, POD

MINUTE = timedelta(minutes=1)


# Due pods


def running(name: str, minutes: int | None, *, on: str = "n", phase: str = "Running", deleting: bool = False) -> Pod:
    """A pod that began at noon and ends after so many minutes, where it says so."""
    made = pod(name, node=on or None)
    made["metadata"] |= {"uid": f"uid-{name}", "creationTimestamp": "2026-01-01T12:00:00Z"}
    if minutes is not None:
        made["metadata"]["annotations"] = {"mooring.dev/duration": f"{minutes}m"}
    if deleting:
        made["metadata"] |= {"deletionTimestamp": "2026-01-01T12:00:00Z", "deletionGracePeriodSeconds": 0}
    made["status"] = {"phase": phase, "startTime": "2026-01-01T12:00:00Z"}
    return msgspec.convert(made, Pod)


def test_due_pods_are_those_that_a_plain_list_has() -> None:
    draw, queue, there = Random(7), DueQueue(), dict[str, tuple[int, Pod]]()
    for step in range(400):
        name = draw.choice("abcdefgh")
        before = there.pop(name, None)
        after = None if draw.random() < 0.3 else running(name, minutes := draw.randrange(1, 6))
        if after is not None:
            there[name] = (minutes, after)
        told = queue.change(POD, Changed(Key("default", name), before and before[1], after))
        moments = sorted({NOON + minutes * MINUTE for minutes, _ in there.values()})
        assert told == (moments[0] if moments else False), step
        now = NOON + draw.randrange(7) * MINUTE
        found = list(queue.until(now))
        assert sorted(each.metadata.name for each in found) == sorted(
            name for name, (minutes, _) in there.items() if NOON + minutes * MINUTE <= now
        )
        ends = [there[each.metadata.name][0] for each in found]
        assert ends == sorted(ends), "the longest overdue come first"
        assert queue.after(now) == next((moment for moment in moments if moment > now), None)


@pytest.mark.parametrize(
    ("view", "is_due"),
    [
        (running("p", 3), True),
        (running("p", None), False),
        (running("p", 3, on=""), False),
        (running("p", None, deleting=True), True),
        (running("p", None, phase="Pending"), True),
        (running("p", 3, phase="Succeeded"), False),
    ],
)
def test_a_pod_is_due_that_is_on_a_node_and_has_a_write_to_come(view: Pod, is_due: bool) -> None:
    assert bool(DueQueue().change(POD, Changed(Key("default", "p"), None, view))) is is_due


@pytest.mark.parametrize(
    ("view", "is_due"),
    [
        (running("p", 3), True),
        (running("p", None, phase="Pending"), False),
        (running("p", None, deleting=True), True),
        (running("other", None, phase="Pending"), True),
    ],
)
def test_a_pod_whose_end_nobody_knows_has_none_unless_it_says_so(view: Pod, is_due: bool) -> None:
    queue = DueQueue(endless={"uid-p"})
    assert bool(queue.change(POD, Changed(Key("default", "p"), None, view))) is is_due


def test_the_nodes_of_a_plan_look_again_when_the_next_pod_is_due() -> None:
    pods = [pod("a", node="n"), pod("b", node="n"), pod("later", node="n")]
    for each, minutes in zip(pods, (1, 2, 5), strict=True):
        each["metadata"]["annotations"] = {"mooring.dev/duration": f"{minutes}m"}
        each["status"] = {"phase": "Running", "startTime": "2026-01-01T12:00:00Z"}
    nodes = controller()
    view = view_of(pods, now=NOON + 2 * MINUTE, folds=nodes.folds)
    decision = nodes.reconcile(Key("", ""), view, view.now)
    assert [write.key.name for write in decision.children] == ["a", "b"]
    assert view.timers == {NOON + 5 * MINUTE}
    assert (nodes.name, nodes.of) == ("nodes", None)


# New nodes


def test_a_node_that_never_reported_is_made_ready_and_no_other() -> None:
    silent, unreported = node("new", taints=["node.kubernetes.io/not-ready:NoSchedule", "x=1:NoSchedule"]), node("bare")
    ready = node("old", taints=["node.kubernetes.io/not-ready:NoSchedule"])
    ready["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    view = view_of([silent, unreported, ready], indexers=new_nodes.CONTROLLER.indexers)
    decision = new_nodes.CONTROLLER.reconcile(Key("", ""), view, NOON)
    untainted: Object = {"spec": {"taints": [{"key": "x", "value": "1", "effect": "NoSchedule"}]}}
    assert decision.children == (Patch(NODE, Key("", "new"), untainted),)
    assert sorted({write.key.name for write in decision.status}) == ["bare", "new"]


# Claims


def claim(provisioned_by: str = "", storage_class: str | None = None, **more: Any) -> Object:
    spec: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    notes = {"volume.kubernetes.io/storage-provisioner": provisioned_by} if provisioned_by else {}
    metadata = {"name": "data", "namespace": "ml", "uid": "uid-1", "annotations": notes, **more.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": {**spec, **more}}


def volume_of(claimed: Object, *others: Object, classes_read: bool) -> Object | None:
    made = provisioner(classes_read=classes_read)
    found = made.reconcile(Key("ml", "data"), view_of([claimed, *others]), NOON)
    if not found.children:
        return None
    (write,) = found.children
    assert isinstance(write, Create)
    assert write.kind is PERSISTENT_VOLUME
    return write.object


STORAGE_CLASS: Object = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "disk.csi.example.com",
    "reclaimPolicy": "Retain",
}


def test_a_volume_is_made_for_a_claim_that_was_handed_over() -> None:
    made = volume_of(claim("disk.csi.example.com", "fast"), STORAGE_CLASS, classes_read=True)
    assert made is not None
    assert made["metadata"]["name"] == "pvc-uid-1"
    assert made["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"] == "disk.csi.example.com"
    assert made["spec"]["csi"] == {"driver": "disk.csi.example.com", "volumeHandle": "pvc-uid-1"}
    assert "hostPath" not in made["spec"]
    assert (made["spec"]["storageClassName"], made["spec"]["persistentVolumeReclaimPolicy"]) == ("fast", "Retain")


@pytest.mark.parametrize(("by", "is_of_driver"), [("kubernetes.io/no-such", False), ("disk", True)])
def test_only_a_provisioner_that_is_called_like_a_driver_makes_volumes_of_one(by: str, is_of_driver: bool) -> None:
    made = volume_of(claim(by, "fast"), STORAGE_CLASS, classes_read=True)
    assert made is not None
    assert ("csi" in made["spec"], "hostPath" in made["spec"]) == (is_of_driver, not is_of_driver)


def test_claims_without_a_class_are_served_where_classes_were_not_read() -> None:
    made = volume_of(claim(), classes_read=False)
    assert made is not None
    assert "csi" not in made["spec"]
    assert volume_of(claim(), classes_read=True) is None
    assert volume_of(claim(storage_class="fast"), STORAGE_CLASS, classes_read=False) is None


@pytest.mark.parametrize("others", [{"volumeName": "v"}, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}])
def test_a_claim_that_has_a_volume_or_leaves_gets_none(others: Mapping[str, Any]) -> None:
    assert volume_of(claim("disk.csi.example.com", "fast", **others), STORAGE_CLASS, classes_read=True) is None


def test_a_volume_is_made_once_and_a_claim_that_is_gone_gets_none() -> None:
    asked = claim("disk.csi.example.com", "fast")
    volume: Object = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pvc-uid-1"}, "spec": {}}
    assert volume_of(asked, STORAGE_CLASS, volume, classes_read=True) is None
    decision = provisioner(classes_read=True).reconcile(Key("ml", "gone"), view_of([asked]), NOON)
    assert decision.empty


# Identities


def test_objects_of_a_file_get_a_uid_and_so_do_their_owners() -> None:
    owners: list[Object] = [{"kind": "Job", "name": "j", "controller": True}, {"kind": "Node", "name": "n"}]
    created: Object = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    made = identified(
        {"kind": "Pod", "metadata": {**created, "name": "p", "namespace": "ml", "ownerReferences": owners}}
    )
    job = identified({"kind": "Job", "metadata": {**created, "name": "j", "namespace": "ml"}})
    elsewhere = identified({"kind": "Job", "metadata": {**created, "name": "j", "namespace": "other"}})
    uids = {each["metadata"]["uid"] for each in (made, job, elsewhere)}
    assert len(uids) == 3
    first, second = made["metadata"]["ownerReferences"]
    assert first == {"kind": "Job", "name": "j", "controller": True, "uid": job["metadata"]["uid"]}
    assert second["uid"] not in uids
    assert "uid" not in owners[0]
    # The same in every plan, so that two of one file can be compared.
    assert job["metadata"]["uid"] == "f64efad2-5c24-514c-af92-10c482bc1e29"
    cluster_wide = identified({"kind": "Node", "metadata": {**created, "name": "n"}})
    assert cluster_wide["metadata"]["uid"] not in uids


@pytest.mark.parametrize("metadata", [{"name": "p"}, {"name": "p", "uid": "1", "creationTimestamp": "x"}, None])
def test_a_manifest_and_what_has_a_uid_stay_as_they_are(metadata: Object | None) -> None:
    obj: Object = {"kind": "Pod", "metadata": metadata}
    assert identified(obj) is obj


def test_the_collector_is_as_it_was_after_a_plan() -> None:
    before = gc.get_threshold()
    with raised_gc_threshold():
        assert gc.get_threshold() == (200_000, *before[1:])
    assert gc.get_threshold() == before
