"""Runs Kubernetes' conformance tests on the embedded cluster, or on a real control plane with the same nodes.

    python -m tests.conformance.e2e
    python -m tests.conformance.e2e --home real --only 'Job should'

Without `--all` those that pass on the real one are run. The answer is 1 if one does not pass.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

from mooring.testing.homes import EMBEDDED, HOMES
from mooring.testing.tools import ToolMissing, tool
from tests.conformance.e2e import lists
from tests.conformance.e2e.batches import PASSED, Outcome
from tests.conformance.e2e.cluster import running

# The longest that passes takes six minutes: a CronJob that must not run is watched for so long.
SECONDS = 480.0
# Tests per process, which takes a second to begin.
SIZE = 8


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.e2e", description="Runs Kubernetes' tests.")
    parser.add_argument("--home", choices=HOMES, default=EMBEDDED, help="the cluster to run on")
    parser.add_argument("--all", action="store_true", help="also those that are left out, with a reason")
    parser.add_argument("--only", metavar="REGEX", default="", help="those whose name matches")
    parser.add_argument("--at-once", metavar="N", type=int, default=8, help="how many run side by side")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the longest that one may take")
    parser.add_argument("--out", type=Path, default=Path("bench/out/conformance/e2e"), help="where logs go")
    options = parser.parse_args()
    try:
        chosen = lists.known_to(tool("e2e.test")) if options.all else lists.run()
        names = [name for name in chosen if re.search(options.only, name)]
        start = time.monotonic()
        with running(options.home, options.out, seconds=options.seconds) as runner:
            outcomes = runner.run(names, at_once=options.at_once, size=SIZE, told=show)
    except ToolMissing as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 1
    failed = sorted(outcome.name for outcome in outcomes if outcome.state != PASSED)
    passed = len(outcomes) - len(failed)
    print(f"e2e on {options.home}: {passed} of {len(names)} passed in {time.monotonic() - start:.0f} s")
    print("".join(f"  FAILED: {name}\n" for name in failed), end="")
    print(f"conformance: what each test said is in {options.out}", file=sys.stderr)
    return 0 if passed == len(names) > 0 else 1


def show(outcome: Outcome) -> None:
    print(f"{outcome.state:>11} {outcome.seconds:5.0f} s  {outcome.name}", flush=True)
    if outcome.state != PASSED:
        print("\n".join(f"                 {line}" for line in outcome.message.splitlines()[:12]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
