"""Says which fields differ between two objects: removed, changed, and new.

Parts that are the same Python object are equal without a look. Merging shares what it does not change, so comparing
after it costs in proportion to the change, not to the object.
"""

from typing import Any, Final, NamedTuple

from mooring.kube.apply.elements import item_element
from mooring.kube.apply.fieldsets import LEAF, FieldSet, recursive_difference, union
from mooring.kube.apply.typed import equal, field_schema, splits
from mooring.kube.schemas.model import ANYTHING, Schema

__all__ = ["FieldComparison", "compare"]

_CONTAINERS: Final = (dict, list)


class FieldComparison(NamedTuple):
    """The fields that differ; no field is in two of the sets."""

    removed: FieldSet
    modified: FieldSet
    added: FieldSet

    @property
    def written(self) -> FieldSet:
        """The fields to which the second object gave a value."""
        return union(self.modified, self.added)

    def without(self, ignored: FieldSet) -> "FieldComparison":
        """What is left of it outside of some fields."""
        if not ignored:
            return self
        return FieldComparison(*(recursive_difference(fields, ignored) for fields in self))


def compare(schema: Schema, before: dict[str, Any], after: dict[str, Any], ignored: FieldSet = LEAF) -> FieldComparison:
    """Which fields, apart from some, lead from one object to the other."""
    found = FieldComparison({}, {}, {})
    if before is after:
        return found
    # Sections that are ignored as a whole are not looked into.
    skipped = {element[2:] for element, node in ignored.items() if not node}
    if skipped:
        before = {key: value for key, value in before.items() if key not in skipped}
        after = {key: value for key, value in after.items() if key not in skipped}
    _compare_objects(schema, before, after, found)
    return found.without(ignored) if len(skipped) < len(ignored) else found


def _put(found: FieldComparison, element: str, below: FieldComparison) -> None:
    for fields, nodes in zip(found, below, strict=True):
        if nodes:
            fields[element] = nodes


def _compare_objects(schema: Schema, before: dict[str, Any], after: dict[str, Any], found: FieldComparison) -> None:
    for key, value in after.items():
        if key not in before:
            found.added[f"f:{key}"] = _everything(field_schema(schema, key), value)
        elif before[key] is not value:
            _compare_values(field_schema(schema, key), before[key], value, f"f:{key}", found)
    for key, value in before.items():
        if key not in after:
            found.removed[f"f:{key}"] = _everything(field_schema(schema, key), value)


def _compare_values(schema: Schema, before: Any, after: Any, element: str, found: FieldComparison) -> None:
    if before.__class__ not in _CONTAINERS and after.__class__ not in _CONTAINERS:
        if not equal(before, after):
            found.modified[element] = LEAF
        return
    was_split = bool(before) and splits(schema, before)
    is_split = bool(after) and splits(schema, after)
    if not was_split and not is_split:
        if not equal(before, after):
            found.modified[element] = LEAF
        return
    below = FieldComparison({}, {}, {})
    if was_split and is_split and before.__class__ is after.__class__:
        if after.__class__ is dict:
            _compare_objects(schema, before, after, below)
        else:
            _compare_lists(schema, before, after, below)
    else:
        # Null and an empty container of the same kind have no parts; anything else is another value, too.
        if was_split:
            below.removed.update(_parts(schema, before))
        if is_split:
            below.added.update(_parts(schema, after))
        container = (before if was_split else after).__class__
        if any(side is not None and side.__class__ is not container for side in (before, after)):
            found.modified[element] = LEAF
    _put(found, element, below)


def _everything(schema: Schema, value: Any) -> FieldSet:
    """A value that came or went as a whole: every part of it, and itself."""
    return {".": LEAF, **_parts(schema, value)} if value and splits(schema, value) else LEAF


def _parts(schema: Schema, value: Any) -> FieldSet:
    if value.__class__ is dict:
        return {
            f"f:{key}": _everything(field_schema(schema, key), item) if item.__class__ in _CONTAINERS else LEAF
            for key, item in value.items()
        }
    items = schema.items or ANYTHING
    made: FieldSet = {}
    for element, group in _groups(schema, value).items():
        made[element] = _everything(items, group[0]) if len(group) == 1 else LEAF
    return made


def _groups(schema: Schema, value: list[Any]) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {}
    for item in value:
        groups.setdefault(item_element(schema, item), []).append(item)
    return groups


def _compare_lists(schema: Schema, before: list[Any], after: list[Any], found: FieldComparison) -> None:
    items = schema.items or ANYTHING
    old, new = _groups(schema, before), _groups(schema, after)
    for element in {**old, **new}:
        left, right = old.get(element, []), new.get(element, [])
        if len(left) > 1 and len(right) > 1:
            if not equal(left, right):
                found.modified[element] = LEAF
        elif len(left) > 1:
            # The mark of a repeated item goes, and what is left of it comes with all its parts.
            found.removed[element] = LEAF
            if right:
                found.added[element] = _everything(items, right[0])
        elif len(right) > 1:
            found.added[element] = LEAF
            if left:
                found.removed[element] = _everything(items, left[0])
        elif not left:
            found.added[element] = _everything(items, right[0])
        elif not right:
            found.removed[element] = _everything(items, left[0])
        elif left[0] is not right[0]:
            _compare_values(items, left[0], right[0], element, found)
