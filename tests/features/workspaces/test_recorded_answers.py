"""What upstream's own operator, v0.12.0, answered: its webhook, its estimator, and its reconciler.

A case that is marked leaves out the fields in which the design that we follow, or our reading of it, differs from
upstream's code; a mark without fields leaves out the case. What we say beyond that is recorded, too.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mooring.features.workspaces.recorded.answers import answer
from mooring.kube.errors import MooringError
from tests.features.workspaces.comparison import compared
from tests.support.golden import same_as_recorded

DATA = Path(__file__).parents[2] / "data" / "oracle" / "workspaces"
# How many cases of each recording are compared.
RECORDINGS = {"estimation": 589, "admission": 489, "rendering": 147, "status": 120}
MARKS = ("seed_differs", "reading_differs")


def recorded(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz") as lines:
        yield from map(json.loads, lines)


def left_out(case: dict[str, Any]) -> bool:
    if case.get("upstream_panics") or case.get("needs_network"):
        return True
    return any(mark in case and f"{mark}_fields" not in case for mark in MARKS)


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_recorded_answer_is_given_again(name: str) -> None:
    wrong = []
    count = 0
    said = {}
    for case in recorded(name):
        request = case["request"]
        answered = answer(request)
        said[request["id"]] = json.dumps(answered, indent=0, sort_keys=True)
        if left_out(case):
            continue
        count += 1
        excepted = {field for mark in MARKS for field in case.get(f"{mark}_fields", ())}
        wanted, given = compared(request["op"], case["expect"]), compared(request["op"], answered)
        wrong += [
            f"{request['id']} {field}: {given.get(field)} instead of {value}"
            for field, value in wanted.items()
            if field not in excepted and given.get(field) != value
        ]
    assert not wrong, "\n".join(wrong[:20])
    assert count == RECORDINGS[name]
    same_as_recorded(f"workspaces-answers-{name}", said)


def test_what_cannot_be_asked_is_refused_with_what_can() -> None:
    with pytest.raises(MooringError) as error:
        answer({"id": "a", "op": "guess"})
    assert str(error.value) == "op: 'guess' is not known, use one of admit, estimate, render, status"


def test_the_command_answers_lines_and_says_which_one_it_cannot() -> None:
    case = next(recorded("estimation"))["request"]
    lines = f"{json.dumps(case)}\nnonsense\n"
    command = [sys.executable, "-m", "mooring.features.workspaces"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    first, second = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, first["id"], first["nodes"]) == (1, case["id"], 1)
    assert second["error"].startswith("line 2: ")
