"""Writes a cluster as a snapshot file: only what placement reads, in kubectl's style, the same bytes each time.

What is written is what the typed views declare, so nothing else can get into a file: no annotation, no environment, no
command, no secret. Pods of one workload are alike, and equal parts are encoded once.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from mooring.api.core.types import ObjectMeta
from mooring.cli.whole_file import whole_file
from mooring.manifests.emit import to_yaml
from mooring.placement.snapshot import CONTENTS, SOMETIMES_ABSENT, SnapshotContents, to_object, wire_fields
from mooring.runway.sources.snapshot_kinds import saved_kinds
from mooring.runway.sources.trimmed_views import trimmed

__all__ = ["Item", "SnapshotEncoder", "is_json", "save_snapshot", "write"]

# Small and general things first, so that a file is readable from the top; kinds of features come before Pods.
_FIRST: Final = (
    "Namespace",
    "PriorityClass",
    "RuntimeClass",
    "StorageClass",
    "Node",
    "PodDisruptionBudget",
    "Service",
    "Deployment",
    "StatefulSet",
    "ReplicaSet",
    "ReplicationController",
    "Job",
)
_GZIP_LEVEL: Final = 5
_MOST_CACHED_TEXTS: Final = 20_000

Item = tuple[tuple[int, str], str]
"""An object's sort key in the file and its text."""


class SnapshotEncoder:
    """Encodes views as items of YAML, where equal parts are encoded once, or of JSON."""

    def __init__(self, *, json: bool = False) -> None:
        self._json = json
        self._encode = msgspec.msgpack.Encoder().encode
        self._known: dict[tuple[str, bytes], str] = {}
        self._api_versions = {kind: api_version for api_version, kind in (CONTENTS, *saved_kinds())}
        others = sorted(self._api_versions.keys() - {CONTENTS[1], *_FIRST, "Pod"})
        self._ranks = {kind: rank for rank, kind in enumerate((CONTENTS[1], *_FIRST, *others, "Pod"))}

    def contents(self, unread: Iterable[str]) -> Item:
        """The item that tells of which kinds all objects are there."""
        kinds = sorted(SOMETIMES_ABSENT.difference(unread))
        return self.item(CONTENTS[1], SnapshotContents(ObjectMeta(name="contents"), tuple(kinds)))

    def item(self, kind: str, view: Any) -> Item:
        metadata = view.metadata
        key = f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
        kept = trimmed(view)
        return (self._ranks[kind], key), self._json_text(kind, kept) if self._json else "".join(self._lines(kind, kept))

    def _json_text(self, kind: str, view: Any) -> str:
        obj = {"apiVersion": self._api_versions[kind], "kind": kind, **to_object(view)}
        return msgspec.json.encode(obj, order="sorted").decode()

    def _lines(self, kind: str, view: Any) -> Iterator[str]:
        yield f"- apiVersion: {self._api_versions[kind]}\n  kind: {kind}\n"
        for name, key, default in wire_fields(type(view)):
            value = getattr(view, name)
            if value == default:
                continue
            if not isinstance(value, msgspec.Struct):
                yield self._entry(key, value, "  ")
                continue
            yield f"  {key}:\n"
            for inner, inner_key, inner_default in wire_fields(type(value)):
                if (part := getattr(value, inner)) != inner_default:
                    yield self._entry(inner_key, part, "    ")

    def _entry(self, key: str, value: Any, indent: str) -> str:
        if isinstance(value, str | int):
            return f"{indent}{to_yaml({key: value})}"
        memo = (indent + key, self._encode(value))
        text = self._known.get(memo)
        if text is None:
            if len(self._known) >= _MOST_CACHED_TEXTS:
                self._known.clear()
            body = to_yaml({key: to_object(value)})
            text = self._known[memo] = "".join(f"{indent}{line}" for line in body.splitlines(keepends=True))
        return text


def is_json(file: Path) -> bool:
    """Whether a snapshot of this name is JSON; all others are YAML."""
    return file.name.lower().removesuffix(".gz").endswith(".json")


def save_snapshot(file: Path, items: Iterable[Item], comment: str = "") -> None:
    """Write a snapshot; one whose name ends in .gz is packed. The items are of the form that the name asks for."""
    with whole_file(file) as raw:
        if file.name.endswith(".gz"):
            # Without a time in it, the same cluster gives the same bytes.
            with gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) as packed:
                _write(packed, items, comment, json=is_json(file))
        else:
            _write(raw, items, comment, json=is_json(file))


def write(stream: IO[bytes], items: Iterable[Item]) -> None:
    """Write a snapshot to a stream, as YAML."""
    _write(stream, items, "", json=False)


def _write(stream: IO[bytes] | gzip.GzipFile, items: Iterable[Item], comment: str, *, json: bool) -> None:
    texts = [text for _, text in sorted(items)]
    if json:
        stream.write(b'{"apiVersion":"v1","items":[\n')
        stream.write(",\n".join(texts).encode())
        stream.write(b'\n],"kind":"List"}\n')
        return
    # kubectl's own first lines come first: they are how large files are known to be readable in pieces.
    stream.write(b"apiVersion: v1\nitems:\n" if texts else b"apiVersion: v1\nitems: []\n")
    for text in texts:
        stream.write(text.encode())
    stream.write(b"kind: List\n")
    for line in comment.splitlines():
        stream.write(f"# {line}".rstrip().encode() + b"\n")
