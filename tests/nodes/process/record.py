"""Records the drawn lives of pods anew, after something was decided differently on purpose: lives.jsonl.xz.

python -m tests.nodes.process.record
"""

from __future__ import annotations

from pathlib import Path

from tests.nodes.process.drawn_lives import lives
from tests.support.recordings import keep

RECORDED = Path(__file__).with_name("lives.jsonl.xz")
COUNT = 250


def main() -> None:
    keep(RECORDED, lives(COUNT))


if __name__ == "__main__":
    main()
