"""What a type and its markers become in a schema, and what cannot become one."""

from __future__ import annotations

import enum
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest

from mooring.api.core.types import Affinity, View
from mooring.api.crds.builtin_schemas import QUANTITY
from mooring.api.crds.markers import Int32, Int64, Markers, Quantity, Time, ValidationRule
from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, ScaleSubresource, Version, definition
from mooring.api.crds.schemas import resource_schema
from mooring.api.meta import Meta
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object


class Colour(enum.Enum):
    RED = "Red"
    BLUE = "Blue"


class Point(View, frozen=True):
    """A place.

    On a plane, that is,
    and not in space.
    """

    markers = Markers(map_type="atomic", validations=(ValidationRule("self.x != self.y", "no diagonals"),))

    x: Annotated[int, Markers("To the right.")] = 0
    y: Annotated[int, Markers("Upwards.", defaulted=True)] = 2


def said_of(kind: Any, markers: Markers | None = None, default: Any = msgspec.NODEFAULT) -> Object:
    """The schema of one field of this type, without its description."""
    annotated = Annotated[kind, markers or Markers(), Markers("A field.")]
    view = msgspec.defstruct(
        "Sample", [("value", annotated) if default is msgspec.NODEFAULT else ("value", annotated, default)]
    )
    view.__doc__ = "A sample."
    found: Object = resource_schema(view)["properties"]["value"]
    assert found.pop("description") == "A field."
    return found


