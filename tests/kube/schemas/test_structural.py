"""Schemas of CustomResourceDefinitions: which are taken, and what the API says about the others."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from mooring.kube.schemas import SchemaError, structural_schema
from mooring.kube.schemas.patterns import compile_pattern

CRDS = Path(__file__).parents[4] / "shared/upstream/crds"


def kind(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}


def complaints(schema: dict[str, Any]) -> list[str]:
    try:
        structural_schema(schema, "schema")
    except SchemaError as error:
        return [str(each).removeprefix("schema.properties[spec].properties") for each in error.errors]
    return []


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({}, ["schema.type: Required value: must not be empty at the root"], id="nothing at all"),
        pytest.param(
            {"type": "string"}, ['schema.type: Invalid value: "string": must be object at the root'], id="no object"
        ),
        pytest.param(
            {"type": "object", "additionalProperties": {"type": "string"}},
            ["schema.additionalProperties: Forbidden: must not be used at the root"],
            id="a map at the root",
        ),
        pytest.param(
            kind(a={}), ["[a].type: Required value: must not be empty for specified object fields"], id="no type"
        ),
        pytest.param(kind(a={"x-kubernetes-int-or-string": True}), [], id="integer or string is a type"),
        pytest.param(kind(a={"x-kubernetes-preserve-unknown-fields": True}), [], id="anything is a type"),
        pytest.param(
            kind(a={"type": "array"}), ["[a].items: Required value: must be specified"], id="a list of nothing"
        ),
        pytest.param(
            kind(a={"type": "string", "anyOf": [{"type": "string"}]}),
            ["[a].anyOf[0].type: Forbidden: must be empty to be structural"],
            id="a type inside of an alternative",
        ),
        pytest.param(
            kind(a={"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}),
            [],
            id="save for the one way to say integer or string",
        ),
        pytest.param(
            {"type": "object", "anyOf": [{"properties": {"b": {"minimum": 1}}}]},
            ["schema.properties[b]: Required value: because it is defined in schema.anyOf[0].properties[b]"],
            id="a condition on a field that is not declared",
        ),
        pytest.param(
            kind(a={"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "map"}),
            [
                '[a].items.type: Invalid value: "string": '
                "must be object if parent array's x-kubernetes-list-type is map",
                "[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
            ],
            id="a map of strings by nothing",
        ),
        pytest.param(
            kind(a={"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "bag"}),
            ['[a].x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"'],
            id="an unknown kind of list",
        ),
        pytest.param(
            kind(a={"type": "string", "pattern": "(?=x)"}),
            [
                '[a].pattern: Invalid value: "(?=x)": must be a valid regular expression, but isn\'t: '
                "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"
            ],
            id="a pattern that Go does not know",
        ),
        pytest.param(
            {"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {}}}}},
            [
                "schema.properties[metadata].properties[labels].type: Required value: "
                "must not be empty for specified object fields",
                "schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, "
                "but metadata is implicitly specified",
            ],
            id="more about metadata than names",
        ),
    ],
)
def test_a_schema_that_is_not_structural_is_refused(schema: dict[str, Any], expected: list[str]) -> None:
    wanted = [each.removeprefix("schema.properties[spec].properties") for each in expected]
    assert complaints(schema) == wanted


def test_a_custom_kind_has_the_metadata_of_all_kinds() -> None:
    schema = structural_schema(
        {
            "type": "object",
            "properties": {"metadata": {"type": "object", "properties": {"name": {"maxLength": 3, "type": "string"}}}},
        }
    )
    metadata = schema.properties["metadata"]
    assert metadata.properties["finalizers"].list_type == "set"
    assert metadata.properties["name"].max_length == 3


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        pytest.param("a$", "a\n", False, id="the end is the very end"),
        pytest.param(r"a\z", "a", True, id="in either spelling"),
        pytest.param(r"^\d$", "٣", False, id="digits are ASCII"),
        pytest.param("^[[:alpha:]_]+$", "ab_", True, id="named classes"),
        pytest.param("^[]a]+$", "]a", True, id="a bracket that comes first"),
        pytest.param("(?i)^abc$", "ABC", True, id="flags at the start"),
        pytest.param(r"^\Qa.b\E$", "a.b", True, id="quoted text"),
        pytest.param("^(?<x>a)$", "a", True, id="named groups"),
    ],
)
def test_patterns_mean_what_they_mean_in_go(pattern: str, text: str, matches: bool) -> None:
    assert bool(compile_pattern(pattern).search(text)) is matches


@pytest.mark.skipif(not CRDS.exists(), reason="the upstream definitions are not at hand")
def test_the_upstream_definitions_are_structural() -> None:
    taken = 0
    for path in sorted(CRDS.rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if document and document["kind"] == "CustomResourceDefinition":
                for version in document["spec"]["versions"]:
                    structural_schema(version["schema"]["openAPIV3Schema"])
                    taken += 1
    assert taken


def test_an_alternative_may_speak_of_the_elements_of_a_list_that_declares_them() -> None:
    listed = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
    declared = {"type": "object", "properties": {"a": listed, "b": {"type": "string"}}}
    assert complaints({**declared, "anyOf": [_elements("a", name={"minLength": 1})]}) == []
    assert complaints({**declared, "anyOf": [_elements("a", size={"minimum": 1})]}) == [
        "schema.properties[a].items.properties[size]: Required value: because it is defined in "
        "schema.anyOf[0].properties[a].items.properties[size]"
    ]
    assert complaints({**declared, "not": _elements("b", name={"minLength": 1})}) == [
        "schema.properties[b].items: Required value: because it is defined in schema.not.properties[b].items"
    ]


def _elements(field: str, **fields: Any) -> dict[str, Any]:
    return {"properties": {field: {"items": {"properties": fields}}}}
