"""Records anew what agents make of drawn machines, after something was changed on purpose: machines.jsonl.xz.

python -m tests.agents.record
"""

from __future__ import annotations

from pathlib import Path

from tests.agents.drawn_machines import rows
from tests.support.recordings import keep

RECORDED = Path(__file__).with_name("machines.jsonl.xz")
COUNT = 120


def main() -> None:
    keep(RECORDED, rows(COUNT))


if __name__ == "__main__":
    main()
