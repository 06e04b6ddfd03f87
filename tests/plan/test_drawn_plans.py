"""Plans over drawn clusters: what comes of each workload and each claim, and what is said of what is not known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.plan.final_state import final_snapshot, unknowns_of
from mooring.plan.planner import Plan, PlannedWorkload, make_plan
from mooring.plan.revisions import missing_revisions
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.plan.snapshot import read_snapshot
from mooring.plan.stand_ins import stand_ins, without_requests
from tests.placement.drawn.questions import question
from tests.support.golden import same_as_recorded

PLANS = 50
BEGUN = "2026-11-01T00:00:00Z"
LEFT = ("Pod", "PersistentVolumeClaim", "PersistentVolume", "ResourceClaim", "Node", "ControllerRevision", "ReplicaSet")
API_VERSIONS = {"ResourceClaim": "resource.k8s.io/v1", "ControllerRevision": "apps/v1", "ReplicaSet": "apps/v1"}
FIELDS = ("nodeName", "volumeName", "claimRef", "replicas", "taints", "hostPath", "csi", "storageClassName", "capacity")


def as_taken(draw: Random, objects: list[Object]) -> list[Object]:
    """As `mooring snapshot` writes it, as kubectl does, or as somebody wrote it by hand."""
    form = draw.choice(("snapshot", "kubectl", "hand"))
    unread = draw.sample(("StorageClass", "ResourceSlice", "RuntimeClass", "PersistentVolumeClaim"), draw.randrange(3))
    made = []
    for number, each in enumerate(each for each in objects if each["kind"] not in unread):
        metadata = {name: value for name, value in each["metadata"].items() if name not in ("uid", "creationTimestamp")}
        if form != "hand":
            metadata["creationTimestamp"] = BEGUN
        # Pods of a server would have all its defaults.
        if form == "kubectl" and each["kind"] not in ("Pod", "MachineDeployment"):
            metadata["uid"] = each["metadata"].get("uid") or f"uid-{number}"
        if each["kind"] == "SnapshotContents":
            each = {**each, "kinds": [kind for kind in each.get("kinds", ()) if kind not in unread]}
        made.append({**each, "metadata": metadata})
    return made


def told(plan: Plan) -> Iterator[str]:
    cluster, settled = plan.cluster, plan.settled
    yield f"{settled.moving} {settled.now - cluster.start} {plan.took}"
    for pod in plan.pods:
        top, workload = plan.origin(pod)
        of = f"{top['kind']} {top['metadata']['name']} {workload is not None}"
        yield f"{pod.key} {pod.phase} {pod.node} {pod.bound} {pod.running} of {of} {pod in plan.pending}"
    for node in plan.nodes:
        yield f"{node.name} {node.came}"
    yield f"{plan.evicted} {plan.unfinished} {plan.waiting} {plan.notes} {[pool.name for pool in plan.pools]}"
    yield f"{cluster.inert} {cluster.assumed} {cluster.warnings}"
    yield f"{sorted(cluster.stand_ins)} {sorted(cluster.unread_kinds)}"
    yield from unknowns_of(plan)
    for kind in LEFT:
        for each in cluster.objects(API_VERSIONS.get(kind, "v1"), kind):
            yield f"{kind} {essence(each)}"
    yield f"{len(final_snapshot(plan).cluster.slots)} nodes in the end"


def essence(obj: Object) -> str:
    metadata, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    owners = [each["kind"] for each in metadata.get("ownerReferences", ())]
    conditions = [f"{each['type']}={each['status']}" for each in status.get("conditions", ())]
    kept = {name: spec[name] for name in FIELDS if name in spec}
    ready = {name: status[name] for name in ("phase", "readyReplicas", "allocation") if name in status}
    place = f"{metadata.get('namespace', '')}/{metadata['name']}"
    return f"{place} {owners} {kept} {ready} {conditions} {sorted(metadata.get('annotations', {}))}"


def planned(number: int, folder: Path) -> str:
    draw, asked = Random(number), question(number)
    written = asked._replace(cluster=as_taken(draw, asked.cluster)).written(folder)
    live = datetime.fromisoformat(BEGUN) + timedelta(days=1) if draw.random() < 0.3 else None
    try:
        cluster = SimulatedCluster(read_snapshot(written[written.index("--snapshot") + 1]), seed=number, live_at=live)
        workloads = [PlannedWorkload(each, None) for each in asked.given]
        plan = make_plan(cluster, workloads, draw.choice(("default", "ml")), timedelta(minutes=draw.choice((1, 60))))
    except MooringError as error:
        return f"! {error}"
    return "\n".join(told(plan))


def test_drawn_plans_come_to_what_they_came_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    same_as_recorded("plans", {f"{number}": planned(number, tmp_path) for number in range(PLANS)})


STOOD_IN = {
    "claimName": "PersistentVolumeClaim",
    "storageClassName": "StorageClass",
    "runtimeClassName": "RuntimeClass",
    "resourceClaimName": "ResourceClaim",
    "resourceClaimTemplateName": "ResourceClaimTemplate",
    "deviceClassName": "DeviceClass",
}


def test_whatever_is_named_and_of_a_kind_that_was_not_read_is_made_up() -> None:
    draw, said = Random(3), dict[str, str]()
    for number in range(120):
        names = {field: draw.choice(("a", "a", "", 5)) for field in draw.sample(sorted(STOOD_IN), draw.randrange(1, 4))}
        spec: Any = draw.choice((names, [names, {"name": "b"}], {"template": {"spec": [names]}}))
        unread = draw.sample(sorted(STOOD_IN.values()), draw.randrange(7))
        found = [*stand_ins([({"spec": spec}, "ml")], unread)]
        wanted = {kind for field, kind in STOOD_IN.items() if names.get(field) == "a" and kind in unread}
        assert {each.kind for each in found} == wanted
        case = f"{number} {json.dumps(spec)} {unread}"
        said[case] = "\n".join(
            f"{each.namespace} {json.dumps(each.object)} {without_requests(each.object)}" for each in found
        )
    same_as_recorded("plan-stand-ins", said)


def test_a_set_without_a_revision_gets_that_of_most_of_its_pods() -> None:
    draw, said = Random(4), dict[str, str]()
    label = "controller-revision-hash"
    for number in range(120):
        sets: list[Object] = []
        for name in ("a", "b")[: draw.choice((1, 2))]:
            template = draw.choice(({}, {"metadata": {"labels": {"app": name}}}))
            status: Object = draw.choice(({}, {"status": {"updateRevision": f"{name}-7"}}, {"status": {}}))
            metadata = {"name": name, "namespace": "ml", "uid": name}
            kind = draw.choice(("StatefulSet", "DaemonSet"))
            sets.append({"kind": kind, "metadata": metadata, "spec": {"template": template}, **status})
        owned = [
            {"kind": "X", "uid": name, "name": name, "controller": held} for name in "abc" for held in (True, False)
        ]
        pods = []
        for _ in range(draw.randrange(6)):
            labels: Object = draw.choice(({}, {"labels": {}}, {"labels": {label: "h1"}}, {"labels": {label: "h2"}}))
            pods.append({"metadata": {**labels, "ownerReferences": draw.sample(owned, draw.randrange(3))}})
        revisions = [{"metadata": {"ownerReferences": draw.sample(owned, draw.randrange(2))}}]
        made = "\n".join(json.dumps(each) for each in missing_revisions(sets, revisions, pods))
        said[f"{number} {json.dumps([sets, revisions, pods])}"] = made
    same_as_recorded("plan-revisions", said)
