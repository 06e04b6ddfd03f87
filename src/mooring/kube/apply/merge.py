"""Merges what a manager applies into the live object. Nothing is removed at this step; unchanged parts are shared."""

from typing import Any

from mooring.kube.apply.elements import item_element
from mooring.kube.apply.typed import equal, field_schema, splits
from mooring.kube.schemas.model import ANYTHING, Schema

__all__ = ["merge"]


def merge(schema: Schema, live: Any, applied: Any) -> Any:
    """The live value with the applied one laid over it. The very same object when they agree."""
    kind = applied.__class__
    if kind is dict:
        if live.__class__ is dict and not schema.atomic and live:
            return _merge_objects(schema, live, applied)
    elif kind is list:
        if live.__class__ is list and live and splits(schema, applied):
            return _merge_lists(schema, live, applied) if applied else live
    elif kind is live.__class__:
        return live if live == applied else applied
    elif applied is None and live and splits(schema, live) and (live.__class__ is dict or schema.type == "array"):
        # Null says nothing about the parts.
        return live
    return live if equal(live, applied) else applied


def _merge_objects(schema: Schema, live: dict[str, Any], applied: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] | None = None
    for key, value in applied.items():
        if key in live:
            before = live[key]
            if value.__class__ is str and value == before:
                continue
            value = merge(field_schema(schema, key), before, value)
            if value is before:
                continue
        if made is None:
            made = live.copy()
        made[key] = value
    return live if made is None else made


def _merge_lists(schema: Schema, live: list[Any], applied: list[Any]) -> list[Any]:
    """Items in the order of the live list as far as the applied list does not say otherwise."""
    items = schema.items or ANYTHING
    wanted = {item_element(schema, item): item for item in applied}
    elements = [item_element(schema, item) for item in live]
    present: dict[str, Any] = {}
    for element, item in zip(elements, live, strict=True):
        # A repeated item is ambiguous, so none of its copies is merged into.
        present[element] = None if element in present else item
    order = list(wanted)
    shared = [element for element in order if element in present]
    made: list[Any] = []
    done: set[str] = set()
    i = j = following = 0
    while i < len(elements) or j < len(order):
        element = elements[i] if i < len(elements) else ""
        if element and j < len(order):
            if element == order[j]:
                made.append(_merged_item(items, present, wanted, element))
                done.add(element)
                i, j, following = i + 1, j + 1, following + 1
                continue
            if element in wanted and following < len(shared) and shared[following] != element:
                i += 1
                continue
        if element:
            if element not in wanted:
                made.append(live[i])
                i += 1
                continue
            if element in done:
                i += 1
        if j < len(order):
            made.append(_merged_item(items, present, wanted, order[j]))
            done.add(order[j])
            if following < len(shared) and shared[following] == order[j]:
                following += 1
            j += 1
    unchanged = len(made) == len(live) and all(map(_is, made, live))
    return live if unchanged else made


def _merged_item(items: Schema, present: dict[str, Any], wanted: dict[str, Any], element: str) -> Any:
    before = present.get(element)
    return wanted[element] if before is None else merge(items, before, wanted[element])


def _is(left: Any, right: Any) -> bool:
    return left is right
