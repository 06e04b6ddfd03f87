"""Draws changes: for every place in an object what is tried there, from the schema of its kind and a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from mooring.kube.schemas import Schema, builtin_schema
from tests.conformance.drawn import values
from tests.conformance.drawn.pointers import Change, pointer

# Of what is tried in a text or a number whatever its field is called.
_LETTERS = "a"


class Spot(NamedTuple):
    """A place, with the schema of what is there and what that is now."""

    place: str
    name: str
    schema: Schema
    value: Any


def spots(obj: Any) -> Iterator[Spot]:
    """Every place in an object, from the outside in."""
    yield from _spots(obj, builtin_schema(obj["apiVersion"], obj["kind"]), (), "")


def _spots(value: Any, schema: Schema, at: tuple[str | int, ...], name: str) -> Iterator[Spot]:
    yield Spot(pointer(at), name, schema, value)
    if isinstance(value, dict):
        for key, each in value.items():
            below = schema.properties.get(key, schema.additional_properties)
            if below is not None:
                yield from _spots(each, below, (*at, key), key)
    elif isinstance(value, list) and schema.items is not None:
        for index, each in enumerate(value):
            yield from _spots(each, schema.items, (*at, index), name)


def tries(spot: Spot, draw: random.Random, most: int) -> list[Change]:
    """What is tried at a place; `most` bounds what is taken by lot."""
    place, name, schema, value = spot
    if not place:
        return _new_fields(spot, draw, most)
    found: list[Change] = [[place]]
    if isinstance(value, dict):
        found += [[place, {}], [place, None], *_new_fields(spot, draw, most)]
        if schema.additional_properties is not None:
            kept = next(iter(value.values()), "")
            found += [[f"{place}/{pointer([key])}", kept] for key in draw.sample(values.keys(), min(most, 8))]
            if len(value) > 1:
                found.append([place, dict.fromkeys(list(value)[:1], kept)])
    elif isinstance(value, list):
        found += [[place, []], [place, None]]
        if value:
            found += [[place, [*value, value[0]]], [place, value[:1]], [place, value[::-1]]]
            found += [[place, [*value, *_numbered(value[-1], count)]] for count in (7, 16, 64)]
    else:
        tried = values.for_field(name, schema, value)
        said = values.words(name)
        lot = [each for each in tried if not (isinstance(each, str) and each in said)]
        found += [[place, each] for each in said] + [[place, each] for each in draw.sample(lot, min(most, len(lot)))]
    return _unique(found)


def ladder(spot: Spot) -> list[Any]:
    """Values in their order, between which an answer turns into another: numbers, or longer and longer texts."""
    schema = spot.schema
    if schema.type == "integer":
        return sorted(
            {*values.numbers(), *([spot.value - 1, spot.value, spot.value + 1] if isinstance(spot.value, int) else [])}
        )
    if schema.type == "string" and not schema.format and isinstance(spot.value, str):
        return [_LETTERS * count for count in values.LENGTHS]
    return []


def _numbered(value: Any, count: int) -> list[Any]:
    """More of the same, which have names of their own where they have names."""
    if isinstance(value, str):
        return [f"{value}{number}" for number in range(count)]
    if isinstance(value, dict):
        key = next((each for each in ("name", "key", "type", "mountPath", "ip", "path") if each in value), None)
        return [{**value, key: f"{value[key]}{number}"} if key else value for number in range(count)]
    return [value] * count


def _new_fields(spot: Spot, draw: random.Random, most: int) -> list[Change]:
    """Fields that the object could have and has not, each with something that may be right there."""
    place, _, schema, value = spot
    absent = [key for key in schema.properties if key not in value] if isinstance(value, dict) else []
    found: list[Change] = []
    for key in absent:
        if not place and key == "status":
            continue
        field = schema.properties[key]
        at = f"{place}/{pointer([key])}" if place else pointer([key])
        found.append([at, values.good_guess(key, field)])
        if field.properties or field.additional_properties or field.type == "array":
            found.append([at, [] if field.type == "array" else {}])
        else:
            lot = values.for_field(key, field, None)
            found += [[at, each] for each in draw.sample(lot, min(max(2, most // 3), len(lot)))]
    if isinstance(value, dict) and schema.properties:
        found.append([f"{place}/unknown" if place else "unknown", 1])
    return found


def _unique(found: list[Change]) -> list[Change]:
    seen: dict[str, Change] = {}
    for each in found:
        seen.setdefault(repr(each), each)
    return list(seen.values())
