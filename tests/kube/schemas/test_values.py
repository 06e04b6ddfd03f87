"""Pruning, defaulting and validating values of custom kinds: the API's texts, and laws that always hold."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.kube.schemas import apply_defaults, prune, structural_schema, unknown_fields, validate

SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2, "maxLength": 5},
        "mode": {"type": "string", "enum": ["Fast", "Slow"], "default": "Fast"},
        "count": {"type": "integer", "minimum": 1, "maximum": 3, "default": 1},
        "ratio": {"type": "number", "exclusiveMinimum": True, "minimum": 0},
        "note": {"type": "string", "nullable": True},
        "port": {"x-kubernetes-int-or-string": True},
        "since": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "maxItems": 3, "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "parts": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["id"],
            "items": {
                "type": "object",
                "required": ["id"],
                "properties": {"id": {"type": "string"}, "size": {"type": "integer", "default": 7}},
            },
        },
        "labels": {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "string"}},
        "free": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"a": {"type": "string"}},
        },
        "inner": {"type": "object", "default": {}, "properties": {"deep": {"type": "boolean", "default": True}}},
        "either": {
            "type": "object",
            "properties": {"x": {"type": "string"}, "y": {"type": "string"}},
            "oneOf": [{"required": ["x"]}, {"required": ["y"]}],
        },
    },
}
SCHEMA = structural_schema({"type": "object", "properties": {"spec": SPEC}})


def thing(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"name": "abc", **spec}}


@pytest.mark.parametrize(
    ("spec", "complaints"),
    [
        pytest.param({}, [], id="as it should be"),
        pytest.param(
            {"count": "2"},
            ['spec.count: Invalid value: "string": spec.count in body must be of type integer: "string"'],
            id="a number in quotes",
        ),
        pytest.param({"count": 2.0}, [], id="a whole number with a point"),
        pytest.param(
            {"count": 0},
            ["spec.count: Invalid value: 0: spec.count in body should be greater than or equal to 1"],
            id="too small",
        ),
        pytest.param(
            {"count": 4},
            ["spec.count: Invalid value: 4: spec.count in body should be less than or equal to 3"],
            id="too big",
        ),
        pytest.param(
            {"ratio": 0},
            ["spec.ratio: Invalid value: 0: spec.ratio in body should be greater than 0"],
            id="on the bound",
        ),
        pytest.param(
            {"mode": "fast"},
            ['spec.mode: Unsupported value: "fast": supported values: "Fast", "Slow"'],
            id="none of the allowed",
        ),
        pytest.param(
            {"name": "a"},
            ['spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long'],
            id="short",
        ),
        pytest.param({"name": "abcdef"}, ["spec.name: Too long: may not be more than 5 bytes"], id="long"),
        pytest.param(
            {"name": "AB"},
            ["spec.name: Invalid value: \"AB\": spec.name in body should match '^[a-z]+$'"],
            id="pattern",
        ),
        pytest.param({"note": None, "port": "http"}, [], id="null where it is allowed, a name for a port"),
        pytest.param(
            {"port": 1.5},
            ['spec.port: Invalid value: "number": spec.port in body must be of type integer,string: "number"'],
            id="half a port",
        ),
        pytest.param(
            {"since": "2024-02-30T00:00:00Z"},
            [
                'spec.since: Invalid value: "2024-02-30T00:00:00Z": '
                'spec.since in body must be of type date-time: "2024-02-30T00:00:00Z"'
            ],
            id="a day that never was",
        ),
        pytest.param({"tags": ["a", "b", "a"]}, ['spec.tags[2]: Duplicate value: "a"'], id="a set with a repetition"),
        pytest.param(
            {"tags": list("abcd")}, ["spec.tags: Too many: 4: must have at most 3 items"], id="a list too long"
        ),
        pytest.param(
            {"parts": [{"id": "a"}, {"id": "a", "size": 1}]},
            ['spec.parts[1]: Duplicate value: {"id":"a"}'],
            id="a map with a repetition",
        ),
        pytest.param({"parts": [{}]}, ["spec.parts[0].id: Required value"], id="an item without its key"),
        pytest.param(
            {"labels": {"a": "1", "b": "2", "c": "3"}},
            ["spec.labels: Too many: 3: must have at most 2 items"],
            id="a map too big",
        ),
        pytest.param(
            {"either": {"x": "1", "y": "2"}},
            [
                '<nil>: Invalid value: "": "spec.either" must validate one and only one schema (oneOf). '
                "Found 2 valid alternatives"
            ],
            id="both of two alternatives",
        ),
    ],
)
def test_what_the_api_says_about_a_value(spec: dict[str, Any], complaints: list[str]) -> None:
    assert [str(error) for error in validate(SCHEMA, thing(**spec))] == complaints


def test_unknown_fields_are_named_with_their_paths() -> None:
    value = thing(bogus=1, parts=[{"id": "a", "colour": "red"}], free={"kept": {"too": 1}})
    value["metadata"]["lables"] = {}
    assert unknown_fields(SCHEMA, value) == [
        'unknown field "metadata.lables"',
        'unknown field "spec.bogus"',
        'unknown field "spec.parts[0].colour"',
    ]


def test_inside_of_an_object_metadata_is_a_field_like_any_other() -> None:
    value = thing(inner={"deep": True, "kind": "Inner", "metadata": {"name": "b"}})
    assert unknown_fields(SCHEMA, value) == ['unknown field "spec.inner.kind"', 'unknown field "spec.inner.metadata"']
    assert prune(SCHEMA, value)["spec"] == {"name": "abc", "inner": {"deep": True}}


def test_pruning_keeps_what_it_is_told_to_keep() -> None:
    value = thing(bogus=1, free={"kept": {"too": 1}, "a": "b"})
    assert prune(SCHEMA, value)["spec"] == {"name": "abc", "free": {"kept": {"too": 1}, "a": "b"}}


def test_an_object_that_needs_nothing_is_returned_itself() -> None:
    value = apply_defaults(SCHEMA, thing(parts=[{"id": "a"}]))
    assert prune(SCHEMA, value) is value
    assert apply_defaults(SCHEMA, value) is value


def test_defaults_fill_at_every_depth_and_replace_forbidden_nulls() -> None:
    filled = apply_defaults(SCHEMA, thing(mode=None, port=None, note=None, parts=[{"id": "a"}]))
    assert filled["spec"] == {
        "name": "abc",
        "mode": "Fast",
        "note": None,
        "parts": [{"id": "a", "size": 7}],
        "count": 1,
        "inner": {"deep": True},
    }


SCALARS = st.none() | st.booleans() | st.integers(-1, 4) | st.sampled_from(["a", "abc", "Fast", "x/y"]) | st.just(1.5)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abxy"), inner, max_size=3),
    max_leaves=8,
)
SPECS = st.dictionaries(st.sampled_from([*SPEC["properties"], "bogus"]), JSON, max_size=6)


@given(SPECS)
def test_pruning_twice_is_pruning_once_and_leaves_nothing_unknown(spec: dict[str, Any]) -> None:
    value = {"spec": spec}
    before = json.dumps(value)
    pruned = prune(SCHEMA, value)
    assert json.dumps(value) == before
    assert prune(SCHEMA, pruned) is pruned
    assert unknown_fields(SCHEMA, pruned) == []
    assert bool(unknown_fields(SCHEMA, value)) is (pruned != value)


@given(SPECS)
def test_a_defaulted_object_has_all_its_defaults_and_the_same_errors(spec: dict[str, Any]) -> None:
    value = {"spec": spec}
    before = json.dumps(value)
    filled = apply_defaults(SCHEMA, value)
    assert json.dumps(value) == before
    assert apply_defaults(SCHEMA, filled) is filled
    errors = validate(SCHEMA, filled)
    assert validate(SCHEMA, apply_defaults(SCHEMA, filled)) == errors
    assert not [
        error for error in errors if error.path.endswith((".mode", ".count")) and error.kind == "Required value"
    ]


@given(SPECS)
def test_any_json_can_be_validated(spec: dict[str, Any]) -> None:
    for error in validate(SCHEMA, {"spec": spec}):
        assert str(error)
