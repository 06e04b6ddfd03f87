"""Every recorded answer of the real scheduler, v1.35.8 with its default profile, is given again, key by key."""

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

from mooring.placement.__main__ import answer

DATA = Path(__file__).parents[1] / "data" / "oracle"

# What tells how an answer was reached, not what it is.
INFORMATIVE = ("preFilter", "skippedFilters", "skippedScores", "preFilterNodeNames")

RECORDINGS = {
    "explain": 2197,
    "sequence": 150,
    "validate": 237,
    # Recorded beside those: what they leave out or touch rarely.
    "wide": 500,
    "preemption": 400,
    "nominated": 300,
    "resize": 300,
    "sampling": 40,
    "sequences-wide": 80,
    "edge": 250,
    "volume": 350,
    "runtime": 50,
    "volume-sequence": 20,
    "dra": 350,
    "dra-sequence": 20,
}
# Recordings that do not tell in full how an answer was reached.
BARE = ("edge", "volume", "runtime", "volume-sequence", "dra", "dra-sequence")


def recorded(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / f"{name}.jsonl.gz") as lines:
        for line in lines:
            yield json.loads(line)


def comparable(value: dict[str, Any], *, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    """The answer with the order of reasons inside one plugin, which is not defined, made the same."""
    value = {key: part for key, part in json.loads(json.dumps(value)).items() if key not in leave_out}
    for node in value.get("nodes", []):
        for part in (node, *node.get("all", [])):
            if "reasons" in part:
                part["reasons"].sort()
    return value


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_recorded_answer_is_given_again(name: str) -> None:
    count = 0
    missed: Counter[str] = Counter()
    wrong = []
    leave_out = INFORMATIVE if name in BARE else ()
    for case in recorded(name):
        count += 1
        # Which devices are taken is not defined where several pools or slices have some.
        varying = ("reserve", "reserveVaries") if case["expect"].get("reserveVaries") else ()
        expected = comparable(case["expect"], leave_out=(*leave_out, *varying))
        given = comparable(answer(case["request"]), leave_out=(*leave_out, *varying))
        if given != expected:
            missed.update(case["tags"])
            keys = [key for key in expected.keys() | given.keys() if expected.get(key) != given.get(key)]
            wrong.append((case["request"]["id"], sorted(keys)))
    assert not wrong, f"{len(wrong)} of {count} differ, by feature {dict(missed)}, first {wrong[:5]}"
    assert count == RECORDINGS[name]


def test_the_same_answers_come_through_a_pipe() -> None:
    cases = [case for name in ("explain", "sequence", "validate") for case in list(recorded(name))[:40]]
    lines = "".join(json.dumps(case["request"]) + "\n" for case in cases)

    done = subprocess.run(
        [sys.executable, "-m", "mooring.placement"], input=lines, capture_output=True, text=True, check=True
    )

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [comparable(a) for a in answers] == [comparable(case["expect"]) for case in cases]


def test_a_request_that_cannot_be_answered_is_told_and_the_others_are_answered() -> None:
    lines = '{"id": 1, "op": "fly"}\nnot json\n{"id": 3, "op": "explain", "nodes": [], "pod": {"spec": {}}}\n'

    done = subprocess.run(
        [sys.executable, "-m", "mooring.placement"], input=lines, capture_output=True, text=True, check=False
    )

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert done.stderr == ""
    assert answers[0] == {"id": 1, "error": "line 1: op: 'fly' is not known, use one of explain, schedule, validate"}
    assert "line 2: JSON is malformed" in answers[1]["error"]
    assert answers[2] == {"id": 3, "message": "no nodes available to schedule pods"}
