"""Rules of custom kinds: what they say of objects, of changes, and when they cost too much."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.cel.rules.definitions import rule_errors
from mooring.kube.cel.rules.escaping import escape
from mooring.kube.cel.rules.evaluation import OverPatience, check_rules
from mooring.kube.schemas import Schema, structural_schema


def schema(spec: dict[str, Any]) -> Schema:
    return structural_schema({"type": "object", "properties": {"spec": spec}})


def text(*rules: str, **other: Any) -> dict[str, Any]:
    return {"type": "string", "x-kubernetes-validations": [{"rule": rule} for rule in rules], **other}


def obj(spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": spec}


def told(found: Schema, new: Any, old: Any = None) -> list[str]:
    return [str(error) for error in check_rules(found, obj(new), None if old is None else obj(old)).errors]


def test_a_part_that_did_not_change_is_only_warned_of() -> None:
    found = schema({"type": "object", "properties": {"a": text("self == 'x'"), "b": {"type": "string"}}})
    findings = check_rules(found, obj({"a": "y", "b": "new"}), obj({"a": "y", "b": "old"}))
    assert findings.errors == []
    assert findings.warnings == ["spec.a: Invalid value: \"y\": failed rule: self == 'x'"]
    assert told(found, {"a": "z"}, {"a": "y"}) == ["spec.a: Invalid value: \"z\": failed rule: self == 'x'"]


def test_a_rule_about_a_change_waits_for_one() -> None:
    found = schema(text("self == oldSelf"))
    assert told(found, "a") == []
    assert told(found, "b", "a") == ['spec: Invalid value: "b": failed rule: self == oldSelf']


def test_items_of_a_list_with_keys_are_compared_with_their_own_past() -> None:
    item = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": text("self == oldSelf")}}
    spec = {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    old = [{"k": "a", "v": "1"}, {"k": "b", "v": "2"}]
    assert told(schema(spec), [{"k": "b", "v": "2"}, {"k": "a", "v": "1"}, {"k": "c", "v": "3"}], old) == []
    assert told(schema(spec), [{"k": "b", "v": "1"}], old) == [
        'spec[0].v: Invalid value: "1": failed rule: self == oldSelf'
    ]


@pytest.mark.parametrize(
    ("path", "shown"),
    [(".high", "spec.high"), (".inner.depth", "spec.inner.depth"), (".named['a.b']", "spec.named[a.b]")],
)
def test_a_rule_about_a_whole_points_at_the_field_that_is_wrong(path: str, shown: str) -> None:
    number = {"type": "integer"}
    rule = {"rule": "self.low <= self.high", "message": "the wrong way round", "fieldPath": path}
    fields = {
        "low": number,
        "high": number,
        "inner": {"type": "object", "properties": {"depth": number}},
        "named": {"type": "object", "additionalProperties": number},
    }
    found = schema({"type": "object", "properties": fields, "x-kubernetes-validations": [rule]})
    assert not rule_errors(found, "schema")
    assert told(found, {"low": 2, "high": 1}) == [f"{shown}: Invalid value: the wrong way round"]


EXPENSIVE = "self.all(a, self.all(b, a + b >= 0))"


def numbers(*rules: str) -> Schema:
    return schema(
        {
            "type": "array",
            "items": {"type": "integer"},
            "x-kubernetes-validations": [{"rule": rule} for rule in rules],
        }
    )


def test_a_rule_that_costs_too_much_ends_all_evaluation() -> None:
    (only,) = told(numbers(EXPENSIVE, "false"), list(range(1000)))
    assert only == (
        "spec: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': "
        f"no further validation rules will be run due to call cost exceeds limit for rule: {EXPENSIVE}"
    )


def test_who_has_no_patience_is_told_before_the_budget_is_spent() -> None:
    with pytest.raises(OverPatience):
        check_rules(numbers(EXPENSIVE), obj(list(range(1000))), None, patience=10_000)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("plain", "plain"),
        ("in", "__in__"),
        ("a-b", "a__dash__b"),
        ("a.b/c", "a__dot__b__slash__c"),
        ("a__b", "a__underscores__b"),
        ("1a", None),
        ("", None),
        ("ä", None),
        ("a b", None),
    ],
)
def test_names_are_written_so_that_expressions_can_have_them(name: str, written: str | None) -> None:
    assert escape(name) == written


def test_a_rule_where_nothing_is_known_of_the_value_is_refused() -> None:
    free = {"x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-validations": [{"rule": "true"}]}
    found = schema({"type": "object", "properties": {"free": free}})
    (error,) = rule_errors(found, "schema")
    assert error.cause == "InternalError"


def test_rules_that_cost_too_much_together_are_not_run_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mooring.kube.cel.rules.evaluation.OBJECT_BUDGET", 4)
    spent = 'spec: Invalid value: "string": validation failed due to running out of cost budget, no further validation'
    cheap, dear = "self == 'x'", "self == 'x' || self == 'y' || self == 'z'"
    assert told(schema(text(cheap)), "a") == [f'spec: Invalid value: "a": failed rule: {cheap}']
    assert told(schema(text(dear, cheap)), "a") == [f"{spent} rules will be run"]
    assert told(schema(text(cheap, cheap, cheap)), "a")[-1] == f"{spent} rules will be run"
