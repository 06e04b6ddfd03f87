"""What a plan starts from: a snapshot, taken in fast, and left in peace where nothing is asked of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mooring.api.core.views import Node, Pod
from mooring.kube.objects import Object
from mooring.kube.status import InvalidError
from mooring.manifests.emit import to_yaml
from mooring.plan.planner import PlannedWorkload, make_plan
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.plan.snapshot import Plain, read_snapshot
from mooring.runtime.drivers.simulation import START
from mooring.testing import node, pod

OLD = "2025-06-01T00:00:00Z"


def admitted(obj: Object, **meta: Any) -> Object:
    """An object as an API server returns it."""
    name = obj["metadata"]["name"]
    given = {"uid": f"uid-{name}", "creationTimestamp": OLD, "resourceVersion": "7", **meta}
    return {**obj, "metadata": {**obj["metadata"], **given}}


def stateful_set(name: str, replicas: int, **status: Any) -> Object:
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
    }
    spec = {"replicas": replicas, "serviceName": name, "selector": {"matchLabels": {"app": name}}, "template": template}
    meta = {"name": name, "namespace": "default"}
    made = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": spec, "status": status}
    return admitted(made)


def member(of: Object, ordinal: int, revision: str) -> Object:
    """A pod of a StatefulSet that runs."""
    name = f"{of['metadata']['name']}-{ordinal}"
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": of["metadata"]["name"], "controller": True}
    labels = {
        **of["spec"]["template"]["metadata"]["labels"],
        "controller-revision-hash": revision,
        "apps.kubernetes.io/pod-index": str(ordinal),
        "statefulset.kubernetes.io/pod-name": name,
    }
    meta = {
        "name": name,
        "namespace": "default",
        "labels": labels,
        "ownerReferences": [{**owner, "uid": of["metadata"]["uid"]}],
    }
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": OLD}
    status = {"phase": "Running", "startTime": OLD, "conditions": [ready]}
    spec = {**of["spec"]["template"]["spec"], "nodeName": "n1", "hostname": name}
    return admitted({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status})


def saved(folder: Path, *objects: Object) -> str:
    path = folder / "cluster.yaml"
    path.write_text("---\n".join(map(to_yaml, objects)), encoding="utf-8")
    return str(path)


def moved(snapshot: Any) -> list[str]:
    """The pods that a plan of nothing at all moves."""
    plan = make_plan(SimulatedCluster(snapshot), [], "default", timedelta(hours=1))
    return [pod.key for pod in plan.pods] + plan.evicted


def test_what_an_api_server_returned_comes_as_views_and_what_people_wrote_as_it_is(tmp_path: Path) -> None:
    path = saved(tmp_path, admitted(node("n1", cpu="4")), node("n2", cpu="4"), admitted(pod("p")), pod("q"))
    found = list(read_snapshot(path))
    assert [type(each) for each in found] == [Node, dict, Pod, dict]


def test_a_view_as_a_plain_object_is_the_same_view_again(tmp_path: Path) -> None:
    db = stateful_set("db", 2)
    objects = (
        admitted(node("n1", cpu="4", labels={"rack": "a"}, taints=["gpu:NoSchedule"])),
        member(db, 0, "db-1"),
        admitted(pod("p", cpu="1")),
    )
    plain = Plain()
    for obj in objects:
        view: Node | Pod = msgspec.convert(obj, Node if obj["kind"] == "Node" else Pod)  # type: ignore[assignment]
        again = plain.of(view)
        assert msgspec.convert(again, type(view)) == view
        assert None not in again["metadata"].values()


def test_equal_parts_of_views_are_one_part() -> None:
    first = msgspec.convert(member(stateful_set("db", 2), 0, "db-1"), Pod)
    second = msgspec.structs.replace(first, metadata=msgspec.structs.replace(first.metadata, name="db-1"))
    plain = Plain()
    assert plain.of(first)["spec"]["containers"] is plain.of(second)["spec"]["containers"]


def test_an_adopted_pod_keeps_its_past(tmp_path: Path) -> None:
    cluster = SimulatedCluster(
        read_snapshot(saved(tmp_path, admitted(node("n1", cpu="4")), admitted(pod("p", cpu="1"))))
    )
    found = cluster.registry.find("v1", "Pod", "default", "p")
    assert found is not None
    assert (found["metadata"]["uid"], found["metadata"]["creationTimestamp"]) == ("uid-p", OLD)


def test_what_was_never_admitted_is_checked() -> None:
    with pytest.raises(InvalidError, match=r"spec\.containers"):
        SimulatedCluster([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}])


def test_rules_that_another_server_did_not_have_do_not_stop_a_plan() -> None:
    old = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"clusterIP": "10.0.0.7"}}
    cluster = SimulatedCluster([admitted(node("n1", cpu="4")), admitted(old)])
    assert cluster.registry.find("v1", "Service", "default", "s") is not None


def test_an_object_of_a_live_cluster_that_breaks_a_rule_is_left_out_and_said() -> None:
    strange = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}
    cluster = SimulatedCluster([admitted(node("n1", cpu="4")), strange], live_at=START)
    assert cluster.registry.find("v1", "Pod", "default", "p") is None
    assert cluster.registry.find("v1", "Node", "", "n1") is not None
    (warning,) = cluster.warnings
    assert warning.startswith('left out, as it is not understood here: Pod "p" is invalid: ')


def test_a_statefulset_whose_revisions_were_not_saved_is_left_alone(tmp_path: Path) -> None:
    db = stateful_set("db", 2, updateRevision="db-5f7", currentRevision="db-5f7")
    pods = [member(db, ordinal, "db-5f7") for ordinal in range(2)]
    assert moved(read_snapshot(saved(tmp_path, admitted(node("n1", cpu="8")), db, *pods))) == []


def test_a_revision_that_only_pods_name_will_do(tmp_path: Path) -> None:
    db = stateful_set("db", 3)
    pods = [member(db, 0, "db-old"), member(db, 1, "db-5f7"), member(db, 2, "db-5f7")]
    cluster = SimulatedCluster(read_snapshot(saved(tmp_path, admitted(node("n1", cpu="8")), db, *pods)))
    plan = make_plan(cluster, [], "default", timedelta(hours=1))
    assert {pod.key for pod in plan.pods} == set()
    labels = [each["metadata"]["labels"]["controller-revision-hash"] for each in cluster.objects("v1", "Pod")]
    assert labels == ["db-5f7"] * 3


def test_pods_of_jobs_in_a_snapshot_end_in_their_time(tmp_path: Path) -> None:
    short = admitted(pod("short", cpu="1"), annotations={"mooring.dev/duration": "90s"})
    short["spec"]["nodeName"] = "n1"
    short["status"] = {"phase": "Running", "startTime": START.isoformat().replace("+00:00", "Z")}
    cluster = SimulatedCluster(read_snapshot(saved(tmp_path, admitted(node("n1", cpu="4")), short)))
    settled = cluster.simulation.run()
    assert settled.now - START == timedelta(seconds=90)
    found = cluster.registry.find("v1", "Pod", "default", "short")
    assert found is not None
    assert found["status"]["phase"] == "Succeeded"


def test_a_plan_applies_over_what_is_there_and_keeps_no_book_of_writers(tmp_path: Path) -> None:
    db = stateful_set("db", 2, updateRevision="db-5f7")
    pods = [member(db, ordinal, "db-5f7") for ordinal in range(2)]
    cluster = SimulatedCluster(read_snapshot(saved(tmp_path, admitted(node("n1", cpu="8")), db, *pods)))
    wanted = {key: value for key, value in db.items() if key != "status"}
    wanted = {**wanted, "metadata": {"name": "db"}, "spec": {**db["spec"], "replicas": 3}}
    plan = make_plan(cluster, [PlannedWorkload(wanted, "")], "default", timedelta(hours=1))
    assert [pod.key for pod in plan.pods] == ["default/db-2"]
    assert all("managedFields" not in pod["metadata"] for pod in cluster.objects("v1", "Pod"))
