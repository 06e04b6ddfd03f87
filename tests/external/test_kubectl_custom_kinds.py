"""kubectl works on custom kinds as on built-in ones, from the moment their definition is applied."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from mooring.kube.objects import Object
from tests.external.kubectl import Kubectl, manifest
from tests.external.manifests import config_map, custom, definition


@pytest.fixture
def harbour(kubectl: Kubectl) -> Iterator[Kubectl]:
    """kubectl beside the definition of Boats, in a group of the test's own."""
    group = f"{kubectl.namespace}.example.com"
    kubectl.apply(definition(group))
    kubectl("wait", "crd", f"boats.{group}", "--for=condition=Established", "--timeout=10s")
    yield kubectl
    kubectl("delete", "crd", f"boats.{group}", "--timeout=30s")


def boat(kubectl: Kubectl, name: str, length: int) -> Object:
    return custom(f"{kubectl.namespace}.example.com", "Boat", name, length=length)


def test_a_custom_object_is_applied_shown_and_deleted(harbour: Kubectl) -> None:
    kind = f"boats.{harbour.namespace}.example.com"
    assert f"{kind.replace('boats', 'boat')}/ada created" in harbour.apply(boat(harbour, "ada", 7))
    assert harbour.apply(boat(harbour, "ada", 7)).endswith("unchanged\n")
    assert harbour.apply(boat(harbour, "ada", 8)).endswith("configured\n")
    header, row = harbour("get", kind).splitlines()
    assert header.split() == ["NAME", "LENGTH"]
    assert row.split() == ["ada", "8"]
    assert harbour.get(kind, "ada")["spec"] == {"length": 8, "crew": 2}
    assert "deleted" in harbour("delete", kind, "ada")


def test_a_custom_kind_has_a_short_name_and_is_explained(harbour: Kubectl) -> None:
    harbour.apply(boat(harbour, "ada", 7))
    kind = f"bo.{harbour.namespace}.example.com"
    assert "ada" in harbour("get", kind)
    told = harbour("explain", "boats.spec", "--api-version", f"{harbour.namespace}.example.com/v1")
    assert re.search(r"length\s+<integer> -required-", told)
    assert "From bow to stern." in told


def test_a_wrong_custom_object_is_refused_with_its_field(harbour: Kubectl) -> None:
    said = harbour.fails("apply", "-f", "-", stdin=manifest(boat(harbour, "ada", 0)))
    assert 'The Boat "ada" is invalid: spec.length: Invalid value: 0' in said
    unknown = boat(harbour, "ada", 7)
    unknown["spec"]["sails"] = 3
    assert 'unknown field "spec.sails"' in harbour.fails("apply", "-f", "-", stdin=manifest(unknown))


def test_a_custom_kind_scales_and_has_a_status(harbour: Kubectl) -> None:
    kind = f"boats.{harbour.namespace}.example.com"
    harbour.apply(boat(harbour, "ada", 7))
    assert "scaled" in harbour("scale", f"{kind}/ada", "--replicas=5")
    patch = json.dumps({"status": {"phase": "Sailing"}})
    harbour("patch", kind, "ada", "--subresource=status", "--type=merge", "--patch", patch)
    assert "condition met" in harbour("wait", f"{kind}/ada", "--for=jsonpath={.status.phase}=Sailing", "--timeout=10s")
    found = harbour.get(kind, "ada")
    assert found["spec"]["crew"] == 5
    assert found["metadata"]["generation"] == 2


def test_custom_objects_are_applied_by_the_server(harbour: Kubectl) -> None:
    harbour.apply(boat(harbour, "ada", 7), flags=("--server-side",))
    assert "serverside-applied" in harbour.apply(boat(harbour, "ada", 9), flags=("--server-side",))


def test_what_a_custom_object_owns_goes_with_it(harbour: Kubectl) -> None:
    kind = f"boats.{harbour.namespace}.example.com"
    harbour.apply(boat(harbour, "ada", 7))
    owner = harbour.get(kind, "ada")
    cargo = config_map("cargo")
    cargo["metadata"]["ownerReferences"] = [
        {"apiVersion": owner["apiVersion"], "kind": "Boat", "name": "ada", "uid": owner["metadata"]["uid"]}
    ]
    harbour.apply(cargo)
    harbour("delete", kind, "ada")
    harbour("wait", "configmap/cargo", "--for=delete", "--timeout=10s")
    assert "not found" in harbour.fails("get", "configmap", "cargo")


def test_what_a_custom_object_owns_is_kept_or_waited_for_as_asked(harbour: Kubectl) -> None:
    kind = f"boats.{harbour.namespace}.example.com"
    for name, cascade in (("ada", "orphan"), ("bea", "foreground")):
        harbour.apply(boat(harbour, name, 7))
        owner = harbour.get(kind, name)
        cargo = config_map(f"cargo-of-{name}")
        reference = {"apiVersion": owner["apiVersion"], "kind": "Boat", "name": name, "uid": owner["metadata"]["uid"]}
        cargo["metadata"]["ownerReferences"] = [{**reference, "blockOwnerDeletion": True}]
        harbour.apply(cargo)
        harbour("delete", kind, name, f"--cascade={cascade}", "--timeout=20s")
    assert "ownerReferences" not in harbour.get("configmap", "cargo-of-ada")["metadata"]
    assert "not found" in harbour.fails("get", "configmap", "cargo-of-bea")


def test_a_namespace_takes_its_custom_objects_along(harbour: Kubectl) -> None:
    kind, namespace = f"boats.{harbour.namespace}.example.com", f"{harbour.namespace}-port"
    harbour("create", "namespace", namespace)
    ada = boat(harbour, "ada", 7)
    ada["metadata"]["namespace"] = namespace
    harbour("apply", "-n", namespace, "-f", "-", stdin=manifest(ada))
    harbour("create", "configmap", "papers", "-n", namespace)
    harbour("delete", "namespace", namespace, "--timeout=30s")
    assert "No resources found" in harbour.run("get", f"{kind},configmaps,events", "-n", namespace).stderr
