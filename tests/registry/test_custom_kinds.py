"""Custom kinds: served as soon as they are defined, with schema, versions, sub-resources, and an end."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.registry import MemoryStorage, Registry, Resource
from tests.registry.world import START, World, definition, refused


def widgets(world: World, version: str = "v1") -> Resource:
    return world.registry.resource(f"example.com/{version}", "Widget")


def make(world: World, name: str = "w", **spec: Any) -> Object:
    obj = {"metadata": {"name": name, "namespace": "default"}, "spec": spec}
    return world.registry.create(widgets(world), obj, now=world.now, manager="test")


def two_versions(**conversion: Any) -> Object:
    made = definition(subresources={"status": {}})
    first = made["spec"]["versions"][0]
    second = {**first, "name": "v2", "storage": False}
    made["spec"]["versions"] = [first, second]
    if conversion:
        made["spec"]["conversion"] = conversion
    return made


def test_a_definition_is_established_at_once(world: World) -> None:
    made = world.make("crd", definition())
    assert {each["type"]: each["status"] for each in made["status"]["conditions"]} == {
        "NamesAccepted": "True",
        "Established": "True",
    }
    assert made["status"]["storedVersions"] == ["v1"]
    assert made["spec"]["names"]["listKind"] == "WidgetList"
    assert widgets(world).short_names == ("wi",)


def test_an_object_is_defaulted_pruned_and_checked(world: World) -> None:
    world.make("crd", definition())
    made = make(world, color="red", shape="round")
    assert made["spec"] == {"color": "red", "size": 1}
    assert made["metadata"]["generation"] == 1
    with refused(422, 'spec.color: Unsupported value: "green": supported values: "red", "blue"'):
        make(world, "x", color="green")
    with refused(422, "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"):
        make(world, "x", size=0)


def test_an_unknown_kind_is_not_served(world: World) -> None:
    with refused(404, 'no matches for kind "Widget" in version "example.com/v1"'):
        widgets(world)


def test_status_is_a_sub_resource_only_where_declared(world: World) -> None:
    world.make("crd", definition(subresources={"status": {}}))
    make(world)
    kind = widgets(world)
    changed = world.registry.patch(
        kind, "default", "w", "merge", {"status": {"ready": True}}, now=world.now, subresource="status"
    )
    assert changed["status"] == {"ready": True}
    assert changed["metadata"]["generation"] == 1
    same = world.registry.patch(kind, "default", "w", "merge", {"status": {"ready": False}}, now=world.now)
    assert same["status"] == {"ready": True}


def test_without_the_sub_resource_status_is_a_field_like_any_other(world: World) -> None:
    world.make("crd", definition())
    make(world)
    changed = world.registry.patch(widgets(world), "default", "w", "merge", {"status": {"ready": True}}, now=world.now)
    assert changed["status"] == {"ready": True}
    assert changed["metadata"]["generation"] == 2
    with refused(404, "the server could not find the requested resource"):
        world.registry.patch(
            widgets(world), "default", "w", "merge", {"status": {}}, now=world.now, subresource="status"
        )


def test_who_makes_an_object_owns_the_status_that_it_wrote(world: World) -> None:
    world.make("crd", definition())

    def owned(name: str, status: Object) -> Object:
        obj = {"metadata": {"name": name, "namespace": "default"}, "spec": {"size": 1}, "status": status}
        made = world.registry.create(widgets(world), obj, now=world.now, manager="test")
        (entry,) = made["metadata"]["managedFields"]
        fields: Object = entry["fieldsV1"]["f:status"]
        return fields

    assert owned("counted", {"replicas": 1}) == {".": {}, "f:replicas": {}}
    assert owned("ready", {"ready": True}) == {".": {}, "f:ready": {}}


def test_scale_goes_where_the_definition_says(world: World) -> None:
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    world.make("crd", definition(subresources={"scale": paths}))
    make(world, replicas=2)
    world.registry.patch(
        widgets(world), "default", "w", "merge", {"spec": {"replicas": 5}}, now=world.now, subresource="scale"
    )
    assert world.registry.get(widgets(world), "default", "w")["spec"]["replicas"] == 5


def test_replicas_that_were_wrong_before_the_kind_could_be_scaled_do_not_stop_its_status(world: World) -> None:
    world.make("crd", definition(subresources={"status": {}}))
    make(world, replicas=-1)
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    changed = definition(subresources={"status": {}, "scale": paths})["spec"]["versions"]
    world.merge("crd", "widgets.example.com", {"spec": {"versions": changed}}, namespace="")

    def patch(body: Object, subresource: str = "") -> Object:
        kind = widgets(world)
        return world.registry.patch(kind, "default", "w", "merge", body, now=world.now, subresource=subresource)

    assert patch({"status": {"replicas": 1}}, "status")["status"]["replicas"] == 1
    with refused(422, "status.replicas: Invalid value: -1: should be a non-negative integer"):
        patch({"status": {"replicas": -1}}, "status")
    with refused(422, "spec.replicas: Invalid value: -1: should be a non-negative integer"):
        patch({"spec": {"size": 2}})
    assert patch({"spec": {"size": 2, "replicas": 3}})["spec"]["replicas"] == 3


def test_an_update_of_a_custom_object_must_carry_its_version(world: World) -> None:
    world.make("crd", definition())
    make(world)
    with refused(422, "metadata.resourceVersion: Invalid value: 0: must be specified for an update"):
        world.registry.update(widgets(world), {"metadata": {"name": "w"}, "spec": {"size": 2}}, now=world.now)


def test_a_strategic_patch_of_a_custom_object_is_not_understood(world: World) -> None:
    world.make("crd", definition())
    make(world)
    with refused(415, "the body of the request was in an unknown format"):
        world.registry.patch(widgets(world), "default", "w", "strategic", {}, now=world.now)


def test_versions_are_views_of_one_object(world: World) -> None:
    world.make("crd", two_versions())
    make(world, size=3)
    newer = world.registry.get(widgets(world, "v2"), "default", "w")
    assert (newer["apiVersion"], newer["spec"]["size"]) == ("example.com/v2", 3)
    seen = world.registry.watch(widgets(world, "v2"), resource_version=str(world.registry.revision))
    world.registry.patch(widgets(world, "v1"), "default", "w", "merge", {"spec": {"size": 4}}, now=world.now)
    (event,) = seen.poll()
    assert (event.object["apiVersion"], event.object["spec"]["size"]) == ("example.com/v2", 4)


def test_a_registered_function_stands_for_the_conversion_webhook(world: World) -> None:
    hook = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": {"url": "https://x"}, "conversionReviewVersions": ["v1"]},
    }
    world.make("crd", two_versions(**hook))

    def convert(obj: Object, wanted: str) -> Object:
        factor = 10 if wanted == "example.com/v2" else 0.1
        spec = {**obj["spec"], "size": int(obj["spec"]["size"] * factor)}
        return {**obj, "apiVersion": wanted, "spec": spec}

    world.registry.register_conversion("example.com", "Widget", convert)
    make(world, size=3)
    assert world.registry.get(widgets(world, "v2"), "default", "w")["spec"]["size"] == 30
    world.registry.patch(widgets(world, "v2"), "default", "w", "merge", {"spec": {"size": 50}}, now=world.now)
    assert world.registry.get(widgets(world), "default", "w")["spec"]["size"] == 5


def test_a_version_without_its_function_says_so(world: World) -> None:
    hook = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": {"url": "https://x"}, "conversionReviewVersions": ["v1"]},
    }
    world.make("crd", two_versions(**hook))
    make(world)
    with refused(500, "no function is registered for it"):
        world.registry.get(widgets(world, "v2"), "default", "w")


def test_names_that_are_taken_are_not_accepted(world: World) -> None:
    world.make("crd", definition())
    made = world.make("crd", definition("widgetz", "Widget"))
    conditions = {each["type"]: each for each in made["status"]["conditions"]}
    assert conditions["NamesAccepted"]["reason"] == "ListKindConflict"
    assert conditions["Established"]["status"] == "False"


def test_rules_hold_for_objects_of_the_kind(world: World) -> None:
    made = definition()
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": "self.size > 100"}]
    warnings: list[str] = []
    world.make("crd", made, warnings=warnings)
    assert warnings == []
    with refused(422, "spec: Invalid value: failed rule: self.size > 100"):
        make(world)


def test_a_bad_definition_is_refused(world: World) -> None:
    wrong = definition()
    wrong["metadata"]["name"] = "other.example.com"
    with refused(422, 'metadata.name: Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group'):
        world.make("crd", wrong)
    wrong = definition()
    wrong["spec"]["versions"][0]["storage"] = False
    with refused(422, "must have exactly one version marked as storage version"):
        world.make("crd", wrong)
    wrong = definition()
    wrong["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = {"properties": {}}
    with refused(422, "spec.validation.openAPIV3Schema.properties[spec].type: Required value"):
        world.make("crd", wrong)
    wrong = definition()
    wrong["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["size"]["default"] = 0
    with refused(422, "properties[size].default: Invalid value: 0:  in body should be greater than or equal to 1"):
        world.make("crd", wrong)
    wrong = definition()
    wrong["spec"]["scope"] = "Galactic"
    with refused(422, 'spec.scope: Unsupported value: "Galactic": supported values: "Cluster", "Namespaced"'):
        world.make("crd", wrong)


def test_a_definition_takes_its_objects_with_it(world: World) -> None:
    world.make("crd", definition())
    make(world)
    seen = world.registry.watch(widgets(world), resource_version=str(world.registry.revision))
    world.delete("crd", "widgets.example.com")
    assert [event.type for event in seen.poll()] == ["DELETED"]
    assert not world.exists("crd", "widgets.example.com")
    with refused(404, "no matches for kind"):
        widgets(world)


def test_a_definition_waits_for_its_last_object(world: World) -> None:
    world.make("crd", definition())
    held = {"metadata": {"name": "w", "namespace": "default", "finalizers": ["example.com/hold"]}}
    kind = widgets(world)
    world.registry.create(kind, held, now=world.now)
    world.delete("crd", "widgets.example.com")
    assert world.exists("crd", "widgets.example.com")
    world.registry.patch(kind, "default", "w", "merge", {"metadata": {"finalizers": None}}, now=world.now)
    assert not world.exists("crd", "widgets.example.com")


def test_kinds_are_served_again_after_a_restart() -> None:
    storage = MemoryStorage()
    first = Registry(storage, now=START)
    first.create(first.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition"), definition(), now=START)
    second = Registry(storage, now=START)
    kind = second.resource("example.com/v1", "Widget")
    second.create(kind, {"metadata": {"name": "w", "namespace": "default"}}, now=START)
    with refused(410, "too old resource version"):
        second.watch(kind, resource_version="2")


def test_a_finalizer_without_a_path_is_warned_of_when_it_is_added_and_not_at_every_change(world: World) -> None:
    world.make("crd", definition())
    make(world)
    told = []
    for metadata in ({"finalizers": ["mine.example.com"]}, {"labels": {"team": "a"}}):
        warnings: list[str] = []
        body = {"metadata": metadata}
        world.registry.patch(widgets(world), "default", "w", "merge", body, now=world.now, warnings=warnings)
        told.append(warnings)
    head = 'metadata.finalizers: "mine.example.com": prefer a domain-qualified finalizer name including a path (/)'
    assert told == [[f"{head} to avoid accidental conflicts with other finalizer writers"], []]
