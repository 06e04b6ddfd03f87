"""Schemas and values that tests draw, with everything that may be wrong about them, and texts of every format."""

from __future__ import annotations

from random import Random
from typing import Any, Final

_FORMATS: Final = ("byte", "date", "date-time", "ipv4", "uuid", "int32", "int64", "odd", "duration", "quantity")
_TEXTS: Final = ("", "a", "ab", "abc", "abcd", "é", "👑👑", "2024-02-29", "1.2.3.4", "YQ==", "5m", "x1")
_NUMBERS: Final = (
    0,
    1,
    -1,
    2,
    3,
    4,
    10,
    2**31 - 1,
    2**31,
    -(2**31),
    -(2**31) - 1,
    2**63,
    0.5,
    1.0,
    1.5,
    -2.0,
    1e19,
    3.0,
)
ROUGH: Final[tuple[tuple[str, Any], ...]] = (
    ("properties", {"kind": {"type": "string"}, "apiVersion": {"type": "integer"}, "metadata": {}}),
    ("properties", {"kind": {}, "apiVersion": {"type": "string"}}),
    ("not", {"$ref": "x"}),
    ("allOf", [{"id": "x"}]),
    ("anyOf", [{"items": [{"type": "string"}]}]),
    ("oneOf", [{"additionalItems": False}]),
    ("$ref", "x"),
    ("additionalItems", True),
    ("additionalItems", {"type": "string"}),
    ("additionalItems", False),
    ("definitions", {"a": {}}),
    ("dependencies", {"a": []}),
    ("id", "x"),
    ("$schema", "x"),
    ("patternProperties", {"a": {}}),
    ("type", "null"),
    ("type", "odd"),
    ("type", ""),
    ("uniqueItems", True),
    ("x-kubernetes-preserve-unknown-fields", False),
    ("items", [{"type": "string"}]),
    ("items", []),
    ("x-kubernetes-embedded-resource", True),
    ("pattern", "("),
    ("pattern", "a{2,1}"),
    ("x-kubernetes-int-or-string", True),
    ("x-kubernetes-preserve-unknown-fields", True),
    ("additionalProperties", True),
    ("additionalProperties", False),
    ("additionalProperties", {"type": "string"}),
    ("x-kubernetes-map-type", "atomic"),
    ("x-kubernetes-map-type", "odd"),
    ("x-kubernetes-map-type", "granular"),
    ("x-kubernetes-list-type", "odd"),
    ("x-kubernetes-list-type", "map"),
    ("x-kubernetes-list-type", "set"),
    ("x-kubernetes-list-map-keys", ["k"]),
    ("x-kubernetes-list-map-keys", ["k", "k", "z"]),
    ("title", "t"),
    ("description", "d"),
    ("nullable", True),
    ("default", 1),
    ("x-kubernetes-validations", [{"rule": "true"}]),
    ("not", {"type": "string"}),
    ("not", {"properties": {"zz": {}}}),
    ("anyOf", [{"type": "integer"}, {"type": "string"}]),
    ("allOf", [{"anyOf": [{"type": "integer"}, {"type": "string"}]}]),
    ("allOf", [{"minimum": 1}, {"anyOf": [{"type": "integer"}, {"type": "string"}]}]),
    ("oneOf", [{"required": ["a"]}, {}]),
    ("anyOf", [{"properties": {"a": {"minimum": 1}, "metadata": {}}}]),
    ("anyOf", [{"items": {"pattern": ")"}}]),
    ("oneOf", [{"nullable": True, "default": 0, "title": "x", "x-kubernetes-list-type": "atomic"}]),
    ("not", {"not": {"type": "x"}}),
    ("properties", {"kind": {"type": "integer"}, "apiVersion": {"type": "string"}, "metadata": {"type": "string"}}),
    ("properties", {"metadata": {"type": "object", "properties": {"name": {"type": "string"}}}}),
    ("properties", {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}, "required": ["x"]}}),
    ("properties", {"metadata": {"type": "object", "description": "d", "maxProperties": 3}}),
)


