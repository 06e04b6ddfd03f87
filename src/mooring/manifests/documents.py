"""Turns files into documents: splits streams, unfolds Lists, and says where each object came from.

Two ways to read, one set of rules. `read_manifests` gives plain objects, for what people wrote. `read_views` gives
typed views of the kinds that are asked for, for snapshots of whole clusters, and is some forty times faster;
`read_objects` gives both.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Final, Generic, TypeVar, cast

import msgspec

from mooring.manifests import pieces
from mooring.manifests.blocks import BlockReader, Unusual, is_regular
from mooring.manifests.errors import ManifestError
from mooring.manifests.loader import load_all
from mooring.manifests.stream import TextSection, json_items, sections, text_chunks
from mooring.manifests.views import ViewReader, convert

T = TypeVar("T")
Views = Mapping[tuple[str, str], type[msgspec.Struct]]
"""The view for each (apiVersion, kind) that is wanted."""
Fits = Callable[[Any], bool]
"""Whether a view may stand for the whole object. Handed to other processes, so it must have a name of its own."""


class Document(msgspec.Struct, Generic[T], frozen=True):
    """An object and where it stands: the file, the document in it (from 1), and the item if that is a List (from 0)."""

    file: str
    number: int
    index: int | None
    value: T

    def error(self, problem: str) -> ManifestError:
        """An error about this object."""
        return ManifestError(problem, file=self.file, document=self.number, index=self.index)


def read_manifests(path: str | Path) -> Iterator[Document[dict[str, Any]]]:
    """Every object in a file of YAML or JSON; `-` is standard input. Lists are unfolded into their items."""
    with _opened(path) as (stream, name):
        yield from _Reader(name, None).read(stream)


def read_manifest_stream(stream: IO[bytes], name: str) -> Iterator[Document[dict[str, Any]]]:
    """The same from an open stream, which errors call by the name."""
    yield from _Reader(name, None).read(stream)


def read_views(path: str | Path, views: Views) -> Iterator[Document[Any]]:
    """The objects of the given kinds as views; objects of other kinds are left out."""
    return _read(path, views, None)


def read_objects(path: str | Path, views: Views, fits: Fits) -> Iterator[Document[Any]]:
    """Every object: those of the given kinds as views where the view `fits`, all others as plain objects."""
    return _read(path, views, fits)


def _read(path: str | Path, views: Views, fits: Fits | None) -> Iterator[Document[Any]]:
    with _opened(path) as (stream, name):
        plain = stream is not sys.stdin.buffer and not name.endswith(_PACKED)
        if plain and Path(path).stat().st_size >= pieces.MIN_SIZE:
            yield from _read_large(Path(path), stream, name, views, fits)
        else:
            yield from read_stream(stream, name, views, fits)


def _read_large(path: Path, stream: IO[bytes], name: str, views: Views, fits: Fits | None) -> Iterator[Document[Any]]:
    # What starts processes takes as long to import as a small file to read.
    from mooring.manifests.parallel import WorkerFailed, pieces_of, read_in_parallel

    done = 0
    cut = pieces_of(path)
    if len(cut) > 1:
        try:
            for index, value in read_in_parallel(path, cut, views, fits):
                done += 1
                yield Document(name, 1, index, value)
            return
        except WorkerFailed:
            pass
    yield from islice(read_stream(stream, name, views, fits), done, None)


def read_stream(stream: IO[bytes], name: str, views: Views, fits: Fits | None = None) -> Iterator[Document[Any]]:
    """The same from an open stream, in this process."""
    yield from _Reader(name, views, fits).read(stream)


@contextmanager
def _opened(path: str | Path) -> Iterator[tuple[IO[bytes], str]]:
    if str(path) == "-":
        yield sys.stdin.buffer, "standard input"
        return
    name = str(path)
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - closed below; errors of the caller must not look like ours
    except FileNotFoundError:
        raise ManifestError("no such file", file=name) from None
    except IsADirectoryError:
        raise ManifestError("is a directory, not a file", file=name) from None
    except OSError as error:
        raise ManifestError((error.strerror or "cannot be read").lower(), file=name) from None
    with stream:
        if name.endswith(_PACKED):
            from mooring.manifests.packed import Unpacked

            yield cast(IO[bytes], Unpacked(stream)), name
        else:
            yield stream, name


_PACKED: Final = ".gz"
_HEAD = re.compile(r"apiVersion: ([A-Za-z0-9./-]+)\n  kind: ([A-Za-z]+)\n")
_MARKER = re.compile(r"(?:---|\.\.\.)(?:[ \t\n]|\Z)")
_FIRST_BYTES: Final = 1 << 20


class _Envelope(msgspec.Struct, rename="camel"):
    """What tells a List from other objects in JSON; its items stay text until each is decoded."""

    api_version: str = ""
    kind: str = ""
    items: list[msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


class _Pending:
    """A YAML document that is being collected."""

    def __init__(self) -> None:
        self.sections: list[TextSection] = []
        self.kindless: list[tuple[dict[str, Any], int]] = []
        self.next_index = 0
        self.in_items = False

    @property
    def is_empty(self) -> bool:
        return not self.next_index and all(_is_comment(section.text) for section in self.sections)

    @property
    def is_prologue(self) -> bool:
        """Directives that belong to the document which the next marker starts."""
        return any(section.text.startswith("%") for section in self.sections)


class _Reader:
    def __init__(self, file: str, views: Views | None, fits: Fits | None = None) -> None:
        # With `fits`, what has no view, or one that does not fit, is given as it is; without, it is left out.
        self._file, self._views, self._fits = file, views, fits
        self._blocks, self._typed = BlockReader(), ViewReader()
        self._number = 0
        self._index: int | None = None
        self._cut_items = True

    def read(self, stream: IO[bytes]) -> Iterator[Document[Any]]:
        try:
            chunks = text_chunks(stream)
            head = next(chunks)
            # Items that refer to each other cannot be read one by one. Nothing that is printed by a program does.
            self._cut_items = len(head) >= _FIRST_BYTES // 2 or "&" not in head or "*" not in head
            if head.lstrip()[:1] in ("{", "["):
                yield from self._json(head, chunks)
            else:
                yield from self._yaml(chain([head], chunks))
            if not self._number:
                raise ManifestError("is empty: expected at least one object")
        except ManifestError as error:
            if error.file:
                raise
            raise self._error(error.problem, error.line) from None
        except RecursionError:
            raise self._error("nested too deeply") from None

    def _error(self, problem: str, line: int | None = None) -> ManifestError:
        return ManifestError(problem, file=self._file, document=self._number or None, index=self._index, line=line)

    # YAML

    def _yaml(self, chunks: Iterator[str]) -> Iterator[Document[Any]]:
        pending = _Pending()
        for section in sections(chunks):
            if section.text.startswith("- ") and pending.in_items:
                yield from self._item(section, pending)
            elif _MARKER.match(section.text):
                prologue = pending.sections if pending.is_prologue else []
                if not prologue:
                    yield from self._finish(pending)
                pending = _Pending()
                if prologue or section.text.strip("-. \n"):
                    pending.sections = [*prologue, section]
            else:
                pending.sections.append(section)
                if not _is_comment(section.text):
                    pending.in_items = self._cut_items and section.text == "items:"
        yield from self._finish(pending)

    def _finish(self, pending: _Pending) -> Iterator[Document[Any]]:
        if pending.is_empty:
            return
        if not pending.next_index:
            self._number += 1
        self._index = None
        first = pending.sections[0].line
        for value in self._plain([section.text for section in pending.sections], 0, first):
            if not pending.next_index:
                yield from self._object(value, None)
                continue
            kind = value.get("kind") if isinstance(value, dict) else None
            if not isinstance(kind, str) or not kind.endswith("List"):
                raise self._error(f"has items, but its kind is {json.dumps(kind)}, not a List")
            for item, index in pending.kindless:
                yield from self._object(_with_kind(item, value), index)

    def _item(self, section: TextSection, pending: _Pending) -> Iterator[Document[Any]]:
        if not pending.next_index:
            self._number += 1
        index = self._index = pending.next_index
        pending.next_index += 1
        text = section.text[2:]
        if self._views is not None and (head := _HEAD.match(text)):
            view = self._views.get((head[1], head[2]))
            if view is not None:
                try:
                    value = self._typed.read(text, 2, view, section.more)
                except Unusual:
                    pass
                else:
                    if self._fits is None or self._fits(value):
                        yield Document(self._file, self._number, index, value)
                        return
            elif self._fits is None and not head[2].endswith("List"):
                return
        for plain in self._plain([text], 2, section.line):
            if isinstance(plain, dict) and "kind" not in plain:
                pending.kindless.append((plain, index))
            else:
                yield from self._object(plain, index)

    def _plain(self, texts: list[str], indent: int, line: int) -> Iterator[Any]:
        """The values in these sections: one, unless a document has markers that only the general reader understands."""
        try:
            regular = "\n".join(text for text in texts if not _is_comment(text))
            if not is_regular(regular):
                raise Unusual
            yield self._blocks.mapping(regular, indent)
        except Unusual:
            try:
                for value, _ in load_all(" " * indent + "\n".join(texts) + "\n"):
                    yield value
            except ManifestError as error:
                raise self._error(error.problem, line - 1 + (error.line or 1)) from None

    # JSON

    def _json(self, head: str, chunks: Iterator[str]) -> Iterator[Document[Any]]:
        self._number = 1
        items = json_items(head, chunks) if _names_kinds(head) else None
        if items is not None:
            for index, text in enumerate(items):
                self._index = index
                yield from self._json_object(text.encode(), index)
            return
        text = (head + "".join(chunks)).strip()
        try:
            for number, data in enumerate(_json_values(text), 1):
                self._number = number
                yield from self._json_object(data.encode(), None)
        except json.JSONDecodeError as error:
            yield from self._flow_style(text, self._error(f"not JSON: {error.msg}", error.lineno))

    def _flow_style(self, text: str, not_json: ManifestError) -> Iterator[Document[Any]]:
        """What starts like JSON may still be YAML, though if it is neither, JSON is what was meant."""
        if self._number > 1 or len(text) > _FIRST_BYTES:
            raise not_json
        try:
            values = [value for value, _ in load_all(text)]
        except ManifestError:
            raise not_json from None
        for value in values:
            yield from self._object(value, None)

    def _json_object(self, data: bytes, index: int | None) -> Iterator[Document[Any]]:
        try:
            head = msgspec.json.decode(data, type=_Envelope)
            if self._views is not None and head.items is msgspec.UNSET and head.kind:
                view = self._views.get((head.api_version, head.kind))
                value = None if view is None else msgspec.json.decode(data, type=view)
                if value is not None and (self._fits is None or self._fits(value)):
                    yield Document(self._file, self._number, index, value)
                    return
                if self._fits is None:
                    return
        except msgspec.ValidationError:
            pass
        except msgspec.DecodeError as error:
            raise self._error(f"not JSON: {error}") from None
        try:
            value = msgspec.json.decode(data)
        except msgspec.DecodeError as error:
            raise self._error(f"not JSON: {error}") from None
        yield from self._object(value, index)

    # Either

    def _object(self, value: Any, index: int | None) -> Iterator[Document[Any]]:
        self._index = index
        if not isinstance(value, dict):
            raise self._error(f"expected an object with apiVersion and kind, found {_describe(value)}")
        for field in ("apiVersion", "kind"):
            if not isinstance(value.get(field), str) or not value[field]:
                raise self._error(f"{field}: required, and must be a string")
        kind, items = value["kind"], value.get("items")
        if kind.endswith("List") and ("items" in value or kind == "List"):
            if not isinstance(items, list | None):
                raise self._error("items: must be a list")
            for number, item in enumerate(items or ()):
                yield from self._object(_with_kind(item, value), number)
        elif self._views is None or (view := self._views.get((value["apiVersion"], kind))) is None:
            if self._views is None or self._fits is not None:
                yield Document(self._file, self._number, index, value)
        else:
            try:
                typed = convert(value, view)
            except msgspec.ValidationError as error:
                raise self._error(_worded(error, value)) from None
            fits = self._fits is None or self._fits(typed)
            yield Document(self._file, self._number, index, typed if fits else value)


def _json_values(text: str) -> Iterator[str]:
    """The texts of the JSON values that follow each other; most files hold one, and that needs no second look."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except msgspec.DecodeError:
        pass
    else:
        yield text
        return
    position = 0
    while position < len(text):
        _, end = json.JSONDecoder().raw_decode(text, position)
        yield text[position:end]
        position = end + len(text) - end - len(text[end:].lstrip())


