"""Holds the registry to recorded answers, but for those that are known to differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mooring.registry import Registry
from tests.conformance.language.recordings import read
from tests.registry.agreement import NOW, differences, perform


def hold(found: Iterable[tuple[str, list[str]]], differing: Path) -> None:
    """Every answer is as recorded, and what is listed as different is."""
    known = set(differing.read_text(encoding="utf-8").splitlines())
    wrong = {case: lines for case, lines in found if lines}
    news = [f"{case}\n  " + "\n  ".join(line[:700] for line in lines) for case, lines in wrong.items() if case not in known]
    assert not news, "\n".join([f"{len(news)} answers differ", *news[:20]])
    assert known <= wrong.keys(), f"these are alike now: {sorted(known - wrong.keys())}"


def replayed(name: str) -> Iterator[tuple[str, list[str]]]:
    """Each recorded request, with where its answer is another one here. A request that fails leaves no trace there, nor here."""
    registry = Registry(now=NOW, seed=1)
    registry.bootstrap(now=NOW, host="10.1.2.3", port=6443)
    for number, record in enumerate(read(name), 1):
        case = f"{number} {record['op']} {record['kind'][1]}{'/' if record.get('sub') else ''}{record.get('sub', '')}"
        yield case, answered(registry, record)


def answered(registry: Registry, record: Any) -> list[str]:
    return differences(record, *perform(registry, record))
