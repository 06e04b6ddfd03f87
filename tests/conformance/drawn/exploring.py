"""Which of all that could be asked is worth keeping: at each place one request for each thing that a real server says.

Of numbers and of lengths those two are kept between which its answer changes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tests.conformance.drawn import drawing
from tests.conformance.drawn.answers import UNSTEADY, shown, text_of
from tests.conformance.drawn.pointers import Change, differences
from tests.conformance.drawn.recordings import Recorded, reference
from tests.conformance.drawn.requests import Drawn, goes_as_merge, send
from tests.conformance.drawn.servers import Server
from tests.conformance.drawn.stage import new_object

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_DIGITS = re.compile(r"\d+")
_WAYS = ("update", "update", "merge", "json", "apply", "strategic")
# Of a new object; what stands is changed in fewer ways.
_NEW, _STANDING = 7, 2
_PAIRS = 12
# What a server gives to an object that stands, by which both would have to call it.
_ITS_OWN = ("apiVersion", "kind", "metadata/managedFields", "metadata/resourceVersion", "metadata/uid")


class Asked(NamedTuple):
    """A request, what came of it, and what that says of the server whatever the values were."""

    recorded: Recorded
    outcome: str


class Explorer:
    """Asks one server about one object."""

    def __init__(self, server: Server, live: Mapping[str, Any], seed: int, name: str) -> None:
        self._server = server
        self._live = live
        self._name = name
        self._draw = random.Random(f"{seed} {name}")
        self._references: dict[str, Any] = {}

    def explore(self) -> Iterator[Recorded]:
        yield self._ask(Drawn(self._name, "get", [])).recorded
        yield self._ask(Drawn(self._name, "create", [])).recorded
        yield from self._creates()
        yield from self._pairs()
        yield from self._writes("", "spec")
        standing = self._live[self._name]
        if "status" in standing and standing["kind"] not in UNSTEADY:
            yield from self._writes("status", "status")

    def ask_all(self, requests: Iterable[Drawn]) -> list[Recorded]:
        return [self._ask(each).recorded for each in requests]

    # Kinds of requests

    def _creates(self) -> Iterator[Recorded]:
        obj = new_object(self._name)
        for spot in drawing.spots(obj):
            if not self._is_worth_asking(spot.place):
                continue
            found = [self._ask(self._create([each])) for each in drawing.tries(spot, self._draw, _NEW)]
            yield from self._distinct(found)
            yield from self._edges([self._create([[spot.place, each]]) for each in drawing.ladder(spot)])

    def _pairs(self) -> Iterator[Recorded]:
        chosen = [
            each for each in drawing.spots(new_object(self._name)) if each.place and self._is_worth_asking(each.place)
        ]
        for _ in range(_PAIRS):
            one, other = (self._draw.choice(drawing.tries(self._draw.choice(chosen), self._draw, 3)) for _ in range(2))
            yield self._ask(self._create([one, other])).recorded

    def _writes(self, below: str, part: str) -> Iterator[Recorded]:
        for spot in drawing.spots(self._live[self._name]):
            if spot.place.startswith(_ITS_OWN) or spot.place.endswith("controller-uid") or spot.place == "":
                continue
            if (spot.place.split("/")[0] == "status") != (part == "status"):
                continue
            tried = drawing.tries(spot, self._draw, _STANDING)
            if len(tried) > 9:
                tried = tried[:1] + self._draw.sample(tried[1:], 8)
            found = [self._ask(self._write([each], below)) for each in tried]
            yield from self._distinct(found)
            if below and isinstance(spot.value, int):
                yield from self._edges(
                    [Drawn(self._name, "update", [[spot.place, each]], below) for each in drawing.ladder(spot)]
                )

    def _create(self, changes: list[Change]) -> Drawn:
        return Drawn(self._name, "create", changes)

    def _write(self, changes: list[Change], below: str) -> Drawn:
        way = self._draw.choice(_WAYS)
        if way in ("merge", "apply", "strategic") and not goes_as_merge(changes):
            way = "json"
        if way == "apply" and not all(values for _, *values in changes):
            way = "merge"
        return Drawn(self._name, way, changes, below)

    def _is_worth_asking(self, place: str) -> bool:
        """The metadata of all objects is the same; it is asked of one, and of every other only what it is called."""
        top, _, rest = place.partition("/")
        if top in ("apiVersion", "kind"):
            return self._name in ("configmap", "deployment")
        if top != "metadata":
            return True
        return self._name in ("configmap", "pod-plain") or rest in ("name", "labels", "annotations")

    # Answers

    def _ask(self, request: Drawn) -> Asked:
        answer = shown(send(self._server, request, self._live), request.below)
        made = answer.pop("object", None)
        if made is not None:
            expected = self._references.get(reference(request))
            if expected is None or expected.get("kind") != made.get("kind"):
                if not request.changes and not request.below and not request.within and request.do in ("get", "create"):
                    self._references[request.do] = made
                answer["object"] = made
            else:
                answer["differs"] = list(differences(expected, made))
        return Asked(Recorded(request, answer), self._outcome(request, answer))

    def _outcome(self, request: Drawn, answer: dict[str, Any]) -> str:
        touched = tuple(change[0] for change in request.changes)
        if "differs" in answer:
            beyond = sorted(each[0] for each in answer["differs"] if not each[0].startswith(touched))
            reached = any(each[0].startswith(touched) for each in answer["differs"])
            return text_of([answer["code"], beyond, reached, answer.get("warnings")])
        return _DIGITS.sub(
            "0", _QUOTED.sub('""', text_of(answer).replace('\\"', '"').replace('"', "'").replace("'", '"'))
        )

    def _distinct(self, asked: Iterable[Asked]) -> Iterator[Recorded]:
        seen = set[str]()
        for each in asked:
            if each.outcome not in seen:
                seen.add(each.outcome)
                yield each.recorded

    def _edges(self, requests: list[Drawn]) -> Iterator[Recorded]:
        if not requests:
            return
        asked: dict[int, Asked] = {}

        def at(index: int) -> Asked:
            if index not in asked:
                asked[index] = self._ask(requests[index])
            return asked[index]

        def between(low: int, high: int) -> Iterator[int]:
            if high - low < 2:
                if at(low).outcome != at(high).outcome:
                    yield from (low, high)
                return
            middle = (low + high) // 2
            if high - low > 9 or len({at(low).outcome, at(middle).outcome, at(high).outcome}) > 1:
                yield from between(low, middle)
                yield from between(middle, high)

        for index in sorted(set(between(0, len(requests) - 1))):
            yield asked[index].recorded
