"""Sets of fields, in the very form in which managedFields store them.

A set is a tree of dicts. `{"f:spec": {"f:replicas": {}}}` holds one field, .spec.replicas; a branch that is a field of
its own says so with a dot: `{"f:labels": {".": {}, "f:app": {}}}`. Keeping this form means that the sets of managers
that a write does not touch are never read or written, only passed on. Sets are never changed in place.
"""

from collections.abc import Iterator
from typing import Any, Final

from mooring.kube.apply.elements import canonical_element, element_order, element_text
from mooring.kube.schemas.model import Schema

__all__ = [
    "LEAF",
    "FieldSet",
    "covers",
    "decode_fields",
    "difference",
    "encode_fields",
    "has_path",
    "intersection",
    "is_member",
    "named_fields_as_members",
    "path_text",
    "paths",
    "recursive_difference",
    "union",
]

FieldSet = dict[str, Any]

# A field without fields below it.
LEAF: Final[FieldSet] = {}
_SELF: Final = "."


def is_member(node: FieldSet) -> bool:
    """Whether a branch is a field of the set, and not only the way to others."""
    return not node or _SELF in node


def _node(member: bool, children: FieldSet) -> FieldSet | None:
    if not member:
        return children or None
    return {_SELF: LEAF, **children} if children else LEAF


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """Every field of either."""
    if not left or left is right:
        return right
    if not right:
        return left
    made = left.copy()
    for element, node in right.items():
        mine = made.get(element)
        if mine is None:
            made[element] = node
        elif mine is not node:
            made[element] = _joined(mine, node)
    return made


def _joined(left: FieldSet, right: FieldSet) -> FieldSet:
    if not left:
        return right if is_member(right) else {_SELF: LEAF, **right}
    if not right:
        return left if _SELF in left else {_SELF: LEAF, **left}
    return union(left, right)


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """Every field of both."""
    made: FieldSet = {}
    if len(right) < len(left):
        left, right = right, left
    for element, node in left.items():
        other = right.get(element)
        if other is not None and element != _SELF:
            both = _node(is_member(node) and is_member(other), intersection(node, other) if node and other else LEAF)
            if both is not None:
                made[element] = both
    return made


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Every field of the left that is not in the right; fields below those are not affected."""
    if not right:
        return left
    made: FieldSet | None = None
    for element, other in right.items():
        node = left.get(element)
        if node is None or element == _SELF:
            continue
        children = difference(node, other) if node and other else node
        rest = _node(is_member(node) and not is_member(other), _children(children))
        if rest is not node:
            if made is None:
                made = left.copy()
            if rest is None:
                del made[element]
            else:
                made[element] = rest
    return left if made is None else made


def recursive_difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Every field of the left that is neither in the right nor below a field of the right."""
    made: FieldSet | None = None
    for element, other in right.items():
        node = left.get(element)
        if node is None or element == _SELF:
            continue
        rest = None if is_member(other) else _node(is_member(node), _children(recursive_difference(node, other)))
        if made is None:
            made = left.copy()
        if rest is None:
            del made[element]
        else:
            made[element] = rest
    return left if made is None else made


def _children(node: FieldSet) -> FieldSet:
    return {element: child for element, child in node.items() if element != _SELF} if _SELF in node else node


def named_fields_as_members(fields: FieldSet, schema: Schema | None) -> FieldSet:
    """The set with every declared field that leads to others counted as a field of its own.

    Which of them were there is not stored, so the removal of a field has to consider all of them.
    """
    if schema is None:
        return fields
    made: FieldSet = {}
    for element, node in fields.items():
        if not node:
            made[element] = node
            continue
        if element[0] == "f":
            declared = schema.properties.get(element[2:])
            child = declared or schema.additional_properties
        else:
            declared = None
            child = schema.items if element[0] == "k" else None
        below = named_fields_as_members(node, child)
        made[element] = {_SELF: LEAF, **below} if declared is not None and _SELF not in below else below
    return made


def covers(fields: FieldSet, others: FieldSet) -> bool:
    """Whether every field of the others is in the set, too."""
    for element, node in others.items():
        mine = fields.get(element)
        if mine is node or element == _SELF:
            continue
        if mine is None or (is_member(node) and not is_member(mine)) or (node and not covers(mine, node)):
            return False
    return True


def has_path(fields: FieldSet, path: tuple[str, ...]) -> bool:
    """Whether the set holds the field at the end of the path."""
    for element in path:
        node = fields.get(element)
        if node is None:
            return False
        fields = node
    return is_member(fields)


def paths(fields: FieldSet, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every field of the set, in the API's order: those of one level first, then those below."""
    elements = sorted((element for element in fields if element != _SELF), key=element_order)
    for element in elements:
        if is_member(fields[element]):
            yield (*prefix, element)
    for element in elements:
        yield from paths(fields[element], (*prefix, element))


def path_text(path: tuple[str, ...]) -> str:
    """The path as it stands in messages, `.spec.containers[name="web"].image`."""
    return "".join(map(element_text, path))


def decode_fields(fields: Any) -> FieldSet:
    """The set that a fieldsV1 holds. Steps of unknown kinds are dropped; ValueError for what is no set at all."""
    return _decode(fields)


def _decode(fields: dict[str, Any]) -> FieldSet:
    if fields.__class__ is not dict:
        raise ValueError("a fieldsV1 holds nothing but objects")
    made: FieldSet | None = None
    for element, node in fields.items():
        if element == _SELF and not node:
            continue
        spelt = element if element[:2] == "f:" or element == _SELF else canonical_element(element)
        # A path ends with itself, whatever is said to come after.
        decoded = _decode(node) if node and element != _SELF else LEAF
        if spelt != element or decoded is not node:
            if made is None:
                made = fields.copy()
            del made[element]
            if spelt is not None:
                made[spelt] = decoded
    return fields if made is None else made


def encode_fields(fields: FieldSet) -> dict[str, Any]:
    """The set as fieldsV1, sorted."""
    made: dict[str, Any] = {}
    for element in sorted(fields):
        node = fields[element]
        made[element] = encode_fields(node) if node else {}
    return made
