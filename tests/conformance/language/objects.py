"""Drawn objects of a kind with every sort of bound and rule, and what a real API server says to them and their changes.

A record is one request with its answer, as `tests/registry/agreement.py` replays them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from mooring.testing.http import Api
from tests.conformance.language.applies import asked, served
from tests.conformance.language.samples import definition

Object = dict[str, Any]

_DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_BASE: Final = "/apis/language.example.com/v1/crates"
_TEXTS: Final = (
    "",
    "a",
    "abc",
    "zz",
    "é",
    "👑👑",
    "A-b",
    "10.0.0.1",
    "::1",
    "2024-02-29",
    "2024-02-29T01:02:03Z",
    "1h30m",
    "3 days",
    "aGk=",
    "a@b.c",
    "host.example.com",
    "https://x.y/z",
    "01:23:45:67:89:ab",
    "123e4567-e89b-12d3-a456-426614174000",
    "10.0.0.0/8",
    "50%",
    "7",
    "x" * 12,
    "2024-02-30",
    "not",
    "http://[::1",
    "-1s",
    "4111111111111111",
    "#aabbcc",
    "rgb(1,2,3)",
    "978-3-16-148410-0",
    "123-45-6789",
)
_NUMBERS: Final = (0, 1, 2, 3, 5, 10, -1, 2.5, 1.0, 2**31, 2**53 + 1, -0.5, 0.1, 100)
_JUNK: Final[tuple[Any, ...]] = (None, "x", 1, 1.5, True, [], {}, [None], {"a": 1}, ["x", "x"])
_FORMATS: Final = (
    "byte",
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uri",
    "uuid",
    "isbn",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "int32",
    "password",
)


def _text(**more: Any) -> Object:
    return {"type": "string", **more}


def _listed(items: Object, **more: Any) -> Object:
    return {"type": "array", "items": items, **more}


def _fields(properties: Object, **more: Any) -> Object:
    return {"type": "object", "properties": properties, **more}


def _ruled(schema: Object, *rules: Object) -> Object:
    return {**schema, "x-kubernetes-validations": list(rules)}


def _rule(rule: str, **more: Any) -> Object:
    return {"rule": rule, **more}


_PIECE: Final = _ruled(
    _fields(
        {
            "name": _text(maxLength=5),
            "size": {"type": "integer", "minimum": 0, "default": 2},
            "old": _text(maxLength=5),
        },
        required=["name"],
    ),
    _rule("self.size != 3", message="size must not be 3", fieldPath=".size"),
    _rule("!has(oldSelf.old) || self.old == oldSelf.old", reason="FieldValueForbidden", message="old stays"),
)
_SPEC: Final[Object] = {
    "short": _text(minLength=1, maxLength=4),
    "pattern": _text(pattern="^[a-z-]+$"),
    "enum": _text(enum=["a", "abc"]),
    "whole": {"type": "integer", "minimum": 1, "maximum": 10, "exclusiveMaximum": True},
    "tens": {"type": "integer", "multipleOf": 5},
    "share": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 2.5},
    "small": {"type": "integer", "format": "int32"},
    "flag": {"type": "boolean", "default": True},
    "either": {"x-kubernetes-int-or-string": True},
    "maybe": {"type": "integer", "nullable": True, "default": 4},
    "list": _listed({"type": "integer"}, minItems=1, maxItems=3),
    "set": _listed(_text(maxLength=6), maxItems=4, **{"x-kubernetes-list-type": "set"}),
    "pieces": _ruled(
        _listed(_PIECE, maxItems=4, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
        _rule("self.all(x, x.name != 'zz')", messageExpression="'no zz beside ' + self[0].name"),
        _rule("oldSelf.all(o, self.exists(n, n.name == o.name))", message="pieces stay", reason="FieldValueInvalid"),
    ),
    "map": _ruled(
        {
            "type": "object",
            "maxProperties": 3,
            "minProperties": 1,
            "additionalProperties": _ruled(_text(maxLength=8), _rule("self != 'zz'", reason="FieldValueDuplicate")),
        },
        _rule("size(self) < 3 || 'a' in self", fieldPath="['b']"),
    ),
    "strict": _fields({"a": _text(), "b": {"type": "integer"}}, required=["a", "b"]),
    "one": _fields({"a": _text(), "b": _text()}, oneOf=[{"required": ["a"]}, {"required": ["b"]}]),
    "any": _fields(
        {"n": {"type": "integer"}}, anyOf=[{"properties": {"n": {"minimum": 5}}}, {"properties": {"n": {"enum": [1]}}}]
    ),
    "all": {"type": "integer", "allOf": [{"minimum": 1}, {"multipleOf": 2}]},
    "not": {"type": "integer", "not": {"minimum": 5}},
    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "half": _fields({"a": _fields({"b": _text()})}, **{"x-kubernetes-preserve-unknown-fields": True}),
    "embedded": {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    },
    "deep": _fields(
        {
            "a": _fields({"b": {"type": "integer", "default": 5}, "c": _text()}, default={}),
            "l": _listed(_fields({"x": {"type": "integer", "default": 1}})),
        }
    ),
    "fixed": _ruled(_text(maxLength=10), _rule("self == oldSelf", message="fixed stays")),
    "first": _ruled(
        _text(maxLength=10),
        _rule("!oldSelf.hasValue() || oldSelf.value() != 'a'", optionalOldSelf=True, message="not after a"),
    ),
    "long": _ruled(
        _text(maxLength=20),
        _rule("self.size() < 10", messageExpression="'too long: ' + self"),
        _rule("duration(self) > duration('1s')", message="needs a duration"),
    ),
    **{f"f{index}": _text(format=name) for index, name in enumerate(_FORMATS)},
}
# So that most objects have few of the many fields.
_SHARE: Final = 0.13


def crate_definition() -> Object:
    spec = _ruled(
        _fields(_SPEC, required=["short"]),
        _rule(
            "!has(self.whole) || !has(self.tens) || self.whole < self.tens", message="whole < tens", fieldPath=".tens"
        ),
        _rule("has(self.flag) == has(oldSelf.flag)"),
        _rule("!has(self.all) || self.all != 2", message="not two", reason="FieldValueRequired"),
    )
    made = definition("crate", {"spec": spec, "status": _fields({"ready": {"type": "integer", "minimum": 0}})})
    made["spec"]["versions"][0]["subresources"] = {"status": {}}
    return made


class Objects:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def spec(self) -> Any:
        made = {name: self.value(schema) for name, schema in _SPEC.items() if self._draw.random() < _SHARE}
        if self._draw.random() < 0.97:
            made.setdefault("short", "a")
        return made

    def changed(self, spec: Object) -> Object:
        """The same but for a field or two."""
        made = dict(spec)
        for _ in range(self._draw.choice((1, 1, 2))):
            name = self._draw.choice(sorted(made) if made and self._draw.random() < 0.6 else sorted(_SPEC))
            if name in made and self._draw.random() < 0.2:
                del made[name]
            else:
                made[name] = self.value(_SPEC[name])
        return made

    def value(self, schema: Object) -> Any:
        draw = self._draw
        if draw.random() < 0.04 and "x-kubernetes-embedded-resource" not in schema:
            return draw.choice(_JUNK)
        if "enum" in schema and draw.random() < 0.6:
            return draw.choice(schema["enum"])
        match schema.get("type"):
            case "string":
                return draw.choice(_TEXTS)
            case "integer" | "number":
                return draw.choice(_NUMBERS if draw.random() < 0.3 else _NUMBERS[:6])
            case "boolean":
                return draw.choice((True, False))
            case "array":
                return [self.value(schema["items"]) for _ in range(draw.choice((0, 1, 1, 2, 2, 3, 5)))]
            case "object":
                return self._object(schema)
        return draw.choice((1, "50%", "x", 1.5))

    def _object(self, schema: Object) -> Object:
        draw = self._draw
        if schema.get("x-kubernetes-embedded-resource"):
            return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": 1}}
        properties = schema.get("properties", {})
        names = [name for name in properties if draw.random() < 0.75]
        made = {name: self.value(properties[name]) for name in names}
        if "additionalProperties" in schema:
            made |= {name: self.value(schema["additionalProperties"]) for name in "abcd" if draw.random() < 0.5}
        if draw.random() < 0.08 or not (properties or "additionalProperties" in schema):
            made["unknown"] = draw.choice(_JUNK)
        return made


def objects(api: Api, count: int = 700) -> Iterator[Object]:
    body = crate_definition()
    made = {"op": "create", "kind": [body["apiVersion"], body["kind"]], "ns": "", "name": body["metadata"]["name"]}
    record = asked(api, {**made, "body": body}, _DEFINITIONS)
    assert record["code"] == 201, record["answer"]
    yield record
    served(api, _BASE)
    drawn = Objects(71)
    for number in range(count):
        name, spec, live = f"c{number}", drawn.spec(), None
        for step in range(3):
            sent = {"apiVersion": "language.example.com/v1", "kind": "Crate", "metadata": {"name": name}, "spec": spec}
            told = {
                "kind": ["language.example.com/v1", "Crate"],
                "ns": "",
                "name": name,
                "fv": ("Warn", "Strict")[number % 2],
            }
            way: Object = {"op": "create"} if live is None else {"op": "update", "rv": True}
            if live is not None and step == 2 and number % 3 == 0:
                way, sent = (
                    {"op": "merge", "sub": "status"},
                    {"status": {"ready": drawn.value({"type": "integer"}), "x": 1}},
                )
            record = asked(api, {**told, **way, "body": sent}, _BASE)
            yield record
            if record["code"] < 300:
                live = record["answer"]
            spec = drawn.changed(live["spec"]) if live is not None and "spec" in live else drawn.spec()
