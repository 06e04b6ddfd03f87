"""Judges a scheduler's outcomes by predictions, as a state machine that is fed with changes.

A prediction is made on the state just before an outcome was seen, from nothing that came after. Where it does not hold,
the scheduler may have decided on another state: it is a little ahead of what it has written, and what it wrote at one
moment arrives in any order. Such an outcome waits for the changes of the next moments, and then counts as predicted if
one of the states holds that the scheduler can have been in: with what came last taken back, or with what came next
brought forward. Only what no such state explains is a disagreement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from mooring.placement.shadow.decided_claims import claims_of, undecided
from mooring.placement.shadow.outcomes import Bound, Outcome, assumed, outcome_of, waits
from mooring.placement.shadow.predictions import Prediction, predict
from mooring.placement.shadow.world import Place, World, WorldChange
from mooring.placement.snapshot import SOMETIMES_ABSENT

# How long to wait for what the scheduler decided before but wrote later, and how much of it to look at.
RECHECK_SECONDS = 2.0
# Claims come by other watches than pods, which may be further behind.
RECHECK_CLAIMS_SECONDS = 5.0
MAX_LATER_CHANGES = 20
MAX_EARLIER_CHANGES = 20
# How much may be spent on one outcome, in nodes looked at.
MAX_NODES_VISITED = 40_000
MIN_TRIES = 16


class Agreement(Enum):
    EXACT = "exact"
    NEAR = "near"
    FEASIBLE = "feasible"
    WRONG = "wrong"
    SKIPPED = "skipped"


class Judgement(NamedTuple):
    """What came of one outcome. `objects` are those of the moment before it, where prediction and outcome differ."""

    pod: str
    verdict: Agreement
    outcome: Outcome
    prediction: Prediction | None = None
    why: str = ""
    objects: tuple[tuple[str, Any], ...] = ()


class Doubt(NamedTuple):
    """An outcome whose prediction did not hold on the state just before it."""

    place: Place
    outcome: Outcome
    prediction: Prediction
    position: int
    # Where the pod's wait began: the scheduler cannot have decided on anything older.
    since: int
    until: float
    # The pod's claims as they were before the scheduler decided about them.
    undecided: Mapping[Place, Any] = {}
    # All of its claims.
    claims: frozenset[Place] = frozenset()


@dataclass
class Shadow:
    """Changes before `ready` is set are taken in without being judged: the first lists are not complete yet."""

    world: World = field(default_factory=World)
    ready: bool = False
    _since: dict[Place, int] = field(default_factory=dict)
    _doubts: list[Doubt] = field(default_factory=list)
    # Pods that are about to be bound, with the node: the scheduler counts them there already.
    _assumed: dict[Place, str] = field(default_factory=dict)

    def take(self, place: Place, new: Any, now: float) -> list[Judgement]:
        """Take in a change that a watch brought, and judge what a scheduler did in it."""
        old, new = self.world.get(place), self._as_assumed(place, new)
        if old == new:
            return []
        outcome = outcome_of(old, new) if place.kind == "Pod" and old is not None and new is not None else None
        if place.kind != "Pod" or not self.ready:
            self.world.change(place, new)
            return []
        found = [] if outcome is None else self._judge(place, outcome, now)
        if isinstance(outcome, Bound) and outcome.is_expected:
            self._assumed[place] = outcome.node
            new = assumed(new, outcome.node)
        self.world.change(place, new)
        self._note(place, old, new, decided=outcome is not None)
        return found

    def _as_assumed(self, place: Place, new: Any) -> Any:
        """A pod that is about to be bound, for as long as it is."""
        node = self._assumed.get(place)
        if node is None or new is None or new.spec.node_name or new.status.nominated_node_name != node:
            self._assumed.pop(place, None)
            return new
        return assumed(new, node)

    def replace(self, kind: str, objects: Mapping[Place, Any]) -> None:
        """Take in a whole list. What a scheduler did meanwhile is not judged: nobody saw in which order."""
        self.world.snapshot.unread_kinds.discard(kind)
        for place in [place for place in self.world.views if place.kind == kind and place not in objects]:
            self.world.change(place, None)
            self._since.pop(place, None)
        for place, view in objects.items():
            view = self._as_assumed(place, view)
            if self.world.get(place) != view:
                self.world.change(place, view)
                self._since[place] = self.world.position

    def settle(self, now: float) -> list[Judgement]:
        """Judge the outcomes that have waited long enough."""
        due = [doubt for doubt in self._doubts if doubt.until <= now]
        self._doubts = [doubt for doubt in self._doubts if doubt.until > now]
        return [self._look_around(doubt) for doubt in due]

    @property
    def undecided(self) -> int:
        return len(self._doubts)

    def _note(self, place: Place, old: Any, new: Any, *, decided: bool) -> None:
        if new is None or not waits(new):
            self._since.pop(place, None)
        elif decided or old is None or not waits(old):
            self._since[place] = self.world.position

    def _judge(self, place: Place, outcome: Outcome, now: float) -> list[Judgement]:
        info = self.world.snapshot.cluster.pods[place.key]
        if unknowns := self.world.snapshot.unknowns(info):
            why = "; ".join(unknown.text for unknown in unknowns)
            return [Judgement(place.key, Agreement.SKIPPED, outcome, why=why)]
        since = self._since.get(place, 0)
        claims = undecided(self.world, info, since)
        with self.world.pretending(claims):
            prediction = predict(self.world.engine, info)
        if prediction.is_exactly(outcome):
            return [Judgement(place.key, Agreement.EXACT, outcome, prediction)]
        if prediction.allows(outcome):
            return [Judgement(place.key, Agreement.FEASIBLE, outcome, prediction)]
        own = claims_of(info)
        until = now + (RECHECK_CLAIMS_SECONDS if own else RECHECK_SECONDS)
        self._doubts.append(Doubt(place, outcome, prediction, self.world.position, since, until, claims, own))
        return []

    # Second looks

    def _look_around(self, doubt: Doubt) -> Judgement:
        world = self.world
        key, outcome = doubt.place.key, doubt.outcome
        with world.pretending({**world.before(doubt.position), **doubt.undecided}):
            tries = max(MAX_NODES_VISITED // max(world.snapshot.cluster.node_count, 1), MIN_TRIES)
            for why, objects in self._states(doubt):
                if not tries:
                    break
                tries -= 1
                with world.pretending(objects):
                    prediction = predict(world.engine, world.snapshot.cluster.pods[key])
                if prediction.is_exactly(outcome):
                    return Judgement(key, Agreement.NEAR, outcome, prediction, why)
            return Judgement(key, Agreement.WRONG, outcome, doubt.prediction, objects=tuple(world.objects()))

    def _states(self, doubt: Doubt) -> Iterator[tuple[str, dict[Place, Any]]]:
        """States that the scheduler may have decided on, the likeliest first, by what differs from the one before."""
        world = self.world
        afterwards = _of_others(world.between(doubt.position, world.position), doubt)
        before = _of_others([*self._unordered(doubt), *world.between(doubt.since, doubt.position)], doubt)
        later, earlier = afterwards[:MAX_LATER_CHANGES], before[-MAX_EARLIER_CHANGES:][::-1]
        yield from _of_claims(doubt, afterwards, before)
        ahead: dict[Place, Any] = {}
        for count, change in enumerate(later, 1):
            ahead[change.place] = change.new
            yield f"with the next {count} changes", dict(ahead)
        back: dict[Place, Any] = {}
        surroundings: dict[Place, Any] = {}
        for count, change in enumerate(earlier, 1):
            back[change.place] = change.old
            yield f"without the last {count} changes", dict(back)
            if not _is_binding(change):
                surroundings[change.place] = change.old
                yield f"without what else happened in the last {count} changes", dict(surroundings)
        for change in later[1:]:
            yield f"with {change.place.key} ahead", {change.place: change.new}
        for change in earlier[1:]:
            yield f"without {change.place.key}", {change.place: change.old}

    def _unordered(self, doubt: Doubt) -> list[WorldChange]:
        """What happened to storage and devices just before the pod came: the scheduler may hear of it just after."""
        if not doubt.claims:
            return []
        before = self.world.between(doubt.since - MAX_EARLIER_CHANGES, doubt.since)
        return [change for change in before if change.place.kind in SOMETIMES_ABSENT]


def _of_claims(
    doubt: Doubt, afterwards: Sequence[WorldChange], before: Sequence[WorldChange]
) -> Iterator[tuple[str, dict[Place, Any]]]:
    """The pod's own claims a little ahead or behind, however much happened to others: no order binds the two."""
    ahead: dict[Place, Any] = {}
    for change in afterwards:
        if change.place in doubt.claims:
            ahead.setdefault(change.place, change.new)
            yield "with its claims ahead", dict(ahead)
    back: dict[Place, Any] = {}
    for change in reversed(before):
        if change.place in doubt.claims:
            back[change.place] = change.old
            yield "with its claims behind", dict(back)


def _of_others(changes: list[WorldChange], doubt: Doubt) -> list[WorldChange]:
    """What counts for the pod: not its own changes, nor those of pods that are nowhere before and after.

    Its claims stay as they were before they were decided about, and what is no matter to it is left aside: a cluster
    attaches and detaches volumes all the time.
    """
    return [
        change
        for change in changes
        if change.place != doubt.place
        and change.place not in doubt.undecided
        and (doubt.claims or change.place.kind not in SOMETIMES_ABSENT)
        and _counts(change)
    ]


def _counts(change: WorldChange) -> bool:
    if change.place.kind != "Pod":
        return True
    return any(view is not None and (view.spec.node_name or view.status.nominated_node_name) for view in change[1:])


def _is_binding(change: WorldChange) -> bool:
    if change.place.kind != "Pod" or change.old is None or change.new is None:
        return False
    return not change.old.spec.node_name and bool(change.new.spec.node_name)
