"""JSON pointers (RFC 6901), edits applied to plain objects, and the same edits as a JSON patch (RFC 6902)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mooring.kube.objects import Object
from mooring.placement.advise.model import Edit


def pointer(*tokens: str | int) -> str:
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in tokens)


def tokens_of(path: str) -> list[str]:
    return [token.replace("~1", "/").replace("~0", "~") for token in path.split("/")[1:]]


def resolve(document: Any, path: str) -> Any:
    """The value at a path; None where there is none."""
    for token in tokens_of(path):
        if isinstance(document, dict):
            document = document.get(token)
        elif isinstance(document, list | tuple) and token.isdecimal() and int(token) < len(document):
            document = document[int(token)]
        else:
            return None
    return document


def edited(document: Object, edits: Iterable[Edit]) -> Object:
    """The object with edits applied one after another; the original is shared where nothing changes."""
    for edit in edits:
        document = _changed(document, tokens_of(edit.path), edit.after)
    return document


def _changed(value: Any, tokens: list[str], after: Any) -> Any:
    head, rest = tokens[0], tokens[1:]
    if isinstance(value, list | tuple):
        items = list(value)
        if head == "-":
            items.append(after)
        elif rest:
            items[int(head)] = _changed(items[int(head)], rest, after)
        elif after is None:
            del items[int(head)]
        else:
            items[int(head)] = after
        return items
    members = dict(value or {})
    if rest:
        child = members.get(head)
        members[head] = _changed(([] if rest[0] == "-" else {}) if child is None else child, rest, after)
    elif after is None:
        members.pop(head, None)
    else:
        members[head] = after
    return members


def json_patch(document: Object, edits: Iterable[Edit], prefix: str = "") -> list[Object] | None:
    """The edits as a patch of `document`, whose paths stand under `prefix`.

    JSON patch makes no parents, so what is missing on the way is added whole. None where an edit removes something
    that the document does not contain: a default, or what an admission plugin put there. Each operation comes after
    tests that what it changes is as it was.
    """
    patch: list[Object] = []
    for edit in edits:
        tokens = tokens_of(edit.path)
        if edit.after is None:
            if resolve(document, edit.path) is None:
                return None
            made: Object = {"op": "remove", "path": edit.path}
        else:
            made = _addition(document, tokens, edit.after)
        if not made["path"].endswith("/-"):
            patch += tests_of(prefix + made["path"], resolve(document, made["path"]))
        patch.append({**made, "path": prefix + made["path"]})
        document = edited(document, (edit,))
    return patch


def tests_of(path: str, before: Any) -> Iterator[Object]:
    """Operations that fail unless the value at a path is as it was, or was not there: that is null to the API.

    Only parts that are known are tested: of most objects no more was read than matters to placement.
    """
    parts: list[tuple[Any, Any]] = []
    if isinstance(before, dict):
        parts = list(before.items())
    elif isinstance(before, list | tuple):
        parts = list(enumerate(before))
    if not parts:
        yield {"op": "test", "path": path, "value": before}
    for token, value in parts:
        yield from tests_of(path + pointer(token), value)


def untested(patch: Iterable[Object]) -> list[Object]:
    """The patch for people, who look at an object before they change it."""
    return [operation for operation in patch if operation["op"] != "test"]


def _addition(document: Object, tokens: list[str], after: Any) -> Object:
    for depth in range(1, len(tokens)):
        if resolve(document, pointer(*tokens[:depth])) is None:
            value = after
            for token in reversed(tokens[depth:]):
                value = [value] if token == "-" else {token: value}
            return {"op": "add", "path": pointer(*tokens[:depth]), "value": value}
    path = pointer(*tokens)
    known = tokens[-1] != "-" and resolve(document, path) is not None
    return {"op": "replace" if known else "add", "path": path, "value": after}
