"""The volumes that are made of claims, whole, and what is decided about claims and volumes in every state."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.kube.objects import Object
from mooring.nodes.storage import deleter, provisioner, resizer
from mooring.nodes.storage.default_class import default_class, is_default
from mooring.nodes.storage.names import LOCAL, LOCAL_VOLUME, SIMULATED
from mooring.runtime.decision import Create, Decision, Delete, Event, Patch
from mooring.testing.views import NOON, view_of
from mooring.workloads.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM

PROVISIONER = "volume.kubernetes.io/storage-provisioner"
SELECTED = "volume.kubernetes.io/selected-node"
KEY = Key("shop", "data")


def claim(
    *, by: str = SIMULATED, node: str = "", spec: Object | None = None, status: Object | None = None, **metadata: Any
) -> Object:
    notes = {PROVISIONER: by, **({SELECTED: node} if node else {})}
    wanted: Object = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "c",
        "resources": {"requests": {"storage": "2Gi"}},
        **(spec or {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop", "uid": "u", "annotations": notes, **metadata},
        "spec": wanted,
        "status": status or {"phase": "Pending"},
    }


def storage_class(by: str = SIMULATED, mode: str = "Immediate", **fields: Any) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "c"},
        "provisioner": by,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": mode,
        **fields,
    }


def node(notes: Object | None = None, labels: Object | None = None) -> Object:
    metadata = {"name": "a", "labels": labels or {}, "annotations": notes or {}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}, "status": {}}


def volume(
    by: str = SIMULATED, phase: str = "Released", policy: str = "Delete", size: str = "2Gi", **metadata: Any
) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pvc-u", "annotations": {"pv.kubernetes.io/provisioned-by": by}, **metadata},
        "spec": {"persistentVolumeReclaimPolicy": policy, "capacity": {"storage": size}},
        "status": {"phase": phase},
    }


def provisioned(*objects: Object) -> Decision:
    return provisioner.reconcile(KEY, view_of(objects), NOON)


def made(*objects: Object) -> Object:
    """The volume that is made, with the events around it checked."""
    found = provisioned(*objects)
    (child,) = found.children
    assert isinstance(child, Create)
    after = (PERSISTENT_VOLUME, Key("", "pvc-u"))
    start = 'External provisioner is provisioning volume for claim "shop/data"'
    done = "Successfully provisioned volume pvc-u"
    assert found == Decision(
        children=(Create(PERSISTENT_VOLUME, child.object),),
        events=(
            Event(PERSISTENT_VOLUME_CLAIM, KEY, "Normal", "Provisioning", start, after=after),
            Event(PERSISTENT_VOLUME_CLAIM, KEY, "Normal", "ProvisioningSucceeded", done, after=after),
        ),
    )
    return child.object


def reference(of: Object) -> Object:
    """Of the claim that a volume is made for; what it holds is the binder's to say."""
    found: Object = of["spec"].pop("claimRef")
    assert {name: found[name] for name in ("kind", "namespace", "name", "uid")} == {
        "kind": "PersistentVolumeClaim",
        "namespace": "shop",
        "name": "data",
        "uid": "u",
    }
    return of


def test_a_simulated_volume_has_all_that_its_claim_and_class_ask_for() -> None:
    bare = reference(made(claim(), storage_class()))
    spec = {
        "capacity": {"storage": "2Gi"},
        "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Delete",
        "storageClassName": "c",
        "volumeMode": "Filesystem",
        "hostPath": {"path": "/var/lib/mooring/volumes/pvc-u", "type": ""},
    }
    metadata = {"name": "pvc-u", "annotations": {"pv.kubernetes.io/provisioned-by": SIMULATED}}
    assert bare == {"metadata": metadata, "spec": spec}
    zone = {"key": "zone", "values": ["a", "b"]}
    full = reference(
        made(
            claim(spec={"volumeMode": "Block", "volumeAttributesClassName": "fast"}),
            storage_class(
                reclaimPolicy="Retain",
                mountOptions=["ro", "soft"],
                allowedTopologies=[{"matchLabelExpressions": [zone]}, {"matchLabelExpressions": []}],
            ),
        )
    )
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]
    assert full["spec"] == {
        **spec,
        "persistentVolumeReclaimPolicy": "Retain",
        "volumeMode": "Block",
        "volumeAttributesClassName": "fast",
        "mountOptions": ["ro", "soft"],
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
    }


