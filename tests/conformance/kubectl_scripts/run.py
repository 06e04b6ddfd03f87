"""Plays kubectl's scripts in one home and says how each function went.

    python -m tests.conformance.kubectl_scripts.run HOME OUT [FUNCTION...]

HOME is `embedded` or `real`. What a function said goes to OUT/HOME. The answer is 1 if a function fails that is not
excused, or if one passes that is.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.kubectl_scripts.clusters import started, wait_until_node_is_given_up
from tests.conformance.kubectl_scripts.functions import copy_scripts, excused, functions, passes

# They look at conditions of a node that upstream has had for minutes by then.
OF_GIVEN_UP_NODE = ("run_nodes_tests",)


def verdict(passed: Sequence[str], failed: Sequence[str], may_fail: dict[str, str]) -> tuple[list[str], bool]:
    """What to print about a home, and whether all is well."""
    lines = [f"{len(passed)} of {len(passed) + len(failed)} functions passed"]
    lines += [f"  excused: {name} ({may_fail[name]})" for name in failed if name in may_fail]
    surprises = [f"  FAILED: {name}" for name in failed if name not in may_fail]
    surprises += [f"  passed, though it is excused: {name}" for name in passed if name in may_fail]
    return lines + surprises, not surprises


def play(name: str, scripts: Path, out: Path, chosen: Sequence[str]) -> tuple[list[str], list[str]]:
    """The functions that passed and those that did not. One that fails leaves the next ones a new cluster."""
    passed, failed, waiting = list[str](), list[str](), list(chosen)
    while waiting:
        with tempfile.TemporaryDirectory() as data, started(name, Path(data) / "home") as home:
            while waiting:
                function = waiting.pop(0)
                if function in OF_GIVEN_UP_NODE:
                    wait_until_node_is_given_up(home)
                began = time.monotonic()
                well = passes(function, home, scripts, out / f"{function}.log")
                (passed if well else failed).append(function)
                word = "passed" if well else "FAILED"
                print(f"{name}: {word} {function} ({time.monotonic() - began:.1f} s)", flush=True)
                if not well:
                    break
    return passed, failed


def main() -> int:
    name, place, *chosen = sys.argv[1:]
    out = Path(place) / name
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        scripts = Path(folder) / "scripts"
        copy_scripts(scripts)
        lines, well = verdict(*play(name, scripts, out, chosen or functions(scripts)), excused())
    print("\n".join(f"{name}: {line}" for line in lines))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
