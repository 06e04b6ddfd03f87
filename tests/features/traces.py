"""Everything that the controllers of features decide in a story, written down and compared with what was recorded.

A trace has, in virtual time, each decision that writes, tells or asks for an effect, and every time at which a key
wants to look again: one line for each value in it, so that a difference shows what changed. `MOORING_UPDATE_GOLDEN=1
pytest tests/features` records anew what these tests tell; look at what failed before keeping it.
"""

from __future__ import annotations

import difflib
import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from mooring.builtin.feature import CONTROL_PLANE
from mooring.catalog import FEATURES
from mooring.nodes.feature import NODES
from mooring.runtime.decision import Decision
from mooring.runtime.dispatcher.task import ReconcileRequest
from mooring.runtime.drivers.simulation import START
from mooring.runtime.view import View

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "tests" / "data" / "stories"
STAGES: Final = ("intent", "children", "status", "release")
CONTROLLERS: Final = frozenset(
    name for feature in FEATURES if feature not in (CONTROL_PLANE, NODES) for name in feature.controllers.names
)
# Lines of a difference that a failure shows.
SHOWN: Final = 80


class Trace:
    """An observer of `mooring.testing.decisions`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._looks: dict[tuple[object, ...], list[str]] = {}

    def __call__(self, request: ReconcileRequest, view: View, decision: Decision) -> None:
        if request.controller.name not in CONTROLLERS:
            return
        looks = sorted({_moment(each) for each in (*view.timers, *view.polls)})
        news = [*_decided(decision)]
        if looks != self._looks.get(request, []):
            self._looks[request] = looks
            news.append(f"  looks again {' '.join(looks) or 'when something changes'}")
        if news:
            self.lines += [f"{_moment(view.now)} {request}", *news]


def told(request: ReconcileRequest, view: View, decision: Decision) -> Iterator[str]:
    """One decision, and when its key looks again."""
    yield from _decided(decision)
    if looks := sorted({_moment(each) for each in (*view.timers, *view.polls)}):
        yield f"  looks again {' '.join(looks)}"


def _moment(when: Any) -> str:
    return f"{(when - START).total_seconds():+.10g}s"


def _decided(decision: Decision) -> Iterator[str]:
    for stage in STAGES:
        for write in getattr(decision, stage):
            fields = {name: value for name, value in write._asdict().items() if name not in ("kind", "key")}
            yield f"  {stage} {type(write).__name__} {write.kind.kind} {write.key}"
            yield from _leaves(fields, "   ")
    for event in decision.events:
        after = f" after {event.after[0].kind} {event.after[1]}" if event.after else ""
        more = " ".join(filter(None, (event.action, *(f"{name}={value}" for name, value in event.labels))))
        said = f"{event.kind.kind} {event.key} {event.type} {event.reason} {event.message}"
        yield f"  event {said}{after}{f' ({more})' if more else ''}"
    for run in decision.effects:
        yield f"  effect {run.effect.name} {run.kind.kind} {run.key} {run.id}"
        yield from _leaves(msgspec.to_builtins(run.arguments), "   ")
    for sample in decision.metrics:
        yield f"  metric {sample.metric.name}{list(sample.labels)} {sample.value}"


def _leaves(value: Any, path: str) -> Iterator[str]:
    match value:
        case dict() if value:
            for name, part in sorted(value.items()):
                yield from _leaves(part, f"{path} {name}")
        case list() | tuple() if value:
            for number, part in enumerate(value):
                yield from _leaves(part, f"{path} {number}")
        case _:
            yield f"{path}: {json.dumps(value, default=str)}"


def told_by(test: str) -> Path:
    """Where the traces of a file of tests are recorded."""
    return FOLDER / Path(test).relative_to("tests/features").with_suffix(".xz")


def recorded(path: Path) -> dict[str, str]:
    """Traces by the names of the tests that tell them."""
    return json.loads(lzma.decompress(path.read_bytes())) if path.exists() else {}


def record(path: Path, traces: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(json.dumps(traces, sort_keys=True).encode(), preset=9))


def difference(before: str, now: Iterable[str]) -> str:
    """Empty where they are equal."""
    lines = [*now]
    if before == "\n".join(lines):
        return ""
    found = difflib.unified_diff(before.split("\n"), lines, "recorded", "now", lineterm="", n=4)
    return "\n".join([each for each, _ in zip(found, range(SHOWN), strict=False)])
