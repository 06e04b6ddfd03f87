"""What is put into a field: words, numbers and objects at the edges of what is allowed, by its schema and name."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from mooring.kube.schemas import Schema

_NUMBERS = (
    0,
    -1,
    1,
    2,
    3,
    5,
    10,
    20,
    63,
    64,
    100,
    101,
    255,
    256,
    300,
    511,
    512,
    600,
    999,
    1000,
    3600,
    3601,
    10000,
    32767,
    65535,
    65536,
    86400,
    86401,
    100000,
    100001,
    10000000,
    10000001,
    1000000000,
    1000000001,
    2**31 - 2,
    2**31 - 1,
)
_HUGE = (2**31, -(2**31) - 1, 2**32, 2**63)
_TEXTS = (
    "",
    "x",
    "A_b",
    "-a",
    "a-",
    "a.b",
    "a/b",
    "a b",
    "example.com/a",
    "/a",
    "1",
    "0",
    "*",
    "*.example.com",
    "10.0.0.1",
    "010.0.0.1",
    "fd00::1",
    "10.0.0.0/8",
    "10.0.0.1/8",
    "é",
    "a\nb",
    "A",
    "a..b",
    "$(A)",
    "%",
    "..",
    "a/../b",
    "a:b",
    "true",
)
LENGTHS = (1, 8, 15, 16, 32, 33, 52, 53, 63, 64, 128, 129, 253, 254, 256, 257, 512, 513, 1024, 1025, 2048, 2049)
_LONG = ("a." * 127 + "a", "a/" + "b" * 63, "a/" + "b" * 64)
_QUANTITIES = (
    "0",
    "-1",
    "1",
    "1m",
    "1n",
    "100m",
    "1500m",
    "1Gi",
    "20Gi",
    "4Mi",
    "3Mi",
    "1.5",
    "1e3",
    "",
    "x",
    "1 Gi",
    5,
    1.5,
    "9223372036854775807",
    "100E",
    "0.1",
)
_TIMES = (
    "2026-01-01T00:00:00Z",
    "2026-01-01T12:00:00.123456Z",
    "2026-01-01T02:00:00+02:00",
    "2025-06-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "yesterday",
    "",
)
_BYTES = ("", "YQ==", "!", "e30=", "eyJhdXRocyI6e319")
_SHARES = (0, 1, -1, 2, 101, "0%", "1%", "100%", "101%", "-1%", "50", "5.5%", "x", "", 65535, 65536, "http")
_RAW: tuple[Any, ...] = ({}, {"a": 1}, {"apiVersion": "v1", "kind": "A"}, [1], "text")
_ANY: tuple[Any, ...] = ({}, [], "x", 1, None, True)
_KEYS = (
    "a",
    "A_b",
    "-a",
    "example.com/a",
    "a/b/c",
    "/a",
    "a" * 63,
    "a" * 64,
    "",
    "a b",
    "kubernetes.io/a",
    "cpu",
    "memory",
    "storage",
    "pods",
    "example.com/gpu",
    "hugepages-2Mi",
    "ephemeral-storage",
    "UPPER.example.com/a",
    "requests.cpu",
    "count/pods",
)


@cache
def _words() -> dict[str, list[str]]:
    text = (Path(__file__).parent / "words.yaml").read_text(encoding="utf-8")
    found: dict[str, list[str]] = yaml.safe_load(text)
    return found


def for_field(name: str, schema: Schema, old: Any) -> list[Any]:
    """Everything that is tried in one field that holds no fields itself."""
    found = list(_of_type(name, schema))
    if isinstance(old, int) and not isinstance(old, bool):
        found += [old + 1, old - 1]
    if isinstance(old, str) and schema.type == "string" and schema.format == "":
        found += [old + "x", old.upper(), old + "/", "." + old]
    # Of other types.
    found += [
        None,
        {} if schema.type != "object" else "x",
        [] if schema.type != "array" else 1,
        "x" if schema.type in ("integer", "boolean") else 7,
    ]
    return [each for each in found if each != old or type(each) is not type(old)]


def words(name: str) -> list[str]:
    return [word.replace("~", " ") for word in _words().get(name, ())]


def _of_type(name: str, schema: Schema) -> list[Any]:
    if schema.int_or_string:
        return list(_SHARES)
    if schema.format == "quantity":
        return list(_QUANTITIES)
    if schema.format == "date-time":
        return list(_TIMES)
    if schema.format == "byte":
        return list(_BYTES)
    if schema.type == "boolean":
        return [True, False]
    if schema.type == "integer":
        return [0, 1, -1, 5, 2**31]
    if schema.type == "number":
        return [0, 1.5, -1]
    if schema.type == "string":
        return [*words(name) * 3, *_TEXTS, *_LONG]
    return list(_RAW if schema.name == "runtime.RawExtension" else _ANY)


def good_guess(name: str, schema: Schema, depth: int = 0) -> Any:
    """Something that may well be right in a field that was not there."""
    if schema.properties and depth < 4:
        wanted = [
            key for key in schema.properties if key in schema.required or (depth < 1 and len(schema.properties) < 4)
        ]
        return {key: good_guess(key, schema.properties[key], depth + 1) for key in wanted}
    if schema.type == "array":
        return [good_guess(name, schema.items, depth + 1)] if schema.items is not None else []
    if schema.additional_properties is not None:
        return {"a": good_guess("", schema.additional_properties, depth + 1)}
    found = [each for each in _of_type(name, schema) if each not in ("", 0, False, None)]
    return found[0] if found else {}


def keys() -> list[str]:
    return list(_KEYS)


def numbers() -> list[int]:
    return [*_NUMBERS, *_HUGE]
