"""A machine without processes: time that jumps, programs that do as was drawn, and threads that take turns."""

from __future__ import annotations

import heapq
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from mooring.supervisor.supervisor import Signals

MOST_SECONDS = 10_000.0


@dataclass(frozen=True)
class Life:
    """One run of a program. What it writes is a list of moments and bytes; moments count from its start.

    It answers probes between `ready` and `hangs`; asked to stop it takes `stopping` seconds, or
    does not if that is None. Its output stays open after its end where `left_behind` holds it.
    """

    ends: float | None
    code: int
    ready: float
    hangs: float
    stopping: float | None
    writes: Sequence[tuple[float, bytes]]
    left_behind: bool


class _Over(BaseException):
    """The story has ended, and its threads with it."""


class Machine:
    def __init__(self, lives: Callable[[str], Life]) -> None:
        self.now = 0.0
        self.trace: list[list[Any]] = []
        self.lives = lives
        self.processes: list[Process] = []
        self.signals = Told(self)
        self.selectors: list[Selector] = []
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0
        self._over = False
        self._threads: list[Turns] = []

    def tell(self, *what: Any) -> None:
        self.trace.append([round(self.now, 3), *what])

    def at(self, moment: float, do: Callable[[], None]) -> None:
        self._number += 1
        heapq.heappush(self._events, (max(moment, self.now), self._number, do))

    def pass_until(self, end: float, stop: Callable[[], bool] = lambda: False) -> None:
        """Let happen what happens, up to a moment or until something is there."""
        while not stop():
            if not self._events or self._events[0][0] > end:
                if end > MOST_SECONDS:
                    raise RuntimeError("nothing will ever happen again")
                self.now = max(self.now, end)
                return
            moment, _, do = heapq.heappop(self._events)
            self.now = moment
            do()

    def sleep(self, seconds: float) -> None:
        """In a thread of the story."""
        turns = next(each for each in self._threads if each.thread is threading.current_thread())
        self.at(self.now + seconds, turns.go_on)
        turns.rest()
        if self._over:
            raise _Over

    def thread(self, *, target: Callable[..., None], args: tuple[Any, ...], **_: Any) -> Turns:
        self._threads.append(Turns(target, args))
        return self._threads[-1]

    def end(self) -> None:
        self._over = True
        for each in self._threads:
            if each.thread.is_alive():
                each.go_on()

    def process(self, pid: int | None) -> Process:
        return next(each for each in self.processes if each.pid == pid)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self.sleep)
        where = "mooring.supervisor"
        stand_ins = {
            "supervisor.time": clock,
            "console.time": clock,
            "supervisor.threading": SimpleNamespace(Thread=self.thread, Event=threading.Event),
            "supervisor.selectors": SimpleNamespace(DefaultSelector=lambda: Selector(self), EVENT_READ=1),
            "children.subprocess": SimpleNamespace(Popen=self._start, PIPE=-1, STDOUT=-2),
            "children.os": SimpleNamespace(read=self._read, set_blocking=lambda descriptor, blocking: None),
            "children.select": SimpleNamespace(select=self._readable),
        }
        with ExitStack() as stack:
            for name, stand_in in stand_ins.items():
                stack.enter_context(patch(f"{where}.{name}", stand_in))
            try:
                yield
            finally:
                self.end()

    def _start(self, command: list[str], **options: Any) -> Process:
        assert command[1:3] == ["-P", "-m"], command
        expected = {"stdin": -1, "stdout": -1, "stderr": -2, "process_group": 0}
        assert {name: each for name, each in options.items() if name != "pass_fds"} == expected
        self.tell("start", command[3], *options["pass_fds"])
        return Process(self, command[3], self.lives(command[3]), len(self.processes) + 100)

    def _read(self, descriptor: int, most: int) -> bytes:
        process = self.process(descriptor)
        data, process.unread = process.unread[:most], process.unread[most:]
        if not data and process.open:
            raise BlockingIOError
        return data

    def _readable(self, descriptors: list[int], *_: Any) -> tuple[list[int], list[int], list[int]]:
        return [each for each in descriptors if self.process(each).readable], [], []


