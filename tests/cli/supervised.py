"""Runs the supervisor over two small programs of a test's own, in a process whose signals are its own.

`python -m tests.cli.supervised FOLDER FIRST SECOND`: the modules lie in FOLDER, and so do the logs. The first program
counts as ready as soon as it has written a file called `ready`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from mooring.supervisor.children import Program
from mooring.supervisor.console import Console
from mooring.supervisor.supervisor import Signals, Supervisor


def main() -> int:
    folder, modules = Path(sys.argv[1]), sys.argv[2:]
    console = Console()

    def ready() -> None:
        while not (folder / "ready").exists():
            time.sleep(0.01)
        (folder / "ready").unlink()

    programs = [
        Program(f"{module} process", module, folder / f"{module}.log", lambda: {"folder": str(folder)})
        for module in modules
    ]
    supervisor = Supervisor(
        programs,
        Signals(),
        console,
        ready=ready,
        welcome=lambda: console.say("welcome"),
        news=lambda entry: console.say(f"news: {entry['message']}"),
    )
    return supervisor.run(prepare=lambda: None, meanwhile=lambda: None)


if __name__ == "__main__":
    sys.exit(main())
