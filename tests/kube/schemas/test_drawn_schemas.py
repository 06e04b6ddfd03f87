"""Drawn schemas, sound and unsound, drawn values of each, drawn texts of each format, and patterns."""

from __future__ import annotations

import copy
import json
import pickle
from random import Random
from typing import Any

from mooring.kube.schemas import (
    ABSENT,
    Schema,
    SchemaError,
    apply_defaults,
    builtin_schema,
    prune,
    structural_schema,
    unknown_fields,
    validate,
)
from mooring.kube.schemas.formats import known_format, matches_format
from mooring.kube.schemas.patterns import compile_pattern
from mooring.kube.schemas.structural_rules import structural_errors
from tests.kube.drawn.drawing import answer, variants
from tests.kube.schemas.drawing import ROUGH, SAMPLES, drawn_schema, drawn_value
from tests.support.golden import same_as_recorded


def _facts(schema: Schema) -> str:
    """What is built from a schema beside what its values are held to, with all that is below it."""
    inner = {**schema.properties, "[]": schema.items, "{}": schema.additional_properties, "!": schema.negated}
    flags = {name: getattr(schema, name) for name in ("type", "ruled", "fills", "atomic", "nullable", "int_or_string")}
    lists = (
        schema.defaulted,
        schema.required,
        schema.enum,
        schema.list_type,
        schema.list_map_keys,
        schema.key_defaults,
    )
    bounds = (schema.minimum, schema.maximum, schema.multiple_of, schema.max_items, schema.min_items, schema.max_length)
    more = (
        schema.min_length,
        schema.max_properties,
        schema.min_properties,
        schema.format,
        schema.pattern,
        schema.default,
    )
    kept = (schema.embedded_resource, schema.preserve_unknown_fields, schema.unique_items, schema.validations)
    shown = [f"{name}({_facts(child)})" for name, child in inner.items() if child is not None and name != "metadata"]
    others = [
        len(schema.all_of),
        len(schema.any_of),
        len(schema.one_of),
        schema.exclusive_minimum,
        schema.exclusive_maximum,
    ]
    return f"{flags} {lists} {bounds} {more} {kept} {others} {schema.plain} {' '.join(shown)}"


def test_what_is_built_from_drawn_schemas() -> None:
    draw, said = Random(8), {}
    for number in range(60):
        source = drawn_schema(draw, 0)
        for each in (source, *_below(source)):
            if draw.random() < 0.1:
                each["x-kubernetes-validations"] = [{"rule": "true"}]
        try:
            schema = structural_schema(source)
        except SchemaError as error:
            said[f"{number} {json.dumps(source)}"] = f"{error} {None if error.schema is None else _facts(error.schema)}"
        else:
            said[f"{number} {json.dumps(source)}"] = _facts(schema)
    same_as_recorded("kube-schemas", said)


def test_a_default_that_is_absent_is_one_of_a_kind() -> None:
    for copied in (copy.copy(ABSENT), copy.deepcopy(ABSENT), pickle.loads(pickle.dumps(ABSENT))):
        assert copied is ABSENT
    assert repr(ABSENT) == "ABSENT"


def test_schemas_are_shown_by_name_or_type() -> None:
    shown = (builtin_schema("v1", "Pod"), Schema(type="object"), Schema())
    assert [repr(each) for each in shown] == ["Schema(core.v1.Pod)", "Schema(object)", "Schema(anything)"]


def test_keys_of_lists_are_shown_as_they_are_compared() -> None:
    fields = {"k": {"type": "integer"}, "l": {"type": "number"}, "v": {"type": "string"}}
    items = {"type": "object", "properties": fields, "required": ["k", "l"]}
    for keys, given, shown in (
        (["k"], [{"k": 1.0}, {"k": 1.0}, {"k": 1.0}], ['s[1]: Duplicate value: {"k":1.0}']),
        (["k"], [{"k": 1}, {"k": 1.0}], []),
        (["k", "l"], [{"k": 1, "l": 2.0}, {"k": 1.0, "l": 2}], ['s[1]: Duplicate value: {"k":1,"l":2}']),
        (["k", "l"], [{"k": 1, "l": 2}, None, {"k": 1, "l": 3}], []),
        (["k"], [{"k": 1}, 7.0, {"k": 1}], ["s[1]: Invalid value: 7: must be an object for an array of list-type map"]),
    ):
        marks = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}
        listed = {"type": "array", "items": {**items, "required": keys}, **marks}
        schema = structural_schema({"type": "object", "properties": {"s": listed}}).properties["s"]
        found = [str(each) for each in validate(schema, given, "s")]
        assert [each for each in found if "uplicate" in each or "list-type" in each] == shown, (keys, given)


def test_drawn_values_are_pruned_filled_and_checked() -> None:
    draw, said = Random(1), {}
    for number in range(420):
        source = drawn_schema(draw, 0)
        try:
            schema = structural_schema(source, "s")
        except SchemaError as error:
            if error.schema is None:
                continue
            schema = error.schema
        lines = []
        for _ in range(5):
            value = drawn_value(draw, source)
            given = json.dumps(value)
            pruned = prune(schema, value)
            filled = apply_defaults(schema, pruned)
            lines += [
                given,
                json.dumps(pruned) if pruned is not value else "=",
                json.dumps(filled) if filled is not pruned else "=",
            ]
            lines += [
                *unknown_fields(schema, value),
                *(f"{each} {each.cause}" for each in validate(schema, filled, "o")),
            ]
            assert json.dumps(value) == given, "nothing is changed in place"
        said[f"{number} {json.dumps(source)}"] = "\n".join(lines)
    same_as_recorded("kube-schema-values", said)