def drawn_schema(draw: Random, depth: int) -> dict[str, Any]:
    """A structural schema with every sort of bound."""
    pick, chance = draw.choice, draw.random
    kind = pick(("object", "object", "array", "string", "integer", "number", "boolean", "flexible", "free"))
    if depth == 0:
        kind = "object"
    elif depth > 3:
        kind = pick(("string", "integer", "number", "boolean"))
    made: dict[str, Any] = {"type": kind}
    if kind == "object":
        _draw_object(draw, made, depth)
    elif kind == "array":
        _draw_list(draw, made, depth)
    elif kind == "string":
        options = {
            "maxLength": (0, 1, 2, 3),
            "minLength": (0, 1, 2, 3),
            "pattern": ("^[a-z]+$", "b"),
            "format": _FORMATS,
        }
        made |= {name: pick(values) for name, values in options.items() if chance() < 0.3}
    elif kind in ("integer", "number"):
        bounds = (0, 1, 2, 1.5, 3)
        for name, values in {
            "minimum": bounds,
            "maximum": bounds,
            "multipleOf": (2, 0.5, 3, 0),
            "format": ("int32", "int64"),
        }.items():
            if chance() < 0.3:
                made[name] = pick(values)
        made |= {
            name: True
            for name in ("exclusiveMinimum", "exclusiveMaximum")
            if name[9:].lower() in made and chance() < 0.4
        }
    elif kind == "flexible":
        made = {"x-kubernetes-int-or-string": True}
        if chance() < 0.4:
            made["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    elif kind == "free":
        made = {"x-kubernetes-preserve-unknown-fields": True}
    if depth and chance() < 0.15:
        made["nullable"] = True
    if depth and chance() < 0.2:
        made["default"] = drawn_value(draw, made, right=0.95)
    if kind in ("string", "integer", "number", "boolean") and chance() < 0.2:
        made["enum"] = [pick(("a", "ab", 1, 2.5, True, None)) for _ in range(draw.randint(1, 3))]
    if chance() < 0.15:
        made[pick(("anyOf", "oneOf", "allOf"))] = [_condition(draw, made) for _ in range(draw.randint(1, 3))]
    if chance() < 0.07:
        made["not"] = _condition(draw, made)
    return made


def _draw_object(draw: Random, made: dict[str, Any], depth: int) -> None:
    pick, chance = draw.choice, draw.random
    if depth and chance() < 0.25:
        made["additionalProperties"] = True if chance() < 0.1 else drawn_schema(draw, depth + 1)
    else:
        made["properties"] = {name: drawn_schema(draw, depth + 1) for name in draw.sample("abcd", draw.randint(1, 3))}
        if chance() < 0.3:
            made["required"] = draw.sample("abz", draw.randint(1, 2))
    bounds = {"maxProperties": (0, 1, 2), "minProperties": (0, 1, 2), "x-kubernetes-map-type": ("atomic", "granular")}
    made |= {name: pick(values) for name, values in bounds.items() if chance() < 0.15}
    if chance() < 0.15:
        made["x-kubernetes-preserve-unknown-fields"] = True
    if depth and chance() < 0.1:
        made["x-kubernetes-embedded-resource"] = True


def _draw_list(draw: Random, made: dict[str, Any], depth: int) -> None:
    pick, chance = draw.choice, draw.random
    made["items"] = drawn_schema(draw, depth + 1)
    made |= {name: pick((0, 1, 2, 3)) for name in ("maxItems", "minItems") if chance() < 0.2}
    if chance() < 0.4:
        made["x-kubernetes-list-type"] = pick(("atomic", "set", "map", "map"))
    if made.get("x-kubernetes-list-type") == "map":
        keys = draw.sample("kl", draw.randint(1, 2))
        fields = {
            key: pick(({"type": "string"}, {"type": "integer"}, {"type": "integer", "default": 1})) for key in keys
        }
        made["items"] = {"type": "object", "properties": {**fields, "v": {"type": "string"}}, "required": keys}
        made["x-kubernetes-list-map-keys"] = keys


def _condition(draw: Random, made: dict[str, Any]) -> dict[str, Any]:
    names = [*made.get("properties", {"a": {}})]
    return draw.choice(
        (
            {"minimum": draw.choice((1, 2))},
            {"required": [draw.choice(names)]},
            {"properties": {draw.choice(names): {"enum": ["a", 1]}}},
            {"maxLength": 1},
            {"items": {"maximum": 1}},
            {},
            {"not": {"required": ["a"]}},
        )
    )


def drawn_value(draw: Random, schema: Any, right: float = 0.9) -> Any:
    """A value that mostly is of the right type."""
    pick = draw.choice
    if draw.random() > right or not isinstance(schema, dict):
        return pick((None, "a", 1, 1.0, 1.5, True, [], ["a"], {}, {"a": 1}, 2**63))
    match schema.get("type"):
        case "string":
            return pick(schema.get("enum") or _TEXTS) if draw.random() < 0.5 else pick(_TEXTS)
        case "integer" | "number":
            return pick(_NUMBERS)
        case "boolean":
            return draw.random() < 0.5
        case "array":
            found = [drawn_value(draw, schema["items"], right) for _ in range(draw.randrange(4))]
            return [*found, found[0]] if found and draw.random() < 0.3 else found
        case "object":
            fields = schema.get("properties") or dict.fromkeys("xy", schema.get("additionalProperties"))
            made = {name: drawn_value(draw, child, right) for name, child in fields.items() if draw.random() < 0.75}
            if draw.random() < 0.25:
                made[pick("zyq")] = pick((1, None, {"deep": 1}, [{"deep": 1}]))
            return made
    return pick(("a", 1, 1.0, {"a": {"b": 1}}, [1], None, "50%"))


SAMPLES: Final[dict[str, tuple[str, ...]]] = {
    "bsonobjectid": ("507f1f77bcf86cd799439011",),
    "byte": ("YWI=", "YQ==", "YWJj", ""),
    "cidr": ("10.0.0.0/8", "::/0", "10.0.0.0/33", "fe80::1%a/64", "10.0.0.0/08", "::1/128", "::1/129"),
    "credit-card": (
        "4111 1111 1111 1111",
        "5500-0000-0000-0004",
        "340000000000009",
        "6011000000000004",
        "30000000000004",
    ),
    "date": ("2024-02-29", "2023-02-29", "0000-01-01", "9999-12-31", "2024-13-01"),
    "date-time": (
        "2024-02-29T23:59:59Z",
        "2024-02-29t00:00:00.123+01:00",
        "2024-02-29T24:00:00Z",
        "2024-02-29T20:00:00-10:30",
    ),
    "duration": ("1h30m", "-1.5s", "0", "3 days", "1week", "+.5ms", "2 µs"),
    "email": ("a@b.c", "A B <a@b>", "a@@b"),
    "hexcolor": ("#fff", "a1b2c3", "#ffff"),
    "hostname": (
        "example.com",
        "a",
        "a-b.c-d.ee",
        f"{'a' * 63}.com",
        f"{'a' * 64}.com",
        f"{'a.' * 126}com",
        f"{'a.' * 127}com",
        "é.com",
    ),
    "ipv4": ("1.2.3.4", "::1", "1.2.3.256"),
    "ipv6": ("::1", "fe80::1%eth0", "1.2.3.4", "::ffff:1.2.3.4"),
    "isbn": ("0-306-40615-2", "080442957X", "978-3-16-148410-0", "978 3 16 148410 1"),
    "isbn10": ("0306406152", "080442957X", "9783161484100"),
    "isbn13": ("9783161484100", "9783161484101", "0306406152"),
    "k8s-long-name": ("a.b-c", "A.b", "x" * 254),
    "k8s-short-name": ("a-b", "a.b", "x" * 64),
    "mac": ("01:23:45:67:89:ab", "01-23-45-67-89-AB-CD-EF", "0123.4567.89ab", "01:23:45:67:89"),
    "password": ("", "x"),
    "rgbcolor": ("rgb(0,10,255)", "rgb( 1 , 2 , 256 )", "rgb(00,1,2)"),
    "ssn": ("123-45-6789", "123 45 6789", "123456789"),
    "uri": ("http://a/b?c#d", "/a", "*", "mailto:x", "a", "http://a b"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"),
    "uuid3": ("123e4567-e89b-32d3-a456-426614174000",),
    "uuid4": ("123e4567-e89b-42d3-a456-426614174000", "123e4567-e89b-42d3-c456-426614174000"),
    "uuid5": ("123e4567-e89b-52d3-8456-426614174000", "123e4567-e89b-52d3-7456-426614174000"),
    "nothing-known": ("x",),
}
