"""The supervisor: starts the processes, reads their output, restarts a process that dies, stops all of them in order.

One thread and one loop over descriptors. Signals arrive as bytes on one of them, so no step is ever interrupted.
"""

from __future__ import annotations

import selectors
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Final

from mooring.supervisor.children import ATTEMPTS, Child, Program
from mooring.supervisor.console import Console

__all__ = ["Signals", "Supervisor"]

FAILED: Final = 1

STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# How long a process may take to stop after SIGTERM before it is killed.
STOP_SECONDS: Final = 10.0
# The liveness probe of the first program: after this many failures in a row it is killed and restarted.
LIVENESS_PERIOD_SECONDS: Final = 2.0
LIVENESS_FAILURE_THRESHOLD: Final = 3
# How long the first program may take to its first answer. A large data folder on a slow machine takes longer than one
# would think, so the time doubles whenever it was not enough: what only needs time gets it in the end.
STARTUP_SECONDS: Final = 120.0
_READINESS_PERIOD_SECONDS: Final = 0.05


class Signals:
    """Signals as bytes to be read. Made before anything else, so that a signal at any moment stops cleanly."""

    def __init__(self) -> None:
        self.reader, self._writer = socket.socketpair()
        self.reader.setblocking(False)
        self._writer.setblocking(False)
        for number in (*STOPPING, signal.SIGCHLD):
            # Under nohup, a terminal that is closed is no reason to stop.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, _heard)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)

    def wake(self) -> None:
        """As a signal does, from another thread."""
        self._writer.send(b"\0")

    def read(self) -> bytes:
        try:
            return self.reader.recv(4096)
        except BlockingIOError:
            return b""

    @property
    def stop(self) -> bool:
        """Whether a stop was asked for since the last look."""
        return any(number in STOPPING for number in self.read())


def _heard(number: int, frame: FrameType | None) -> None:
    """The signal is on the wakeup descriptor already."""


