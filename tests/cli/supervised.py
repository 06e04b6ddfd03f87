"""Runs the supervisor over two small programs of a test's own, in a process whose signals are its own.

`python -m tests.cli.supervised FOLDER FIRST SECOND`: the modules lie in FOLDER, and so do the logs. The first program
counts as ready as soon as it has written a file called `ready`, for which it has as many seconds as a file called
`startup` says.
"""

from __future__ import annotations

import sys
from pathlib import Path

from mooring.supervisor.children import Program
from mooring.supervisor.console import Console
from mooring.supervisor.supervisor import STARTUP_SECONDS, Signals, Supervisor


def main() -> int:
    folder, modules = Path(sys.argv[1]), sys.argv[2:]
    console = Console()

    def ready() -> bool:
        if (folder / "ready").exists():
            (folder / "ready").unlink()
            return True
        return False

    startup = folder / "startup"

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
        startup_seconds=float(startup.read_text()) if startup.exists() else STARTUP_SECONDS,
    )
    return supervisor.run(prepare=lambda: None, meanwhile=lambda: None)


if __name__ == "__main__":
    sys.exit(main())
