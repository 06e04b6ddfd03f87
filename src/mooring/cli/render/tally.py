"""The tally of a shadow's judgements, and its line of text."""

from __future__ import annotations

from collections import Counter

from mooring.kube.words import counted
from mooring.placement.shadow import Agreement, Judgement

__all__ = ["Tally", "difference"]

_RIGHT = (Agreement.EXACT, Agreement.NEAR, Agreement.FEASIBLE)


class Tally:
    def __init__(self) -> None:
        self._counts: Counter[Agreement] = Counter()

    def add(self, judgement: Judgement) -> None:
        self._counts[judgement.verdict] += 1

    @property
    def right(self) -> int:
        return sum(self._counts[verdict] for verdict in _RIGHT)

    @property
    def wrong(self) -> int:
        return self._counts[Agreement.WRONG]

    @property
    def judged(self) -> int:
        return self.right + self.wrong

    def line(self) -> str:
        """The running rate."""
        counts = self._counts
        if not self.judged and not counts[Agreement.SKIPPED]:
            return "nothing to compare yet"
        said = [f"{self.right:,} of {counted(self.judged, 'outcome')} as predicted"]
        if self.judged:
            # Never rounded up to all of them.
            said[0] += f" ({int(self.right * 1000 / self.judged) / 10} %)"
        kinds = {
            Agreement.EXACT: "exactly",
            Agreement.NEAR: "on a neighbouring state",
            Agreement.FEASIBLE: "a node that fits, not the best",
        }
        parts = [f"{counts[verdict]:,} {words}" for verdict, words in kinds.items() if counts[verdict]]
        if parts:
            said.append(", ".join(parts))
        if counts[Agreement.WRONG]:
            said.append(f"{counts[Agreement.WRONG]:,} otherwise")
        if counts[Agreement.SKIPPED]:
            said.append(f"{counts[Agreement.SKIPPED]:,} not evaluated (too little is known of their volumes or claims)")
        return "; ".join(said)


def difference(judgement: Judgement) -> str:
    """A disagreement in words."""
    return f"{judgement.pod}: predicted {judgement.prediction}, but it was {judgement.outcome}"
