"""JSON patches (RFC 6902), with the leniencies and the error texts of the API server.

Two leniencies matter in practice: `replace` on a missing key of an object sets it, and negative positions count from
the end of a list. Only the containers on the way to a change are copied.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from mooring.kube.errors import go_quote
from mooring.kube.json_errors import unmarshal_complaint
from mooring.kube.patches.equality import same
from mooring.kube.patches.errors import PatchError

__all__ = ["json_patch"]

_MAX_OPERATIONS: Final = 10_000
# Thirty copies of an object into itself would otherwise make a billion of one.
_MAX_COPY_BYTES: Final = 3 * 1024 * 1024
_MISSING: Final = object()

Edit = Callable[[Any, str], Any]


class _IndexError(Exception):
    """A position that the list does not have, in the API's words."""


def json_patch(document: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """The document after all operations, or a PatchError and no change."""
    operations = _operations(operations)
    if len(operations) > _MAX_OPERATIONS:
        message = f"The allowed maximum operations in a JSON patch is {_MAX_OPERATIONS}, got {len(operations)}"
        raise PatchError(message, 413)
    copied = 0
    for operation in operations:
        kind = operation.get("op")
        apply = _OPERATIONS.get(kind) if isinstance(kind, str) else None
        if apply is None:
            raise PatchError(f"Unexpected kind: {kind if isinstance(kind, str) else 'unknown'}")
        if apply is _copy:
            copied += _copied_size(document, operation)
            if copied > _MAX_COPY_BYTES:
                raise PatchError(
                    f"Unable to complete the copy, the accumulated size increase of copy is {copied}, "
                    f"exceeding the limit {_MAX_COPY_BYTES}"
                )
        document = apply(document, operation)
    return document


def _operations(given: Any) -> list[Mapping[str, Any]]:
    """The operations of a patch; null stands for none, and for one that says nothing."""
    if given is not None and not isinstance(given, list | tuple):
        raise _undecodable(unmarshal_complaint(given, "[]handlers.jsonPatchOp"))
    found = [{} if each is None else each for each in given or ()]
    for each in found:
        if not isinstance(each, Mapping):
            raise _undecodable(unmarshal_complaint(each, "handlers.jsonPatchOp"))
        for name in ("op", "path", "from"):
            if not isinstance(each.get(name), str | None):
                why = unmarshal_complaint(each[name], "string")
                raise _undecodable(why.replace("Go value", f"Go struct field jsonPatchOp.{name}"))
    return found


def _undecodable(why: str) -> PatchError:
    return PatchError(f"error decoding patch: {why}", 400)


def _add(document: Any, operation: Mapping[str, Any]) -> Any:
    path = _member(operation, "path", "add operation failed to decode path: missing value")
    value = operation.get("value")
    missing = f'add operation does not apply: doc is missing path: "{path}": missing value'
    try:
        return _edit(document, path, lambda where, key: _inserted(where, key, value), missing)
    except _IndexError as error:
        raise PatchError(f"error in add for path: '{path}': {error}") from None


def _remove(document: Any, operation: Mapping[str, Any]) -> Any:
    path = _member(operation, "path", "remove operation failed to decode path: missing value")
    missing = f'remove operation does not apply: doc is missing path: "{path}": missing value'
    try:
        return _edit(document, path, _removed, missing)
    except _IndexError as error:
        raise PatchError(f"error in remove for path: '{path}': {error}") from None


def _replace(document: Any, operation: Mapping[str, Any]) -> Any:
    path = _member(
        operation, "path", "replace operation failed to decode path: operation missing path field: missing value"
    )
    value = operation.get("value")
    if path == "":
        if not isinstance(value, dict | list):
            raise PatchError("replace operation value must be object or array: %!w(<nil>)")
        return value

    def replaced(where: Any, key: str) -> Any:
        try:
            _get(where, key)
        except _IndexError:
            message = f"replace operation does not apply: doc is missing key: {path}: missing value"
            raise PatchError(message) from None
        return _put(where, key, value)

    missing = f"replace operation does not apply: doc is missing path: {path}: missing value"
    return _edit(document, path, replaced, missing)


def _move(document: Any, operation: Mapping[str, Any]) -> Any:
    source = _member(
        operation, "from", "move operation failed to decode from: operation, missing from field: missing value"
    )
    holder, key = _holder(document, source)
    if holder is _MISSING:
        raise PatchError(f"move operation does not apply: doc is missing from path: {source}: missing value")
    try:
        value = _get(holder, key)
        document = _edit(document, source, _removed, "")
    except _IndexError as error:
        raise PatchError(f"error in move for path: '{key}': {error}") from None
    path = _member(
        operation, "path", "move operation failed to decode path: operation missing path field: missing value"
    )
    missing = f"move operation does not apply: doc is missing destination path: {path}: missing value"
    try:
        return _edit(document, path, lambda where, name: _inserted(where, name, _present(value)), missing)
    except _IndexError as error:
        raise PatchError(f"error in move for path: '{path}': {error}") from None


def _copy(document: Any, operation: Mapping[str, Any]) -> Any:
    source = _member(
        operation, "from", "copy operation failed to decode from: operation, missing from field: missing value"
    )
    holder, key = _holder(document, source)
    if holder is _MISSING:
        raise PatchError(f"copy operation does not apply: doc is missing from path: {source}: missing value")
    try:
        value = _present(_get(holder, key))
    except _IndexError as error:
        raise PatchError(f"error in copy for from: '{source}': {error}") from None
    path = _member(operation, "path", "copy operation failed to decode path: missing value")
    missing = f"copy operation does not apply: doc is missing destination path: {path}: missing value"
    try:
        return _edit(document, path, lambda where, name: _inserted(where, name, value), missing)
    except _IndexError as error:
        raise PatchError(f"error while adding value during copy: {error}") from None


def _copied_size(document: Any, operation: Mapping[str, Any]) -> int:
    """How large what will be copied is; 0 where the copy will fail for another reason."""
    source = operation.get("from")
    if not isinstance(source, str):
        return 0
    holder, key = _holder(document, source)
    try:
        return 0 if holder is _MISSING else len(msgspec.json.encode(_present(_get(holder, key))))
    except _IndexError:
        return 0


def _test(document: Any, operation: Mapping[str, Any]) -> Any:
    path = _member(
        operation, "path", "test operation failed to decode path: operation missing path field: missing value"
    )
    if path == "":
        value = document
    else:
        holder, key = _holder(document, path)
        if holder is _MISSING:
            raise PatchError(f"test operation does not apply: is missing path: {path}: missing value")
        try:
            value = _present(_get(holder, key))
        except _IndexError as error:
            raise PatchError(f"error in test for path: '{path}': {error}") from None
    if not same(value, operation.get("value")):
        raise PatchError(f"testing value {path} failed: test failed")
    return document


_OPERATIONS: Final[dict[str, Callable[[Any, Mapping[str, Any]], Any]]] = {
    "add": _add,
    "copy": _copy,
    "move": _move,
    "remove": _remove,
    "replace": _replace,
    "test": _test,
}


def _member(operation: Mapping[str, Any], name: str, message: str) -> str:
    value = operation.get(name)
    if not isinstance(value, str):
        raise PatchError(message)
    return value


def _parts(path: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _holder(document: Any, path: str) -> tuple[Any, str]:
    """The container that the last part of the path is in, or _MISSING."""
    parts = _parts(path)
    if not parts:
        return _MISSING, ""
    where = document
    for part in parts[:-1]:
        where = _step(where, part)
    return (where if isinstance(where, dict | list) else _MISSING), parts[-1]


def _step(where: Any, part: str) -> Any:
    if isinstance(where, dict | list):
        try:
            return _get(where, part)
        except _IndexError:
            pass
    return _MISSING


def _edit(document: Any, path: str, edit: Edit, missing: str) -> Any:
    """The document with the container at the end of the path edited and those above it copied."""
    parts = _parts(path)
    way = [document]
    for part in parts[:-1]:
        way.append(_step(way[-1], part))
    if not parts or not isinstance(way[-1], dict | list):
        raise PatchError(missing)
    made = edit(way[-1], parts[-1])
    for where, part in zip(reversed(way[:-1]), reversed(parts[:-1]), strict=True):
        made = _put(where, part, made)
    return made


def _get(where: Any, key: str) -> Any:
    return where.get(key, _MISSING) if isinstance(where, dict) else where[_position(key, len(where))]


def _put(where: Any, key: str, value: Any) -> Any:
    if isinstance(where, dict):
        return {**where, key: value}
    changed = where.copy()
    changed[_position(key, len(where))] = value
    return changed


def _inserted(where: Any, key: str, value: Any) -> Any:
    if isinstance(where, dict):
        return {**where, key: value}
    if key == "-":
        return [*where, value]
    try:
        index = _position(key, len(where) + 1)
    except _NotANumberError as error:
        raise _IndexError(f"value was not a proper array index: '{key}': {error}") from None
    return [*where[:index], value, *where[index:]]


def _removed(where: Any, key: str) -> Any:
    if isinstance(where, dict):
        if key not in where:
            raise _IndexError(f"Unable to remove nonexistent key: {key}: missing value")
        return {name: value for name, value in where.items() if name != key}
    index = _position(key, len(where))
    return where[:index] + where[index + 1 :]


class _NotANumberError(_IndexError):
    """A position that is not a number."""


def _position(key: str, length: int) -> int:
    digits = key[1:] if key[:1] in ("+", "-") else key
    if not (digits.isdecimal() and digits.isascii()):
        raise _NotANumberError(f"strconv.Atoi: parsing {go_quote(key)}: invalid syntax")
    index = int(key)
    if not -length <= index < length:
        raise _IndexError(f"Unable to access invalid index: {index}: invalid index referenced")
    return index % length if length else index


def _present(value: Any) -> Any:
    return None if value is _MISSING else value
