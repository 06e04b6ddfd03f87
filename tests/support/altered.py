"""What controllers would decide if something were otherwise: one value, or a whole object, or the time.

A story only meets states that come of each other. Here a cluster that a story has led to is altered, anywhere and by
chance: a value of a spec, a status or metadata is left out or is another one, an object is gone or is being deleted, and
time has gone on. What each key decides then is told where it is not what it decided before. Nothing is carried out.
"""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final, NamedTuple

from mooring.api.kinds import Key, Kind, key_of_object
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.times import moment, timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.dispatcher.task import ALL, ReconcileRequest
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.view import View
from mooring.testing.decisions import OBSERVERS, DecidingTwice

__all__ = ["Altered", "Change", "decided_if_altered"]

Path = tuple[str | int, ...]
# Lines of a decision, as it is told.
Told = Callable[[ReconcileRequest, View, Decision], Iterable[str]]

_REMOVED: Final = object()
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_SHIFTS: Final = tuple(timedelta(seconds=each) for each in (-86400, -3600, -600, -60, -1, 1, 3600))
# How much later it is: mostly not at all.
_LATER: Final = (0, 0, 0, 0, 1, 30, 300, 3600, 86400)
# Characters of a value that a case is named by.
_SHOWN: Final = 80
_STATES: Final = ("True", "False", "Unknown")
_INCIDENTAL: Final = frozenset({"managedFields", "resourceVersion", "selfLink", "uid", "name", "namespace"})


class Change(NamedTuple):
    """Of one object: a path and its new value. Without a path the object is gone."""

    path: Path
    value: Any

    def __str__(self) -> str:
        path = ".".join(map(str, self.path))
        if not path:
            return "gone"
        value = repr(self.value)
        return f"no {path}" if self.value is _REMOVED else f"{path}={value[:_SHOWN]}"


class Altered(NamedTuple):
    kind: tuple[str, str]
    key: Key
    change: Change

    def __str__(self) -> str:
        return f"{self.kind[1]} {self.key} {self.change}"


def decided_if_altered(
    simulation: Simulation,
    controllers: Iterable[Controller],
    told: Told,
    *,
    seed: str,
    cases: int,
    also: Mapping[str, Sequence[Change]] | None = None,
) -> dict[str, str]:
    """By what is otherwise, what is decided then. `also` has changes for every object of a kind, by its name."""
    return _Cluster(simulation, [*controllers], told).cases(Random(f"altered/{seed}"), cases, also or {})


class _Cluster:
    def __init__(self, simulation: Simulation, controllers: Sequence[Controller], told: Told) -> None:
        self._dispatcher, self._now = simulation.dispatcher, simulation.now
        names = {each.name for each in controllers}
        self._controllers = [each for each in simulation.controllers if each.name in names]
        self._told = told
        self._version = 10**9
        self._kinds: dict[tuple[str, str], Kind[Any]] = {}
        for controller in self._controllers:
            for kind in controller.kinds:
                self._kinds.setdefault((kind.api_version, kind.kind), kind)
        self._objects = {place: obj for place, obj in self._read(simulation)}
        self._every = [
            ReconcileRequest(controller, key)
            for controller in self._controllers
            for key in ([ALL] if controller.of is None else self._keys(controller.of))
        ]
        self._before: dict[int, dict[str, list[str]]] = {}

    def _read(self, simulation: Simulation) -> Iterator[tuple[tuple[tuple[str, str], Key], Object]]:
        registry = simulation.registry
        for name in sorted(self._kinds):
            try:
                found = registry.list(registry.resource(*name)).items
            except MooringError:
                # A kind that is not served here.
                continue
            for obj in found:
                yield (name, key_of_object(obj)), obj

    def cases(self, dice: Random, count: int, also: Mapping[str, Sequence[Change]]) -> dict[str, str]:
        every = [*self._changes(also)]
        chosen = [*_of_every_kind(every, dice, count)]
        found = {f"+{later}s": self._lines({}, self._decisions(later)) for later in sorted({*_LATER}, reverse=True)}
        for number, each in enumerate(chosen):
            several = [each, *([dice.choice(every)] if number % 4 == 0 else [])]
            later = dice.choice(_LATER)
            case = " and ".join(map(str, several)) + (f" +{later}s" if later else "")
            before = self._decisions(later)
            found[case] = self._lines(before, self._decide_with(several, later))
        return found

    def _changes(self, also: Mapping[str, Sequence[Change]]) -> Iterator[Altered]:
        known: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
        for (kind, _), obj in self._objects.items():
            for path, value in _leaves(obj, ()):
                values = known[(kind, *_general(path))]
                if value not in values:
                    values.append(value)
        for (kind, key), obj in self._objects.items():
            leaving = Change(("metadata", "deletionTimestamp"), timestamp(self._now - timedelta(seconds=5)))
            for change in (Change((), _REMOVED), leaving, *also.get(kind[1], ())):
                yield Altered(kind, key, change)
            for path, value in _parts(obj, ()):
                for other in _others(value, known[(kind, *_general(path))]):
                    yield Altered(kind, key, Change(path, other))

    def _decide_with(self, several: Sequence[Altered], later: int) -> dict[str, list[str]]:
        changed: dict[tuple[tuple[str, str], Key], Object | None] = {}
        for each in several:
            place = each.kind, each.key
            obj = changed.get(place, self._objects[place])
            changed[place] = None if obj is None or not each.change.path else _with(obj, each.change)
        try:
            for (kind, key), obj in changed.items():
                self._put(kind, key, obj)
            woken = self._woken()
            return {str(request): self._asked_of(request, self._at(later)) for request in woken}
        except MooringError as error:
            woken = []
            return {"": [f"cannot be read: {error}"]}
        finally:
            for kind, key in changed:
                self._put(kind, key, self._objects[kind, key])
            # What a key asks for when everything is as before.
            for request in {**dict.fromkeys(self._woken()), **dict.fromkeys(woken)}:
                self._asked_of(request, self._now)

    def _woken(self) -> list[ReconcileRequest]:
        """The keys for which something has changed since this was asked, and those that read what is folded."""
        dirty, self._dispatcher._dirty = self._dispatcher._dirty, {}
        return [each for each in self._every if each in dirty or each.controller.folds]

    def _at(self, later: int) -> datetime:
        return self._now + timedelta(seconds=later)

    def _put(self, kind: tuple[str, str], key: Key, obj: Object | None) -> None:
        self._version += 1
        if obj is not None:
            obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
        self._dispatcher.observe_object(self._kinds[kind], key, obj)

    def _decisions(self, later: int) -> dict[str, list[str]]:
        if later not in self._before:
            self._before[later] = self._asked(later)
        return self._before[later]

    def _asked(self, later: int) -> dict[str, list[str]]:
        """What every key decides."""
        return {str(request): self._asked_of(request, self._at(later)) for request in self._every}

    def _keys(self, kind: Kind[Any]) -> list[Key]:
        return [key for name, key in self._objects if name == (kind.api_version, kind.kind)]

    def _asked_of(self, request: ReconcileRequest, now: datetime) -> list[str]:
        lines: list[str] = []

        def told(asked: ReconcileRequest, view: View, decision: Decision) -> None:
            lines.extend(self._told(asked, view, decision))

        # Each case is decided with what the story left.
        memories, declared = self._dispatcher._memories, request.controller.memory
        memory = memories.get(request)
        OBSERVERS.append(told)
        try:
            with DecidingTwice.one_in(10**9):
                task = self._dispatcher.decide(request, now)
            self._dispatcher.postpone(task)
        except Exception as error:  # noqa: BLE001  # what a broken object comes to is told like everything else
            lines.append(f"  raises {type(error).__name__}: {error}")
            return lines
        finally:
            OBSERVERS.remove(told)
            memories.put(request, request.controller.name, declared, memory)
        return [*lines, f"  waits: {task.unavailable}"] if task.unavailable else lines

    @staticmethod
    def _lines(before: Mapping[str, list[str]], now: Mapping[str, list[str]]) -> str:
        other = (request for request in now if now[request] != before.get(request, []))
        return "\n".join(line for request in other for line in (request, *(now[request] or ["  nothing"])))