LATE = storage_class(LOCAL, "WaitForFirstConsumer")


@pytest.mark.parametrize(
    ("of", "source", "policy", "finalizers", "hostname"),
    [
        pytest.param(
            node({"mooring.dev/local-volumes": "/data", "kwok.x-k8s.io/node": "fake"}),
            {"local": {"path": "/data/pvc-u"}},
            "Delete",
            [LOCAL_VOLUME],
            "a",
            id="the process node removes the folder",
        ),
        pytest.param(
            node({"kwok.x-k8s.io/node": "fake"}, {"kubernetes.io/hostname": "h"}),
            {"local": {"path": "/var/lib/mooring/volumes/pvc-u"}},
            "Delete",
            None,
            "h",
            id="a simulated node has it in name only",
        ),
        pytest.param(
            node({"kwok.x-k8s.io/node": "real"}),
            {"hostPath": {"path": "/var/lib/mooring/volumes/pvc-u", "type": "DirectoryOrCreate"}},
            "Retain",
            None,
            "a",
            id="a kubelet removes nothing",
        ),
    ],
)
def test_a_local_volume_belongs_to_the_node_of_its_claim(
    of: Object, source: Object, policy: str, finalizers: list[str] | None, hostname: str
) -> None:
    found = reference(made(claim(by=LOCAL, node="a"), LATE, of))
    spec = found["spec"]
    assert {name: spec[name] for name in ("local", "hostPath") if name in spec} == source
    assert spec["persistentVolumeReclaimPolicy"] == policy
    assert found["metadata"].get("finalizers") == finalizers
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [hostname]}
    assert spec["nodeAffinity"] == {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([storage_class()], id="no claim"),
        pytest.param([claim(deletionTimestamp="2026-01-01T00:00:00Z"), storage_class()], id="a claim that goes"),
        pytest.param([claim(spec={"volumeName": "v"}), storage_class()], id="it has a volume"),
        pytest.param([claim(by="other"), storage_class("other")], id="another's claim"),
        pytest.param([claim()], id="no class"),
        pytest.param([claim(), storage_class(LOCAL)], id="a class that has changed hands"),
        pytest.param([claim(by=LOCAL), LATE, node()], id="no pod has chosen a node"),
        pytest.param([claim(), storage_class(), volume()], id="it is made already"),
    ],
)
def test_a_claim_waits(objects: list[Object]) -> None:
    assert provisioned(*objects) == Decision()


@pytest.mark.parametrize(
    ("of", "by", "why"),
    [
        (
            claim(spec={"dataSource": {"kind": "X", "name": "y"}}),
            storage_class(),
            "mooring.dev/simulated makes empty volumes; leave spec.dataSource and spec.dataSourceRef out",
        ),
        (
            claim(by=LOCAL, node="a", spec={"dataSourceRef": {"kind": "X", "name": "y"}}),
            LATE,
            "mooring.dev/local makes empty volumes; leave spec.dataSource and spec.dataSourceRef out",
        ),
        (
            claim(by=LOCAL, node="a", spec={"volumeMode": "Block"}),
            LATE,
            "mooring.dev/local makes folders and no disks; leave spec.volumeMode Block out",
        ),
        (
            claim(by=LOCAL),
            storage_class(LOCAL),
            "mooring.dev/local needs to know the node; use a class with volumeBindingMode WaitForFirstConsumer",
        ),
    ],
)
def test_what_cannot_be_made_is_said_in_one_event(of: Object, by: Object, why: str) -> None:
    text = f'failed to provision volume with StorageClass "c": {why}'
    event = Event(PERSISTENT_VOLUME_CLAIM, KEY, "Warning", "ProvisioningFailed", text)
    assert provisioned(of, by, node()) == Decision(events=(event,))


