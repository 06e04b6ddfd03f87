"""`python -m mooring.supervisor.controllers`: the controllers process of `mooring up`, which also brings its fleet."""

from __future__ import annotations

import sys

from mooring.supervisor.parent_watchdog import end_with_parent, take_orders


def main() -> int:
    end_with_parent()
    # What takes long comes before the orders: the parent has certificates to make meanwhile.
    from mooring.runtime.eventloop import run
    from mooring.supervisor.controller_manager import run_crew
    from mooring.supervisor.logs import log_as_json

    orders = take_orders()
    log_as_json()
    run(run_crew(orders))
    return 0


if __name__ == "__main__":
    sys.exit(main())
