"""What real controllers came to, as it is kept: for each case what was refused, and what there was after each step.

A snapshot is kept as the lines that came and went since the one before.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from pathlib import Path

PATH = Path(__file__).parents[2] / "data" / "controllers.jsonl.xz"
# After each step: the refusal, and the snapshot.
Answer = list[tuple[str, list[str]]]


def write(answers: dict[str, Answer]) -> None:
    lines = []
    for name in sorted(answers):
        told, before = [], set[str]()
        for refusal, snapshot in answers[name]:
            now = set(snapshot)
            told.append([refusal, sorted(before - now), sorted(now - before)])
            before = now
        lines.append(json.dumps([name, told]))
    PATH.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9))


def read() -> dict[str, Answer]:
    return dict(_parsed(lzma.decompress(PATH.read_bytes()).decode().splitlines()))


def _parsed(lines: Iterable[str]) -> Iterable[tuple[str, Answer]]:
    for line in lines:
        name, told = json.loads(line)
        answer, known = [], set[str]()
        for refusal, gone, come in told:
            known = (known - set(gone)) | set(come)
            answer.append((refusal, sorted(known)))
        yield name, answer
