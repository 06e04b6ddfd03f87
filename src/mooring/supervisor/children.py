"""One child process: started with its orders, heard through a pipe, started again when it dies, but not for ever."""

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

from mooring.supervisor.console import Log, Voice

__all__ = ["Child", "Program"]

# A process that lived this long has not failed at starting.
RAPID: Final = 10.0
ATTEMPTS: Final = 5
_SHORTEST: Final = 0.1
_LONGEST: Final = 5.0


@dataclass(frozen=True, slots=True)
class Program:
    """What a child runs: a module, the orders it is given at each start, and the descriptors it inherits.

    `takes_along` names programs that must start anew when this one has died. One that is `patient` starts when the
    first program answers: until then it would only take time from those that people wait for.
    """

    name: str
    module: str
    log: Path
    orders: Callable[[], dict[str, Any]]
    descriptors: tuple[int, ...] = ()
    takes_along: tuple[str, ...] = ()
    patient: bool = False


class Child:
    """A program and its process, if it has one now. `failures` counts those that came in quick succession."""

    def __init__(self, program: Program, voice: Voice) -> None:
        self.program = program
        self.log = Log(program.log, program.name, voice)
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
        """Start the process. It prepares itself, and waits for its orders before it does anything."""
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

    def brief(self) -> None:
        """Give it its orders."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(self.program.orders()).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            # It died at once; that is noticed like any other death.
            return

    def listen(self) -> bool:
        """Take what it has written, and say whether there may be more: False when it will not write any more."""
        try:
            data = os.read(self.output, 1 << 16)
        except BlockingIOError:
            return True
        self.log.feed(data)
        return bool(data)

    def ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def bury(self, now: float) -> str:
        """Account for its death: how it ended, in words. It is due again after a while that grows with each failure."""
        assert self._process is not None
        # Whoever it started may hold its pipe open, so there need not be an end to wait for.
        while select.select([self.output], [], [], 0)[0] and self.listen():
            pass
        self.log.finish()
        code = self._process.returncode
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                _close(pipe)
        self._process = None
        self.failures = self.failures + 1 if now - self._started < RAPID else 1
        self.due = now + min(_SHORTEST * 2 ** (self.failures - 1), _LONGEST)
        return f"was killed by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"

    @property
    def last_words(self) -> str | None:
        """The one line in which a program says why it cannot run at all; to try it again would not help."""
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
        # Orders that were never read.
        return
