"""Strategic merge patches: merge patches that know which lists are maps by another name.

The schema says of each list whether a patch merges into it and by which field items are told apart. A patch may also
carry directives: `$patch` (replace or delete what it stands in), `$retainKeys` (drop all other fields),
`$deleteFromPrimitiveList/<field>` and `$setElementOrder/<field>`. kubectl apply and edit live on these.

Nulls in an item that is new to its list are kept, as the API keeps them at this step; pruning drops them afterwards.
"""

from typing import Any, Final

from mooring.kube.errors import go_quote, go_text
from mooring.kube.patches.equality import same
from mooring.kube.patches.errors import PatchError
from mooring.kube.patches.ordering import check_order, identity, in_order, positions
from mooring.kube.schemas.model import Schema

__all__ = ["strategic_merge_patch"]

_PATCH: Final = "$patch"
_RETAIN: Final = "$retainKeys"
_DELETE: Final = "$deleteFromPrimitiveList"
_ORDER: Final = "$setElementOrder"
_ABSENT: Final = object()


def strategic_merge_patch(document: dict[str, Any], patch: Any, schema: Schema) -> dict[str, Any]:
    """The document after the patch. PatchError when the patch does not make sense for this schema."""
    if patch.__class__ is not dict:
        raise PatchError("invalid JSON document", 400)
    return _merge_object(document, patch, schema)


def _merge_object(live: dict[str, Any], patch: dict[str, Any], schema: Schema) -> dict[str, Any]:
    if _PATCH in patch:
        return _directed(patch)
    made = live
    for key in patch:
        if key[:1] == "$":
            made = live.copy()
            patch = _apply_directives(made, patch, schema)
            break
    for key, value in patch.items():
        before = made.get(key, _ABSENT)
        after = _merge_value(before, value, schema, key)
        if after is before:
            continue
        if made is live:
            made = live.copy()
        if after is _ABSENT:
            del made[key]
        else:
            made[key] = after
    return made


def _merge_value(before: Any, value: Any, schema: Schema, key: str) -> Any:
    """The value of a field after its patch, `_ABSENT` when it goes."""
    kind = value.__class__
    if value is None:
        return _ABSENT
    if before.__class__ is kind:
        if kind is dict:
            child = _child(schema, key)
            # Whatever the strategy "replace" puts in place is taken as it is.
            return value if "replace" in child.patch_strategy else _merge_object(before, value, child)
        if kind is list:
            return _merge_lists(before, value, _list_child(schema, key))
        return before if before == value else value
    if kind is dict or kind is list:
        value = _without_directives(_without_nulls(value))
        return _ABSENT if value is _PATCH else value
    return value


def _directed(patch: dict[str, Any]) -> dict[str, Any]:
    directive = patch[_PATCH]
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != _PATCH}
    if directive == "delete":
        return {}
    raise _unknown_directive(directive, patch)


