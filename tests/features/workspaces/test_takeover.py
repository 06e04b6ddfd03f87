"""Workspaces of an upstream install: what its operator has made is taken over as it is, and no pod is replaced.

The recordings of upstream's operator say what it makes of a Workspace. Here all of that is there already, and ours is
the operator from now on.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.features.workspaces.api import API_VERSION, KIND
from mooring.features.workspaces.recorded.answers import recorded_cluster
from mooring.features.workspaces.recorded.cluster import Place, RecordedCluster
from mooring.kube.objects import Object
from tests.features.workspaces.test_recorded_answers import recorded


def taken_over(case: dict[str, Any]) -> tuple[RecordedCluster, Key]:
    """The cluster as upstream's operator left it."""
    cluster, key = recorded_cluster(case["request"])
    expected = case["expect"]
    changed = {(each["kind"], each["name"]): each for each in expected.get("changed", ())}
    for obj in cluster.objects.values():
        change = changed.get((obj["kind"], obj["metadata"]["name"]), {})
        fields = {name: change[name] for name in ("annotations", "labels", "finalizers") if name in change}
        status = {"status": expected["status"]} if obj["kind"] == KIND else {}
        cluster.put({**obj, "metadata": {**obj["metadata"], **fields}, **status})
    uid = of(cluster, key)["metadata"]["uid"]
    for obj in json.loads(json.dumps(expected["created"])):
        for reference in obj["metadata"].get("ownerReferences", ()):
            reference["uid"] = uid
        if obj["kind"] == "NodeClaim":
            del obj["metadata"]["namespace"]
        cluster.put(obj)
    for told in expected.get("deleted", ()):
        kind, _, name = told.partition(" ")
        cluster.remove(kind, *name.split("/"))
    return cluster, key


def of(cluster: RecordedCluster, key: Key) -> Object:
    found = cluster.find(API_VERSION, KIND, *key)
    assert found is not None
    return found


def others(cluster: RecordedCluster) -> dict[Place, Object]:
    return {place: obj for place, obj in cluster.objects.items() if obj["kind"] != KIND}


CASES = [
    case
    for case in recorded("rendering")
    if not case.get("upstream_panics") and any(each["kind"] == "StatefulSet" for each in case["expect"]["created"])
]


def test_there_is_something_to_take_over() -> None:
    assert len(CASES) == 121
    assert {case["request"]["config"]["nodeProvisioner"] for case in CASES} == {
        "byo", "karpenter", "azure-gpu-provisioner",
    }  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case["request"]["id"] for case in CASES])
def test_nothing_that_upstream_made_is_written(case: dict[str, Any]) -> None:
    cluster, key = taken_over(case)
    before, workspace = others(cluster), of(cluster, key)
    cluster.reconcile(key)
    assert others(cluster) == before
    after = of(cluster, key)["metadata"]
    assert {**workspace["metadata"], "resourceVersion": after["resourceVersion"]} == after


def test_a_change_after_that_is_a_new_revision() -> None:
    """The other way round: an object that is not as it was gets a revision of its own."""
    case = next(each for each in CASES if "preset" in each["request"]["object"]["inference"])
    cluster, key = taken_over(case)
    there = of(cluster, key)
    cluster.put({**there, "inference": {**there["inference"], "config": "another"}})
    before = others(cluster)
    cluster.reconcile(key)
    made = [place[1] for place in others(cluster) if place not in before]
    assert made == ["ControllerRevision"]
    assert of(cluster, key)["metadata"]["annotations"]["workspace.kaito.io/revision"] == "2"
