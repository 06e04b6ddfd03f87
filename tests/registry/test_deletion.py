"""How things end: at once, after a while, or when the last one who cares has let go."""

from __future__ import annotations

import pytest

from tests.registry.world import World, config, pod, refused, workload


def test_an_object_that_nothing_holds_goes_at_once(world: World) -> None:
    world.make("configmap", config())
    gone = world.delete("configmap", "c")
    assert int(gone["metadata"]["resourceVersion"]) == world.registry.revision
    assert not world.exists("configmap", "c")


def test_a_finalizer_holds_the_object_until_it_goes(world: World) -> None:
    world.make("configmap", config(finalizers=["example.com/hold"]))
    marked = world.delete("configmap", "c")
    assert marked["metadata"]["deletionTimestamp"] == "2026-01-01T12:00:00Z"
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    assert world.exists("configmap", "c")
    world.merge("configmap", "c", {"metadata": {"finalizers": None}})
    assert not world.exists("configmap", "c")


def test_deleting_twice_changes_nothing(world: World) -> None:
    world.make("configmap", config(finalizers=["example.com/hold"]))
    first = world.delete("configmap", "c")
    world.wait(60)
    assert world.delete("configmap", "c") is first


def test_no_finalizer_can_be_added_to_what_is_going(world: World) -> None:
    world.make("configmap", config(finalizers=["example.com/hold"]))
    world.delete("configmap", "c")
    with refused(422, "no new finalizers can be added if the object is being deleted"):
        world.merge("configmap", "c", {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}})


@pytest.mark.parametrize(("policy", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")])
def test_propagation_leaves_work_for_the_garbage_collector(world: World, policy: str, finalizer: str) -> None:
    world.make("deployment", workload())
    marked = world.delete("deployment", "web", propagation=policy)
    assert marked["metadata"]["finalizers"] == [finalizer]
    assert marked["metadata"]["generation"] == 2
    assert world.exists("deployment", "web")


def test_background_deletion_leaves_nothing(world: World) -> None:
    world.make("deployment", workload())
    world.delete("deployment", "web", propagation="Background")
    assert not world.exists("deployment", "web")


def test_a_pod_that_nobody_runs_goes_at_once(world: World) -> None:
    world.make("pod", pod())
    world.delete("pod", "p")
    assert not world.exists("pod", "p")


def test_a_pod_on_a_node_waits_for_its_kubelet(world: World) -> None:
    world.make("pod", pod(nodeName="n1"))
    marked = world.delete("pod", "p")
    assert marked["metadata"]["deletionTimestamp"] == "2026-01-01T12:00:30Z"
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    world.wait(30)
    assert world.exists("pod", "p")
    world.delete("pod", "p", grace=0)
    assert not world.exists("pod", "p")


def test_grace_can_only_be_shortened(world: World) -> None:
    world.make("pod", pod(nodeName="n1"))
    world.delete("pod", "p", grace=20)
    assert world.delete("pod", "p", grace=40)["metadata"]["deletionGracePeriodSeconds"] == 20
    shorter = world.delete("pod", "p", grace=5)["metadata"]
    assert (shorter["deletionGracePeriodSeconds"], shorter["deletionTimestamp"]) == (5, "2026-01-01T12:00:05Z")


def test_a_finished_pod_goes_at_once(world: World) -> None:
    world.make("pod", pod(nodeName="n1"))
    world.merge("pod", "p", {"status": {"phase": "Succeeded"}}, subresource="status")
    world.delete("pod", "p")
    assert not world.exists("pod", "p")


def test_preconditions_protect_another_incarnation(world: World) -> None:
    made = world.make("pod", pod())
    with refused(409, "the UID in the precondition (other) does not match the UID in record"):
        world.delete("pod", "p", uid="other")
    with refused(409, "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record"):
        world.delete("pod", "p", resource_version="1")
    world.delete("pod", "p", uid=made["metadata"]["uid"], resource_version=made["metadata"]["resourceVersion"])
    assert not world.exists("pod", "p")


def test_an_unknown_policy_is_refused(world: World) -> None:
    world.make("pod", pod())
    with refused(422, 'propagationPolicy: Unsupported value: "Sideways"'):
        world.delete("pod", "p", propagation="Sideways")


def test_a_namespace_waits_for_its_content(world: World) -> None:
    world.make("namespace", {"metadata": {"name": "team"}})
    marked = world.delete("namespace", "team")
    assert marked["status"]["phase"] == "Terminating"
    with refused(403, "unable to create new content in namespace team because it is being terminated"):
        world.make("configmap", config(namespace="team"))
    done = {"metadata": {"name": "team"}, "spec": {"finalizers": []}}
    world.put("namespace", done, subresource="finalize")
    assert not world.exists("namespace", "team")


def test_the_system_namespaces_stay(world: World) -> None:
    with refused(403, 'namespaces "kube-system" is forbidden: this namespace may not be deleted'):
        world.delete("namespace", "kube-system")


def test_a_dry_deletion_deletes_nothing(world: World) -> None:
    world.make("configmap", config())
    world.delete("configmap", "c", dry_run=True)
    assert world.exists("configmap", "c")


def test_a_collection_is_deleted_by_selector(world: World) -> None:
    for name, app in (("a", "x"), ("b", "x"), ("c", "y")):
        world.make("configmap", config(name, labels={"app": app}))
    kind = world.kind("configmap")
    world.registry.delete_collection(kind, "default", now=world.now, label_selector="app=x")
    assert world.names("configmap") == ["c"]
    with refused(405, "deletecollection is not supported"):
        world.registry.delete_collection(world.kind("namespace"), now=world.now)
