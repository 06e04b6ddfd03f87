"""Drawn schemas, sound and unsound, drawn values of each, drawn texts of each format, and patterns."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from mooring.kube.schemas import (
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
    samples = (
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
