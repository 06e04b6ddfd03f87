"""Whole rollouts of StatefulSets, with a crash after any write."""

from __future__ import annotations

import pytest

from mooring.builtin.apps.statefulset.controller import CONTROLLER
from mooring.kube.objects import Object
from tests.builtin.apps.statefulset.objects import (
    CLAIMS,
    NEW,
    OLD,
    PARALLEL,
    name_of,
    retention,
    rolling,
    stateful_set,
    template,
)
from tests.builtin.fixpoint import World, never_starts, same_end_after_any_crash

# Whole stories

STORIES: dict[str, Object] = {
    "in order": stateful_set(3),
    "in parallel": stateful_set(3, **PARALLEL),
    "from another ordinal": stateful_set(2, ordinals={"start": 7}),
    "with claims": stateful_set(2, **CLAIMS),
    "with claims that go with the set": stateful_set(2, **retention("Delete", "Retain")),
    "ready for a while": stateful_set(2, minReadySeconds=20),
    "of nothing": stateful_set(0),
}


@pytest.mark.parametrize("subject", STORIES.values(), ids=STORIES.keys())
def test_coming_up_ends_the_same_after_any_crash(subject: Object) -> None:
    end = same_end_after_any_crash(lambda: World([CONTROLLER], [subject]))
    spec = subject["spec"]
    start = spec.get("ordinals", {}).get("start", 0)
    assert end.names("Pod") == [f"web-{i}" for i in range(start, start + spec["replicas"])]
    assert end.get("StatefulSet", "web")["status"].get("readyReplicas", 0) == spec["replicas"]
    assert len(end.of("PersistentVolumeClaim")) == len(spec.get("volumeClaimTemplates", ())) * spec["replicas"]


def updated(subject: Object, patch: Object, graceful: bool = True) -> World:
    world = World([CONTROLLER], [subject], graceful=graceful)
    world.run()
    world.edit("StatefulSet", "web", {"spec": patch})
    return world


CHANGES: dict[str, tuple[Object, Object]] = {
    "an update in order": (stateful_set(3), {"template": template("web:2")}),
    "an update in parallel": (stateful_set(3, **PARALLEL), {"template": template("web:2")}),
    "an update without a partition": (
        stateful_set(3, updateStrategy={"type": "RollingUpdate"}),
        {"template": template("web:2")},
    ),
    "an update with two away": (stateful_set(3, **rolling(maxUnavailable=2)), {"template": template("web:2")}),
    "an update without history": (stateful_set(2, revisionHistoryLimit=0), {"template": template("web:2")}),
    "an update that shrinks": (stateful_set(3), {"template": template("web:2"), "replicas": 2}),
    "an update that grows": (stateful_set(2), {"template": template("web:2"), "replicas": 3}),
    "shrinking with claims that go with their pods": (
        stateful_set(3, **retention("Retain", "Delete")),
        {"replicas": 1},
    ),
    "moving the first ordinal": (stateful_set(2), {"ordinals": {"start": 2}}),
}


@pytest.mark.parametrize("graceful", [True, False], ids=["with grace", "at once"])
@pytest.mark.parametrize(("subject", "patch"), CHANGES.values(), ids=CHANGES.keys())
def test_a_change_ends_the_same_after_any_crash(subject: Object, patch: Object, graceful: bool) -> None:
    end = same_end_after_any_crash(lambda: updated(subject, patch, graceful))
    found = end.get("StatefulSet", "web")
    replicas = found["spec"]["replicas"]
    image = found["spec"]["template"]["spec"]["containers"][0]["image"]
    assert [p["spec"]["containers"][0]["image"] for p in end.of("Pod")] == [image] * replicas
    assert found["status"]["currentRevision"] == found["status"]["updateRevision"] == name_of(image)
    assert found["status"]["updatedReplicas"] == found["status"]["currentReplicas"] == replicas
    if "persistentVolumeClaimRetentionPolicy" in found["spec"]:
        assert len(end.of("PersistentVolumeClaim")) == replicas


def test_a_partition_leaves_the_lower_ordinals_as_they_were() -> None:
    end = updated(stateful_set(3, **rolling(partition=2)), {"template": template("web:2")})
    end.run()
    assert [p["metadata"]["labels"]["controller-revision-hash"] for p in end.of("Pod")] == [OLD, OLD, NEW]
    status = end.get("StatefulSet", "web")["status"]
    assert (status["currentRevision"], status["currentReplicas"]) == (OLD, 2)
    assert (status["updateRevision"], status["updatedReplicas"]) == (NEW, 1)


def test_a_rollback_goes_back_to_the_earlier_revision() -> None:
    end = updated(stateful_set(2), {"template": template("web:2")})
    end.run()
    end.edit("StatefulSet", "web", {"spec": {"template": template("web:1")}})
    end.run()
    assert {one["metadata"]["name"]: one["revision"] for one in end.of("ControllerRevision")} == {OLD: 3, NEW: 2}


def test_pods_that_never_start_hold_up_the_rest() -> None:
    end = World([CONTROLLER], [stateful_set(3)], never_starts)
    end.run()
    assert end.names("Pod") == ["web-0"]
