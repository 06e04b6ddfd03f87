"""Recordings are lines of JSON, packed, beside the tests that hold our answers against them."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[2]
PLACES = {
    "expressions": TESTS / "kube" / "cel" / "expressions.jsonl.xz",
    "applies": TESTS / "kube" / "apply" / "applies.jsonl.xz",
    "definitions": TESTS / "registry" / "definitions.jsonl.xz",
    "objects": TESTS / "registry" / "objects.jsonl.xz",
    "values": TESTS / "registry" / "values.jsonl.xz",
    "costs": TESTS / "kube" / "cel" / "costs.jsonl.xz",
}


def read(name: str) -> Iterator[Any]:
    with lzma.open(PLACES[name], "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def write(name: str, records: Iterable[Any]) -> int:
    """The packed size."""
    lines = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in records]
    PLACES[name].write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9))
    return PLACES[name].stat().st_size
