"""The embedded server gives the answers that a real one gave to the same questions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.questions.asking import EmbeddedServer
from tests.conformance.questions.drawn import DRAWN
from tests.conformance.questions.hooks import hooks_of
from tests.conformance.questions.playing import play
from tests.conformance.questions.stories import differing, files, read

# By reason, the answers that differ.
KNOWN: dict[str, list[str]] = yaml.safe_load((Path(__file__).parent / "known.yaml").read_text(encoding="utf-8")) or {}
DIFFER = {name for names in KNOWN.values() for name in names}
SHOWN = 12


def test_every_file_is_drawn() -> None:
    assert files() == sorted(DRAWN)


@pytest.mark.parametrize("file", sorted(DRAWN))
def test_what_was_asked_is_what_is_drawn(file: str) -> None:
    drawn = json.loads(json.dumps(DRAWN[file].stories()))
    assert {story.name: story.steps for story in read(file)} == drawn, "python -m tests.conformance.questions.record"


@pytest.mark.parametrize("file", sorted(DRAWN))
def test_the_answers_are_the_real_ones(file: str, tmp_path: Path) -> None:
    found: dict[str, str] = {}
    stories = read(file)
    server = EmbeddedServer(datetime.fromisoformat(stories[0].now))
    drawn = DRAWN[file]
    with closing(server), hooks_of(drawn, tmp_path) as hooks:
        for story in stories:
            server.now = datetime.fromisoformat(story.now)
            answers = play(server, story, audited=drawn.audited, hooks=hooks)
            for name, step, recorded, answer in differing(story, answers):
                shown = "\n".join(list(differences(recorded, answer, ""))[:SHOWN])
                found[f"{file}/{name}"] = f"{file}/{name} {json.dumps(step)[:400]}\n{shown}"
            server.forget()
    new = [text for name, text in found.items() if name not in DIFFER]
    assert not new, f"{len(new)} answers differ:\n" + "\n".join(new[:SHOWN])
    gone = {name for name in DIFFER if name.startswith(f"{file}/")} - found.keys()
    assert gone == set(), "These do not differ any more, and leave known.yaml."


def differences(recorded: Any, answer: Any, path: str) -> Iterator[str]:
    """The places at which two answers differ, each with both values."""
    if isinstance(recorded, dict) and isinstance(answer, dict):
        for key in sorted(recorded.keys() | answer.keys()):
            if recorded.get(key) != answer.get(key):
                yield from differences(recorded.get(key), answer.get(key), f"{path}/{key}")
    elif isinstance(recorded, list) and isinstance(answer, list) and len(recorded) == len(answer):
        for index, (one, other) in enumerate(zip(recorded, answer, strict=True)):
            if one != other:
                yield from differences(one, other, f"{path}/{index}")
    else:
        yield f"  {path}: {json.dumps(recorded)[:300]} is recorded, {json.dumps(answer)[:300]} is answered"