def test_the_scheduler_chooses_again_where_the_node_is_gone() -> None:
    again = {"metadata": {"annotations": {SELECTED: None}}}
    assert provisioned(claim(by=LOCAL, node="b"), LATE, node()) == Decision(
        intent=(Patch(PERSISTENT_VOLUME_CLAIM, KEY, again),)
    )


@pytest.mark.parametrize(
    ("found", "goes"),
    [
        (volume(), True),
        (volume(LOCAL), True),
        (volume("other"), False),
        (volume(phase="Bound"), False),
        (volume(policy="Retain"), False),
        (volume(deletionTimestamp="2026-01-01T00:00:00Z"), False),
        (volume(LOCAL, finalizers=[LOCAL_VOLUME]), False),
        (volume(LOCAL, finalizers=["other"]), True),
    ],
)
def test_a_volume_of_ours_goes_once_it_is_released(found: Object, goes: bool) -> None:
    key = Key("", "pvc-u")
    decided = deleter.reconcile(key, view_of([found]), NOON)
    assert decided == Decision(children=(Delete(PERSISTENT_VOLUME, key),) if goes else ())
    assert deleter.reconcile(Key("", "gone"), view_of([found]), NOON) == Decision()


def bound(has: str | None, wants: str = "2Gi", phase: str = "Bound") -> Object:
    status: Object = {"phase": phase, **({"capacity": {"storage": has}} if has else {})}
    return claim(spec={"volumeName": "pvc-u", "resources": {"requests": {"storage": wants}}}, status=status)


@pytest.mark.parametrize(
    ("objects", "event", "written"),
    [
        ([], "", None),
        ([volume(size="1Gi")], "", None),
        ([bound("1Gi", phase="Lost"), volume(size="1Gi")], "", None),
        ([bound("2Gi"), volume(size="1Gi")], "", None),
        ([bound("3Gi"), volume(size="1Gi")], "", None),
        ([bound("1Gi")], "", None),
        ([bound("1Gi"), volume("other", size="1Gi")], "", None),
        ([bound("1Gi"), volume(size="1Gi")], "Resizing", "volume"),
        ([bound(None), volume(LOCAL, size="1Gi")], "Resizing", "volume"),
        ([bound("1Gi"), volume(size="2Gi")], "VolumeResizeSuccessful", "claim"),
        ([bound("1Gi"), volume(size="3Gi")], "VolumeResizeSuccessful", "claim"),
    ],
)
def test_a_volume_grows_before_its_claim_says_so(objects: list[Object], event: str, written: str | None) -> None:
    decided = resizer.reconcile(KEY, view_of(objects), NOON)
    size = {"storage": "2Gi"}
    texts = {
        "Resizing": "External resizer is resizing volume pvc-u",
        "VolumeResizeSuccessful": "Resize volume succeeded",
    }
    told = Event(PERSISTENT_VOLUME_CLAIM, KEY, "Normal", event, texts[event]) if event else None
    assert decided.events == ((told,) if told else ())
    grown = Patch(PERSISTENT_VOLUME, Key("", "pvc-u"), {"spec": {"capacity": size}})
    assert decided.intent == ((grown,) if written == "volume" else ())
    said = Patch(PERSISTENT_VOLUME_CLAIM, KEY, {"status": {"capacity": size}}, "status")
    assert decided.status == ((said,) if written == "claim" else ())


def test_the_default_class_makes_volumes_where_pods_go() -> None:
    assert default_class() == {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "standard", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": LOCAL,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }
    beta = "storageclass.beta.kubernetes.io/is-default-class"
    for notes, default in (
        ({"storageclass.kubernetes.io/is-default-class": "true"}, True),
        ({beta: "true"}, True),
        ({beta: "false"}, False),
        ({"other": "true"}, False),
        (None, False),
    ):
        assert is_default({"metadata": {"annotations": notes}}) is default, notes
    assert not is_default({"metadata": {}})
