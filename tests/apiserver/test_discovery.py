"""Discovery says what is served, in the words and the order of a real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mooring.apiserver.discovery import aggregated, api_versions, group, group_list, resource_list
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.registry import Registry
from tests.apiserver.kinds import SCALE, define, definition, version

Key = tuple[str, str, str]

FACTS = Path(__file__).parent.parent / "data" / "discovery.jsonl"


def real_resources() -> dict[Key, Object]:
    """What a real server of version 1.35.8 says about each resource, in its order."""
    found = [json.loads(line) for line in FACTS.read_text(encoding="utf-8").splitlines()]
    return {(each.pop("group"), each.pop("version"), each["resource"]): each for each in found}


def our_resources(registry: Registry) -> dict[Key, Object]:
    items = [each for core in (True, False) for each in aggregated(registry.resources, core)["items"]]
    return {
        (item["metadata"].get("name", ""), each["version"], resource["resource"]): resource
        for item in items
        for each in item["versions"]
        for resource in each["resources"]
    }


def without_what_we_lack(real: Object, ours: Object) -> Object:
    served = {each["subresource"] for each in ours.get("subresources", ())}
    kept = [each for each in real.get("subresources", ()) if each["subresource"] in served]
    rest = {key: value for key, value in real.items() if key != "subresources"}
    return {**rest, "subresources": kept} if kept else rest


def test_every_built_in_kind_is_described_as_a_real_server_does() -> None:
    real = real_resources()
    for key, ours in our_resources(Registry()).items():
        assert ours == without_what_we_lack(real[key], ours), key


def test_groups_and_kinds_stand_in_the_order_of_a_real_server() -> None:
    ours = list(our_resources(Registry()))
    assert ours == [key for key in real_resources() if key in set(ours)]


def test_every_kind_of_the_registry_is_found() -> None:
    registry = Registry()
    found = our_resources(registry)
    assert all((each.group, each.version, each.plural) in found for each in registry.resources)


def test_the_older_version_of_the_aggregated_form_differs_in_its_name_only() -> None:
    registry = Registry()
    newer, older = aggregated(registry.resources, False), aggregated(registry.resources, False, "v2beta1")
    assert older == {**newer, "apiVersion": "apidiscovery.k8s.io/v2beta1"}


def test_the_plain_form_names_kinds_and_sub_resources() -> None:
    answer = resource_list(Registry().resources, "", "v1")
    found = {each["name"]: each for each in answer["resources"]}
    assert answer["groupVersion"] == "v1"
    assert [name for name in found if name.startswith("pods")] == [
        "pods",
        "pods/attach",
        "pods/binding",
        "pods/ephemeralcontainers",
        "pods/eviction",
        "pods/exec",
        "pods/log",
        "pods/portforward",
        "pods/proxy",
        "pods/resize",
        "pods/status",
    ]
    assert found["pods"] == {
        "name": "pods",
        "singularName": "pod",
        "namespaced": True,
        "kind": "Pod",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["po"],
        "categories": ["all"],
        # The real server's own.
        "storageVersionHash": "xPOwRZ+Yhw8=",
    }
    # What kubectl drain looks for before it evicts anything.
    assert found["pods/eviction"] == {
        "name": "pods/eviction",
        "singularName": "",
        "namespaced": True,
        "group": "policy",
        "version": "v1",
        "kind": "Eviction",
        "verbs": ["create"],
    }
    assert found["bindings"]["verbs"] == ["create"]


def test_the_plain_form_has_one_entry_per_group() -> None:
    assert api_versions("127.0.0.1:6443")["versions"] == ["v1"]
    names = [each["name"] for each in group_list(Registry().resources)["groups"]]
    assert names[:2] == ["apiregistration.k8s.io", "apps"]
    assert "" not in names
    assert "authorization.k8s.io" in names


@pytest.mark.parametrize("name", ["", "example.com"])
def test_a_group_without_kinds_is_not_found(name: str) -> None:
    with pytest.raises(NotFoundError):
        group(Registry().resources, name)
    with pytest.raises(NotFoundError):
        resource_list(Registry().resources, name, "v9")


def test_versions_of_a_custom_kind_are_sorted_by_how_stable_they_are() -> None:
    registry = Registry()
    names = ("v1alpha1", "v2", "v1beta2", "v1", "v10", "v1beta1", "foo", "bar", "v2alpha1")
    define(registry, definition("Lion", *(version(name, storage=name == "v1") for name in names)))
    found = group(registry.resources, "zoo.example.com")
    expected = ["v10", "v2", "v1", "v1beta2", "v1beta1", "v2alpha1", "v1alpha1", "bar", "foo"]
    assert [each["version"] for each in found["versions"]] == expected
    assert found["preferredVersion"] == {"groupVersion": "zoo.example.com/v10", "version": "v10"}


def test_a_custom_kind_shows_its_names_and_sub_resources() -> None:
    registry = Registry()
    served = version("v1", storage=True, subresources={"status": {}, "scale": SCALE})
    define(registry, definition("Lion", served, shortNames=["ln"], categories=["all", "cats"]))
    found = our_resources(registry)["zoo.example.com", "v1", "lions"]
    own = {"group": "zoo.example.com", "version": "v1", "kind": "Lion"}
    verbs = ["get", "patch", "update"]
    assert found == {
        "resource": "lions",
        "responseKind": own,
        "scope": "Namespaced",
        "singularResource": "lion",
        "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
        "shortNames": ["ln"],
        "categories": ["all", "cats"],
        "subresources": [
            {"subresource": "status", "responseKind": own, "verbs": verbs},
            {
                "subresource": "scale",
                "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                "verbs": verbs,
            },
        ],
    }


def test_a_version_that_is_not_served_is_not_shown() -> None:
    registry = Registry()
    define(registry, definition("Lion", version("v1", storage=True), version("v2", served=False)))
    found = group(registry.resources, "zoo.example.com")
    assert [each["version"] for each in found["versions"]] == ["v1"]


def test_custom_groups_follow_the_built_in_ones_by_the_alphabet() -> None:
    registry = Registry()
    define(registry, definition("Lion"))
    define(registry, definition("Bee", group="abc.example.com", cluster=True))
    names = [each["metadata"]["name"] for each in aggregated(registry.resources, False)["items"]]
    assert names[-3:] == ["flowcontrol.apiserver.k8s.io", "abc.example.com", "zoo.example.com"]
