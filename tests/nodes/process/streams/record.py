"""Records the drawn streams into pods anew: streams.jsonl.xz.

python -m tests.nodes.process.streams.record
"""

from __future__ import annotations

from pathlib import Path

from tests.nodes.process.streams.drawn_streams import stories
from tests.support.recordings import keep

RECORDED = Path(__file__).with_name("streams.jsonl.xz")
COUNT = 600


def main() -> None:
    keep(RECORDED, stories(COUNT))


if __name__ == "__main__":
    main()