class Supervisor:
    """`programs` in the order in which they start; they are stopped in the opposite one.

    `ready` is asked in a thread of its own after each start of the first program, until it says so; `welcome` is
    called the first time. From then on `alive` is its liveness probe. A process that hangs, before its first answer or
    later, is killed, and restarted like one that died.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        signals: Signals,
        console: Console,
        *,
        ready: Callable[[], bool],
        welcome: Callable[[], None],
        news: Callable[[dict[str, object]], None],
        alive: Callable[[], bool] = lambda: True,
        startup_seconds: float = STARTUP_SECONDS,
    ) -> None:
        self._children = [Child(program, console) for program in programs]
        self._signals = signals
        self._console = console
        self._ready = ready
        self._welcome = welcome
        self._news = news
        self._alive = alive
        self._startup_seconds = startup_seconds
        self._answers = threading.Event()
        self._hangs = threading.Event()
        self._welcomed = False
        self._hurried = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(signals.reader, selectors.EVENT_READ)

    def run(self, *, prepare: Callable[[], None], meanwhile: Callable[[], None]) -> int:
        """Until a stop is asked for (0) or a program cannot be kept running (1).

        `prepare` is done before the programs get their config and `meanwhile` after that, both while they start.
        """
        try:
            begun = self._start_due()
            prepare()
            for child in begun:
                self._send_config(child)
            meanwhile()
            while True:
                for child in self._start_due():
                    self._send_config(child)
                self._listen(self._timeout())
                if self._signals.stop:
                    self._console.say("Stopping.")
                    return 0
                if self._answers.is_set():
                    self._greet()
                if self._hangs.is_set():
                    self._end_what_hangs()
                if (reason := self._reap_dead()) is not None:
                    self._console.error(reason)
                    return FAILED
        finally:
            self._stop()

    # Starting and hearing

    def _start_due(self) -> list[Child]:
        now = time.monotonic()
        due = [child for child in self._expected() if child.due is not None and child.due <= now]
        for child in due:
            child.start(now)
            self._selector.register(child.output, selectors.EVENT_READ, child)
        return due

    def _expected(self) -> list[Child]:
        """The children that may be started now."""
        return [child for child in self._children if self._welcomed or not child.program.after_ready]

    def _send_config(self, child: Child) -> None:
        child.send_config()
        if child is self._children[0]:
            threading.Thread(target=self._watch_over, args=(child.pid,), name="probe", daemon=True).start()

    def _timeout(self) -> float | None:
        due = [child.due for child in self._expected() if child.due is not None]
        return max(min(due) - time.monotonic(), 0) if due else None

    def _listen(self, timeout: float | None) -> None:
        for key, _ in self._selector.select(timeout):
            child = key.data
            if isinstance(child, Child):
                if not child.listen():
                    self._selector.unregister(key.fd)
                self._tell(child)

    def _tell(self, child: Child) -> None:
        news, child.log.news = child.log.news, []
        for entry in news:
            child.settled = True
            self._news(entry)

    def _watch_over(self, pid: int | None) -> None:
        """Probe one process of the first program: ready once, then alive. A restarted process has its own thread."""
        end = time.monotonic() + self._startup_seconds
        ready = False
        while not ready and time.monotonic() < end:
            ready = self._ready()
            if self._children[0].pid != pid:
                return
            if not ready:
                time.sleep(_READINESS_PERIOD_SECONDS)
        if ready:
            self._answers.set()
            self._signals.wake()
            failures = 0
            while failures < LIVENESS_FAILURE_THRESHOLD:
                time.sleep(LIVENESS_PERIOD_SECONDS)
                answered = self._alive()
                if self._children[0].pid != pid:
                    return
                failures = 0 if answered else failures + 1
        else:
            self._startup_seconds *= 2
        self._hangs.set()
        self._signals.wake()

    def _greet(self) -> None:
        self._answers.clear()
        self._children[0].settled = True
        if self._welcomed:
            self._console.say(f"The {self._children[0].program.name} answers again.")
        else:
            self._welcome()
        self._welcomed = True

    # Death

    def _end_what_hangs(self) -> None:
        self._hangs.clear()
        child = self._children[0]
        self._console.warn(f"The {child.program.name} is there but does not answer; it is killed.")
        # A process in SIGSTOP reacts to SIGKILL only.
        child.send(signal.SIGKILL)

    def _reap_dead(self) -> str | None:
        """Reap the children that have ended. A reason to give up, or None."""
        for child in self._children:
            if not child.ended():
                continue
            self._forget(child)
            how = child.reap(time.monotonic())
            self._tell(child)
            name, log = child.program.name, child.program.log
            if not child.settled and child.last_words is not None:
                return child.last_words
            if child.failures >= ATTEMPTS:
                lines = "".join(f"\n  {line}" for line in child.log.last)
                return (
                    f"the {name} {how}, {child.failures} times in quick succession; giving up. "
                    f"Its last lines, of those in {log}:{lines}"
                )
            self._console.warn(f"The {name} {how}; starting it again.")
            for other in self._children:
                if other.program.name in child.program.restarts_with_it:
                    other.send(signal.SIGTERM)
        return None

    def _forget(self, child: Child) -> None:
        if child.output in self._selector.get_map():
            self._selector.unregister(child.output)

    # Stopping

    def _stop(self) -> None:
        for child in reversed(self._children):
            self._stop_child(child)

    def _stop_child(self, child: Child) -> None:
        child.due = None
        if child.pid is None:
            return
        child.send(signal.SIGTERM)
        patience = time.monotonic() + STOP_SECONDS
        while not child.ended():
            left = patience - time.monotonic()
            self._listen(min(max(left, 0), 0.5))
            # Asked twice, it need not be in good order any more.
            self._hurried = self._hurried or self._signals.stop
            if left <= 0 or self._hurried:
                child.send(signal.SIGKILL)
        self._forget(child)
        child.reap(time.monotonic())
