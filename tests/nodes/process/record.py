"""Records the drawn lives of pods and what becomes of drawn containers anew: lives.jsonl.xz, containers.jsonl.xz.

python -m tests.nodes.process.record
"""

from __future__ import annotations

from pathlib import Path

from tests.nodes.process.drawn_containers import rows
from tests.nodes.process.drawn_lives import lives
from tests.support.recordings import keep

RECORDED = Path(__file__).with_name("lives.jsonl.xz")
CONTAINERS = Path(__file__).with_name("containers.jsonl.xz")
COUNT = 250


def main() -> None:
    keep(RECORDED, lives(COUNT))
    keep(CONTAINERS, rows(COUNT))


if __name__ == "__main__":
    main()