def _apply_directives(made: dict[str, Any], patch: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Carry out the directives on a fresh copy of the live object; what is left of the patch is returned."""
    rest = patch.copy()
    if _RETAIN in rest:
        _retain(made, rest, rest.pop(_RETAIN))
    for name in [name for name in rest if name.startswith(_ORDER)]:
        order = rest.pop(name)
        key = _field_of(name, _ORDER, "invalid patch format of setElementOrder list")
        if key in made or key in rest:
            made[key] = _ordered(made.get(key, _ABSENT), rest.pop(key, _ABSENT), order, _list_child(schema, key))
    for name in [name for name in rest if name.startswith(_DELETE)]:
        key = _field_of(name, _DELETE, "invalid patch format of primitive list")
        unwanted = rest.pop(name)
        if made.get(key).__class__ is list and unwanted.__class__ is list:
            made[key] = [item for item in made[key] if not any(same(item, each) for each in unwanted)]
    return rest


def _retain(made: dict[str, Any], patch: dict[str, Any], keys: Any) -> None:
    bad = PatchError("invalid patch format of retainKeys", 400)
    if keys.__class__ is not list:
        raise bad
    for key, value in patch.items():
        if value is not None and not key.startswith((_DELETE, _ORDER)) and key not in keys:
            raise bad
    for key in [key for key in made if key not in keys]:
        del made[key]


def _field_of(name: str, prefix: str, message: str) -> str:
    head, slash, key = name.partition("/")
    if head != prefix or not slash:
        raise PatchError(message, 400)
    return key


def _ordered(live: Any, patch: Any, order: Any, schema: Schema) -> list[Any]:
    """The list after its patch, sorted by `$setElementOrder`; what that does not name keeps its neighbours."""
    for value in (order, live, patch):
        if value is not _ABSENT and value.__class__ is not list:
            raise PatchError(f"expected a []interface {{}}, but received a {_go_type(value)}")
    key = schema.patch_merge_key
    before = [] if live is _ABSENT else live
    changes = [] if patch is _ABSENT else patch
    check_order(changes, order, key)
    if patch is _ABSENT:
        merged = before
    elif live is _ABSENT:
        merged = _without_directives(changes)
    else:
        merged = _merge_lists(before, changes, schema)
    _element_kind(before, changes)
    return in_order(merged, order, before, key)


def _merge_lists(live: list[Any], patch: list[Any], schema: Schema) -> list[Any]:
    if "merge" not in schema.patch_strategy:
        return live if same(live, patch) else patch
    if not live and not patch:
        return live
    key = schema.patch_merge_key
    if _element_kind(live, patch) is not dict:
        merged = live + [item for item in patch if not any(same(item, each) for each in live)]
        return in_order(_distinct(merged), patch, live, "")
    if not key:
        raise PatchError(f"cannot merge lists without merge key for {_kind_name(schema.items)}")
    live, patch = _special_items(live, patch, key)
    return _merge_items(live, patch, key, schema.items or Schema())


def _special_items(live: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Carry out `$patch` in items: delete one, or take the others in place of the whole list."""
    plain: list[Any] = []
    replace = False
    for item in patch:
        directive = item.get(_PATCH)
        if _PATCH not in item:
            plain.append(item)
        elif directive == "delete":
            if key not in item:
                raise _no_merge_key(item, key)
            live = [each for each in live if key not in each or not same(each[key], item[key])]
        elif directive == "replace":
            replace = True
        elif directive == "merge":
            raise PatchError("merging lists cannot yet be specified in the patch")
        else:
            raise _unknown_directive(directive, item)
    return (plain, []) if replace else (live, plain)


def _merge_items(live: list[Any], patch: list[Any], key: str, schema: Schema) -> list[Any]:
    merged = live.copy()
    where = positions(live, key, strict=False)
    last = -1
    # Items that repeat are brought together; all others stay where they are unless the patch moves or adds some.
    sorted_already = len(where) == len(live)
    changed = False
    for item in patch:
        wanted = identity(item, key)
        index = where.get(wanted)
        if index is None:
            where[wanted] = len(merged)
            merged.append(item)
            sorted_already = False
            continue
        sorted_already = sorted_already and index > last
        last = index
        before = merged[index]
        merged[index] = _merge_object(before, item, schema)
        changed = changed or merged[index] is not before
    if sorted_already:
        return merged if changed or len(live) != len(merged) else live
    return in_order(merged, patch, live, key)


def _element_kind(*lists: list[Any]) -> type | None:
    kind: type | None = None
    for item in (item for each in lists for item in each):
        if kind is None:
            kind = item.__class__
            if kind is list:
                raise PatchError("lists of lists are not supported")
        elif item.__class__ is not kind:
            raise PatchError(f"list element types are not identical: {go_text(list(lists))}")
    if kind is None:
        raise PatchError("no elements in any of the given slices")
    return kind


def _child(schema: Schema, key: str) -> Schema:
    child = schema.properties.get(key)
    if child is not None:
        return child
    if schema.additional_properties is not None:
        raise PatchError("merging an object in json but data type is not struct, instead is: map")
    struct = schema.name.rpartition(".")[2]
    raise PatchError(f"unable to find api field in struct {struct} for the json field {go_quote(key)}")


def _list_child(schema: Schema, key: str) -> Schema:
    child = _child(schema, key)
    if child.type != "array":
        raise PatchError("expected slice or array type, but got: struct")
    return child


def _without_nulls(value: Any) -> Any:
    if value.__class__ is dict:
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if value.__class__ is list:
        return [_without_nulls(item) for item in value]
    return value


def _without_directives(value: Any) -> Any:
    """What is left of a value without the objects that only direct; `_PATCH` when it is one itself."""
    if value.__class__ is dict:
        if _PATCH in value:
            return _PATCH
        pairs = ((key, _without_directives(item)) for key, item in value.items())
        return {key: item for key, item in pairs if item is not _PATCH}
    if value.__class__ is list:
        return [item for item in map(_without_directives, value) if item is not _PATCH]
    return value


def _distinct(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if not any(same(item, each) for each in found):
            found.append(item)
    return found


def _go_type(value: Any) -> str:
    names = {dict: "map[string]interface {}", str: "string", bool: "bool", int: "int64", float: "float64"}
    return names.get(value.__class__, "%!s(<nil>)")


def _kind_name(schema: Schema | None) -> str:
    return "struct" if schema is None or schema.properties else "map"


def _no_merge_key(item: dict[str, Any], key: str) -> PatchError:
    return PatchError(f"map: {go_text(item)} does not contain declared merge key: {key}")


def _unknown_directive(directive: Any, patch: dict[str, Any]) -> PatchError:
    return PatchError(f"unknown patch type: {go_text(directive)} in map: {go_text(patch)}")
