"""The observed state of a StatefulSet: which pod is at which ordinal.

Healthy pods are counted, not read one by one, so the ten-thousandth pod costs what the first did. A run of pods of one
revision from the first ordinal on is known by its length and the sum of its ordinals. The other pods are counted in
blocks: a block of which every pod is healthy and of one revision is settled by that one count.
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


class ObservedPods(NamedTuple):
    start: int
    replicas: int
    # The ordinals that are settled, in order.
    settled: Sequence[Span]
    # The pods in range that stand outside settled spans, by ordinal.
    pods: dict[int, Pod]
    # The pods out of range, highest ordinal first: upstream's controller calls them so, too.
    condemned: tuple[Pod, ...]
    # Every pod that was read.
    present: tuple[Pod, ...]
    settled_count: int
    # How many pods of each revision stay.
    staying: Mapping[str, int]

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

    def of_revision(self, revision: str) -> int:
        return self.staying.get(revision, 0)


def revision_of(pod: Pod) -> str:
    return pod.metadata.labels.get(REVISION_LABEL, "")


def ordinal_of(name: str, stateful_set: StatefulSet) -> int:
    """The ordinal in a pod's name; -1 for a name that is not of this set."""
    base, _, ordinal = name.rpartition("-")
    return int(ordinal) if base == stateful_set.metadata.name and ordinal.isdecimal() else -1


def observe_pods(
    view: View, stateful_set: StatefulSet, revisions: Mapping[str, dict[str, str]], *, whole: bool
) -> ObservedPods:
    """`revisions` gives the labels of each revision's template; `whole` reads every pod and counts none."""
    uid, spec = stateful_set.metadata.uid, stateful_set.spec
    if whole:
        return _arranged(stateful_set, (), view.owned(POD, stateful_set))
    total = view.count(POD, "owner", uid, "any")
    alike = {name: owned_alike(uid, {**labels, REVISION_LABEL: name}) for name, labels in revisions.items()}
    settled: list[Span] = []
    read: list[Pod] = []
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
            read += members
            found += len(members)
        ordinal += size
    if following:
        settled.append(Span(first, ordinal, following))
    if found != total:
        # Some pod is out of range or lacks the labels of its revision, so the counts do not cover all pods.
        return _arranged(stateful_set, (), view.owned(POD, stateful_set))
    return _arranged(stateful_set, settled, read)


def _settled_from(view: View, alike: Mapping[str, str], start: int, end: int) -> tuple[int, str]:
    """The block up to which every ordinal from `start` on has a healthy pod of one revision, and that revision.

    Ordinals differ from each other and begin at `start`. Of all sets of `count` such numbers, `start`, `start` + 1, ...
    has the smallest sum, and no other set has it: so count and sum together prove that there is no gap.
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


def _arranged(stateful_set: StatefulSet, settled: Sequence[Span], pods: Iterable[Pod]) -> ObservedPods:
    start, replicas = stateful_set.spec.ordinals.start, stateful_set.spec.replicas
    in_range: dict[int, Pod] = {}
    out_of_range: dict[int, Pod] = {}
    for pod in pods:
        ordinal = ordinal_of(pod.metadata.name, stateful_set)
        if start <= ordinal < start + replicas:
            in_range[ordinal] = pod
        elif ordinal >= 0:
            out_of_range[ordinal] = pod
    condemned = tuple([out_of_range[ordinal] for ordinal in sorted(out_of_range, reverse=True)])
    present = (*in_range.values(), *condemned)
    settled_count = 0
    staying: dict[str, int] = {}
    for first, end, revision in settled:
        settled_count += end - first
        staying[revision] = staying.get(revision, 0) + end - first
    for pod in present:
        revision = revision_of(pod)
        staying[revision] = staying.get(revision, 0) + (not pod.metadata.deleting)
    return ObservedPods(start, replicas, settled, in_range, condemned, present, settled_count, staying)
