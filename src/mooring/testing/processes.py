"""Child processes of a test: started with their output in a file, waited for until they answer, stopped for certain."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

STOP_SECONDS = 20.0
TAIL = 2_000


class ProgramEnded(Exception):
    """A process ended, or did not become ready in time; the message ends with what it wrote last."""


def free_port() -> int:
    """A port of 127.0.0.1 that is free now."""
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ProgramProcess:
    """One program with its log."""

    def __init__(self, command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None) -> None:
        self.name = Path(command[0]).name
        self.log = log
        with log.open("ab") as output:
            self._child = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                # A Ctrl-C in the terminal reaches the test only; the test then stops its processes in order.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._child.pid

    def running(self) -> bool:
        return self._child.poll() is None

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not ready():
            if not self.running():
                raise ProgramEnded(f"{self.name} ended with exit code {self._child.returncode}.\n{self.tail()}")
            if time.monotonic() > deadline:
                raise ProgramEnded(f"{self.name} was not ready after {seconds:g} s.\n{self.tail()}")
            time.sleep(0.05)

    def stop(self) -> int:
        """Asks it to end, insists after a while, and gives its exit code."""
        self._child.terminate()
        try:
            return self._child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self) -> int:
        self._child.kill()
        return self._child.wait()

    def tail(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-TAIL:]
