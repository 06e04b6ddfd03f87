"""Claims and volumes in drawn stories: who is given what, what waits for pods, and what becomes of it afterwards."""

from __future__ import annotations

from random import Random

import pytest

from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.builtin.volumes.ephemeral import CONTROLLER as EPHEMERAL
from mooring.kube.objects import Object
from mooring.testing import node
from mooring.testing.controllers import STORAGE
from tests.builtin.town import GARBAGE
from tests.builtin.volumes.objects import claim, local_volume, mounting, reserved, storage_class, with_scratch
from tests.support.traces.draws import anyone, chosen
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

MODES = (["ReadWriteOnce"], ["ReadWriteOnce", "ReadOnlyMany"], ["ReadWriteMany", "ReadWriteOnce"])
CLASSES = ("local", "fast", "tree", "made", "at-once", "")
SIZES = ("1Gi", "5Gi", "10Gi")


def volume(draw: Random, name: str, story: Story) -> Object:
    """A volume that somebody made by hand, for anybody or for one claim."""
    made = local_volume(name, draw.choice(["n0", "n1"]), draw.choice(CLASSES), draw.choice(SIZES))
    made["spec"] |= {"accessModes": draw.choice(MODES)}
    made["spec"] |= chosen(draw, 0.5, persistentVolumeReclaimPolicy=["Delete", "Recycle", "Retain"])
    made["spec"] |= chosen(draw, 0.15, volumeMode="Block")
    if draw.random() < 0.4:
        del made["spec"]["local"], made["spec"]["nodeAffinity"]
        made["spec"] |= draw.choice([
            {"hostPath": {"path": "/srv"}},
            {"csi": {"driver": "x.example.com", "volumeHandle": "h"}},
            {"nfs": {"server": "s", "path": "/"}},
        ])  # fmt: skip
    if draw.random() < 0.25:
        provisioner = draw.choice(["kubernetes.io/no-provisioner", "x.example.com"])
        made["metadata"]["annotations"] = {"pv.kubernetes.io/provisioned-by": provisioner}
    held = anyone(story, draw, "PersistentVolumeClaim")
    if held is not None and draw.random() < 0.3:
        return reserved(made, held["metadata"]["name"], draw.choice([None, held["metadata"]["uid"], "of another"]))
    return made


def asked(draw: Random, name: str, story: Story) -> Object:
    """A claim, with or without a class, or for one volume."""
    more = chosen(draw, 0.15, volumeMode="Block")
    made = claim(name, draw.choice([*CLASSES, *CLASSES, None, "no-such"]), draw.choice(SIZES), **more)
    made["spec"]["accessModes"] = draw.choice(MODES)
    held = anyone(story, draw, "PersistentVolume")
    if draw.random() < 0.3:
        made["spec"]["volumeName"] = held["metadata"]["name"] if held else "v-late"
    return made


def disturb(story: Story, draw: Random, step: int) -> None:
    held = anyone(story, draw, "PersistentVolumeClaim")
    name = held["metadata"]["name"] if held else ""
    match draw.randrange(16):
        case 0 | 1 | 2:
            story.create(volume(draw, draw.choice([f"v{step}", "v-late"]), story))
        case 3 | 4 | 5:
            story.create(asked(draw, f"c{step}", story))
        case 6 if name:
            story.delete("PersistentVolumeClaim", name)
        case 7:
            found = anyone(story, draw, "PersistentVolume")
            if found is not None:
                story.delete("PersistentVolume", found["metadata"]["name"])
        case 8 | 9 | 10 if name:
            story.create(mounting(f"p{step}", name, cpu="1"))
        case 11:
            story.create(with_scratch(f"s{step}"))
        case 12:
            usual = {"storageclass.kubernetes.io/is-default-class": draw.choice(["true", "false"])}
            story.patch("StorageClass", draw.choice(["fast", "made"]), {"metadata": {"annotations": usual}})
        case 13 if name:
            story.patch("PersistentVolumeClaim", name, {"spec": {"resources": {"requests": {"storage": "20Gi"}}}})
        case 14:
            found = anyone(story, draw, "PersistentVolume")
            if found is not None:
                free = {
                    "spec": {"claimRef": None},
                    "metadata": {"annotations": {"pv.kubernetes.io/bound-by-controller": None}},
                }
                story.patch("PersistentVolume", found["metadata"]["name"], free)
        case 15 if name:
            story.patch("PersistentVolumeClaim", name, {"metadata": {"finalizers": None}})


def play(number: int) -> str:
    draw = Random(f"volumes {number}")
    classes = [
        storage_class("local", "kubernetes.io/no-provisioner"),
        storage_class("fast", "ebs.csi.aws.com"),
        storage_class("tree", draw.choice(["kubernetes.io/aws-ebs", "kubernetes.io/glusterfs"]), "Immediate"),
        {**storage_class("made", "mooring.dev/simulated", "Immediate"), "allowVolumeExpansion": True},
        storage_class("at-once", "kubernetes.io/no-provisioner", "Immediate"),
    ]
    story = Story((SCHEDULER, *STORAGE, EPHEMERAL, GARBAGE), *classes, seed=number)
    story.add_node(node("n0"))
    story.add_node(node("n1"))
    for step in range(8):
        story.create(asked(draw, f"a{step}", story) if step % 3 else volume(draw, f"b{step}", story))
    kubelet = Kubelet(story, draw=draw)
    for step in range(22):
        disturb(story, draw, step)
        story.run(draw.choice([0, 1, 1, 30]))
        for pod in kubelet.pods():
            if "deletionTimestamp" in pod["metadata"]:
                kubelet.remove(pod)
            elif pod["spec"].get("nodeName") and pod["status"]["phase"] == "Pending":
                kubelet.start(pod["metadata"]["name"])
            elif pod["status"]["phase"] == "Running" and draw.random() < 0.15:
                kubelet.end(pod["metadata"]["name"], 0)
            elif draw.random() < 0.05:
                story.delete("Pod", pod["metadata"]["name"])
    story.run(30)
    return story.text()


@pytest.mark.parametrize("number", range(16))
def test_drawn_claims_go_as_they_did(number: int) -> None:
    agrees("volumes", f"drawn {number}", play(number))
