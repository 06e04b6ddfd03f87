"""Records what the supervisor does with drawn programs anew: supervision.jsonl.xz.

python -m tests.supervisor.record
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.supervisor.drawn_supervision import stories
from tests.support.recordings import keep

RECORDED = Path(__file__).with_name("supervision.jsonl.xz")
COUNT = 250


def main() -> None:
    with TemporaryDirectory() as folder:
        keep(RECORDED, stories(Path(folder), COUNT))


if __name__ == "__main__":
    main()
