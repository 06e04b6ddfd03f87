"""Names and numbers of groups: what follows from a pod's name, and the hashes that tell groups apart."""

from __future__ import annotations

import hashlib
from typing import NamedTuple


class Ordinal(NamedTuple):
    """A pod of a StatefulSet: the name of the set, and the number of the pod in it."""

    parent: str
    number: int


def ordinal_of(name: str) -> Ordinal | None:
    """What a pod's name says about it; None for a name that does not end in a number."""
    parent, dash, index = name.rpartition("-")
    return Ordinal(parent, int(index)) if dash and parent and index.isascii() and index.isdecimal() else None


def group_key(namespace: str, leader: str) -> str:
    return _hash(f"{namespace}/{leader}")


def subgroup_key(leader: str, index: int) -> str:
    """Not namespaced, as everybody knows it."""
    return _hash(f"{leader}/{index}")


def _hash(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def subgroup_index(size: int, subgroup_size: int, worker: int) -> int:
    """The subgroup of a worker. Where the leader is one too many, it is counted into the first subgroup."""
    leader_is_extra = (size - 1) % subgroup_size == 0 and size % subgroup_size != 0
    return (worker - 1) // subgroup_size if leader_is_extra else worker // subgroup_size
