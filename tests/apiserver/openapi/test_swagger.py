"""OpenAPI v2 is v3 in the words that v2 has."""

from __future__ import annotations

import msgspec
import pytest

from mooring.apiserver.openapi import document, swagger_json, swagger_protobuf
from mooring.apiserver.openapi.swagger import swagger_definition, swagger_kind
from mooring.kube.objects import Object
from mooring.registry import Registry
from tests.apiserver.kinds import define, definition, version

CORE = "io.k8s.api.core.v1"


@pytest.fixture(scope="module")
def v2() -> Object:
    made: Object = msgspec.json.decode(swagger_json(Registry()))
    return made


def test_all_groups_stand_in_one_document(v2: Object) -> None:
    registry = Registry()
    for group, number in (("", "v1"), ("apps", "v1"), ("networking.k8s.io", "v1")):
        part = document(registry, group, number)
        assert part["paths"].keys() <= v2["paths"].keys()
        assert part["components"]["schemas"].keys() <= v2["definitions"].keys()


def test_a_field_refers_to_its_type_beside_its_description(v2: Object) -> None:
    spec = v2["definitions"][f"{CORE}.Pod"]["properties"]["spec"]
    assert spec["$ref"] == f"#/definitions/{CORE}.PodSpec"
    assert spec.keys() == {"description", "$ref"}


def test_amounts_and_numbers_that_may_be_text_are_text(v2: Object) -> None:
    assert v2["definitions"]["io.k8s.apimachinery.pkg.api.resource.Quantity"]["type"] == "string"
    number = v2["definitions"]["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]
    assert (number["type"], number["format"]) == ("string", "int-or-string")


def test_what_kubectls_own_tests_look_for_in_the_document_is_there(v2: Object) -> None:
    told = {each["name"]: each["description"] for each in v2["paths"]["/api/v1/services"]["get"]["parameters"]}
    assert "list of returned" in told["labelSelector"]
    assert "list of returned" in told["fieldSelector"]
    assert "Watch for changes to the described resources" in told["watch"]
    assert "List of services" in v2["definitions"][f"{CORE}.ServiceList"]["properties"]["items"]["description"]


def test_a_body_is_a_parameter(v2: Object) -> None:
    post = v2["paths"]["/api/v1/namespaces/{namespace}/pods"]["post"]
    (body,) = [each for each in post["parameters"] if each["in"] == "body"]
    assert body["schema"] == {"$ref": f"#/definitions/{CORE}.Pod"}
    assert post["responses"]["200"]["schema"] == {"$ref": f"#/definitions/{CORE}.Pod"}


@pytest.mark.parametrize(
    ("v3", "wanted"),
    [
        pytest.param({"type": "string", "nullable": True}, {}, id="null has no word"),
        pytest.param(
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": {"type": "string"}}},
            {"x-kubernetes-preserve-unknown-fields": True},
            id="unknown fields leave nothing known",
        ),
        pytest.param({"type": "array"}, {}, id="a list of anything"),
        pytest.param(
            {"type": "integer", "anyOf": [{"minimum": 3}], "not": {"minimum": 7}}, {"type": "integer"}, id="choices"
        ),
        pytest.param(
            {
                "type": "object",
                "required": ["a", "b"],
                "properties": {"a": {"type": "string", "nullable": True}, "b": {"type": "string"}},
            },
            {"type": "object", "required": ["b"], "properties": {"a": {}, "b": {"type": "string"}}},
            id="what may be null is not required",
        ),
    ],
)
def test_what_v2_cannot_say_is_left_out(v3: Object, wanted: Object) -> None:
    assert swagger_definition(v3) == wanted


def test_a_kind_that_takes_any_field_is_an_object_of_which_nothing_is_known() -> None:
    mark = {"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Any"}]}
    kind = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": {}}, **mark}
    assert swagger_kind(kind) == {"type": "object", **mark}


def test_a_new_kind_is_there_at_once_in_both_forms() -> None:
    registry = Registry()
    before = swagger_protobuf(registry)
    assert b"com.example.zoo" not in before
    define(registry, definition("Lion", version("v1", storage=True)))
    after = swagger_protobuf(registry)
    added = swagger_json(registry)
    assert len(after) > len(before)
    assert any(name.startswith("com.example.zoo.") for name in msgspec.json.decode(added)["definitions"])
    assert b"com.example.zoo." in after
