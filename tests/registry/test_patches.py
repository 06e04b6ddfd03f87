"""Every patch type through the whole registry, and the admission chain."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError
from mooring.registry import AdmissionRequest, ClusterView
from tests.registry.world import World, config, pod, refused, workload


def patch(world: World, word: str, name: str, kind: Any, body: Any, **options: Any) -> Object:
    return world.registry.patch(world.kind(word), "default", name, kind, body, now=world.now, **options)


def test_a_json_patch_says_where(world: World) -> None:
    world.make("configmap", config())
    assert patch(world, "configmap", "c", "json", [{"op": "add", "path": "/data/b", "value": "2"}])["data"] == {
        "a": "1",
        "b": "2",
    }
    with refused(422, ""):
        patch(world, "configmap", "c", "json", [{"op": "test", "path": "/data/b", "value": "3"}])


def test_a_strategic_patch_knows_lists_by_their_keys(world: World) -> None:
    world.make("deployment", workload())
    body = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "proxy:1"}]}}}}
    changed = patch(world, "deployment", "web", "strategic", body)
    assert {each["name"] for each in changed["spec"]["template"]["spec"]["containers"]} == {"main", "side"}


def test_a_patch_may_carry_the_version_it_was_made_for(world: World) -> None:
    made = world.make("configmap", config())
    version = made["metadata"]["resourceVersion"]
    patch(world, "configmap", "c", "merge", {"metadata": {"resourceVersion": version}, "data": {"a": "2"}})
    with refused(409, "the object has been modified"):
        patch(world, "configmap", "c", "merge", {"metadata": {"resourceVersion": version}, "data": {"a": "3"}})


def test_a_patch_cannot_rename(world: World) -> None:
    world.make("configmap", config())
    with refused(400, "the name of the object (d) does not match the name on the URL (c)"):
        patch(world, "configmap", "c", "merge", {"metadata": {"name": "d"}})


def applied(**data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}


def test_apply_creates_and_owns(world: World) -> None:
    made = patch(world, "configmap", "c", "apply", applied(a="1"), manager="alice")
    (entry,) = made["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("alice", "Apply")
    assert entry["fieldsV1"] == {"f:data": {"f:a": {}}}


def test_apply_removes_what_its_manager_no_longer_wants(world: World) -> None:
    patch(world, "configmap", "c", "apply", applied(a="1", b="2"), manager="alice")
    patch(world, "configmap", "c", "apply", applied(z="9"), manager="bob")
    changed = patch(world, "configmap", "c", "apply", applied(a="1"), manager="alice")
    assert changed["data"] == {"a": "1", "z": "9"}


def test_apply_refuses_to_take_fields_of_others_unless_forced(world: World) -> None:
    patch(world, "configmap", "c", "apply", applied(a="1"), manager="alice")
    with refused(409, 'Apply failed with 1 conflict: conflict with "alice": .data.a'):
        patch(world, "configmap", "c", "apply", applied(a="2"), manager="bob")
    changed = patch(world, "configmap", "c", "apply", applied(a="2"), manager="bob", force=True)
    assert changed["data"] == {"a": "2"}


def test_applying_the_same_again_changes_nothing(world: World) -> None:
    made = patch(world, "configmap", "c", "apply", applied(a="1"), manager="alice")
    world.wait(60)
    again = patch(world, "configmap", "c", "apply", applied(a="1"), manager="alice")
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


def test_a_status_of_a_kind_that_has_none_is_an_unknown_field(world: World) -> None:
    made = world.make("configmap", config())
    warnings: list[str] = []
    body = {"status": {"phase": "Odd"}}
    same = patch(world, "configmap", "c", "merge", body, field_validation="Warn", warnings=warnings)
    assert same == made
    assert warnings == ['unknown field "status"']
    with refused(422, 'unknown field "status"'):
        patch(world, "configmap", "c", "merge", body, field_validation="Strict")


def test_apply_needs_a_manager(world: World) -> None:
    with refused(422, "fieldManager: Required value: is required for apply patch"):
        patch(world, "configmap", "c", "apply", applied(a="1"))


def test_apply_of_status_owns_status(world: World) -> None:
    world.make("deployment", workload())
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "status": {"replicas": 2},
    }
    changed = patch(world, "deployment", "web", "apply", body, manager="ctl", subresource="status")
    assert changed["status"] == {"replicas": 2}


def test_apply_completes_a_workload_and_is_stable(world: World) -> None:
    body = {"apiVersion": "apps/v1", "kind": "Deployment", **workload()}
    made = patch(world, "deployment", "web", "apply", body, manager="gitops")
    assert made["spec"]["replicas"] == 1
    version = made["metadata"]["resourceVersion"]
    assert patch(world, "deployment", "web", "apply", body, manager="gitops")["metadata"]["resourceVersion"] == version


def test_admission_functions_change_and_refuse(world: World) -> None:
    def label(request: AdmissionRequest, view: ClusterView) -> Object | None:
        obj = request.object
        if obj is None or request.operation != "CREATE" or request.resource.kind != "Pod":
            return None
        metadata = {**obj["metadata"], "labels": {"seen": "yes"}}
        sidecar = {"name": "side", "image": "proxy"}
        spec = {**obj["spec"], "containers": [*obj["spec"]["containers"], sidecar]}
        return {**obj, "metadata": metadata, "spec": spec}

    def guard(request: AdmissionRequest, view: ClusterView) -> Object | None:
        if request.operation == "DELETE" and request.name == "precious":
            raise ForbiddenError.of("configmaps", "", request.name, "it is precious")
        return None

    world.registry.admission.mutating.append(label)
    world.registry.admission.validating.append(guard)
    made = world.make("pod", pod())
    assert made["metadata"]["labels"] == {"seen": "yes"}
    assert made["spec"]["containers"][1]["imagePullPolicy"] == "Always"
    world.make("configmap", config("precious"))
    with refused(403, 'configmaps "precious" is forbidden: it is precious'):
        world.delete("configmap", "precious")
