"""Descriptions are of types and fields that exist."""

from __future__ import annotations

from pkgutil import get_data

import pytest

from mooring.kube.schemas import Schema, builtin_kinds, builtin_schema

LINES = (get_data("mooring.apiserver", "data/descriptions.txt") or b"").decode().splitlines()
KEYS = [line.split(": ", 1)[0] for line in LINES if line and not line.startswith("#")]


def types() -> dict[str, Schema]:
    found: dict[str, Schema] = {}

    def add(schema: Schema | None) -> None:
        if schema is None or (schema.name and schema.name in found):
            return
        if schema.name:
            found[schema.name] = schema
        for child in (*schema.properties.values(), schema.items, schema.additional_properties):
            add(child)

    for key in builtin_kinds():
        add(builtin_schema(*key))
    return found


TYPES = types()


@pytest.mark.parametrize("key", [key for key in KEYS if not key.startswith("*")])
def test_what_is_described_exists(key: str) -> None:
    if key in TYPES:
        return
    name, _, field = key.rpartition(".")
    assert field in TYPES[name].properties


def test_nothing_is_described_twice() -> None:
    assert len(set(KEYS)) == len(KEYS)
