"""A fast reader for the regular YAML that kubectl prints.

A snapshot of a large cluster is a quarter of a gigabyte, and libyaml through Python takes a minute and a half for it.
But kubectl's output is a small part of YAML: block style, one line per scalar, quotes only where needed. That part is
read here by cutting text at its indentation, which str and re do in C. Whatever does not look like it (a block scalar,
a folded line, an anchor, a comment, flow style) is handed, entry by entry, to `loader`, which reads all of YAML; so
the answer is `loader`'s in every case, only sooner.

A block is passed around as its text without the first line's indentation and without the last newline.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final, NamedTuple

from mooring.kube.interning import intern
from mooring.manifests.errors import ManifestError
from mooring.manifests.loader import load
from mooring.manifests.scalars import WORDS, NotJsonError, Scalar, resolve

_MAX_SEEN: Final = 20_000
_MAX_INDENT: Final = 100
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PLAIN_START: Final = frozenset(_LETTERS + "0123456789_./+()~^$;<=\\-")
_KEY = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_QUOTED_KEY = re.compile(r'"([A-Za-z0-9_./-]*)"')
_DOUBLE_QUOTED = re.compile(r'"([^"\\]*)"')
_SINGLE_QUOTED = re.compile(r"'((?:[^']|'')*)'")

# Lines in the sense of YAML that Python's "\n" does not see. Kubernetes objects do not have them.
_OTHER_BREAKS: Final = ("\r", "\x85", "\u2028", "\u2029")


class Unusual(Exception):
    """The text is not in the part of YAML that this module reads."""


class YamlBlock(NamedTuple):
    """What stands below a key: the entries of a mapping or the items of a list, and how far they are indented."""

    text: str
    indent: int
    is_list: bool


@cache
def _between_entries(indent: int) -> re.Pattern[str]:
    # A line that starts deeper, or with a dash, belongs to the entry above it; so does an empty one.
    return re.compile(rf"\n {{{indent}}}(?![ \n-])")


def entries(text: str, indent: int) -> list[str]:
    """The entries of a mapping, each with all the lines below it."""
    return _between_entries(indent).split(text)


def items(text: str, indent: int) -> list[str]:
    """The items of a list without their dashes; an item that is a mapping has its entries at `indent + 2`."""
    return text[2:].split(f"\n{' ' * indent}- ")


def block_below(text: str, above: int) -> YamlBlock:
    """The block in these whole lines below a key that is indented by `above`."""
    indent = len(text) - len(text.lstrip(" "))
    is_list = text.startswith("- ", indent)
    if indent < above or (indent == above and not is_list) or indent > _MAX_INDENT:
        raise Unusual
    return YamlBlock(text[indent:], indent, is_list)


def is_regular(text: str) -> bool:
    """Whether lines of this text end where Python thinks they do."""
    return (text.isascii() and "\r" not in text) or not any(separator in text for separator in _OTHER_BREAKS)


class BlockReader:
    """Reads blocks into plain dicts and lists, remembering scalars and keys it has seen."""

    def __init__(self) -> None:
        self._scalars: dict[str, Scalar] = {}
        self._keys: dict[str, str] = {}

    def mapping(self, text: str, indent: int) -> dict[str, Any]:
        value: dict[str, Any] = {}
        for entry in entries(text, indent):
            key, colon, rest = entry.partition(":")
            try:
                if not colon:
                    raise Unusual
                value[self.key(key)] = self.value(rest, indent)
            except Unusual:
                value.update(self.odd_entry(entry, indent))
        return value

    def value(self, rest: str, indent: int) -> Any:
        """What follows the colon of a key at `indent`."""
        if not rest:
            return None
        if rest[0] == " ":
            return self.scalar(rest[1:])
        if rest[0] != "\n":
            raise Unusual
        text, inner, is_list = block_below(rest[1:], indent)
        return self.list(text, inner) if is_list else self.mapping(text, inner)

    def list(self, text: str, indent: int) -> list[Any]:
        return [self.item(item, indent) for item in items(text, indent)]

    def item(self, item: str, indent: int) -> Any:
        key, colon, rest = item.partition(":")
        if colon and (not rest or rest[0] in " \n") and _KEY.fullmatch(key):
            return self.mapping(item, indent + 2)
        return self.scalar(item)

    def key(self, text: str) -> str:
        """A key in the spelling of JSON, always the same string object for the same key."""
        try:
            return self._keys[text]
        except KeyError:
            pass
        if quoted := _QUOTED_KEY.fullmatch(text):
            key = quoted[1]
        elif _KEY.fullmatch(text) and text not in WORDS:
            key = text
        else:
            raise Unusual
        if len(self._keys) < _MAX_SEEN:
            self._keys[text] = key
        return key

    def scalar(self, text: str) -> Any:
        """The value of a scalar that fills the rest of its line."""
        try:
            return self._scalars[text]
        except KeyError:
            pass
        if text == "{}":
            return {}
        if text == "[]":
            return []
        value = _scalar(text)
        return intern(self._scalars, text, value, _MAX_SEEN)

    def odd_entry(self, entry: str, indent: int) -> dict[str, Any]:
        """Has the general reader take one entry with all its lines."""
        # Only a key may start it: `<<` merges into what stands around it, and other signs are not keys at all.
        if not entry or entry[0] not in _LETTERS + "0123456789_./\"'":
            raise Unusual
        try:
            value = load(" " * indent + entry + "\n")
        except ManifestError:
            # Perhaps an alias of something outside this entry; the whole object will tell.
            raise Unusual from None
        if not isinstance(value, dict) or len(value) != 1:
            raise Unusual
        return value


def _scalar(text: str) -> Scalar:
    if not text or not (text.isascii() and text.isprintable()):
        raise Unusual
    if text[0] == '"':
        if quoted := _DOUBLE_QUOTED.fullmatch(text):
            return quoted[1]
        raise Unusual
    if text[0] == "'":
        if quoted := _SINGLE_QUOTED.fullmatch(text):
            return quoted[1].replace("''", "'")
        raise Unusual
    if text[0] not in _PLAIN_START or ": " in text or " #" in text or text[-1] in ": ":
        raise Unusual
    if text == "-" or text.startswith(("- ", "---", "...")):
        raise Unusual
    try:
        return resolve(text)
    except NotJsonError:
        raise Unusual from None
