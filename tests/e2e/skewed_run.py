"""`mooring` with a clock that goes wrong: `python -m tests.e2e.skewed_run SECONDS run ...` is that much ahead."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta

from mooring.cli.main import main
from mooring.runtime.drivers.leaderelection import Election
from mooring.runtime.drivers.live import Live, wall_clock


def skew(ahead: timedelta) -> None:
    def skewed() -> datetime:
        return wall_clock() + ahead

    for made in (Election.__init__, Live.__init__):
        defaults = made.__kwdefaults__
        assert defaults is not None
        assert defaults["clock"] is wall_clock
        defaults["clock"] = skewed


if __name__ == "__main__":
    skew(timedelta(seconds=float(sys.argv.pop(1))))
    main()