def _of_every_kind(every: Iterable[Altered], dice: Random, count: int) -> Iterator[Altered]:
    """So many, of each kind as many as of the others, as far as there are some."""
    left: dict[tuple[str, str], list[Altered]] = defaultdict(list)
    for each in every:
        left[each.kind].append(each)
    for of_kind in left.values():
        dice.shuffle(of_kind)
    for number in range(count):
        if left:
            kind = [*left][number % len(left)]
            yield left[kind].pop()
            if not left[kind]:
                del left[kind]


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    for place, part in _parts(value, path):
        if not isinstance(part, dict | list):
            yield place, part


def _parts(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Everything below, with its path."""
    named: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        named = value.items()
    elif isinstance(value, list):
        named = enumerate(value[:4])
    for name, part in named:
        if path == ("metadata",) and name in _INCIDENTAL or not path and name in ("apiVersion", "kind"):
            continue
        here = (*path, name)
        if here != ("metadata",):
            yield here, part
        yield from _parts(part, here)


def _general(path: Path) -> Path:
    """The same for all items of a list."""
    return tuple("*" if isinstance(step, int) else step for step in path)


def _others(value: Any, known: Iterable[Any]) -> Iterator[Any]:
    yield _REMOVED
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from sorted({0, 1, value - 1, value + 1, value + 1000} - {value})
    elif isinstance(value, str) and _TIME.fullmatch(value):
        yield from (timestamp(moment(value) + shift) for shift in _SHIFTS)
    elif value in _STATES:
        yield from (each for each in _STATES if each != value)
    elif isinstance(value, str):
        yield from ("", f"{value}x")
        yield from [each for each in known if each != value][:3]
    elif isinstance(value, list) and value:
        yield []
        yield value[1:]
        yield [*reversed(value), value[0]]
    elif isinstance(value, dict) and value:
        yield {}


def _with(obj: Object, change: Change) -> Object:
    made = copy.deepcopy(obj)
    found: Any = made
    for step in change.path[:-1]:
        try:
            found = found.setdefault(step, {}) if isinstance(found, dict) else found[step]
        except (IndexError, TypeError):
            # Another change of this case has taken away what it was in.
            return made
    last = change.path[-1]
    if isinstance(found, list) and (not isinstance(last, int) or last >= len(found)) or not isinstance(found, list | dict):
        return made
    if change.value is not _REMOVED:
        found[last] = copy.deepcopy(change.value)
    elif isinstance(found, list) or last in found:
        del found[last]
    return made
