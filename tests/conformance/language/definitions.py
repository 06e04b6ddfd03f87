"""Drawn definitions of custom kinds, and what a real API server finds wrong with them."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from typing import Any, Final

import httpx2

from mooring.testing.http import Api
from tests.conformance.language.samples import definition

Object = dict[str, Any]

_BASE: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# The type of `self` has another name each time.
_OWN_TYPE: Final = re.compile(r"selfType[0-9]+")
_STRUCT: Final = re.compile(r"value: [\[{]")
_TYPES: Final = ("string", "integer", "number", "boolean", "array", "object")
_FORMATS: Final = (
    "byte",
    "date",
    "date-time",
    "datetime",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uri",
    "uuid",
    "uuid4",
    "password",
    "int32",
    "int64",
    "float",
    "double",
    "bsonobjectid",
    "creditcard",
    "isbn",
    "hexcolor",
    "rgbcolor",
    "ssn",
    "odd",
    "k8s-short-name",
    "k8s-long-name",
)
_RULES: Final = (
    "self == oldSelf",
    "true",
    "self.size() > 0",
    "has(self.a)",
    "self.a == self.b",
    "self > 1",
    "1",
    "self.all(x, x == x)",
    "nope",
    "self.matches('[')",
    "oldSelf.hasValue()",
    "size(self) < 5",
    "self.exists(k, k == 'x')",
    "type(self) == int",
    "self != null",
    " ",
    "",
    "self.\nb",
    "'%s'.format([self]) != ''",
    "self.all(x, self.all(y, x == y))",
    "self.map(x, x).size() > 0",
    "self in ['a', 'b']",
    "self.startsWith('a')",
    "duration('1h') > self",
    "self.isSorted()",
)
_NAMES: Final = ("a", "b", "c", "name", "metadata", "spec", "in", "x-y", "$ref", "a.b", "")
# What may stand in a schema, whether it fits the type or not.
_KEYWORDS: Final[dict[str, tuple[Any, ...]]] = {
    "format": _FORMATS,
    "description": ("text",),
    "title": ("t",),
    "nullable": (True, False),
    "enum": (["a", "b"], [1, 2], ["a", "a"], [], [None], [{"a": 1}]),
    "pattern": ("^a", "[", "a{2000}", ""),
    "minLength": (0, 1, -1),
    "maxLength": (5, 0, -1, 10**12),
    "minimum": (0, 1.5, -1),
    "maximum": (5, 1.5, 0),
    "exclusiveMinimum": (True, False),
    "exclusiveMaximum": (True, False),
    "multipleOf": (2, 0.5, 0, -1),
    "minItems": (0, 1, -1),
    "maxItems": (5, 0, -1),
    "uniqueItems": (True, False),
    "minProperties": (0, 1),
    "maxProperties": (5, 0),
    "required": (["a"], ["zz"], [], ["a", "a"]),
    "default": ("a", 1, {}, [], None, True, {"a": 1}, ["a"], [{"name": "x"}], 1.5),
    "example": ("a",),
    "externalDocs": ({"url": "https://x"},),
    "$ref": ("#/x",),
    "id": ("i",),
    "$schema": ("s",),
    "additionalItems": (False, True),
    "definitions": ({"a": {}},),
    "dependencies": ({"a": ["b"]},),
    "patternProperties": ({"a": {}},),
    "x-kubernetes-preserve-unknown-fields": (True, False),
    "x-kubernetes-int-or-string": (True, False),
    "x-kubernetes-embedded-resource": (True, False),
    "x-kubernetes-list-type": ("atomic", "set", "map", "odd", ""),
    "x-kubernetes-list-map-keys": (["name"], ["a", "b"], [], ["a", "a"], ["zz"]),
    "x-kubernetes-map-type": ("atomic", "granular", "odd", ""),
    "not": ({"minimum": 3}, {"type": "string"}, {"required": ["a"]}),
    "allOf": ([{"minLength": 1}], [{"type": "string"}], [{"properties": {"a": {"minimum": 1}}}], []),
    "anyOf": ([{"minimum": 1}, {"maximum": 0}], [{"type": "integer"}, {"type": "string"}], [{"required": ["a"]}]),
    "oneOf": (
        [{"required": ["a"]}, {"required": ["b"]}],
        [{"items": {"minimum": 1}}],
        [{"default": 1}],
        [{"nullable": True}],
        [{"description": "d"}],
    ),
}
_FITTING: Final[dict[str, tuple[str, ...]]] = {
    "string": ("format", "enum", "pattern", "minLength", "maxLength", "default"),
    "integer": ("format", "minimum", "maximum", "exclusiveMinimum", "multipleOf", "default", "enum"),
    "number": ("format", "minimum", "maximum", "exclusiveMaximum", "multipleOf", "default"),
    "boolean": ("default", "enum"),
    "array": ("minItems", "maxItems", "uniqueItems", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "default"),
    "object": (
        "required",
        "maxProperties",
        "x-kubernetes-map-type",
        "x-kubernetes-preserve-unknown-fields",
        "default",
        "x-kubernetes-embedded-resource",
    ),
}


class Definitions:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._odds = 0.0

    def schema(self, depth: int, kind: str = "") -> Object:
        draw = self._draw
        kind = kind or draw.choice(_TYPES if depth > 0 else _TYPES[:4])
        made: Object = {"type": kind}
        if kind == "array":
            made["items"] = (
                self.schema(depth - 1)
                if draw.random() > self._odds / 4
                else draw.choice(([], {}, [{"type": "string"}]))
            )
            if made["items"] == {} or draw.random() < self._odds / 8:
                made.pop("items")
            elif draw.random() < 0.3 and isinstance(made["items"], dict) and made["items"].get("type") == "object":
                made |= {
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": draw.sample(("a", "b"), draw.choice((1, 1, 2))),
                }
        elif kind == "object" and draw.random() < 0.8:
            made["properties"] = {
                name: self.schema(depth - 1) for name in draw.sample(_NAMES[:5], draw.choice((1, 2, 2, 3)))
            }
            if draw.random() < self._odds / 4:
                made["properties"][draw.choice(_NAMES)] = self.schema(0)
        if kind == "object" and ("properties" not in made or draw.random() < self._odds / 6):
            made["additionalProperties"] = draw.choice((self.schema(depth - 1), self.schema(0), self.schema(0), True))
        for keyword in _FITTING[kind]:
            if draw.random() < self._odds:
                made[keyword] = copy.deepcopy(draw.choice(_KEYWORDS[keyword]))
        if draw.random() < self._odds / 2:
            keyword = draw.choice(sorted(_KEYWORDS))
            made[keyword] = copy.deepcopy(draw.choice(_KEYWORDS[keyword]))
        if draw.random() < self._odds / 6:
            made["type"] = draw.choice((*_TYPES, "", "odd", "null"))
        if draw.random() < self._odds / 8:
            del made["type"]
        if draw.random() < self._odds / 2:
            made["x-kubernetes-validations"] = [self._rule() for _ in range(draw.choice((1, 1, 2)))]
        return made

    def _rule(self) -> Object:
        draw = self._draw
        made: Object = {"rule": draw.choice(_RULES)}
        for key, choices in (
            ("message", ("m", "", " ", "two\nlines")),
            ("messageExpression", ("'m'", "1", "nope", " ", "'a' + 'b'", "string(self)")),
            (
                "reason",
                ("FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate", "Odd"),
            ),
            ("fieldPath", (".a", ".zz", "a", "['a']", ".a.b", " ", ".a\n", ".a[0]")),
            ("optionalOldSelf", (True, False)),
        ):
            if draw.random() < 0.15:
                made[key] = draw.choice(choices)
        return made

    def version(self, name: str) -> Object:
        draw = self._draw
        root = {"type": "object", "properties": {"spec": self.schema(3, "object"), "status": self.schema(1, "object")}}
        if draw.random() < 0.06:
            odd: tuple[Object, ...] = (
                {"type": "string"},
                {"x-kubernetes-preserve-unknown-fields": True},
                {"nullable": True},
                {"required": ["spec"]},
                {"x-kubernetes-embedded-resource": True},
                {
                    "properties": {
                        "metadata": {"type": "object", "properties": {"name": {"type": "string", "pattern": "^a"}}}
                    }
                },
                {"properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}},
                {"properties": {"kind": {"type": "integer"}}},
                {"properties": {"apiVersion": {"type": "string", "enum": ["x"]}}},
                {
                    "x-kubernetes-validations": [
                        {"rule": "self.metadata.name != ''"},
                        {"rule": "self.spec == oldSelf.spec"},
                    ]
                },
            )
            root |= draw.choice(odd)
        made: Object = {"name": name, "served": True, "storage": False, "schema": {"openAPIV3Schema": root}}
        if draw.random() < 0.2:
            scale = {
                "specReplicasPath": draw.choice((".spec.a", ".spec.replicas", "spec.a", ".status.a", "", ".spec.a[0]")),
                "statusReplicasPath": draw.choice((".status.a", ".spec.a", "", "x")),
            }
            if draw.random() < 0.5:
                scale["labelSelectorPath"] = draw.choice((".status.a", ".spec.b", ".metadata.a", "x", ""))
            made["subresources"] = draw.choice(
                ({"status": {}}, {"status": {}}, {"scale": scale}, {"scale": scale, "status": {}}, {})
            )
        if draw.random() < 0.12:
            made["additionalPrinterColumns"] = [
                {
                    "name": draw.choice(("A", "B", "")),
                    "type": draw.choice(("string", "integer", "number", "boolean", "date", "odd", "")),
                    "jsonPath": draw.choice(
                        (".spec.a", ".metadata.creationTimestamp", "spec", "", ".spec.a[", ".spec[?(@.a==1)]")
                    ),
                    **(
                        {"format": draw.choice(("int32", "password", "odd", "date-time"))}
                        if draw.random() < 0.3
                        else {}
                    ),
                    **({"priority": draw.choice((0, 1, -1))} if draw.random() < 0.3 else {}),
                    **({"description": "d"} if draw.random() < 0.2 else {}),
                }
                for _ in range(draw.choice((1, 2)))
            ]
        if draw.random() < 0.12:
            paths = (
                ".spec.a",
                ".spec.b",
                ".spec.c",
                ".metadata.name",
                ".spec.zz",
                "spec.a",
                "",
                ".spec",
                ".spec.a.b",
                ".spec.a[0]",
                ".apiVersion",
            )
            made["selectableFields"] = [{"jsonPath": draw.choice(paths)} for _ in range(draw.choice((1, 1, 2, 9)))]
        if draw.random() < 0.08:
            made["deprecated"] = draw.choice((True, False))
        if draw.random() < 0.05:
            made["deprecationWarning"] = draw.choice(("w", "", "x" * 300))
        return made

    def definition(self, stem: str) -> Object:
        draw = self._draw
        made = definition(stem, {})
        spec = made["spec"]
        self._odds = draw.choice((0.0, 0.02, 0.04, 0.04, 0.08))
        names = ["v1"] if draw.random() < 0.8 else draw.sample(("v1", "v1beta1", "v2", "V3", "v1", ""), 2)
        spec["versions"] = [self.version(name) for name in names]
        if len(names) > 1 and draw.random() < 0.5:
            for part in ("schema", "subresources", "additionalPrinterColumns", "selectableFields"):
                if part in spec["versions"][0]:
                    spec["versions"][1][part] = copy.deepcopy(spec["versions"][0][part])
        spec["versions"][0]["storage"] = draw.random() < 0.98
        if len(names) > 1 and draw.random() < 0.05:
            spec["versions"][1]["storage"] = True
        if draw.random() < 0.12:
            self._odd(made)
        return made

    def _odd(self, made: Object) -> None:
        """With something odd about names, scope or conversion."""
        spec, names = made["spec"], made["spec"]["names"]
        draw = self._draw
        hook = {"clientConfig": {"url": "https://x.example.com/convert"}, "conversionReviewVersions": ["v1"]}
        service = {
            "clientConfig": {"service": {"name": "s", "namespace": "n"}, "caBundle": "eA=="},
            "conversionReviewVersions": ["v2", "v1beta1"],
        }
        place, key, value = draw.choice(
            (
                (spec, "group", draw.choice(("x", "", "A.b", "k8s.io", "x.k8s.io", "a..b"))),
                (spec, "scope", draw.choice(("", "Odd", "namespaced"))),
                (names, "plural", draw.choice(("", "Things", "a.b", "x" * 64))),
                (names, "singular", draw.choice(("Thing", "a b"))),
                (names, "kind", draw.choice(("", "a b", "lower", "X" * 64))),
                (names, "listKind", draw.choice(("a b", names["kind"], "L"))),
                (names, "shortNames", draw.choice((["a", "a"], ["A"], ["ok"], [""], [names["plural"]]))),
                (names, "categories", draw.choice((["all"], ["A b"], []))),
                (
                    spec,
                    "conversion",
                    draw.choice(
                        (
                            {"strategy": "Odd"},
                            {"strategy": "Webhook"},
                            {"strategy": "None", "webhook": hook},
                            {"strategy": "Webhook", "webhook": hook},
                            {"strategy": "Webhook", "webhook": service},
                            {"strategy": ""},
                            {"strategy": "Webhook", "webhook": {"clientConfig": {}}},
                            {"strategy": "Webhook", "webhook": {**hook, "conversionReviewVersions": []}},
                        )
                    ),
                ),
                (spec, "preserveUnknownFields", draw.choice((True, False))),
                (
                    spec,
                    "versions",
                    draw.choice(
                        (
                            [],
                            [{**spec["versions"][0], "schema": {}}],
                            [{**spec["versions"][0], "schema": {"openAPIV3Schema": {}}}],
                        )
                    ),
                ),
                (made["metadata"], "name", "wrong.example.com"),
            )
        )
        place[key] = value


def definitions(api: Api, count: int = 1500) -> Iterator[Any]:
    """`[definition, code, what is wrong with it]`."""
    drawn = Definitions(51)
    for number in range(count):
        body = drawn.definition(f"d{number}")
        try:
            answer = api.post(_BASE, body, dryRun="All", fieldValidation="Ignore")
        except httpx2.TransportError:
            # Some few make the server panic.
            continue
        yield [body, answer.code, complaints(answer.code, answer.body)]


def complaints(code: int, body: Any) -> Any:
    """The causes of a refusal in a settled order, or its sentence where it has none."""
    if code < 300:
        return []
    causes = body.get("details", {}).get("causes", ())
    told = [[each.get("field", ""), _shown(each["message"])] for each in causes]
    return sorted(told) if told else body["message"]


def _shown(text: str) -> str:
    """A complaint without the values that are shown as Go's own structs."""
    found = _STRUCT.search(text)
    if found is None:
        return _OWN_TYPE.sub("selfType", text)
    try:
        _, end = json.JSONDecoder().raw_decode(text, found.end() - 1)
    except ValueError:
        return text
    return f"{text[: found.end() - 1]}{{}}{_OWN_TYPE.sub('selfType', text[end:])}"
