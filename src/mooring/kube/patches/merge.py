"""JSON merge patches (RFC 7386): null removes, objects merge, anything else replaces.

The API goes beyond the standard in one point, kept here: nulls in objects are dropped inside of lists too.
"""

from typing import Any

from mooring.kube.patches.equality import same
from mooring.kube.patches.errors import PatchError

__all__ = ["apply_merge", "merge_diff", "merge_patch"]


def merge_patch(document: dict[str, Any], patch: Any) -> dict[str, Any]:
    """The document after the patch. The very same object when the patch changes nothing."""
    if patch.__class__ is not dict:
        raise PatchError("Invalid JSON Patch", 400)
    return apply_merge(document, patch)


def apply_merge(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] | None = None
    for key, value in patch.items():
        if value is None:
            if key not in document:
                continue
            if changed is None:
                changed = document.copy()
            del changed[key]
            continue
        live = document.get(key)
        if value.__class__ is dict:
            value = apply_merge(live if live.__class__ is dict else {}, value)
            if value is live:
                continue
        else:
            if value.__class__ is list and live.__class__ is not dict:
                value = _without_nulls(value)
            if same(live, value):
                continue
        if changed is None:
            changed = document.copy()
        changed[key] = value
    return document if changed is None else changed


def _without_nulls(value: Any) -> Any:
    if value.__class__ is list:
        return [_without_nulls(item) for item in value]
    if value.__class__ is dict:
        return {
            key: _without_nulls(item) if item.__class__ is dict or item.__class__ is list else item
            for key, item in value.items()
            if item is not None
        }
    return value


def merge_diff(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The smallest merge patch that leads from one document to the other.

    There is none to a document with a null in an object; such nulls are left out.
    """
    patch: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        live = before.get(key)
        if same(live, value):
            continue
        if live.__class__ is dict and value.__class__ is dict:
            patch[key] = merge_diff(live, value)
        else:
            patch[key] = value
    return patch
