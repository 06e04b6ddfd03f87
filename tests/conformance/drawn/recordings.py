"""Recorded requests and answers, as lines of JSON in an .xz file for each group of kinds."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.drawn.requests import Drawn

FOLDER = Path(__file__).parent / "recorded"


class Recorded(NamedTuple):
    """A request with what a real server answered; of an object it has the difference to that of `reference`."""

    request: Drawn
    answer: dict[str, Any]


def reference(request: Drawn) -> str:
    """What the object of an answer is told by: the answer to the same without changes, or the object that stands."""
    return "create" if request.do == "create" else "get"


def read(name: str) -> list[Recorded]:
    lines = lzma.decompress((FOLDER / f"{name}.jsonl.xz").read_bytes()).decode().splitlines()
    return [_parsed(json.loads(line)) for line in lines]


def write(name: str, recorded: Iterable[Recorded]) -> None:
    FOLDER.mkdir(exist_ok=True)
    lines = [json.dumps(_line(each), separators=(",", ":"), ensure_ascii=False) for each in recorded]
    data = ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")
    (FOLDER / f"{name}.jsonl.xz").write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))


def _line(each: Recorded) -> list[Any]:
    request = list(each.request)
    while not request[-1]:
        request.pop()
    return [request, each.answer]


def _parsed(line: list[Any]) -> Recorded:
    request, answer = line
    of, do, *rest = request
    return Recorded(Drawn(of, do, *(rest or [[]])), answer)
