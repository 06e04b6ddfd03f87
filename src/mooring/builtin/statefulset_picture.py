"""A StatefulSet as it is: who stands at which ordinal.

Pods that run and are ready are not looked at one by one. Ordinals are counted in blocks, and a block whose pods are all
healthy and of one revision is settled by that one number, so that the ten-thousandth pod costs what the first did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from mooring.api.workloads import Pod, StatefulSet
from mooring.builtin.kinds import BLOCK, LARGE_BLOCK, POD, REVISION_LABEL, alike_in_block, owned_alike, owned_in_block
from mooring.runtime.view import View


class Picture(NamedTuple):
    start: int
    replicas: int
    # The revision of each block that is settled.
    settled: dict[int, str]
    # The pods in range that stand outside settled blocks, by ordinal.
    pods: dict[int, Pod]
    # The pods out of range, highest ordinal first.
    condemned: tuple[Pod, ...]

    def ordinals(self) -> Iterator[int]:
        """The ordinals that are not settled, in order."""
        ordinal, end = self.start, self.start + self.replicas
        while ordinal < end:
            if ordinal // BLOCK in self.settled:
                ordinal = (ordinal // BLOCK + 1) * BLOCK
            else:
                yield ordinal
                ordinal += 1

    def outdated(self, revision: str) -> Iterator[int]:
        """The ordinals, highest first, that are not settled at this very revision."""
        ordinal = self.start + self.replicas - 1
        while ordinal >= self.start:
            if self.settled.get(ordinal // BLOCK) == revision:
                ordinal = ordinal // BLOCK * BLOCK - 1
            else:
                yield ordinal
                ordinal -= 1

    def revision_at(self, ordinal: int) -> str | None:
        """The revision of the pod at an ordinal; None if there is no pod."""
        if (settled := self.settled.get(ordinal // BLOCK)) is not None:
            return settled
        pod = self.pods.get(ordinal)
        return None if pod is None else revision_of(pod)

    @property
    def present(self) -> tuple[Pod, ...]:
        """Every pod that was looked at."""
        return (*self.pods.values(), *self.condemned)

    def of_revision(self, revision: str) -> int:
        """How many pods of a revision stay."""
        settled = BLOCK * list(self.settled.values()).count(revision)
        return settled + sum(revision_of(pod) == revision and not pod.metadata.deleting for pod in self.present)

    @property
    def revisions(self) -> set[str]:
        return {*self.settled.values(), *(revision_of(pod) for pod in self.present)}


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
        return _arranged(stateful_set, {}, view.owned(POD, stateful_set))
    total = view.count(POD, "owner", uid, "any")
    alike = {name: owned_alike(uid, {**labels, REVISION_LABEL: name}) for name, labels in revisions.items()}
    settled: dict[int, str] = {}
    looked: list[Pod] = []
    start, end = spec.ordinals.start, spec.ordinals.start + spec.replicas
    for block in range(start // BLOCK, -(-end // BLOCK)):
        if block in settled:
            continue
        if len(looked) + BLOCK * len(settled) == total:
            break
        for size in (LARGE_BLOCK, BLOCK):
            first = block * BLOCK
            if first % size or first < start or first + size > end:
                continue
            if (revision := _settled_at(view, alike, size, first)) is not None:
                settled |= dict.fromkeys(range(block, block + size // BLOCK), revision)
                break
        else:
            looked += view.list(POD, "block", owned_in_block(uid, block))
    if len(looked) + BLOCK * len(settled) != total:
        # Somebody stands where nobody should: out of range, or without the labels of a member.
        return _arranged(stateful_set, {}, view.owned(POD, stateful_set))
    return _arranged(stateful_set, settled, looked)


def _settled_at(view: View, alike: Mapping[str, str], size: int, first: int) -> str | None:
    for revision, start in alike.items():
        if view.count(POD, "alike", alike_in_block(start, size, first), "healthy") == size:
            return revision
    return None


def _arranged(stateful_set: StatefulSet, settled: dict[int, str], pods: Iterable[Pod]) -> Picture:
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
