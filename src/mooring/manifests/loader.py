"""Any YAML document to what kubectl would send for it: libyaml's parser with Kubernetes' idea of scalars.

This is the reader that decides; the fast one in `blocks` handles the regular part of a snapshot and comes here with
everything else. It builds values from parse events itself rather than through PyYAML's constructors, because those
make dates of strings, recurse in C without a limit (a line of ten thousand brackets ends the process), and follow
aliases however often they multiply.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

import yaml

from mooring.kube.errors import go_quote
from mooring.manifests.errors import ManifestError
from mooring.manifests.scalars import NotJsonError, resolve, spell_key, type_of

MAX_ALIASED: Final = 100_000
"""How many values aliases may add to a document; ten lines of aliases can otherwise ask for billions."""

MAX_ALIASED_BYTES: Final = 3 * 1024 * 1024
"""How much text aliases may add to a document: as much as a request may have."""

MAX_DEPTH: Final = 150
"""How deep values may nest. No kind comes near it."""

# kube-apiserver reports as many.
_MAX_DUPLICATES: Final = 100
# As long as a number is counted, whatever it is.
_SCALAR_BYTES: Final = 8
_TAG = "tag:yaml.org,2002:"
_RESOLVED_TAGS = {_TAG + name: name for name in ("int", "float", "bool", "null")}
_STRING_TAGS = frozenset(("!", _TAG + "str"))
_COLLECTION_TAGS = frozenset((None, "!", _TAG + "map", _TAG + "seq"))

# Wheels of PyYAML bring libyaml; a build from source may lack it, and then only the slow parser exists.
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_all(text: str, duplicates: list[str] | None = None) -> Iterator[tuple[Any, int]]:
    """The documents in `text`, each with the line it starts on. Lines, also in errors, count from 1 in this text.

    What there is to say about keys that came twice is added to `duplicates`.
    """
    try:
        events = _Events(text, [] if duplicates is None else duplicates)
        while (event := events.next()) is not None:
            if isinstance(event, yaml.DocumentStartEvent):
                yield _document(events)
    except yaml.MarkedYAMLError as error:
        # What was never closed is noticed at the end of the text; where it was opened says more.
        unclosed = (error.context or "").startswith(("while parsing a flow", "while scanning a quoted"))
        mark = error.context_mark if unclosed else error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise ManifestError(f"not YAML: {error.problem or error.context}", line=line) from None
    except yaml.reader.ReaderError as error:
        raise _unreadable(text, error) from None


def load(text: str) -> Any:
    """The only document in `text`, or None where there is none."""
    return load_with_duplicates(text)[0]


def load_with_duplicates(text: str) -> tuple[Any, tuple[str, ...]]:
    """The same, and what Kubernetes says of each key that came twice in a mapping; the last one counts."""
    duplicates: list[str] = []
    values = [value for value, _ in load_all(text, duplicates)]
    if len(values) > 1:
        raise ManifestError("expected one document")
    return values[0] if values else None, tuple(duplicates)


class _Events:
    """The parser's events, and what a document has defined so far."""

    def __init__(self, text: str, duplicates: list[str]) -> None:
        self._parser = _Parser(text)
        self.anchors: dict[str, Any] = {}
        self.aliased = self.aliased_bytes = 0
        self.duplicates = duplicates

    def next(self) -> Any:
        return self._parser.get_event()


def _document(events: _Events) -> tuple[Any, int]:
    events.anchors.clear()
    events.aliased = events.aliased_bytes = 0
    first = events.next()
    value = _value(events, first, 0)
    events.next()
    return value, first.start_mark.line + 1


