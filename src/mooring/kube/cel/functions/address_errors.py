"""Why a text is no address, in the words of Go's parser."""

from __future__ import annotations

import re
from typing import Final

from mooring.kube.errors import go_quote

__all__ = ["why_no_address"]

_FIRST: Final = re.compile(r"[.:%]")
_GROUP: Final = re.compile(r"[0-9a-fA-F]*")


def why_no_address(text: str) -> str:
    """For a text that is no address."""
    found = _FIRST.search(text)
    if found is None:
        return "unable to parse IP"
    if found[0] == "%":
        return "missing IPv6 address"
    return _of_four_fields(text) if found[0] == "." else _of_groups(text)


def _at(why: str, rest: str) -> str:
    return f"{why} (at {go_quote(rest)})"


def _of_four_fields(text: str) -> str:
    value = digits = position = 0
    for index, letter in enumerate(text):
        if letter in "0123456789":
            if digits == 1 and value == 0:
                return "IPv4 field has octet with leading zero"
            value, digits = value * 10 + int(letter), digits + 1
            if value > 255:
                return "IPv4 field has value >255"
        elif letter == ".":
            if index in (0, len(text) - 1) or text[index - 1] == ".":
                return _at("IPv4 field must have at least one digit", text[index:])
            if position == 3:
                return "IPv4 address too long"
            value, digits, position = 0, 0, position + 1
        else:
            return _at("unexpected character", text[index:])
    return "IPv4 address too short"


def _of_groups(text: str) -> str:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        return "zone must be a non-empty string"
    shortened, count = rest.startswith("::"), 0
    rest = rest.removeprefix("::")
    while count < 8:
        found = _GROUP.match(rest)
        group = found[0] if found else ""
        if len(group) > 4:
            return _at("each group must have 4 or less digits", rest)
        if not group:
            return _at("each colon-separated field must have at least one digit", rest)
        after = rest[len(group) :]
        if after.startswith("."):
            if not shortened and count != 6:
                return _at("embedded IPv4 address must replace the final 2 fields of the address", rest)
            if count > 6:
                return _at("too many hex fields to fit an embedded IPv4 at the end of the address", rest)
            return _of_four_fields(rest)
        count, rest = count + 1, after
        if not rest:
            break
        if not rest.startswith(":"):
            return _at("unexpected character, want colon", rest)
        if rest == ":":
            return _at("colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest.startswith(":"):
            if shortened:
                return _at("multiple :: in address", rest)
            shortened, rest = True, rest[1:]
            if not rest:
                break
    if rest:
        return _at("trailing garbage after address", rest)
    return "the :: must expand to at least one field of zeros" if shortened else "address string too short"
