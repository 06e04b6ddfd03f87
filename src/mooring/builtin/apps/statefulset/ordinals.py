"""Pods of StatefulSets by revision and ordinal, so that a set of any size is looked at without listing it.

Pods are counted in blocks of ordinals, large and small. Each size is a multiple of the next; the smallest block is what
is listed.
"""

from __future__ import annotations

from collections.abc import Iterable

from mooring.api.core.views import Pod
from mooring.api.kinds import Indexers
from mooring.workloads.kinds import POD

BLOCKS = (1024, 64, 4)
BLOCK = BLOCKS[-1]
INDEX_LABEL = "apps.kubernetes.io/pod-index"
NAME_LABEL = "statefulset.kubernetes.io/pod-name"
# Labels that tell one pod of a set from the next: its name, its number, and where it was bound.
_OF_ONE_POD = frozenset({INDEX_LABEL, NAME_LABEL, "topology.kubernetes.io/zone", "topology.kubernetes.io/region"})
# More than any ordinals add up to.
_IMPOSSIBLE_SUM = 1 << 80


def owned_alike(uid: str, labels: dict[str, str]) -> str:
    """A value of index `ordinals`: a set's pods that carry these labels, those of one pod aside."""
    return uid + "".join([f"\n{name}={labels[name]}" for name in sorted(labels) if name not in _OF_ONE_POD]) + "\n"


def alike_in_block(start: str, size: int, ordinal: int) -> str:
    """A value of index `ordinals`: of those alike, the ones in the block of this size that the ordinal falls into."""
    return f"{start}{size}/{ordinal // size}"


def owned_in_block(uid: str, block: int) -> str:
    """The value of index `block`: a set's pods whose ordinals fall into one of the smallest blocks."""
    return f"{uid}/{block}"


def _set_of(pod: Pod) -> str:
    owner = pod.metadata.controller
    return owner.uid if owner is not None and owner.kind == "StatefulSet" else ""


def _ordinal(pod: Pod) -> int:
    """The number that a pod is labelled with; -1 if its name, which never changes, says another."""
    ordinal = pod.metadata.labels.get(INDEX_LABEL, "")
    return int(ordinal) if ordinal.isdecimal() and pod.metadata.name.endswith(f"-{ordinal}") else -1


def _healthy_ordinal(pod: Pod) -> int:
    """What a pod adds to the sum of ordinals. One without a number of its own spoils the sum."""
    if not pod.healthy:
        return 0
    ordinal = _ordinal(pod)
    return ordinal if ordinal >= 0 else _IMPOSSIBLE_SUM


def _by_block(pod: Pod) -> Iterable[str]:
    uid = _set_of(pod)
    return (owned_in_block(uid, _ordinal(pod) // BLOCK),) if uid else ()


def _by_ordinals(pod: Pod) -> Iterable[str]:
    uid = _set_of(pod)
    if not uid:
        return ()
    start = owned_alike(uid, pod.metadata.labels)
    ordinal = _ordinal(pod)
    return (start, *[alike_in_block(start, size, ordinal) for size in BLOCKS])


ORDINALS = Indexers(
    POD,
    indexes={"ordinals": _by_ordinals, "block": _by_block},
    counters={"healthy-ordinals": _healthy_ordinal},
    placed_by=(),
)
