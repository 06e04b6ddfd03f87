"""Traces are of tests that are there, and a trace tells what changed, value by value."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mooring.testing.decisions import OBSERVERS
from mooring.testing.groups import leader_worker_set
from tests.features.groups.town import Town
from tests.features.traces import FOLDER, ROOT, Trace, difference, recorded, told_by

RECORDINGS = sorted(FOLDER.rglob("*.xz"))


def _tests(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: str(path.relative_to(FOLDER)))
def test_every_trace_is_that_of_a_test(path: Path) -> None:
    file = ROOT / "tests" / "features" / path.relative_to(FOLDER).with_suffix(".py")
    assert told_by(str(file.relative_to(ROOT))) == path
    assert {name.partition("[")[0] for name in recorded(path)} <= _tests(file)


def _told(replicas: int) -> list[str]:
    trace = Trace()
    OBSERVERS.append(trace)
    try:
        Town(leader_worker_set(replicas=replicas), nodes=1)
    finally:
        OBSERVERS.remove(trace)
    return trace.lines


def test_a_trace_is_the_same_every_time_and_tells_what_changed() -> None:
    before = _told(1)
    assert difference("\n".join(before), _told(1)) == ""
    found = difference("\n".join(before), _told(2)).splitlines()
    assert any(line.startswith("-") and line.endswith("spec replicas: 1") for line in found)
    assert any(line.startswith("+") and line.endswith("spec replicas: 2") for line in found)
