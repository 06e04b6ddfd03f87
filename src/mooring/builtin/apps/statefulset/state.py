"""A StatefulSet as it is: who stands at which ordinal.

Pods that run and are ready are not looked at one by one. Those of one revision that stand in a row from the first
ordinal on are known by their number and the sum of their ordinals. The others are counted in blocks, and a block whose
pods are all healthy and of one revision is settled by that one number. So the ten-thousandth pod costs what the first
did.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from mooring.api.apps.views import StatefulSet
from mooring.api.core.views import Pod
from mooring.builtin.apps.statefulset.ordinals import BLOCK, BLOCKS, alike_in_block, owned_alike, owned_in_block
from mooring.runtime.view import View
from mooring.workloads.kinds import POD, REVISION_LABEL


class Span(NamedTuple):
    """Ordinals in a row whose pods are all healthy and of one revision."""

    first: int
    end: int
    revision: str


_first = attrgetter("first")


class Picture(NamedTuple):
    start: int
    replicas: int
    # The ordinals that are settled, in order.
    settled: Sequence[Span]
    # The pods in range that stand outside settled spans, by ordinal.
    pods: dict[int, Pod]
    # The pods out of range, highest ordinal first.
    condemned: tuple[Pod, ...]

    def ordinals(self) -> Iterator[int]:
        """The ordinals that are not settled, in order."""
        ordinal = self.start
        for span in self.settled:
            yield from range(ordinal, span.first)
            ordinal = span.end
        yield from range(ordinal, self.start + self.replicas)

    def outdated(self, revision: str) -> Iterator[int]:
        """The ordinals, highest first, that are not settled at this very revision."""
        ordinal = self.start + self.replicas - 1
        for span in reversed(self.settled):
            if span.revision == revision:
                yield from range(ordinal, span.end - 1, -1)
                ordinal = span.first - 1
        yield from range(ordinal, self.start - 1, -1)

    def revision_at(self, ordinal: int) -> str | None:
        """The revision of the pod at an ordinal; None if there is no pod."""
        place = bisect_right(self.settled, ordinal, key=_first) - 1
        if place >= 0 and ordinal < self.settled[place].end:
            return self.settled[place].revision
        pod = self.pods.get(ordinal)
        return None if pod is None else revision_of(pod)

    @property
    def settled_count(self) -> int:
        return sum(span.end - span.first for span in self.settled)

    @property
    def present(self) -> tuple[Pod, ...]:
        """Every pod that was looked at."""
        return (*self.pods.values(), *self.condemned)

    def of_revision(self, revision: str) -> int:
        """How many pods of a revision stay."""
        settled = sum(span.end - span.first for span in self.settled if span.revision == revision)
        return settled + sum(revision_of(pod) == revision and not pod.metadata.deleting for pod in self.present)

    @property
    def revisions(self) -> set[str]:
        return {*(span.revision for span in self.settled), *(revision_of(pod) for pod in self.present)}


def revision_of(pod: Pod) -> str:
    return pod.metadata.labels.get(REVISION_LABEL, "")


def ordinal_of(name: str, stateful_set: StatefulSet) -> int:
    """The ordinal in a pod's name; -1 for a name that is not of this set."""
    base, _, ordinal = name.rpartition("-")
    return int(ordinal) if base == stateful_set.metadata.name and ordinal.isdecimal() else -1


def take_picture(
    view: View, stateful_set: StatefulSet, revisions: Mapping[str, dict[str, str]], *, whole: bool
) -> Picture:
    """Look at a set. `revisions` gives the labels of each revision's template; `whole` looks at every pod."""
    uid, spec = stateful_set.metadata.uid, stateful_set.spec
    if whole:
        return _arranged(stateful_set, (), view.owned(POD, stateful_set))
    total = view.count(POD, "owner", uid, "any")
    alike = {name: owned_alike(uid, {**labels, REVISION_LABEL: name}) for name, labels in revisions.items()}
    settled: list[Span] = []
    looked: list[Pod] = []
    start, end = spec.ordinals.start, spec.ordinals.start + spec.replicas
    ordinal, following = _settled_from(view, alike, start, end)
    # The span that is being followed, and how many pods have been found.
    first, found = (start, ordinal - start) if following else (ordinal, 0)
    while ordinal < end and found < total:
        last = min(end, ordinal + total - found)
        size, revision = _settled_at(view, alike, ordinal, last) if ordinal >= start else (BLOCK, "")
        if revision != following:
            if following:
                settled.append(Span(first, ordinal, following))
            first, following = ordinal, revision
        if revision:
            found += size
        else:
            members = view.list(POD, "block", owned_in_block(uid, ordinal // BLOCK))
            looked += members
            found += len(members)
        ordinal += size
    if following:
        settled.append(Span(first, ordinal, following))
    if found != total:
        # Somebody stands where nobody should: out of range, or without the labels of a member.
        return _arranged(stateful_set, (), view.owned(POD, stateful_set))
    return _arranged(stateful_set, settled, looked)


def _settled_from(view: View, alike: Mapping[str, str], start: int, end: int) -> tuple[int, str]:
    """The block up to which pods of one revision stand in a row from the first ordinal on, and that revision.

    As many different numbers as these add up to this only if they are the smallest ones there are.
    """
    for revision, value in alike.items():
        count = view.count(POD, "ordinals", value, "healthy")
        total = view.count(POD, "ordinals", value, "healthy-ordinals")
        block = (start + count) // BLOCK * BLOCK
        if start < block <= end and total == count * start + count * (count - 1) // 2:
            return block, revision
    return start // BLOCK * BLOCK, ""


def _settled_at(view: View, alike: Mapping[str, str], ordinal: int, end: int) -> tuple[int, str]:
    """The size and the revision of the largest block that begins at an ordinal and is settled; "" if none is.

    It ends at `end` at the latest, which is as far as there are pods: a larger one cannot be full.
    """
    for size in BLOCKS:
        if not ordinal % size and ordinal + size <= end:
            for revision, start in alike.items():
                if view.count(POD, "ordinals", alike_in_block(start, size, ordinal), "healthy") == size:
                    return size, revision
    return BLOCK, ""


def _arranged(stateful_set: StatefulSet, settled: Sequence[Span], pods: Iterable[Pod]) -> Picture:
    start, replicas = stateful_set.spec.ordinals.start, stateful_set.spec.replicas
    standing: dict[int, Pod] = {}
    condemned: dict[int, Pod] = {}
    for pod in pods:
        ordinal = ordinal_of(pod.metadata.name, stateful_set)
        if start <= ordinal < start + replicas:
            standing[ordinal] = pod
        elif ordinal >= 0:
            condemned[ordinal] = pod
    return Picture(
        start, replicas, settled, standing, tuple(condemned[ordinal] for ordinal in sorted(condemned, reverse=True))
    )
