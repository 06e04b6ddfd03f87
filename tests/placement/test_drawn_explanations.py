"""`mooring explain` says of drawn clusters what it said before, word for word and in every field.

The seeds in the recording were chosen out of many: together they come by as many lines of placement as all of them.
`MOORING_UPDATE_GOLDEN=1 pytest tests/placement/test_drawn_explanations.py` writes their answers anew; look at the
differences before keeping them.
"""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mooring.cli.main import cli
from tests.placement.drawn.differences import differences
from tests.placement.drawn.questions import question

RECORDING = Path(__file__).parents[1] / "data" / "placement" / "explanations.jsonl.xz"
# The questions of one test: few, so that the first difference is found early.
CHUNKS = 12


def recorded() -> list[dict[str, Any]]:
    return [json.loads(line) for line in lzma.decompress(RECORDING.read_bytes()).splitlines()]


def answer(seed: int, folder: Path) -> dict[str, Any]:
    result = CliRunner().invoke(cli, question(seed).written(folder), catch_exceptions=False)
    output: Any = result.output
    if output.startswith("{"):
        output = json.loads(output)
    return {"seed": seed, "exit": result.exit_code, "answer": output}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_drawn_questions_are_answered_as_before(chunk: int, folder: Path) -> None:
    for before in recorded()[chunk::CHUNKS]:
        found = differences(before, answer(before["seed"], folder))
        assert not found, f"seed {before['seed']}: " + "; ".join(found[:5])


def test_the_recording_is_of_enough_questions(folder: Path) -> None:
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        write(sorted(case["seed"] for case in recorded()), folder)
    assert len(recorded()) > 200


def write(seeds: list[int], folder: Path) -> None:
    lines = [json.dumps(answer(seed, folder), separators=(",", ":")) for seed in seeds]
    RECORDING.parent.mkdir(exist_ok=True)
    RECORDING.write_bytes(
        lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    )
