"""What the engine expects a scheduler to do with a pod, and whether that is what happened."""

from __future__ import annotations

from typing import NamedTuple

from mooring.placement.engine import Engine
from mooring.placement.pods import PodInfo
from mooring.placement.selection import MIN_FEASIBLE
from mooring.placement.shadow.outcomes import Bound, Outcome


class Prediction(NamedTuple):
    """`best` are the tied nodes that it may be bound to; where there are none, `message` says why it stays pending.

    `nominated` are the tied nodes that preemption may make room on, or the one that it makes room on already.
    """

    best: frozenset[str]
    feasible: frozenset[str]
    message: str
    nominated: frozenset[str]
    # Whether a scheduler at work looks at some of the nodes only.
    sampled: bool

    def __str__(self) -> str:
        if self.best:
            return f"bound to {_some(self.best)}"
        nominated = f", nominated to {_some(self.nominated)}" if self.nominated else ""
        return f"left pending{nominated}: {self.message}"

    def is_exactly(self, outcome: Outcome) -> bool:
        if isinstance(outcome, Bound):
            return outcome.node in self.best
        if self.best or outcome.message != self.message:
            return False
        return outcome.nominated in self.nominated if self.nominated else not outcome.nominated

    def allows(self, outcome: Outcome) -> bool:
        """Whether the node is one that fits, for a scheduler that did not look at the best ones."""
        return self.sampled and isinstance(outcome, Bound) and outcome.node in self.feasible


def predict(engine: Engine, pod: PodInfo) -> Prediction:
    cluster = engine.cluster
    explanation = engine.explain(pod)

    def names(slots: list[int]) -> frozenset[str]:
        return frozenset(cluster.names[slot] for slot in slots)

    best = names(explanation.best.tolist())
    if explanation.chosen >= 0 and not best:
        # The only node that fits is taken without being scored.
        best = names([explanation.chosen])
    preemption = explanation.preemption
    nominated = names(list(preemption.tied)) if preemption is not None else frozenset()
    if preemption is not None and not preemption.is_eligible and pod.nominated:
        # While victims leave, the nomination stands.
        nominated = frozenset({pod.nominated})
    return Prediction(
        best,
        names(explanation.feasible.tolist()),
        explanation.message,
        nominated,
        cluster.node_count >= MIN_FEASIBLE,
    )


def _some(names: frozenset[str]) -> str:
    listed = sorted(names)
    more = f" or {len(listed) - 3} more" if len(listed) > 3 else ""
    return " or ".join(listed[:3]) + more