def test_what_is_wrong_with_drawn_schemas() -> None:
    draw, said = Random(2), {}
    for number in range(700):
        source = drawn_schema(draw, 0)
        places = [source, *_below(source)]
        for _ in range(draw.randint(1, 2)):
            name, value = ROUGH[number % len(ROUGH)] if number < 3 * len(ROUGH) else draw.choice(ROUGH)
            draw.choice(places[: draw.choice((1, 2, len(places)))])[name] = value
        found, structural = structural_errors(source, "s")
        said[f"{number} {json.dumps(source)}"] = "\n".join(
            [str(structural), *(f"{each} {each.cause}" for each in found)]
        )
    same_as_recorded("kube-schema-errors", said)


def _below(source: Any) -> list[dict[str, Any]]:
    children = [*source.get("properties", {}).values(), source.get("items"), source.get("additionalProperties")]
    found = [each for each in children if isinstance(each, dict)]
    return [*found, *(below for each in found for below in _below(each))]


def test_texts_of_every_format() -> None:
    said = {}
    for number, (name, samples) in enumerate(SAMPLES.items()):
        texts = variants(number, samples, "0159aFx-:./ %@#é\n", 40)
        good = [text for text in texts if matches_format(name, text)]
        said[name] = "\n".join(
            [str(known_format(name)), *map(repr, good), "and not", *(repr(each) for each in texts if each not in good)]
        )
    same_as_recorded("kube-formats", said)


def test_expressions_that_go_takes_and_others() -> None:
    samples: tuple[str, ...] = (
        "^a+$",
        "(?P<n>a)|[b-d]",
        "a{2,3}",
        r"\d\pL\x{41}",
        "[[:alpha:]^a]",
        r"\Qa+\E",
        "(?<n>x)",
        "(?i:a)",
        "a{1000}",
        "a{1001}",
    )
    samples += (
        "x{2,1}",
        "(",
        ")",
        "[",
        "a**",
        r"\C",
        r"\x{",
        r"[a-\pL]",
        "(?P<>a)",
        "(?P<a-b>x)",
        "a{99999}",
        r"\8",
        "a|*",
        "\ud800",
        r"\P",
        r"[\P",
        r"[a-\P",
        "(?z)",
        r"\p",
    )
    texts = [
        *variants(5, samples, "a(){}[]|*+?\\^$<>P:,0129-Qé", 25),
        "(" * 999 + ")" * 999,
        "(" * 1000 + ")" * 1000,
        "[" + "a" * 50,
    ]

    def matched(text: str) -> list[str]:
        pattern = compile_pattern(text)
        return [each for each in ("", "a", "aa", "aaa", "b", "Ab1", "x+", "é") if pattern.search(each)]

    same_as_recorded("kube-patterns", {repr(text): answer(matched, text) for text in texts})


def test_values_of_built_in_types() -> None:
    draw, said = Random(7), {}
    cases: dict[tuple[str, str], dict[str, Any]] = {
        ("v1", "Pod"): {
            "metadata": {"name": "p", "labels": {"a": "b"}, "odd": 1},
            "spec": {
                "containers": [
                    {"name": "c", "image": "i", "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": 1}}}
                ],
                "nodeSelector": {"a": "b"},
                "terminationGracePeriodSeconds": 30,
                "hostNetwork": True,
            },
        },
        ("v1", "ConfigMap"): {
            "metadata": {"name": "c"},
            "data": {"a": "b"},
            "binaryData": {"a": "YQ=="},
            "immutable": True,
        },
        ("apps/v1", "Deployment"): {
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"a": "b"}},
                "strategy": {"rollingUpdate": {"maxSurge": "25%"}},
            },
        },
    }
    others: tuple[Any, ...] = (
        None,
        "x",
        1,
        1.5,
        1.0,
        True,
        [],
        ["x"],
        {},
        {"x": 1},
        {"x": None},
        2**31,
        2**63,
        "1Gi",
        [None],
    )
    for (version, kind), base in cases.items():
        schema = builtin_schema(version, kind)
        for number in range(120):
            value = json.loads(json.dumps(base))
            part: Any = value
            while True:
                keys = [*part] if isinstance(part, dict) else [*range(len(part))]
                key = draw.choice(keys)
                if not isinstance(part[key], dict | list) or not part[key] or draw.random() < 0.3:
                    break
                part = part[key]
            part[key] = draw.choice(others)
            pruned = prune(schema, value)
            wrong = [f"{each} {each.cause}" for each in validate(schema, pruned)]
            said[f"{kind} {number} {json.dumps(value)}"] = "\n".join(
                [json.dumps(pruned), *unknown_fields(schema, value), *wrong]
            )
    same_as_recorded("kube-builtin-values", said)
