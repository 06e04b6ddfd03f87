"""Random objects of a schema are valid, and reach every corner of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from mooring.kube.objects import Object
from mooring.kube.schemas import builtin_type, structural_schema, validate
from mooring.testing.schemas import custom_objects, halves_of, objects_of
from tests.api.sample import MODEL_CACHES

# The first one that is found will do; looking for the smallest takes most of the time.
FIRST = settings(max_examples=5_000, phases=(Phase.generate,), database=None, suppress_health_check=tuple(HealthCheck))
SLOW = (HealthCheck.too_slow,)
FORMATS = (
    "byte", "cidr", "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "mac", "uri", "uuid"
)  # fmt: skip
EVERYTHING = structural_schema(
    {
        "type": "object",
        "required": ["name", "strings"],
        "properties": {
            "name": {"type": "string", "minLength": 3, "maxLength": 5},
            "code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$", "maxLength": 6},
            "word": {"type": "string", "enum": ["a", "b"]},
            "count": {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 3},
            "even": {"type": "integer", "format": "int32", "multipleOf": 2},
            "share": {"type": "number", "minimum": 0, "maximum": 1, "exclusiveMaximum": True},
            "flag": {"type": "boolean", "nullable": True},
            "amount": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
            "strings": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string"},
                "x-kubernetes-list-type": "set",
            },
            "ports": {
                "type": "array",
                "maxItems": 4,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["port", "protocol"],
                "items": {
                    "type": "object",
                    "required": ["port"],
                    "properties": {
                        "port": {"type": "integer", "minimum": 1, "maximum": 3},
                        "protocol": {"type": "string", "enum": ["TCP", "UDP"], "default": "TCP"},
                    },
                },
            },
            "labels": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "anything": {"x-kubernetes-preserve-unknown-fields": True},
            "inner": {
                "type": "object",
                "x-kubernetes-embedded-resource": True,
                "x-kubernetes-preserve-unknown-fields": True,
            },
            "either": {
                "type": "object",
                "properties": {"left": {"type": "string"}, "right": {"type": "string"}},
                "oneOf": [{"required": ["left"]}, {"required": ["right"]}],
            },
            **{name: {"type": "string", "format": name} for name in FORMATS},
        },
    }
)
OWN = EVERYTHING.with_attributes(
    properties={
        name: child for name, child in EVERYTHING.properties.items() if name not in ("apiVersion", "kind", "metadata")
    }
)


@settings(max_examples=100, suppress_health_check=SLOW)
@given(objects_of(OWN))
def test_objects_are_valid(obj: Object) -> None:
    assert not validate(OWN, obj)


@pytest.mark.parametrize(
    "holds",
    [
        lambda obj: set(obj) == {"name", "strings"},
        lambda obj: len(obj) > 6,
        lambda obj: obj.get("flag", 0) is None,
        lambda obj: "right" in obj.get("either", {}),
        lambda obj: len(obj.get("ports", ())) > 1,
        lambda obj: isinstance(obj.get("amount"), str),
        lambda obj: obj.get("count") == 3,
    ],
    ids=["least", "many", "null", "other arm", "several items", "text for a number", "upper end"],
)
def test_every_corner_is_reached(holds: Any) -> None:
    assert find(objects_of(OWN), holds, settings=FIRST) is not None


@settings(max_examples=10, suppress_health_check=SLOW)
@given(st.data())
def test_pods_are_drawn_too(data: st.DataObject) -> None:
    """Built-in types are deep; an object of one stays small enough to look at."""
    assert not validate(builtin_type("core.v1.PodSpec"), data.draw(objects_of(builtin_type("core.v1.PodSpec"))))


@settings(max_examples=30, suppress_health_check=SLOW)
@given(custom_objects(MODEL_CACHES, "v1alpha1"))
def test_whole_objects_say_what_they_are(obj: Object) -> None:
    assert (obj["apiVersion"], obj["kind"]) == ("example.com/v1alpha1", "ModelCache")
    assert {"name", "namespace"} <= obj["metadata"].keys()
    assert obj["spec"]["image"]


def test_halves_lack_what_is_required() -> None:
    halves = halves_of(custom_objects(MODEL_CACHES))
    found = find(halves, lambda obj: "spec" in obj and "source" not in obj["spec"], settings=FIRST)
    assert found["metadata"]["name"]
