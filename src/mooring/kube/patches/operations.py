"""JSON patches (RFC 6902), with the leniencies and the error texts of the API server.

Two leniencies matter in practice: `replace` on a missing key of an object sets it, and negative positions count from
the end of a list. What is not changed is shared with the document before.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from mooring.kube.json_errors import unmarshal_complaint
from mooring.kube.nesting import TOO_DEEP, is_deeper
from mooring.kube.patches.draft import MISSING, Draft, PositionError, holder_of, member_of
from mooring.kube.patches.equality import same
from mooring.kube.patches.errors import PatchError

__all__ = ["json_patch"]

# The real server's.
_MAX_OPERATIONS: Final = 10_000

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def json_patch(document: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """The document after all operations, or a PatchError and no change."""
    operations = _operations(operations)
    if len(operations) > _MAX_OPERATIONS:
        message = f"The allowed maximum operations in a JSON patch is {_MAX_OPERATIONS}, got {len(operations)}"
        raise PatchError(message, 413)
    draft = Draft(document)
    for operation in operations:
        kind = operation.get("op")
        apply = _OPERATIONS.get(kind) if isinstance(kind, str) else None
        if apply is None:
            raise PatchError(f"Unexpected kind: {kind if isinstance(kind, str) else 'unknown'}")
        apply(draft, operation)
    # Operations that add an object into the one before nest deeper than any body may.
    if draft.document is not document and is_deeper(draft.document):
        raise PatchError(TOO_DEEP, 400)
    return draft.document


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


def _add(draft: Draft, operation: Mapping[str, Any]) -> None:
    path = _member(operation, "path", "add operation failed to decode path: missing value")
    missing = f'add operation does not apply: doc is missing path: "{path}": missing value'
    try:
        draft.insert(*draft.container(path, missing), operation.get("value"))
    except PositionError as error:
        raise PatchError(f"error in add for path: '{path}': {error}") from None


def _remove(draft: Draft, operation: Mapping[str, Any]) -> None:
    path = _member(operation, "path", "remove operation failed to decode path: missing value")
    missing = f'remove operation does not apply: doc is missing path: "{path}": missing value'
    try:
        draft.remove(*draft.container(path, missing))
    except PositionError as error:
        raise PatchError(f"error in remove for path: '{path}': {error}") from None


def _replace(draft: Draft, operation: Mapping[str, Any]) -> None:
    path = _member(
        operation, "path", "replace operation failed to decode path: operation missing path field: missing value"
    )
    value = operation.get("value")
    if path == "":
        if not isinstance(value, dict | list):
            raise PatchError("replace operation value must be object or array: %!w(<nil>)")
        draft.document = value
        return
    where, key = draft.container(path, f"replace operation does not apply: doc is missing path: {path}: missing value")
    try:
        draft.put(where, key, value)
    except PositionError:
        message = f"replace operation does not apply: doc is missing key: {path}: missing value"
        raise PatchError(message) from None


def _move(draft: Draft, operation: Mapping[str, Any]) -> None:
    source = _member(
        operation, "from", "move operation failed to decode from: operation, missing from field: missing value"
    )
    where, key = draft.container(
        source, f"move operation does not apply: doc is missing from path: {source}: missing value"
    )
    try:
        value = member_of(where, key)
        draft.remove(where, key)
    except PositionError as error:
        raise PatchError(f"error in move for path: '{key}': {error}") from None
    path = _member(
        operation, "path", "move operation failed to decode path: operation missing path field: missing value"
    )
    missing = f"move operation does not apply: doc is missing destination path: {path}: missing value"
    try:
        draft.insert(*draft.container(path, missing), _present(value))
    except PositionError as error:
        raise PatchError(f"error in move for path: '{path}': {error}") from None


def _copy(draft: Draft, operation: Mapping[str, Any]) -> None:
    source = _member(
        operation, "from", "copy operation failed to decode from: operation, missing from field: missing value"
    )
    where, key = holder_of(draft.document, source)
    if where is MISSING:
        raise PatchError(f"copy operation does not apply: doc is missing from path: {source}: missing value")
    try:
        text = _encode(_present(member_of(where, key)))
    except PositionError as error:
        raise PatchError(f"error in copy for from: '{source}': {error}") from None
    draft.count_copy(len(text))
    path = _member(operation, "path", "copy operation failed to decode path: missing value")
    missing = f"copy operation does not apply: doc is missing destination path: {path}: missing value"
    try:
        # A copy of its own: the draft changes in place what it holds, and must not hold it twice.
        draft.insert(*draft.container(path, missing), _decode(text))
    except PositionError as error:
        raise PatchError(f"error while adding value during copy: {error}") from None


def _test(draft: Draft, operation: Mapping[str, Any]) -> None:
    path = _member(
        operation, "path", "test operation failed to decode path: operation missing path field: missing value"
    )
    if path == "":
        value = draft.document
    else:
        where, key = holder_of(draft.document, path)
        if where is MISSING:
            raise PatchError(f"test operation does not apply: is missing path: {path}: missing value")
        try:
            value = _present(member_of(where, key))
        except PositionError as error:
            raise PatchError(f"error in test for path: '{path}': {error}") from None
    if not same(value, operation.get("value")):
        raise PatchError(f"testing value {path} failed: test failed")


_OPERATIONS: Final[dict[str, Callable[[Draft, Mapping[str, Any]], None]]] = {
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


def _present(value: Any) -> Any:
    return None if value is MISSING else value
