"""The schema whose values drawn expressions call `self`, and some such values."""

from __future__ import annotations

from typing import Any, Final

Object = dict[str, Any]


def _list(items: Object, **more: Any) -> Object:
    return {"type": "array", "maxItems": 5, "items": items, **more}


def _map(values: Object, most: int = 4) -> Object:
    return {"type": "object", "maxProperties": most, "additionalProperties": values}


_TEXT: Final = {"type": "string", "maxLength": 20}
_WHOLE: Final = {"type": "integer"}

SPEC: Final[Object] = {
    "type": "object",
    "properties": {
        "i": _WHOLE,
        "f": {"type": "number"},
        "s": _TEXT,
        "e": {"type": "string", "enum": ["ab", "cd"]},
        "b": {"type": "boolean"},
        "y": {"type": "string", "format": "byte", "maxLength": 20},
        "d": {"type": "string", "format": "duration"},
        "t": {"type": "string", "format": "date-time"},
        "day": {"type": "string", "format": "date"},
        "n": {"type": "object", "properties": {"a": _WHOLE, "b": _TEXT}},
        "o": {"type": "integer"},
        "nn": {"type": "integer", "nullable": True},
        "ld": _list(_WHOLE),
        "ls": _list(_TEXT),
        "lset": _list(_WHOLE, **{"x-kubernetes-list-type": "set"}),
        "lsset": _list(_TEXT, **{"x-kubernetes-list-type": "set"}),
        "lm": _list(
            {"type": "object", "required": ["k"], "properties": {"k": _TEXT, "v": _WHOLE}},
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]},
        ),
        "m": _map(_WHOLE),
        "ms": _map(_TEXT),
        "ios": {"x-kubernetes-int-or-string": True, "maxLength": 20},
        "emb": {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
        "-x": {"type": "string", "maxLength": 5},
    },
}

VALUES: Final[list[Object]] = [
    {
        "i": 3,
        "f": 2.5,
        "s": "hello",
        "e": "ab",
        "b": True,
        "y": "aGk=",
        "d": "1h30m",
        "t": "2024-05-06T07:08:09Z",
        "day": "2024-02-29",
        "n": {"a": 1, "b": "b"},
        "o": 5,
        "nn": 1,
        "ld": [3, 1, 2],
        "ls": ["b", "a", "c"],
        "lset": [5, 4],
        "lsset": ["q", "p"],
        "lm": [{"k": "one", "v": 1}, {"k": "two", "v": 2}],
        "m": {"a": 1, "b": 2},
        "ms": {"x": "y"},
        "ios": 7,
        "emb": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}},
        "-x": "dash",
    },
    {
        "i": -9223372036854775808,
        "f": 4,
        "s": "",
        "b": False,
        "y": "w6k=",
        "d": "-1.5s",
        "t": "2024-05-06T07:08:09.123456+02:00",
        "day": "1999-12-31",
        "n": {},
        "nn": None,
        "ld": [],
        "ls": ["👑", "é"],
        "lset": [],
        "lsset": ["é"],
        "lm": [{"k": "é"}],
        "m": {},
        "ms": {"z": ""},
        "ios": "50%",
    },
    {},
]


def definition(stem: str, properties: Object) -> Object:
    """A definition of a kind whose objects have these properties."""
    schema = {"type": "object", "properties": properties}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{stem}s.language.example.com"},
        "spec": {
            "group": "language.example.com",
            "scope": "Cluster",
            "names": {"plural": f"{stem}s", "singular": stem, "kind": stem.capitalize()},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
