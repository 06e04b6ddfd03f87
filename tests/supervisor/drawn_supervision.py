"""Programs that crash, hang, start slowly, do not stop and talk, drawn from a seed, and what the supervisor does."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mooring.supervisor.children import Program
from mooring.supervisor.console import Console
from mooring.supervisor.supervisor import Supervisor
from tests.supervisor.machine import Life, Machine
from tests.support.recordings import Draw

_NAMES = ("server", "controllers", "node")
_WORDS = (
    b"plain words\n", b"\n", b"half ", b"of a line\n", b'{"level":"error","message":"it broke\\nat length"}\n',
    b'{"level":"critical","message":"worse"}\n', b'{"level":"info","message":"all is well"}\n', b'{"level"\n', b"[1]\n",
    b'{"news":"pages","message":"a page is there"}\n', b"error: no such folder\n", b"error: torn", b"caf\xc3\n",
    b'{"level":"error","message":"it broke"}\n' * 2, b'{"level":"error","message":"first"}\n' + b"{}\n",
    b"".join(b'{"level":"error","message":"error %d"}\n' % number for number in range(7)), b"x\n" * 12,
)  # fmt: skip


class _Said(Console):
    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self._machine = machine

    def _print(self, text: str, *, err: bool, **style: Any) -> None:
        self._machine.tell("err" if err else "out", text, *style.values())


def stories(folder: Path, count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield _story(Draw(f"supervision {number}"), folder)


def _story(draw: Draw, folder: Path) -> dict[str, Any]:
    names = _NAMES[: 1 + draw.below(3)]
    # Most runs of a program are alike, so that there are loops.
    steady = {name: _life(draw, draw.chance(0.45)) for name in names}

    def next_life(name: str) -> Life:
        return steady[name] if draw.chance(0.75) else _life(draw, draw.chance(0.6))

    machine = Machine(next_life)
    console = _Said(machine)
    programs = [_program(draw, name, folder / f"{name}.log") for name in names]

    def first() -> Any:
        return [each for each in machine.processes if each.name == names[0]][-1]

    slow = draw.one((0.0, 0.0, 0.0, 0.7))

    def probe() -> bool:
        if slow:
            machine.sleep(slow)
        answers: bool = first().answers
        return answers

    def takes(name: str, seconds: float) -> None:
        machine.tell(name)
        machine.pass_until(machine.now + seconds)

    stops = draw.one((0.0, 0.3, 4.0, 30.0, 100.0, 400.0))
    machine.at(stops, lambda: machine.signals.come(draw.one((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))))
    if again := draw.one((0.0, 0.0, 0.05, 4.0)):
        machine.at(stops + again, lambda: machine.signals.come(signal.SIGINT))
    with machine.at_work():
        supervisor = Supervisor(
            programs,
            machine.signals,
            console,
            ready=probe,
            alive=probe,
            welcome=lambda: machine.tell("welcome"),
            news=lambda entry: machine.tell("news", entry["message"]),
            **({"startup_seconds": draw.one((2.0, 9.0))} if draw.chance(0.6) else {}),
        )
        before, after = draw.one((0.0, 0.5)), draw.one((0.0, 0.5))
        code = supervisor.run(prepare=lambda: takes("prepare", before), meanwhile=lambda: takes("meanwhile", after))
        machine.tell("ends", code)
    kept = {}
    for name in names:
        path = folder / f"{name}.log"
        kept[name] = path.read_text(errors="replace") if path.exists() else None
        path.unlink(missing_ok=True)
    left = [each.name for each in machine.processes if each.returncode is None]
    place = str(folder)
    trace = [[each.replace(place, "") if isinstance(each, str) else each for each in row] for row in machine.trace]
    return {"stop": stops, "trace": trace, "kept": kept, "left": left}


def _program(draw: Draw, name: str, log: Path) -> Program:
    first = name == _NAMES[0]
    follows = tuple(draw.some(_NAMES[1:])) if first else ()
    late = not first and draw.chance(0.4)
    descriptors = (7,) if first else ()
    return Program(name, name, log, lambda: {"name": name}, descriptors, restarts_with_it=follows, after_ready=late)


def _life(draw: Draw, good: bool) -> Life:
    ends = None if good else draw.one((0.0, 0.2, 0.2, 3.0, 9.99, 10.01, 20.0, 70.0))
    ready = draw.one((0.0, 0.1, 1.0, 1.0, 5.0, 20.0)) if good or draw.chance(0.5) else 500.0
    hangs = draw.one((1e9, 1e9, 1e9, 3.0, 40.0))
    words = [(draw.one((0.0, 0.1, 0.15, 8.0, 61.0)), draw.one(_WORDS)) for _ in range(draw.below(5))]
    code = draw.one((0, 1, 1, 3, -signal.SIGSEGV, -signal.SIGKILL, -50))
    stopping = draw.one((0.0, 0.2, 0.2, 9.9, 12.0, None))
    return Life(ends, code, ready, hangs, stopping, sorted(words), draw.chance(0.1))
