"""What rules could cost: as Kubernetes estimates it, to the digit, since it decides which definitions are stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mooring.kube.cel.rules.compiled import compile_rule
from mooring.kube.cel.rules.definitions import rule_errors
from mooring.kube.cel.rules.extents import extent_of
from mooring.kube.cel.rules.types import schema_type
from mooring.kube.schemas import Schema, structural_schema

RECORDED: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("estimates.yaml").read_text())
SPEC = structural_schema({"type": "object", "properties": {"spec": RECORDED["schema"]}}).properties["spec"]

WAY_OUT = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are"
    " declared)"
)


@pytest.mark.parametrize(("rule", "cost"), RECORDED["costs"])
def test_a_rule_could_cost_what_kubernetes_says(rule: str, cost: int) -> None:
    kind, extent = schema_type(SPEC, "selfType", resource=False), extent_of(SPEC, resource=False)
    assert kind is not None
    assert extent is not None
    program = compile_rule({"rule": rule}, kind, SPEC, extent.size_at).program
    assert program is not None
    assert program.worst_cost == cost


def definition(spec: dict[str, Any]) -> Schema:
    return structural_schema({"type": "object", "properties": {"spec": spec}})


def items(*rules: str, **bounds: int) -> dict[str, Any]:
    return {
        "type": "array",
        **bounds,
        "items": {"type": "string", "maxLength": 10},
        "x-kubernetes-validations": [{"rule": rule} for rule in rules],
    }


def told(schema: Schema, *, kept: bool = False) -> list[str]:
    return [f"{error.path}: {error.detail}" for error in rule_errors(schema, "schema", kept=kept)]


def test_a_rule_that_could_cost_too_much_is_refused_with_what_would_help() -> None:
    quadratic = items("self.all(x, self.all(y, x == y))")
    assert told(definition(quadratic)) == [
        "schema.properties[spec].x-kubernetes-validations[0].rule: estimated rule cost exceeds budget by factor of more"
        f" than 100x {WAY_OUT}",
        "schema.properties[spec].x-kubernetes-validations[0].rule: contributed to estimated rule cost total exceeding"
        " cost limit for entire OpenAPIv3 schema",
        "schema: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by"
        f" factor of more than 100x {WAY_OUT}",
    ]
    assert told(definition(items("self.all(x, self.all(y, x == y))", maxItems=100))) == []


def test_a_rule_counts_once_for_each_value_that_an_object_may_have() -> None:
    text = {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'x'"}]}
    assert told(definition({"type": "array", "maxItems": 1_000_000, "items": text})) == []
    (error, *_) = told(definition({"type": "array", "maxItems": 10_000_000, "items": text}))
    assert error.startswith(
        "schema.properties[spec].items.x-kubernetes-validations[0].rule: estimated rule cost exceeds budget by factor"
        " of 2.0x"
    )


def test_a_list_whose_items_are_unknown_may_be_joined_to_nothing() -> None:
    rule = "self.text.replace(dyn(self.list).join(), 'ab').contains(self.text)"
    fields = {"text": {"type": "string", "maxLength": 20000}, "list": items(maxItems=5)}
    spec = {"type": "object", "properties": fields, "x-kubernetes-validations": [{"rule": rule}]}
    (error, *_) = told(definition(spec))
    assert "estimated rule cost exceeds budget by factor of 19.2x" in error


def test_a_schema_that_is_stored_already_is_not_asked_for_the_cost_of_each_rule_again() -> None:
    text = {"type": "string", "x-kubernetes-validations": [{"rule": "self == 'x'"}]}
    schema = definition({"type": "array", "maxItems": 10_000_000, "items": text})
    assert len(told(schema)) == 1
    assert told(schema, kept=True) == []


def test_only_the_four_dearest_rules_are_named() -> None:
    rules = ["self.all(x, self.all(y, x == y))"] * 6
    errors = told(definition(items(*rules)))
    assert sum("contributed" in error for error in errors) == 4
