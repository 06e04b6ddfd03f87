"""Asks a server what was recorded, and says where it answers otherwise."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from tests.conformance.drawn.answers import shown, text_of
from tests.conformance.drawn.pointers import changed, differences
from tests.conformance.drawn.recordings import Recorded, reference
from tests.conformance.drawn.requests import send
from tests.conformance.drawn.servers import Server

KNOWN = Path(__file__).parent / "known.yaml"


def identity(each: Recorded) -> str:
    """A short name that stays when others are recorded beside it."""
    return f"{each.request.of} {sha256(text_of(list(each.request)).encode()).hexdigest()[:8]}"


def compared(
    server: Server, live: Mapping[str, Any], recorded: Sequence[Recorded]
) -> Iterator[tuple[Recorded, list[str]]]:
    """Each with the lines that say what is different; none where nothing is."""
    objects: dict[tuple[str, str], Any] = {}
    for each in recorded:
        wanted = dict(each.answer)
        request = each.request
        if "differs" in wanted:
            wanted["object"] = changed(objects[request.of, reference(request)], wanted.pop("differs"))
        elif "object" in wanted and not request.changes and not request.below and not request.within:
            objects[request.of, request.do] = copy.deepcopy(wanted["object"])
        yield each, list(_lines(wanted, shown(send(server, request, live), request.below)))


def _lines(wanted: dict[str, Any], found: dict[str, Any]) -> Iterator[str]:
    if wanted == found:
        return
    for key in sorted(wanted.keys() | found.keys()):
        if key == "causes":
            there, here = ([text_of(each) for each in side.get(key, ())] for side in (wanted, found))
            yield from (f"not refused here: {each}" for each in there if each not in here)
            yield from (f"refused here only: {each}" for each in here if each not in there)
        elif key == "object" and key in wanted and key in found:
            for place, *values in differences(wanted[key], found[key]):
                yield f"{place}: {text_of(values[0])[:300]} here" if values else f"{place}: not here"
        elif wanted.get(key) != found.get(key):
            yield f"{key}: {text_of(wanted.get(key))[:300]} there, {text_of(found.get(key))[:300]} here"


@cache
def known() -> dict[str, str]:
    """Requests that are answered otherwise, by identity, with why."""
    groups = yaml.safe_load(KNOWN.read_text(encoding="utf-8")) or {}
    return {each: why for why, cases in groups.items() for each in cases}
