"""What happens to an object between a request and the store: identity, versions, generations, sections."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

import pytest

from mooring.registry import Registry
from mooring.registry.objects import copy_json
from tests.registry.world import START, World, config, pod, refused, workload


def test_a_new_object_gets_identity_time_and_version(world: World) -> None:
    made = world.make("configmap", config(uid="mine", creationTimestamp="2020-01-01T00:00:00Z", selfLink="/x"))
    metadata = made["metadata"]
    assert metadata["creationTimestamp"] == "2026-01-01T12:00:00Z"
    assert metadata["uid"] != "mine"
    assert len(metadata["uid"]) == 36
    assert int(metadata["resourceVersion"]) == world.registry.revision
    assert "selfLink" not in metadata
    assert (made["apiVersion"], made["kind"]) == ("v1", "ConfigMap")


def test_the_default_namespaces_and_priority_classes_are_there_from_the_start(world: World) -> None:
    assert world.names("namespace") == ["default", "kube-node-lease", "kube-public", "kube-system"]
    assert world.names("priorityclass") == ["system-cluster-critical", "system-node-critical"]


def test_a_second_object_of_the_same_name_is_refused(world: World) -> None:
    world.make("deployment", workload())
    with refused(409, 'deployments.apps "web" already exists'):
        world.make("deployment", workload())


def test_a_missing_object_is_not_found(world: World) -> None:
    with refused(404, 'pods "ghost" not found'):
        world.get("pod", "ghost")


def test_a_name_is_made_from_its_prefix(world: World) -> None:
    made = world.make("pod", {**pod(), "metadata": {"generateName": "run-"}})
    name = made["metadata"]["name"]
    assert name.startswith("run-")
    assert len(name) == len("run-") + 5


def test_an_object_without_a_name_is_refused(world: World) -> None:
    with refused(422, "metadata.name: Required value: name or generateName is required"):
        world.make("configmap", {"metadata": {}})


def test_a_version_may_not_be_given_to_a_new_object(world: World) -> None:
    with refused(500, "resourceVersion should not be set on objects to be created"):
        world.make("configmap", config(resourceVersion="1"))


def test_the_namespace_must_exist(world: World) -> None:
    with refused(404, 'namespaces "nowhere" not found'):
        world.make("configmap", config(namespace="nowhere"))


def test_the_namespace_of_object_and_request_must_agree(world: World) -> None:
    with refused(400, "the namespace of the provided object does not match the namespace sent on the request"):
        world.make("configmap", config(namespace="default"), namespace="kube-system")


def test_an_update_of_an_old_version_conflicts(world: World) -> None:
    made = world.make("configmap", config())
    world.merge("configmap", "c", {"data": {"a": "2"}})
    why = (
        'Operation cannot be fulfilled on configmaps "c": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    with refused(409, why):
        world.put("configmap", {**made, "data": {"a": "3"}})


def test_an_update_without_a_version_is_unconditional(world: World) -> None:
    world.make("configmap", config())
    assert world.put("configmap", config())["data"] == {"a": "1"}


def test_an_update_of_another_incarnation_conflicts(world: World) -> None:
    world.make("configmap", config())
    with refused(409, "Precondition failed: UID in precondition: other, UID in object meta:"):
        world.put("configmap", config(uid="other"))


def test_a_patch_of_another_incarnation_is_refused(world: World) -> None:
    world.make("configmap", config())
    with refused(422, 'metadata.uid: Invalid value: "other": field is immutable'):
        world.merge("configmap", "c", {"metadata": {"uid": "other"}})


def test_an_update_that_changes_nothing_keeps_the_version(world: World) -> None:
    made = world.make("deployment", workload())
    before = world.registry.revision
    assert world.put("deployment", workload()) is made
    assert world.merge("deployment", "web", {"spec": {"replicas": 1}}) is made
    assert world.registry.revision == before


def test_generation_counts_changes_of_spec_only(world: World) -> None:
    world.make("deployment", workload())
    assert world.merge("deployment", "web", {"metadata": {"labels": {"x": "y"}}})["metadata"]["generation"] == 1
    assert world.merge("deployment", "web", {"spec": {"replicas": 3}})["metadata"]["generation"] == 2
    status = {"status": {"replicas": 3}}
    assert world.merge("deployment", "web", status, subresource="status")["metadata"]["generation"] == 2


def test_an_annotation_is_a_new_generation_of_a_deployment(world: World) -> None:
    world.make("deployment", workload())
    assert world.merge("deployment", "web", {"metadata": {"annotations": {"x": "y"}}})["metadata"]["generation"] == 2


def test_a_main_write_cannot_touch_status(world: World) -> None:
    world.make("deployment", {**workload(), "status": {"replicas": 9}})
    assert world.get("deployment", "web")["status"] == {}
    world.merge("deployment", "web", {"status": {"replicas": 2}}, subresource="status")
    changed = world.merge("deployment", "web", {"spec": {"replicas": 2}, "status": {"replicas": 9}})
    assert changed["status"] == {"replicas": 2}


def test_a_status_write_cannot_touch_spec(world: World) -> None:
    made = world.make("deployment", workload())
    patch = {"spec": {"replicas": 9}, "status": {"replicas": 1}}
    changed = world.merge("deployment", "web", patch, subresource="status")
    assert changed["spec"] is made["spec"]
    assert changed["status"] == {"replicas": 1}


def test_system_fields_survive_whatever_a_client_sends(world: World) -> None:
    made = world.make("configmap", config())
    wild = {"name": "c", "creationTimestamp": "1999-01-01T00:00:00Z", "generation": 99, "deletionTimestamp": None}
    changed = world.put("configmap", {"metadata": wild, "data": {"b": "2"}})
    assert changed["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]
    assert changed["metadata"]["uid"] == made["metadata"]["uid"]
    assert "generation" not in changed["metadata"]


def test_what_a_client_keeps_cannot_reach_the_store(world: World) -> None:
    mine = config()
    world.make("configmap", mine)
    mine["data"]["a"] = "changed"
    assert world.get("configmap", "c")["data"] == {"a": "1"}


def test_a_dry_run_answers_but_changes_nothing(world: World) -> None:
    before = world.registry.revision
    made = world.make("deployment", workload(), dry_run=True)
    assert made["spec"]["replicas"] == 1
    assert made["metadata"]["uid"]
    assert world.registry.revision == before
    assert not world.exists("deployment", "web")


def test_a_wrong_type_is_a_bad_request(world: World) -> None:
    with refused(400, 'Deployment in version "v1" cannot be handled as a Deployment: '):
        world.make("deployment", workload(replicas="three"))
    why = "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container"
    with refused(400, f'Pod in version "v1" cannot be handled as a Pod: {why}'):
        world.make("pod", pod(containers="x"))


def test_unknown_fields_are_dropped_warned_about_or_refused(world: World) -> None:
    strange = workload(replica=3)
    assert "replica" not in world.make("deployment", strange)["spec"]
    warnings: list[str] = []
    world.put(
        "deployment", strange | {"spec": {**strange["spec"], "replicas": 2}}, field_validation="Warn", warnings=warnings
    )
    assert warnings == ['unknown field "spec.replica"']
    with refused(400, 'strict decoding error: unknown field "spec.replica"'):
        world.make("deployment", workload("other", replica=3), field_validation="Strict")


def test_every_write_leaves_its_manager(world: World) -> None:
    world.make("deployment", workload(), manager="kubectl-create")
    world.merge("deployment", "web", {"spec": {"replicas": 5}}, manager="hpa")
    world.merge("deployment", "web", {"status": {"replicas": 5}}, manager="controller", subresource="status")
    entries = world.get("deployment", "web")["metadata"]["managedFields"]
    assert {(each["manager"], each.get("subresource", "")) for each in entries} == {
        ("kubectl-create", ""),
        ("hpa", ""),
        ("controller", "status"),
    }
    hpa = next(each for each in entries if each["manager"] == "hpa")
    assert hpa["fieldsV1"] == {"f:spec": {"f:replicas": {}}}


def test_metadata_is_checked(world: World) -> None:
    with refused(422, "metadata.labels: Invalid value"):
        world.make("configmap", config(labels={"bad key!": "x"}))
    with refused(422, "name is neither a standard finalizer name nor is it fully qualified"):
        world.make("configmap", config(finalizers=["mine"]))


def test_events_of_both_groups_are_one_set_of_objects(world: World) -> None:
    event = {
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "message": "hello",
        "reason": "Greeted",
        "type": "Normal",
    }
    world.make("event", event)
    newer = world.registry.resource("events.k8s.io/v1", "Event")
    seen = world.registry.get(newer, "default", "e")
    assert (seen["note"], seen["regarding"]["name"], seen["apiVersion"]) == ("hello", "p", "events.k8s.io/v1")
    with refused(422, 'message: Invalid value: "bye": field is immutable'):
        world.registry.patch(newer, "default", "e", "merge", {"note": "bye"}, now=world.now)
    series = {"count": 2, "lastObservedTime": "2026-01-01T12:00:00.000000Z"}
    world.registry.patch(newer, "default", "e", "merge", {"series": series}, now=world.now)
    assert world.get("event", "e")["series"] == series
    assert world.registry.list(newer, field_selector="regarding.name=p").items[0]["note"] == "hello"


def test_events_are_forgotten_after_an_hour(world: World) -> None:
    event = {"involvedObject": {"namespace": "default"}, "message": "hello"}
    world.make("event", {"metadata": {"name": "old"}, **event})
    world.wait(1800)
    world.make("event", {"metadata": {"name": "new"}, **event})
    world.wait(1800)
    assert world.registry.expire_events(world.now) == 1
    assert world.names("event") == ["new"]


def test_a_lease_may_be_put_before_it_exists(world: World) -> None:
    lease = {"metadata": {"name": "leader", "namespace": "default"}, "spec": {"holderIdentity": "a"}}
    world.put("lease", lease)
    assert world.get("lease", "leader")["spec"]["holderIdentity"] == "a"


def test_a_restored_object_keeps_its_past(world: World) -> None:
    past = {
        "apiVersion": "v1",
        "kind": "Pod",
        **pod("old", nodeName="n1"),
        "status": {"phase": "Running", "qosClass": "BestEffort"},
    }
    past["metadata"] |= {"uid": "u-1", "creationTimestamp": "2020-01-01T00:00:00Z", "resourceVersion": "77"}
    made = world.registry.restore(past, now=world.now)
    assert made["metadata"]["uid"] == "u-1"
    assert made["metadata"]["creationTimestamp"] == "2020-01-01T00:00:00Z"
    assert made["metadata"]["resourceVersion"] == str(world.registry.revision)
    assert made["status"]["phase"] == "Running"
    assert "tolerations" not in made["spec"]


@pytest.mark.parametrize(
    "original",
    [
        {"spec": {"containers": [{"name": "a", "ports": [1]}]}},
        [[{"a": 1}], ["b"]],
        OrderedDict(spec=OrderedDict(names=["a"])),
        {"names": ({"a": ["b"]},)},
    ],
    ids=["objects in objects", "lists in lists", "subclasses of a dict", "tuples, which become lists"],
)
def test_a_copy_shares_nothing_that_could_be_changed(original: Any) -> None:
    copy = copy_json(original)
    assert json.dumps(copy) == json.dumps(original)
    assert not _containers(copy) & _containers(original)


def _containers(value: Any) -> set[int]:
    """The identities of every object and list within a value."""
    if not isinstance(value, dict | list):
        return set().union(*map(_containers, value)) if isinstance(value, tuple) else set()
    parts = value.values() if isinstance(value, dict) else value
    return {id(value)}.union(*map(_containers, parts))


def test_objects_that_are_made_alike_share_their_parts_in_memory() -> None:
    registry = Registry(now=START)
    pods = registry.resource("v1", "Pod")
    for name in ("a", "b"):
        registry.create(pods, pod(name, labels={"app": "web"}), now=START)
    one, other = (registry.get(pods, "default", name) for name in ("a", "b"))
    assert one["spec"]["containers"] is other["spec"]["containers"]
    assert one["metadata"]["labels"] is other["metadata"]["labels"]
