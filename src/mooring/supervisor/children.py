"""One child process: started with its config, read through a pipe, restarted with back-off when it dies."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mooring.supervisor.console import Console, Log

__all__ = ["Child", "Program"]

# A process that lived longer than this did not fail at its start.
QUICK_FAILURE_SECONDS: Final = 10.0
ATTEMPTS: Final = 5
_FIRST_BACKOFF_SECONDS: Final = 0.1
_LAST_BACKOFF_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Program:
    """What a child runs: a module, the config that it gets at each start, and the descriptors that it inherits.

    `restarts_with_it` names programs that are restarted when this one has died. A program with `after_ready` starts
    when the first program answers: before that it would only delay the API server.
    """

    name: str
    module: str
    log: Path
    config: Callable[[], dict[str, Any]]
    descriptors: tuple[int, ...] = ()
    restarts_with_it: tuple[str, ...] = ()
    after_ready: bool = False


class Child:
    """A program and its process, if it has one now. `failures` counts those that came in quick succession."""

    def __init__(self, program: Program, console: Console) -> None:
        self.program = program
        self.log = Log(program.log, program.name, console)
        self.failures = 0
        self.due: float | None = 0.0
        self.settled = False
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def output(self) -> int:
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def start(self, now: float) -> None:
        """Start the process. It imports its modules and waits for its config."""
        # -P: a file in the current folder must not stand in for a module of ours.
        command = [sys.executable, "-P", "-m", self.program.module]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=self.program.descriptors,
            # Ctrl-C reaches every process of the terminal's group; these are stopped in order by their parent.
            process_group=0,
        )
        self._started, self.due = now, None
        os.set_blocking(self.output, False)

    def send_config(self) -> None:
        """Write the config to its standard input."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(self.program.config()).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            # It died at once; that is noticed like any other death.
            return

    def listen(self) -> bool:
        """Read what it has written. False at the end of its output."""
        try:
            data = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return True
        self.log.feed(data)
        return bool(data)

    def ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def reap(self, now: float) -> str:
        """Reap the process and return how it ended. Its restart is due after a growing back-off."""
        assert self._process is not None
        # A grandchild may hold the pipe open, so the end of the output may never come.
        while select.select([self.output], [], [], 0)[0] and self.listen():
            pass
        self.log.finish()
        code = self._process.returncode
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                _close(pipe)
        self._process = None
        self.failures = self.failures + 1 if now - self._started < QUICK_FAILURE_SECONDS else 1
        self.due = now + min(_FIRST_BACKOFF_SECONDS * 2 ** (self.failures - 1), _LAST_BACKOFF_SECONDS)
        return f"was killed by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"

    @property
    def last_words(self) -> str | None:
        """The line `error: ...` of a program that cannot run at all; a restart would not help."""
        line = self.log.last[-1] if self.log.last else ""
        return line.removeprefix("error: ") if line.startswith("error: ") else None

    def send(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _close(pipe: Any) -> None:
    try:
        pipe.close()
    except OSError:
        # The config was never read.
        return