def _is_comment(text: str) -> bool:
    first, _, below = text.partition("\n")
    return (not first or first.startswith("#")) and not below.strip()


def _with_kind(item: Any, parent: dict[str, Any]) -> Any:
    """An item of a typed list (PodList) leaves its kind to the list."""
    kind = parent.get("kind")
    if isinstance(item, dict) and "kind" not in item and isinstance(kind, str) and kind != "List":
        return {"apiVersion": parent.get("apiVersion"), "kind": kind.removesuffix("List"), **item}
    return item


def _names_kinds(head: str) -> bool:
    """Whether the first item of a printed List says its kind; those of a typed list do not."""
    start = head.find('"items": [')
    return '"kind": ' in head[start : start + 4096].split("\n        }", 1)[0] if start >= 0 else False


def _describe(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else f"{json.dumps(value)[:60]}"


def _worded(error: msgspec.ValidationError, value: dict[str, Any]) -> str:
    """msgspec's `Expected `str`, got `int` - at `$.spec.nodeName`` as words that name the object and the field."""
    problem, _, place = str(error).partition(" - at ")
    path = place.strip("`").removeprefix("$").removeprefix(".")
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    problem = problem.replace("`", "").replace("Expected", "expected").replace("Object", "object")
    return f"{value['kind']} {json.dumps(name)}: {path}: {problem}" if path else f"{value['kind']}: {problem}"
