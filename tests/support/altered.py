"""What controllers would decide if something were otherwise: one value, or a whole object, or the time.

A story only meets states that come of each other. Here a cluster that a story has led to is altered, anywhere and by
chance: a value of a spec, a status or metadata is left out or is another one, an object is gone or is being deleted,
and time has gone on. What each key decides then is told where it is not what it decided before.
"""

from __future__ import annotations

import copy
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from random import Random
from typing import Any, Final, NamedTuple

from mooring.api.kinds import Key, Kind, key_of_object
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.times import moment, timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.dispatcher.observedobject import Unreadable
from mooring.runtime.dispatcher.stores import Stores
from mooring.runtime.dispatcher.task import ALL, ReconcileRequest
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.view import FoldQuestion, GetQuestion, ListQuestion, Question, Unavailable, View

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
# An API server takes no others.
_AMOUNTS: Final = frozenset({"capacity", "allocatable", "allocatedResources", "requests", "limits"})
# How many cases are tried for each that shall make a difference.
_TRIES: Final = 2
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
    """By what is otherwise, what is decided then, until so many cases made a difference.

    `also` has changes for every object of a kind, by its name.
    """
    return _Cluster(simulation, controllers, told).cases(Random(f"altered/{seed}"), cases, also or {})


class _Cluster:
    """Everything that some controllers read, as a story left it."""

    def __init__(self, simulation: Simulation, controllers: Iterable[Controller], told: Told) -> None:
        self._now, self._told = simulation.now, told
        names = {each.name for each in controllers}
        self._controllers = [each for each in simulation.controllers if each.name in names]
        kinds = tuple(dict.fromkeys(kind for each in self._controllers for kind in each.kinds))
        self._kinds: dict[tuple[str, str], Kind[Any]] = {}
        for kind in kinds:
            self._kinds.setdefault((kind.api_version, kind.kind), kind)
        self._stores = Stores(kinds, [index for each in self._controllers for index in each.indexers])
        self._folds = {fold: fold.start() for each in self._controllers for fold in each.folds}
        self._version = 0
        for kind in kinds:
            self._stores[kind].synced = True
        self._objects = dict(self._read(simulation))
        for (name, key), obj in self._objects.items():
            self._put(name, key, obj)
        self._configuration, self._memories = simulation._configuration, simulation.dispatcher._memories
        self._every = [
            ReconcileRequest(controller, key)
            for controller in self._controllers
            for key in ([ALL] if controller.of is None else self._keys(controller.of))
        ]
        # What each key decides when nothing is otherwise, and what it reads for that, so much later.
        self._before: dict[int, dict[ReconcileRequest, tuple[list[str], frozenset[Question]]]] = {}

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

    def _keys(self, kind: Kind[Any]) -> list[Key]:
        return [key for name, key in self._objects if name == (kind.api_version, kind.kind)]

    def cases(self, dice: Random, count: int, also: Mapping[str, Sequence[Change]]) -> dict[str, str]:
        every = [*self._changes(also)]
        found = {}
        for later in sorted({*_LATER}):
            decided = ((request, lines) for request, (lines, _) in self._asked(later).items())
            found[f"+{later}s"] = "\n".join(line for request, lines in decided for line in (str(request), *lines))
        told = tried = 0
        for number, each in enumerate(_of_every_kind(every, dice)):
            several = [each, *([dice.choice(every)] if number % 4 == 0 else [])]
            later = dice.choice(_LATER)
            said = self._decided_with(several, later)
            if said is not None:
                found[" and ".join(map(str, several)) + (f" +{later}s" if later else "")] = said
                told, tried = told + bool(said), tried + 1
            if told == count or tried == _TRIES * count:
                break
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
                amounts = not _AMOUNTS.isdisjoint(path) and isinstance(value, str)
                for other in ("0", "1", "1000") if amounts else _others(value, known[(kind, *_general(path))]):
                    yield Altered(kind, key, Change(path, other))

    def _decided_with(self, several: Sequence[Altered], later: int) -> str | None:
        """What other decisions come of it; None where nobody reads what is otherwise."""
        objects: dict[tuple[tuple[str, str], Key], Object | None] = {}
        for each in several:
            place = each.kind, each.key
            obj = objects.get(place, self._objects[place])
            objects[place] = None if obj is None or not each.change.path else _with(obj, each.change)
        before = self._asked(later)
        lines: list[str] = []
        try:
            changed = [change for place, obj in objects.items() for change in self._put(*place, obj)]
            asked = [request for request, (_, questions) in before.items() if _is_asked(questions, changed)]
            for request in asked:
                decided, _ = self._decided(request, later)
                if decided != before[request][0]:
                    lines += [str(request), *(decided or ["  nothing"])]
        except Unreadable as error:
            return f"cannot be read: {error}"
        finally:
            for place in objects:
                self._put(*place, self._objects[place])
        return "\n".join(lines) if asked else None

    def _put(self, name: tuple[str, str], key: Key, obj: Object | None) -> list[tuple[Kind[Any], Key]]:
        """Have an object be like this, or not at all; the views that are other ones now."""
        self._version += 1
        if obj is not None:
            obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}
        changes = [*self._stores.take(self._kinds[name], key, obj)]
        for kind, change in changes:
            for fold, state in self._folds.items():
                if kind in fold.kinds:
                    fold.apply(state, kind, change)
        return [(kind, key) for kind, _ in changes]

    def _asked(self, later: int) -> dict[ReconcileRequest, tuple[list[str], frozenset[Question]]]:
        if later not in self._before:
            self._before[later] = {request: self._decided(request, later) for request in self._every}
        return self._before[later]

    def _decided(self, request: ReconcileRequest, later: int) -> tuple[list[str], frozenset[Question]]:
        controller, key = request
        while True:
            view = View(
                self._stores,
                self._folds,
                controller.kinds,
                self._now + timedelta(seconds=later),
                self._memories.get(request),
                gates=self._configuration.gates_of(controller.gates),
                settings=self._configuration.settings_of(controller.settings),
                running=frozenset(self._configuration.running),
            )
            try:
                lines = [*self._told(request, view, controller.reconcile(key, view, view.now))]
            except Unavailable as error:
                if error.kind not in self._stores:
                    self._follow(error.kind)
                    continue
                lines = [f"  waits: {error}"]
            except (MooringError, ValueError, TypeError, LookupError) as error:
                # What a broken object comes to is told like everything else.
                lines = [f"  raises {type(error).__name__}: {error}"]
            return lines, frozenset(view.questions)

    def _follow(self, kind: Kind[Any]) -> None:
        """An object that is read by its name."""
        self._stores.open(kind)
        self._stores.count_questions(kind, 1)
        self._stores[kind].synced = True
        assert kind.only is not None
        name = kind.api_version, kind.kind
        if (name, kind.only) in self._objects:
            self._put(name, kind.only, self._objects[name, kind.only])


