"""Claims on the process node: data outlive pods, and their folder goes with the volume."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.nodes.process.volumes.local_volumes import pending_removal
from tests.nodes.process.home import LINUX, NODE, Home, needs_sandbox, play, shell

pytestmark = pytest.mark.skipif(not LINUX, reason="processes are looked after with what Linux has")

MOUNTS = [{"name": "v", "mountPath": "/v"}]


def volume(
    name: str, *, on: str = NODE, finalizers: tuple[str, ...] = ("mooring.dev/local-volume",), **spec: Any
) -> Object:
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}]}]
    return {
        "metadata": {"name": name, "finalizers": list(finalizers)},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Delete",
            "local": {"path": f"/anywhere/{name}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            **spec,
        },
    }


def claim(name: str, volume: str = "") -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeName": volume}
    notes = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    return {"metadata": {"name": name, "annotations": notes}, "spec": spec}


def put(at: Home, obj: Object) -> None:
    at.registry.create(at.registry.resource("v1", "PersistentVolume"), obj, now=datetime.now(UTC))


def mounted(claim_name: str, **more: Any) -> Object:
    return {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim_name, **more}}]}


@needs_sandbox
def test_what_a_pod_writes_is_there_for_the_next_and_goes_with_the_volume(tmp_path: Path) -> None:
    async def story(at: Home) -> None:
        put(at, volume("disk"))
        at.create(claim("data", "disk"), "PersistentVolumeClaim")
        at.pod("first", shell("echo kept > /v/file; sleep 100", volumeMounts=MOUNTS), **mounted("data"))
        await at.phase("first", "Running")
        await at.until(lambda: (tmp_path / "volumes/disk/file").exists(), "it is written")
        at.delete("first", grace=0)
        await at.gone("first")
        read = "grep kept /v/file && ! touch /v/other"
        at.pod("next", shell(read, volumeMounts=MOUNTS), restartPolicy="Never", **mounted("data", readOnly=True))
        await at.phase("next", "Succeeded")
        resource = at.registry.resource("v1", "PersistentVolume")
        released = {"status": {"phase": "Released"}}
        now = datetime.now(UTC)
        at.registry.patch(resource, "", "disk", "merge", released, now=now, subresource="status")
        await at.until(lambda: not at.registry.list(resource).items, "the volume is gone")
        assert not (tmp_path / "volumes/disk").exists()

    play(story, tmp_path)


@needs_sandbox
def test_a_pod_whose_claim_has_no_files_here_waits_and_says_why(tmp_path: Path) -> None:
    simulated = volume("simulated", finalizers=())
    simulated["metadata"]["annotations"] = {"pv.kubernetes.io/provisioned-by": "mooring.dev/simulated"}
    volumes = [
        simulated,
        volume("inside", finalizers=(), local={"path": str(tmp_path)}),
        volume("far", finalizers=(), local=None, nfs={"server": "a", "path": "/"}),
    ]
    expected = {
        "missing": 'persistentvolumeclaim "missing" not found',
        "waiting": "PVC waiting is not bound",
        "simulated": "PersistentVolume simulated is simulated and has no files",
        "inside": "lies in the data folder of the cluster, which pods do not see",
        "far": "PersistentVolume far is none of this node",
    }

    async def story(at: Home) -> None:
        at.create(claim("waiting"), "PersistentVolumeClaim")
        for each in volumes:
            each["spec"] = {key: value for key, value in each["spec"].items() if value is not None}
            put(at, each)
            name = each["metadata"]["name"]
            at.create(claim(name, name), "PersistentVolumeClaim")
        for name in expected:
            at.pod(name, shell("true", volumeMounts=MOUNTS), **mounted(name))

        def told(name: str, why: str) -> bool:
            return any(why in each for each in at.events(name))

        for name, why in expected.items():
            await at.until(partial(told, name, why), f"{name}: {why}")

    play(story, tmp_path)


LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("phase", "changes", "metadata", "expected"),
    [
        ("Bound", {}, {}, ""),
        ("Released", {}, {}, "files"),
        ("Released", {"persistentVolumeReclaimPolicy": "Retain"}, {}, ""),
        ("Released", {"persistentVolumeReclaimPolicy": "Retain"}, LEAVING, "finalizer"),
        ("Bound", {}, LEAVING, ""),
        ("Available", {}, LEAVING, "files"),
        ("Released", {}, {"finalizers": ["kubernetes.io/pv-protection"]}, ""),
    ],
)
def test_files_go_only_when_nobody_has_a_right_to_them(
    phase: str, changes: Object, metadata: Object, expected: str
) -> None:
    found = volume("disk", **changes)
    found = {**found, "metadata": {**found["metadata"], **metadata}, "status": {"phase": phase}}
    assert pending_removal(found, NODE) == expected
    assert pending_removal(found, "elsewhere") == ""