def _value(events: _Events, event: Any, depth: int) -> Any:
    line = event.start_mark.line + 1
    if depth > MAX_DEPTH:
        raise ManifestError(f"nested more than {MAX_DEPTH} deep", line=line)
    if isinstance(event, yaml.AliasEvent):
        return _alias(events, event.anchor, line)
    value: Any
    if isinstance(event, yaml.ScalarEvent):
        value = _scalar(event, line)
    else:
        if event.tag not in _COLLECTION_TAGS:
            raise ManifestError(f"tag {event.tag} means nothing to Kubernetes", line=line)
        if isinstance(event, yaml.SequenceStartEvent):
            value = []
            while not isinstance(item := events.next(), yaml.SequenceEndEvent):
                value.append(_value(events, item, depth + 1))
        else:
            value = _mapping(events, depth + 1)
    if event.anchor is not None:
        events.anchors[event.anchor] = value
    return value


def _mapping(events: _Events, depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    merged: list[dict[str, Any]] = []
    while not isinstance(key := events.next(), yaml.MappingEndEvent):
        line = key.start_mark.line + 1
        if isinstance(key, yaml.AliasEvent):
            name = _key_of(_alias(events, key.anchor, line), line)
        elif isinstance(key, yaml.ScalarEvent):
            if key.value == "<<" and key.tag is None and key.implicit[0]:
                merged += _merge_sources(_value(events, events.next(), depth), line)
                continue
            name = _key_of(_scalar(key, line), line)
            if key.anchor is not None:
                events.anchors[key.anchor] = name
        else:
            raise ManifestError("a key must be a string", line=line)
        if name in value and len(events.duplicates) < _MAX_DUPLICATES:
            events.duplicates.append(f"line {line}: key {go_quote(name)} already set in map")
        value[name] = _value(events, events.next(), depth)
    for source in merged:
        for name, item in source.items():
            value.setdefault(name, item)
    return value


def _merge_sources(value: Any, line: int) -> list[dict[str, Any]]:
    sources = value if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        raise ManifestError("<< takes a mapping or a list of mappings", line=line)
    return sources


def _scalar(event: yaml.ScalarEvent, line: int) -> Any:
    tag, text = event.tag, event.value
    if tag in _STRING_TAGS or (tag is None and not event.implicit[0]):
        return text
    if tag is not None and tag not in _RESOLVED_TAGS:
        raise ManifestError(f"tag {tag} means nothing to Kubernetes", line=line)
    try:
        value = resolve(text)
    except NotJsonError as error:
        raise ManifestError(str(error), line=line) from None
    wanted = None if tag is None else _RESOLVED_TAGS[tag]
    if wanted is not None and (found := type_of(text)) not in (wanted, "int" if wanted == "float" else wanted):
        raise ManifestError(f"{text} is tagged as !!{wanted} and is !!{found}", line=line)
    return value


def _key_of(value: Any, line: int) -> str:
    if isinstance(value, dict | list):
        raise ManifestError("a key must be a string", line=line)
    if value is None:
        raise ManifestError("a key is missing or null", line=line)
    return spell_key(value)


def _alias(events: _Events, anchor: str | None, line: int) -> Any:
    if anchor is None or anchor not in events.anchors:
        raise ManifestError(f"alias *{anchor} has no anchor before it", line=line)
    value = events.anchors[anchor]
    _count_aliased(events, value)
    if events.aliased > MAX_ALIASED:
        raise ManifestError(f"aliases expand to more than {MAX_ALIASED:,} values", line=line)
    if events.aliased_bytes > MAX_ALIASED_BYTES:
        raise ManifestError(f"aliases expand to more than {MAX_ALIASED_BYTES:,} bytes", line=line)
    return copy.deepcopy(value)


def _count_aliased(events: _Events, value: Any) -> None:
    events.aliased += 1
    if isinstance(value, dict):
        events.aliased_bytes += sum(map(len, value))
        for inner in value.values():
            _count_aliased(events, inner)
    elif isinstance(value, list):
        for inner in value:
            _count_aliased(events, inner)
    else:
        events.aliased_bytes += len(value) if isinstance(value, str) else _SCALAR_BYTES


def _unreadable(text: str, error: yaml.reader.ReaderError) -> ManifestError:
    character = error.character
    code = ord(character) if isinstance(character, str) else int(character)
    return ManifestError(
        f"not YAML: character U+{code:04X} is not allowed", line=text.count("\n", 0, error.position) + 1
    )
