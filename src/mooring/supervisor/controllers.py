"""`python -m mooring.supervisor.controllers`: the controllers process of `mooring up`, which also brings its fleet."""

from __future__ import annotations

import gc
import sys

from mooring.supervisor.parent_watchdog import end_with_parent, read_config


def main() -> int:
    end_with_parent()
    # What is loaded stays; the event loop switches it on again.
    gc.disable()
    # Imports come before the config is read: the parent makes certificates meanwhile.
    from mooring.runtime.drivers.eventloop import run
    from mooring.supervisor.controller_manager import run_controller_manager
    from mooring.supervisor.logs import log_as_json

    config = read_config()
    log_as_json()
    run(run_controller_manager(config))
    return 0


if __name__ == "__main__":
    sys.exit(main())