class Turns:
    """A thread that only runs while the story waits for it."""

    def __init__(self, target: Callable[..., None], args: tuple[Any, ...]) -> None:
        self._mine, self._others = threading.Semaphore(0), threading.Semaphore(0)

        def run() -> None:
            try:
                with suppress(_Over):
                    target(*args)
            finally:
                self._others.release()

        self.thread = threading.Thread(target=run, daemon=True)

    def start(self) -> None:
        self.thread.start()
        self._others.acquire()

    def go_on(self) -> None:
        self._mine.release()
        self._others.acquire()

    def rest(self) -> None:
        self._others.release()
        self._mine.acquire()


class Process:
    """A process and, as far as anybody looks, its pipes; the descriptor of its output is its pid."""

    def __init__(self, machine: Machine, name: str, life: Life, pid: int) -> None:
        self.machine, self.name, self.life, self.pid = machine, name, life, pid
        self.started = machine.now
        self.returncode: int | None = None
        self.unread, self.open = b"", True
        self.stdin = self.stdout = self
        machine.processes.append(self)
        for moment, data in life.writes:
            machine.at(self.started + moment, partial(self._write, data))
        if life.ends is not None:
            machine.at(self.started + life.ends, lambda: self._exit(life.code))

    @property
    def readable(self) -> bool:
        return bool(self.unread) or not self.open

    @property
    def answers(self) -> bool:
        age = self.machine.now - self.started
        return self.returncode is None and self.life.ready <= age < self.life.hangs

    def _write(self, data: bytes) -> None:
        if self.returncode is None or self.life.left_behind:
            self.unread += data

    def _exit(self, code: int) -> None:
        if self.returncode is None:
            self.machine.tell("exit", self.name, code)
            self.returncode, self.open = code, self.life.left_behind
            self.machine.signals.come(signal.SIGCHLD)

    # As subprocess.Popen and its pipes

    def fileno(self) -> int:
        return self.pid

    def write(self, data: bytes) -> None:
        if self.returncode is not None:
            raise BrokenPipeError
        self.machine.tell("config", self.name, data.decode())

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: int) -> None:
        self.machine.tell("signal", self.name, signal.Signals(number).name)
        if number == signal.SIGKILL:
            self.machine.at(self.machine.now, lambda: self._exit(-number))
        elif self.life.stopping is not None:
            self.machine.at(self.machine.now + self.life.stopping, lambda: self._exit(0))


class Told(Signals):
    """Signals that a story sends."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.reader: Any = self
        self.unread = b""

    def fileno(self) -> int:
        return 3

    def come(self, number: int) -> None:
        self.unread += bytes((number,))

    def wake(self) -> None:
        self.unread += b"\0"

    def read(self) -> bytes:
        data, self.unread = self.unread, b""
        return data


class Selector:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._keys: dict[int, SimpleNamespace] = {}

    def register(self, what: Any, events: int, data: Any = None) -> None:
        assert events == 1
        descriptor = what if isinstance(what, int) else what.fileno()
        assert descriptor not in self._keys
        self._keys[descriptor] = SimpleNamespace(fd=descriptor, data=data)

    def unregister(self, descriptor: int) -> None:
        del self._keys[descriptor]

    def get_map(self) -> dict[int, SimpleNamespace]:
        return self._keys

    def select(self, timeout: float | None) -> list[tuple[SimpleNamespace, int]]:
        assert timeout is None or timeout >= 0
        end = MOST_SECONDS * 2 if timeout is None else self._machine.now + timeout
        self._machine.pass_until(self._machine.now)
        self._machine.pass_until(end, lambda: bool(self._ready()))
        return self._ready()

    def _ready(self) -> list[tuple[SimpleNamespace, int]]:
        machine = self._machine
        ready = {each.pid for each in machine.processes if each.readable} | ({3} if machine.signals.unread else set())
        return [(key, 1) for descriptor, key in self._keys.items() if descriptor in ready]
