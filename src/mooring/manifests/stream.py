"""Cuts a stream of YAML or JSON into the pieces that are parsed one at a time, so that memory stays at one piece.

A snapshot is one document with fifty thousand items. YAML cannot hide a line at column 0 inside a value, and JSON
cannot have a line break inside a string, so both can be cut where an item starts before anything is parsed.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Final, NamedTuple

from mooring.manifests.errors import ManifestError

_CHUNK: Final = 1 << 20
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_COLUMN_0 = re.compile(r"\n(?=[^ \n])")
_JSON_ITEMS = re.compile(r'\A\s*\{\n    (?:"[^\n]*\n    )*?"items": \[\n        \{\n')
_JSON_NEXT: Final = "\n        },\n        {\n"
_JSON_LAST: Final = "\n        }\n    ]"


class TextSection(NamedTuple):
    """A line at column 0 and the deeper lines below it, the number of its first line, and how many lines follow."""

    text: str
    line: int
    more: int


def text_chunks(stream: IO[bytes]) -> Iterator[str]:
    """The text of a stream: UTF-8, or UTF-16 where a byte order mark says so (as some shells write it)."""
    first = stream.read(_CHUNK)
    encoding = "utf-8"
    for mark, name in _BOMS:
        if first.startswith(mark):
            first, encoding = first[len(mark) :], name
            break
    decoder = codecs.getincrementaldecoder(encoding)()
    offset, held = 0, ""
    for data in chain([first], iter(lambda: stream.read(_CHUNK), b"")):
        try:
            text = held + decoder.decode(data)
        except UnicodeDecodeError as error:
            raise ManifestError(f"not UTF-8 text (byte {offset + error.start})") from None
        offset += len(data)
        # YAML and JSON both read the two characters as one line end.
        held = "\r" if text.endswith("\r") else ""
        text = text[: -len(held)] if held else text
        yield text.replace("\r\n", "\n") if "\r" in text else text
    try:
        yield held + decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise ManifestError(f"not UTF-8 text (it ends inside a character at byte {offset})") from None


def sections(chunks: Iterable[str]) -> Iterator[TextSection]:
    """The sections of a YAML stream, in order; what they leave out are line ends only."""
    line, rest = 1, ""
    for chunk in chunks:
        *whole, rest = _COLUMN_0.split(rest + chunk)
        for text in whole:
            more = text.count("\n")
            yield TextSection(text, line, more)
            line += more + 1
    if rest.strip():
        text = rest.removesuffix("\n")
        yield TextSection(text, line, text.count("\n"))


def json_items(head: str, chunks: Iterator[str]) -> Iterator[str] | None:
    """The items of a List as kubectl prints it in JSON, each as JSON text; None where it is laid out otherwise."""
    opening = _JSON_ITEMS.match(head)
    if opening is None:
        return None
    return _json_items(head[opening.end() :], chunks)


def _json_items(rest: str, chunks: Iterator[str]) -> Iterator[str]:
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(_JSON_NEXT)
        for text in whole:
            yield "{" + text + "}"
    end = rest.find(_JSON_LAST)
    if end < 0:
        raise ManifestError("not JSON: the list of items does not end")
    yield "{" + rest[:end] + "}"
