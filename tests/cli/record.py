"""Records anew what drawn commands say and what becomes of drawn fleets, after something was changed on purpose.

python -m tests.cli.record

Look at what it changes: said.jsonl.xz is unpacked by `xz -dc`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.cli.drawn_commands import commands, fleets
from tests.cli.lines import LINES, lines
from tests.support.recordings import keep

RECORDED = Path(__file__).with_name("said.jsonl.xz")
COMMANDS, FLEETS = 70, 250


def rows(folder: Path) -> Iterator[Any]:
    yield from commands(folder, COMMANDS)
    yield from fleets(folder, FLEETS)
    yield from lines(folder, LINES)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        keep(RECORDED, rows(Path(folder)))


if __name__ == "__main__":
    main()