OPEN = {"x-kubernetes-preserve-unknown-fields": True}
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
CASES: list[tuple[str, Any, Markers | None, Object]] = [
    ("a truth", bool, None, {"type": "boolean"}),
    ("an integer of any size", int, None, {"type": "integer"}),
    ("an integer of 32 bits", Int32, None, {"type": "integer", "format": "int32"}),
    ("an integer that may be absent", Int64 | None, None, {"type": "integer", "format": "int64"}),
    ("a number", float, Markers(format="double"), {"type": "number", "format": "double"}),
    ("bytes", bytes, None, {"type": "string", "format": "byte"}),
    ("a moment", datetime, None, {"type": "string", "format": "date-time"}),
    ("a moment that stays text", Time, None, {"type": "string", "format": "date-time"}),
    ("one of some words", Literal["a", "b"], None, {"type": "string", "enum": ["a", "b"]}),
    ("one of some words, tolerantly", str, Markers(enum=("a", "b")), {"type": "string", "enum": ["a", "b"]}),
    ("one of some numbers", Literal[1, 2], None, {"type": "integer", "enum": [1, 2]}),
    ("a member of an enumeration", Colour, None, {"type": "string", "enum": ["Red", "Blue"]}),
    (
        "a number or a percentage",
        int | str,
        None,
        {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
    ),
    ("a quantity", Quantity, None, QUANTITY),
    ("anything", Any, None, OPEN),
    ("any object", dict[str, Any], None, {"type": "object", **OPEN}),
    (
        "a whole object of another kind",
        dict[str, Any],
        Markers(embedded_resource=True),
        {"type": "object", **OPEN, "x-kubernetes-embedded-resource": True},
    ),
    ("labels", dict[str, str], None, {"type": "object", "additionalProperties": {"type": "string"}}),
    ("a list", tuple[str, ...], Markers(min_items=1, max_items=3), {**TEXTS, "minItems": 1, "maxItems": 3}),
    ("a set by its type", frozenset[str], None, {**TEXTS, "x-kubernetes-list-type": "set"}),
    ("a set by a marker", list[str], Markers(list_type="set"), {**TEXTS, "x-kubernetes-list-type": "set"}),
    (
        "a list whose items have rules",
        tuple[Annotated[str, Markers(max_length=9)], ...],
        None,
        {"type": "array", "items": {"type": "string", "maxLength": 9}},
    ),
    (
        "a map whose values have rules",
        dict[str, Annotated[int, Markers("How many.", minimum=1)]],
        Markers(max_properties=4, map_type="granular"),
        {
            "type": "object",
            "additionalProperties": {"description": "How many.", "type": "integer", "minimum": 1},
            "maxProperties": 4,
            "x-kubernetes-map-type": "granular",
        },
    ),
    (
        "a range without its ends",
        float,
        Markers(minimum=0, exclusive_minimum=True, maximum=1, exclusive_maximum=True, multiple_of=0.25),
        {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "exclusiveMinimum": True,
            "exclusiveMaximum": True,
            "multipleOf": 0.25,
        },
    ),
    ("null as a value", str | None, Markers(nullable=True), {"type": "string", "nullable": True}),
    (
        "a rule with all that it can say",
        str,
        Markers(
            validations=(
                ValidationRule(
                    "self == oldSelf",
                    "cannot change",
                    message_expression="'it is ' + oldSelf",
                    reason="FieldValueForbidden",
                    field_path=".value",
                    optional_old_self=True,
                ),
            )
        ),
        {
            "type": "string",
            "x-kubernetes-validations": [
                {
                    "rule": "self == oldSelf",
                    "message": "cannot change",
                    "messageExpression": "'it is ' + oldSelf",
                    "reason": "FieldValueForbidden",
                    "fieldPath": ".value",
                    "optionalOldSelf": True,
                }
            ],
        },
    ),
    (
        "what has no marker of its own",
        dict[str, str],
        Markers(extra={"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
    ),
    (
        "a type of the API, whose reference may leave out the name",
        Any,
        Markers(of="core.v1.SecretKeySelector"),
        {
            "type": "object", "x-kubernetes-map-type": "atomic",
            "properties": {"key": TEXT, "name": {**TEXT, "default": ""}, "optional": {"type": "boolean"}},
            "required": ["key"],
        },
    ),
    ("a schema that is written out", Any, Markers(of={"type": "string"}), {"type": "string"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "markers", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_types_and_markers_become_schemas(kind: Any, markers: Markers | None, wanted: Object) -> None:
    assert said_of(kind, markers) == wanted


def test_a_struct_brings_its_docstring_its_rules_and_its_defaults() -> None:
    class Drawing(View, frozen=True):
        """A drawing."""

        metadata: Meta
        centre: Point
        corner: Annotated[Point | None, Markers("Where it ends.")] = None
        points: Annotated[tuple[Point, ...], Markers("All of it.")] = ()

    schema = resource_schema(Drawing)
    text = "A place.\n\nOn a plane, that is, and not in space."
    point = {
        "type": "object",
        "properties": {
            "x": {"description": "To the right.", "type": "integer"},
            "y": {"description": "Upwards.", "type": "integer", "default": 2},
        },
        "x-kubernetes-map-type": "atomic",
        "x-kubernetes-validations": [{"rule": "self.x != self.y", "message": "no diagonals"}],
    }
    assert schema["description"] == "A drawing."
    assert schema["required"] == ["centre"]
    assert list(schema["properties"]) == ["apiVersion", "kind", "metadata", "centre", "corner", "points"]
    assert schema["properties"]["metadata"] == {"type": "object"}
    assert schema["properties"]["centre"] == {"description": text, **point}
    assert schema["properties"]["corner"] == {"description": "Where it ends.", **point}
    assert schema["properties"]["points"]["items"] == {"description": text, **point}


def test_rules_of_a_type_and_of_a_field_hold_together() -> None:
    moved = Annotated[Point, Markers(validations=(ValidationRule("self.x > 0"),))]
    kept = Markers(validations=(ValidationRule("self == oldSelf", "cannot change"),), map_type="granular")
    whole = said_of(moved, kept)
    assert [each["rule"] for each in whole["x-kubernetes-validations"]] == [
        "self.x != self.y",
        "self.x > 0",
        "self == oldSelf",
    ]
    # Of everything else the outermost says it.
    assert whole["x-kubernetes-map-type"] == "granular"
    assert len(said_of(Point)["x-kubernetes-validations"]) == 1
    items = said_of(tuple[moved, ...])["items"]
    assert len(items["x-kubernetes-validations"]) == 2


def test_a_view_may_read_less_than_the_schema_says() -> None:
    whole = said_of(Affinity, Markers(of="core.v1.Affinity"))
    required = whole["properties"]["nodeAffinity"]["properties"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["x-kubernetes-map-type"] == "atomic"
    assert "matchFields" in required["properties"]["nodeSelectorTerms"]["items"]["properties"]
    assert said_of(dict[str, Any], Markers(of=Point)) == {
        key: value for key, value in said_of(Point).items() if key != "description"
    }


def test_rules_for_names_go_into_metadata() -> None:
    class Short(View, frozen=True):
        """Something with a short name."""

        metadata: Annotated[Meta, Markers(extra={"properties": {"name": {"type": "string", "maxLength": 9}}})]

    assert resource_schema(Short)["properties"]["metadata"] == {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 9}},
    }


@pytest.mark.parametrize(
    ("default", "kind", "wanted"),
    [
        (3, int, 3),
        ((), tuple[str, ...], []),
        (("a",), tuple[str, ...], ["a"]),
        (Colour.BLUE, Colour, "Blue"),
        # The parts of a struct have defaults of their own.
        (Point(), Point, {}),
        (Point(x=5), Point, {"x": 5}),
    ],
)
def test_the_default_of_the_struct_is_filled_in_by_the_server_where_that_is_said(
    default: Any, kind: Any, wanted: Any
) -> None:
    assert said_of(kind, Markers(defaulted=True), default)["default"] == wanted
    assert "default" not in said_of(kind, None, default)


class Loop(View, frozen=True):
    """Something that contains itself."""

    inner: Annotated[Loop | None, Markers("Another one.")] = None


class Unsaid(View, frozen=True):
    """Something of which too little is said."""

    size: int = 0


class Empty(View, frozen=True):
    """Something whose default is missing."""

    size: Annotated[int, Markers("How big.", defaulted=True)]


class Strange(View, frozen=True):
    """Something that JSON has no word for."""

    size: Annotated[complex, Markers("How big.")] = 0j


class Wrong(View, frozen=True):
    """Something of a type that there is not."""

    size: Annotated[Object, Markers("How big.", of="core.v1.Size")] = msgspec.field(default_factory=dict)


@pytest.mark.parametrize(
    ("view", "sentence"),
    [
        (Loop, r"Loop contains itself \(Loop > Loop\), .*; read the inner one as dict\[str, Any\]"),
        (Unsaid, "Unsaid.size has no description; give it one"),
        (Empty, "Empty.size is defaulted and has no default; give it one"),
        (Strange, "Strange.size is of type <class 'complex'>, .*; say it with Markers"),
        (Wrong, 'there is no built-in type "core.v1.Size"; they are named like core.v1.PodTemplateSpec'),
        (Point, ""),
    ],
)
def test_what_no_definition_can_say_is_refused_in_one_sentence(view: type[msgspec.Struct], sentence: str) -> None:
    if not sentence:
        resource_schema(view)
        return
    with pytest.raises(MooringError, match=sentence) as refused:
        resource_schema(view)
    assert "\n" not in str(refused.value)


class Gadget(View, frozen=True):
    """A gadget."""

    metadata: Meta
    status: Annotated[Point, Markers("Where it is.")] = Point()


class Plain(View, frozen=True):
    """A gadget without a status."""

    metadata: Meta


def test_a_declaration_becomes_a_definition() -> None:
    made = definition(
        CustomResource(
            "example.com",
            "Gadget",
            "gadgets",
            versions=(
                Version(
                    "v2",
                    Gadget,
                    columns=(PrinterColumn("X", "integer", ".status.x", "To the right", "int32", 1), AGE),
                    scale=ScaleSubresource(".spec.count", ".status.count", ".status.selector"),
                    selectable_fields=(".status.x",),
                ),
                Version("v1", Plain, served=False, storage=True, deprecated=True, deprecation_warning="use v2"),
            ),
            scope="Cluster",
            short_names=("gd",),
            categories=("all",),
            labels={"app": "gadgets"},
            annotations={"note": "ours"},
        )
    )
    schemas = [version.pop("schema")["openAPIV3Schema"]["description"] for version in made["spec"]["versions"]]
    assert schemas == ["A gadget.", "A gadget without a status."]
    assert made == {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com", "labels": {"app": "gadgets"}, "annotations": {"note": "ours"}},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {
                "kind": "Gadget",
                "listKind": "GadgetList",
                "plural": "gadgets",
                "singular": "gadget",
                "shortNames": ["gd"],
                "categories": ["all"],
            },
            "versions": [
                {
                    "name": "v2",
                    "served": True,
                    "storage": False,
                    "additionalPrinterColumns": [
                        {
                            "name": "X",
                            "type": "integer",
                            "jsonPath": ".status.x",
                            "description": "To the right",
                            "format": "int32",
                            "priority": 1,
                        },
                        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                    ],
                    "selectableFields": [{"jsonPath": ".status.x"}],
                    "subresources": {
                        "status": {},
                        "scale": {
                            "specReplicasPath": ".spec.count",
                            "statusReplicasPath": ".status.count",
                            "labelSelectorPath": ".status.selector",
                        },
                    },
                },
                {
                    "name": "v1",
                    "served": False,
                    "storage": True,
                    "deprecated": True,
                    "deprecationWarning": "use v2",
                },
            ],
        },
    }
