"""Stories, and the files that they are kept in with their answers."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"
Step = dict[str, Any]


@dataclass(frozen=True)
class Story:
    """Steps in a namespace of their own; `now` is when they were answered.

    A step has `do` (method and target), and as it needs them `body`, `text` (a body that is no JSON), `type` (of the
    content), `headers`, `by` (whom), `as` (what later steps call its answer), `watch` with `during`, `wait` (seconds
    that a real server is given to notice what was written before), `quiet` (nobody looks at the answer), `pick` (the
    parts that it is about), `loosely` (a refusal is told without the order of its causes, and without structs), and
    `until` (the code that says that a real server has noticed).
    """

    name: str
    steps: list[Step]
    now: str = ""
    answers: list[Any] = field(default_factory=list)

    @property
    def namespace(self) -> str:
        return f"q-{self.name}"


def read(file: str) -> list[Story]:
    with lzma.open(RECORDED / f"{file}.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [Story(**json.loads(line)) for line in lines]


def write(file: str, stories: Iterable[Story]) -> None:
    RECORDED.mkdir(exist_ok=True)
    with lzma.open(RECORDED / f"{file}.jsonl.xz", "wt", encoding="utf-8", preset=9 | lzma.PRESET_EXTREME) as lines:
        for story in stories:
            lines.write(json.dumps(vars(story), separators=(",", ":")) + "\n")


def files() -> list[str]:
    return sorted(path.name.partition(".")[0] for path in RECORDED.glob("*.jsonl.xz"))


def differing(story: Story, answers: list[Any]) -> Iterator[tuple[str, Step, Any, Any]]:
    """The steps that were answered in another way: their names, what was asked, what was recorded, and what came."""
    for index, (step, recorded, answer) in enumerate(zip(story.steps, story.answers, answers, strict=True)):
        if recorded != answer:
            yield f"{story.name}/{index}", step, recorded, answer