def _is_asked(questions: Iterable[Question], changed: Sequence[tuple[Kind[Any], Key]]) -> bool:
    for each in questions:
        match each:
            case GetQuestion(kind, key):
                if (kind, key) in changed:
                    return True
            case ListQuestion():
                if any(each.kind is kind for kind, _ in changed):
                    return True
            case FoldQuestion(fold):
                if any(kind in fold.kinds for kind, _ in changed):
                    return True
    return False


def _of_every_kind(every: Iterable[Altered], dice: Random) -> Iterator[Altered]:
    """All of them by chance, first of each kind as many as of the others, as far as there are some."""
    left: dict[tuple[str, str], list[Altered]] = defaultdict(list)
    for each in every:
        left[each.kind].append(each)
    for of_kind in left.values():
        dice.shuffle(of_kind)
    while left:
        for kind in [*left]:
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
        if (path == ("metadata",) and name in _INCIDENTAL) or (not path and name in ("apiVersion", "kind")):
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
    *above, last = change.path
    try:
        for step in above:
            found = found.setdefault(step, {}) if isinstance(found, dict) else found[step]
        if change.value is _REMOVED:
            del found[last]
        else:
            found[last] = copy.deepcopy(change.value)
    except (LookupError, TypeError):
        # Another change of this case has taken away what it was in.
        return made
    return made
