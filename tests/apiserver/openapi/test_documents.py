"""OpenAPI v3 says enough for `kubectl explain`, for validation and for strategic patches, and stays current."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pytest

from mooring.apiserver.openapi import document, encoded, index
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.registry import Registry
from tests.apiserver.kinds import DEFINITION, NOW, SCALE, define, definition, version

POD = "/api/v1/namespaces/{namespace}/pods/{name}"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry()


def schemas(registry: Registry, group: str, version: str) -> Object:
    found: Object = document(registry, group, version)["components"]["schemas"]
    return found


def names_of_parameters(operation: Object) -> set[str]:
    return {each["name"] for each in operation["parameters"] if each["in"] == "query"}


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(references(child) for child in value.values()))
    return set().union(*(references(child) for child in value)) if isinstance(value, list) else set()


def test_the_index_names_a_document_for_every_group_version(registry: Registry) -> None:
    paths = index(registry)["paths"]
    wanted = {f"apis/{each.api_version}" if each.group else f"api/{each.version}" for each in registry.resources}
    assert wanted | {"apis/authorization.k8s.io/v1", "apis/authentication.k8s.io/v1"} == set(paths)
    digest = encoded(registry, "apps", "v1").hash
    assert paths["apis/apps/v1"] == {"serverRelativeURL": f"/openapi/v3/apis/apps/v1?hash={digest}"}


def test_what_is_not_served_has_no_document(registry: Registry) -> None:
    with pytest.raises(NotFoundError):
        document(registry, "apps", "v1beta1")


def test_every_reference_leads_somewhere(registry: Registry) -> None:
    for path in index(registry)["paths"]:
        *group, version = path.split("/")[1:]
        found = document(registry, "".join(group), version)
        known = {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}
        assert references(found) <= known, path


def test_kubectl_finds_that_a_patch_is_validated(registry: Registry) -> None:
    operation = document(registry, "", "v1")["paths"][POD]["patch"]
    assert operation["x-kubernetes-group-version-kind"] == {"group": "", "kind": "Pod", "version": "v1"}
    assert operation["x-kubernetes-action"] == "patch"
    assert names_of_parameters(operation) == {"dryRun", "fieldManager", "fieldValidation", "force"}
    assert set(operation["requestBody"]["content"]) == {
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    }


def test_a_collection_is_listed_made_and_deleted(registry: Registry) -> None:
    paths = document(registry, "", "v1")["paths"]
    collection = paths["/api/v1/namespaces/{namespace}/pods"]
    assert {verb: each["x-kubernetes-action"] for verb, each in collection.items() if verb != "parameters"} == {
        "get": "list",
        "post": "post",
        "delete": "deletecollection",
    }
    assert {"watch", "limit", "continue", "labelSelector", "fieldSelector"} <= names_of_parameters(collection["get"])
    assert set(paths["/api/v1/pods"]) == {"get"}
    assert "delete" not in paths["/api/v1/namespaces"]


def test_sub_resources_have_kinds_of_their_own(registry: Registry) -> None:
    core = document(registry, "", "v1")["paths"]
    assert set(core[f"{POD}/eviction"]) == {"post", "parameters"}
    eviction = core[f"{POD}/eviction"]["post"]
    assert eviction["x-kubernetes-group-version-kind"] == {"group": "policy", "kind": "Eviction", "version": "v1"}
    apps = document(registry, "apps", "v1")["paths"]
    scale = apps["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]["get"]
    body = scale["responses"]["200"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/io.k8s.api.autoscaling.v1.Scale"}


def test_questions_can_only_be_posted(registry: Registry) -> None:
    paths = document(registry, "authorization.k8s.io", "v1")["paths"]
    assert set(paths["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"]) == {"post"}


@pytest.mark.parametrize(
    ("api_version", "kind"), sorted((each.api_version, each.kind) for each in Registry().resources)
)
def test_explain_finds_every_kind_by_its_mark_and_says_what_it_is(
    registry: Registry, api_version: str, kind: str
) -> None:
    group, _, version = api_version.rpartition("/")
    mark = {"group": group, "kind": kind, "version": version}
    found = [
        each
        for each in schemas(registry, group, version).values()
        if mark in each.get("x-kubernetes-group-version-kind", ())
    ]
    assert len(found) == 1
    assert found[0]["description"]
    assert {"apiVersion", "kind", "metadata"} <= set(found[0]["properties"])


def test_fields_say_how_they_are_merged(registry: Registry) -> None:
    spec = schemas(registry, "", "v1")["io.k8s.api.core.v1.PodSpec"]["properties"]
    containers = spec["containers"]
    assert containers["type"] == "array"
    assert containers["items"] == {"$ref": "#/components/schemas/io.k8s.api.core.v1.Container"}
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-patch-strategy"] == "merge"
    assert containers["x-kubernetes-list-map-keys"] == ["name"]
    strategy = schemas(registry, "apps", "v1")["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]["strategy"]
    assert strategy["allOf"] == [{"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy"}]
    assert strategy["x-kubernetes-patch-strategy"] == "retainKeys"


def test_what_may_not_be_left_out_is_said(registry: Registry) -> None:
    found = schemas(registry, "", "v1")
    assert found["io.k8s.api.core.v1.PodSpec"]["required"] == ["containers"]
    assert set(found["io.k8s.api.core.v1.Taint"]["required"]) == {"key", "effect"}
    # A list of nothing is no valid schema.
    assert "required" not in found["io.k8s.api.core.v1.PodTemplateSpec"]


def test_scalars_keep_their_names(registry: Registry) -> None:
    found = schemas(registry, "", "v1")
    limits = found["io.k8s.api.core.v1.ResourceRequirements"]["properties"]["limits"]
    quantity = "io.k8s.apimachinery.pkg.api.resource.Quantity"
    assert limits["additionalProperties"] == {"$ref": f"#/components/schemas/{quantity}"}
    assert found[quantity]["oneOf"] == [{"type": "string"}, {"type": "number"}]
    port = found["io.k8s.api.core.v1.HTTPGetAction"]["properties"]["port"]
    assert port == {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString"}


def test_no_schema_is_empty_because_kubectl_takes_that_for_a_missing_one(registry: Registry) -> None:
    props = schemas(registry, "apiextensions.k8s.io", "v1")[
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
    ]["properties"]
    assert all(props.values())
    # A schema that contains itself ends somewhere.
    assert props["not"] == {"$ref": props["not"]["$ref"]}


# Custom kinds


def test_a_custom_kind_has_its_own_schema_with_the_parts_that_every_object_has() -> None:
    registry = Registry()
    define(registry, definition("Lion", version("v1", storage=True, subresources={"status": {}, "scale": SCALE})))
    found = schemas(registry, "zoo.example.com", "v1")
    lion = found["com.example.zoo.v1.Lion"]
    assert lion["description"] == "A Lion eats."
    mark = {"group": "zoo.example.com", "kind": "Lion", "version": "v1"}
    assert lion["x-kubernetes-group-version-kind"] == [mark]
    assert lion["properties"]["metadata"]["allOf"] == [{"$ref": f"#/components/schemas/{META}.ObjectMeta"}]
    spec = lion["properties"]["spec"]
    assert spec["required"] == ["food"]
    assert spec["properties"]["food"] == {
        "type": "string",
        "description": "What it eats.",
        "enum": ["meat", "fish"],
        "default": "meat",
    }
    cage = spec["properties"]["cage"]
    assert set(cage["properties"]) == {"apiVersion", "kind", "metadata"}
    assert cage["required"] == ["kind", "apiVersion"]
    assert found["com.example.zoo.v1.LionList"]["properties"]["items"]["items"] == {
        "$ref": "#/components/schemas/com.example.zoo.v1.Lion"
    }


def test_a_custom_kind_takes_no_strategic_patch() -> None:
    registry = Registry()
    define(registry, definition("Lion", cluster=True))
    operation = document(registry, "zoo.example.com", "v1")["paths"]["/apis/zoo.example.com/v1/lions/{name}"]["patch"]
    assert "application/strategic-merge-patch+json" not in operation["requestBody"]["content"]
    assert "fieldValidation" in names_of_parameters(operation)
    assert operation["operationId"] == "patchZooExampleComV1Lion"


def test_a_definition_without_a_schema_for_fields_forbids_none() -> None:
    registry = Registry()
    whatever = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    define(registry, definition("Lion", version("v1", storage=True) | {"schema": whatever}))
    lion = schemas(registry, "zoo.example.com", "v1")["com.example.zoo.v1.Lion"]
    assert lion["x-kubernetes-preserve-unknown-fields"] is True


def test_a_changed_definition_changes_its_own_document_and_hash_only() -> None:
    registry = Registry()
    define(registry, definition("Lion"))
    define(registry, definition("Bee", group="abc.example.com"))
    before = index(registry)["paths"]
    patch = {"spec": {"versions": [version("v1", storage=True, schema={"openAPIV3Schema": {"type": "object"}})]}}
    registry.patch(registry.resource(*DEFINITION), "", "lions.zoo.example.com", "merge", patch, now=NOW)
    after = index(registry)["paths"]
    assert {path for path in after if after[path] != before[path]} == {"apis/zoo.example.com/v1"}
    assert "spec" not in schemas(registry, "zoo.example.com", "v1")["com.example.zoo.v1.Lion"]["properties"]


def test_a_deleted_definition_takes_its_document_with_it() -> None:
    registry = Registry()
    define(registry, definition("Lion"))
    assert "apis/zoo.example.com/v1" in index(registry)["paths"]
    registry.delete(registry.resource(*DEFINITION), "", "lions.zoo.example.com", now=NOW)
    assert "apis/zoo.example.com/v1" not in index(registry)["paths"]


def test_the_same_kinds_make_the_same_bytes() -> None:
    one, other = encoded(Registry(), "batch", "v1"), encoded(Registry(), "batch", "v1")
    assert one == other
    assert one.body is not other.body


def test_documents_are_made_once_and_quickly() -> None:
    registry = Registry()
    start = perf_counter()
    first = encoded(registry, "", "v1")
    assert perf_counter() - start < 2, "the budget is 0.3 s; this leaves room for a busy machine"
    assert encoded(registry, "", "v1") is first
