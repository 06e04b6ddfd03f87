"""Records the drawn days of simulated nodes anew, after something was changed on purpose: days.jsonl.xz.

python -m tests.nodes.record
"""

from __future__ import annotations

from pathlib import Path

from tests.nodes.drawn_days import days
from tests.support.recordings import keep

RECORDED = Path(__file__).with_name("days.jsonl.xz")
COUNT = 50


def main() -> None:
    keep(RECORDED, days(COUNT))


if __name__ == "__main__":
    main()
