"""`python -m mooring.cli.running.controllers`: the controllers process of `mooring up`, which also brings its fleet."""

from __future__ import annotations

import sys

from mooring.cli.running.lifeline import end_with_parent, take_orders


def main() -> int:
    end_with_parent()
    # What takes long comes before the orders: the parent has certificates to make meanwhile.
    from mooring.cli.running.crew import run_crew
    from mooring.cli.running.logs import log_as_json
    from mooring.runtime.eventloop import run

    orders = take_orders()
    log_as_json()
    run(run_crew(orders))
    return 0


if __name__ == "__main__":
    sys.exit(main())
