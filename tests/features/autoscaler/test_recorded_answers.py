"""What upstream's cluster autoscaler 1.35.2 decided on random small clusters, and what we decide on them.

What we say of them beyond that, such as the texts of errors, is recorded, too.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mooring.features.autoscaler.recorded.answers import answer
from mooring.kube.errors import MooringError
from tests.features.autoscaler.comparison import differences
from tests.support.golden import same_as_recorded

DATA = Path(__file__).parents[2] / "data" / "oracle" / "autoscaler"
# How many cases of each recording are answered as upstream did, in every field; the second number is that of all cases.
EQUAL = {
    "backoff": (40, 40),
    "template": (165, 165),
    "state": (90, 90),
    "waste": (104, 104),
    "balance": (79, 79),
    "scaleUp": (752, 752),
    "scaleDown": (322, 322),
}


def recorded(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz") as lines:
        yield from map(json.loads, lines)


@pytest.mark.parametrize("name", EQUAL)
def test_recorded_decisions_are_made_again(name: str) -> None:
    wrong: list[str] = []
    fields: Counter[str] = Counter()
    equal = unequal = 0
    said = {}
    for case in recorded(name):
        request = case["request"]
        answered = answer(request)
        said[request["id"]] = json.dumps(answered, indent=0, sort_keys=True)
        found = differences(request["op"], case["expect"], answered)
        equal, unequal = equal + (not found), unequal + bool(found)
        fields.update(found.keys())
        wrong += [f"{request['id']} {field}: {have} instead of {want}" for field, (want, have) in found.items()]
    print(f"{name}: {equal} equal, {unequal} unequal {dict(fields)}")
    assert (equal, equal + unequal) == EQUAL[name], "\n".join(line[:400] for line in wrong[:20])
    same_as_recorded(f"autoscaler-answers-{name}", said)


def test_what_cannot_be_asked_is_refused_with_what_can() -> None:
    with pytest.raises(MooringError) as error:
        answer({"id": "a", "op": "guess"})
    known = "backoff, scaleDown, scaleUp, state, template"
    assert str(error.value) == f"op: 'guess' is not known, use one of {known}"


def test_the_command_answers_lines_and_says_which_one_it_cannot() -> None:
    case = next(recorded("backoff"))["request"]
    lines = f"{json.dumps(case)}\nnonsense\n"
    command = [sys.executable, "-m", "mooring.features.autoscaler"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    first, second = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, first["id"], len(first["backoff"])) == (1, case["id"], len(case["events"]))
    assert second["error"].startswith("line 2: ")
