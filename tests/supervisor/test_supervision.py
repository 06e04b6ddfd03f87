"""Processes that crash, hang, start slowly, do not stop and talk: what the supervisor does with them, and when."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.supervisor.drawn_supervision import stories
from tests.supervisor.record import COUNT, RECORDED
from tests.support.recordings import difference, recorded


def test_processes_are_supervised_as_they_were(tmp_path: Path) -> None:
    for number, (expected, found) in enumerate(zip(recorded(RECORDED), stories(tmp_path, COUNT), strict=True)):
        told = difference(expected, json.loads(json.dumps(found)))
        assert not told, f"story {number}, in which a stop is asked for after {expected['stop']}: {told}"


def test_a_process_is_started_again_after_a_pause_that_doubles_while_it_fails_quickly() -> None:
    pauses = set()
    for number, story in enumerate(recorded(RECORDED)):
        for name in story["kept"]:
            quick, started, ended = 0, 0.0, None
            for moment, kind, who, *_ in (row for row in story["trace"] if len(row) > 2):
                if kind == "start" and who == name:
                    if ended is not None:
                        pause = min(0.1 * 2 ** (quick - 1), 5.0)
                        assert moment - ended == pytest.approx(pause, abs=0.002), f"story {number}, {name} at {moment}"
                        pauses.add(pause)
                    started = moment
                elif kind == "err" and who.startswith(f"The {name} ") and who.endswith("; starting it again."):
                    quick, ended = quick + 1 if moment - started < 10 else 1, moment
            assert quick < 5, f"story {number}: {name} is started a fifth time"
    assert pauses == {0.1, 0.2, 0.4, 0.8}


def test_nothing_is_left_running_and_a_stop_that_was_asked_for_is_no_failure() -> None:
    codes = set()
    for number, story in enumerate(recorded(RECORDED)):
        trace: list[list[Any]] = story["trace"]
        asked = any(row[1:] == ["out", "Stopping."] for row in trace)
        assert (story["left"], trace[-1][1:]) == ([], ["ends", 0 if asked else 1]), f"story {number}"
        assert [row[1] for row in trace].count("welcome") <= 1, f"story {number}"
        codes.add(trace[-1][2])
    assert codes == {0, 1}
