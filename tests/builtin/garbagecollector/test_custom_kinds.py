"""Garbage collection and the deletion of namespaces follow custom kinds, which come and go while they run."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.builtin.garbagecollector.controller import garbage_collector
from mooring.builtin.metadata_kinds import CUSTOM_KINDS, IN_NAMESPACES
from mooring.builtin.namespaces import namespace_controller
from mooring.kube.objects import Object
from mooring.runtime.drivers.faults import Faults
from mooring.testing.crashes import survives_every_crash
from tests.builtin.town import CONTENT, Town

KINDS = (*(kind for kind in CONTENT if kind not in IN_NAMESPACES), *IN_NAMESPACES)
CONTROLLERS = (garbage_collector(KINDS, CUSTOM_KINDS), namespace_controller(KINDS, CUSTOM_KINDS))
GROUP = "sea.example.com"
V1 = f"{GROUP}/v1"


def definition(kind: str = "Boat", *versions: str, stored: str = "v1") -> Object:
    plural = f"{kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = versions or ("v1",)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [
                {"name": name, "served": True, "storage": name == stored, "schema": schema} for name in served
            ],
        },
    }


def owned(town: Town, obj: Object, *owners: Object, block: bool = True) -> Object:
    references = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": block,
        }
        for owner in owners
    ]
    return town.create({**obj, "metadata": {**obj["metadata"], "ownerReferences": references}})


def boat(name: str, kind: str = "Boat", version: str = V1) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default"}}


def cargo(name: str = "cargo") -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}


def there(town: Town, obj: Object) -> bool:
    meta = obj["metadata"]
    return town.registry.find(obj["apiVersion"], obj["kind"], meta["namespace"], meta["name"]) is not None


def delete(town: Town, obj: Object, **options: Any) -> None:
    resource = town.registry.resource(obj["apiVersion"], obj["kind"])
    meta = obj["metadata"]
    town.registry.delete(resource, meta.get("namespace", ""), meta["name"], now=town.simulation.now, **options)


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_what_a_custom_object_owns_goes_with_it(propagation: str) -> None:
    town = Town(definition(), controllers=CONTROLLERS, settled=True)
    ada = town.create(boat("ada"))
    owned(town, cargo(), ada)
    town.run()
    assert there(town, cargo())
    delete(town, ada, propagation=propagation)
    town.run()
    assert not there(town, ada)
    assert not there(town, cargo())


def test_a_custom_object_goes_with_its_owner_and_takes_others_along() -> None:
    town = Town(definition(), definition("Sail"), controllers=CONTROLLERS, settled=True)
    harbour = town.create(cargo("harbour"))
    ada = owned(town, boat("ada"), harbour)
    sail = owned(town, boat("main", "Sail"), ada)
    town.run()
    delete(town, harbour, propagation="Foreground")
    town.run()
    assert not there(town, ada)
    assert not there(town, sail)
    assert not there(town, harbour)


def test_a_custom_owner_can_leave_orphans() -> None:
    town = Town(definition(), controllers=CONTROLLERS, settled=True)
    ada = town.create(boat("ada"))
    owned(town, cargo(), ada)
    owned(town, boat("dinghy"), ada)
    town.run()
    delete(town, ada, propagation="Orphan")
    town.run()
    assert not there(town, ada)
    for left in (cargo(), boat("dinghy")):
        found = town.registry.find(left["apiVersion"], left["kind"], "default", left["metadata"]["name"])
        assert found is not None
        assert "ownerReferences" not in found["metadata"]


def test_an_owner_of_a_custom_kind_that_never_was_is_waited_for_and_then_given_up() -> None:
    town = Town(definition(), controllers=CONTROLLERS, settled=True)
    nobody = {**boat("nobody"), "metadata": {"name": "nobody", "uid": "5b5ab2a9-6b4e-4a0b-9d0e-0d8f3c1a7c11"}}
    owned(town, cargo(), nobody)
    town.run(20)
    assert there(town, cargo())
    town.run()
    assert not there(town, cargo())


def test_an_owner_of_a_kind_that_nobody_defines_keeps_what_it_owns() -> None:
    town = Town(controllers=CONTROLLERS, settled=True)
    stranger = {**boat("ada"), "metadata": {"name": "ada", "uid": "5b5ab2a9-6b4e-4a0b-9d0e-0d8f3c1a7c11"}}
    owned(town, cargo(), stranger)
    town.run()
    assert there(town, cargo())


def test_a_definition_that_goes_takes_its_objects_and_what_they_own_along() -> None:
    town = Town(definition(), controllers=CONTROLLERS, settled=True)
    owned(town, cargo(), town.create(boat("ada")))
    town.run()
    delete(town, definition())
    town.run()
    assert not there(town, cargo())
    again = town.create(definition())
    assert again["metadata"]["uid"]
    owned(town, cargo("new"), town.create(boat("bea")))
    town.run()
    assert there(town, cargo("new"))
    delete(town, boat("bea"))
    town.run()
    assert not there(town, cargo("new"))


def test_what_is_owned_stays_when_a_kind_moves_to_another_version() -> None:
    town = Town(definition(), controllers=CONTROLLERS, settled=True)
    owned(town, cargo(), town.create(boat("ada")))
    owned(town, cargo("other"), town.create(boat("bea")))
    town.run()
    registry, definitions = town.registry, town.registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    moved = definition("Boat", "v1", "v2", stored="v2")["spec"]
    moved["versions"][0]["served"] = False
    body = {"spec": moved}
    registry.patch(definitions, "", f"boats.{GROUP}", "merge", body, now=town.simulation.now)
    town.run()
    assert there(town, cargo())
    delete(town, boat("ada", version=f"{GROUP}/v2"))
    town.run()
    assert not there(town, cargo())
    assert there(town, cargo("other"))


def test_a_namespace_that_goes_takes_custom_objects_and_everything_else_along() -> None:
    town = Town(definition(), controllers=CONTROLLERS, settled=True)
    town.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    content = [{**obj, "metadata": {**obj["metadata"], "namespace": "team"}} for obj in (boat("ada"), cargo())]
    for obj in content:
        town.create(obj)
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "said", "namespace": "team"},
        "involvedObject": {"kind": "Pod", "namespace": "team", "name": "p"},
    }
    town.create(event)
    town.delete("Namespace", "team")
    town.run()
    assert town.get("Namespace", "team") is None
    assert not any(there(town, obj) for obj in (*content, event))


def test_a_crash_at_any_write_ends_the_same() -> None:
    def populate(simulation: Any) -> None:
        town = Town.__new__(Town)
        town.simulation = simulation
        town.create(definition())
        ada = town.create(boat("ada"))
        owned(town, boat("dinghy"), ada)
        owned(town, cargo(), ada)
        delete(town, ada, propagation="Foreground")

    assert survives_every_crash(CONTROLLERS, populate) >= 3


@pytest.mark.parametrize("seed", range(8))
def test_faults_lose_nothing(seed: int) -> None:
    town = Town(definition(), controllers=CONTROLLERS, seed=seed, faults=Faults.everything(0.05))
    boats = [town.create(boat(f"b{number}")) for number in range(6)]
    for number, owner in enumerate(boats):
        owned(town, cargo(f"c{number}"), owner)
    town.run()
    for each in boats[:3]:
        delete(town, each)
    town.run(300)
    delete(town, definition())
    town.simulation.quiet()
    town.run()
    assert not any(there(town, cargo(f"c{number}")) for number in range(6))
