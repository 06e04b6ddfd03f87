"""Recordings of what is said of many cases: compressed JSON, case by case, with one difference for all that changed.

`MOORING_UPDATE_GOLDEN=1` writes them anew; look at what failed before keeping it.
"""

from __future__ import annotations

import difflib
import json
import lzma
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

RECORDED: Final = Path(__file__).parents[1] / "data" / "recorded"
# Cases whose differences a failure shows.
SHOWN: Final = 12


def same_as_recorded(name: str, found: Mapping[str, str]) -> None:
    """Fails with the cases that say something else than they did."""
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        record(name, found)
    before = recorded(name)
    other = [case for case in {**before, **found} if before.get(case) != found.get(case)]
    told = [f"{case}\n{difference(before.get(case, ''), found.get(case, ''))}" for case in other[:SHOWN]]
    assert not other, f"{len(other)} of {len(before)} cases differ from {name}.xz\n\n" + "\n\n".join(told)
    assert [*found] == [*before], "the cases come in another order"


def recorded(name: str) -> dict[str, str]:
    """Answers by their cases."""
    found: dict[str, str] = json.loads(lzma.decompress((RECORDED / f"{name}.xz").read_bytes()))
    return found


def record(name: str, found: Mapping[str, str]) -> None:
    RECORDED.mkdir(parents=True, exist_ok=True)
    (RECORDED / f"{name}.xz").write_bytes(lzma.compress(json.dumps(found, indent=0).encode(), preset=9))


def difference(before: str, now: str) -> str:
    """What changed, line by line; empty where nothing did."""
    lines = difflib.unified_diff(before.split("\n"), now.split("\n"), "recorded", "now", lineterm="", n=1)
    return "\n".join([each for each, _ in zip(lines, range(40), strict=False)])
