"""What a feature that scales pools tells people about them: the rows of `mooring pools`, and the story of one pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from mooring.api.kinds import Key

__all__ = ["Finding", "MomentKind", "PoolEvent", "PoolMoment", "PoolReport", "PoolRow", "PoolWorld"]

MomentKind = Literal["made", "grown", "shrunk", "joined", "left", "lost", "problem", "removed"]

PoolWorld = Mapping[str, Sequence[Any]]
"""Typed views by kind."""


class PoolRow(NamedTuple):
    """`state` is one word or a sentence where something is wrong."""

    namespace: str
    name: str
    least: str
    most: str
    target: int
    ready: int
    free_hosts: int
    state: str


class Finding(NamedTuple):
    """Something wrong: with which object, what it is, and the command that mends it or shows more."""

    about: str
    problem: str
    command: str


class PoolEvent(NamedTuple):
    """An Event of the cluster: about what, and when it was seen last."""

    kind: str
    namespace: str
    name: str
    reason: str
    message: str
    time: str


class PoolMoment(NamedTuple):
    """Something that happened in a pool, in words.

    `host` is there where it happened to one. `nodes` counts the nodes of the pool afterwards, as far as is known; one
    that is lost counts until it has left. Without `pool` nobody knows any more which one it was.
    """

    time: str
    namespace: str
    pool: str
    kind: MomentKind
    text: str
    host: str = ""
    nodes: int = 0


class PoolReport(NamedTuple):
    """What must be read, by apiVersion and kind, the ConfigMap of decisions, and what is told of it."""

    views: Mapping[tuple[str, str], type[Any]]
    decisions: Key
    rows: Callable[[PoolWorld, Mapping[str, str]], Sequence[PoolRow]]
    explain: Callable[[PoolWorld, Mapping[str, str], Key], Sequence[str]]
    diagnose: Callable[[PoolWorld, Mapping[str, str]], Sequence[Finding]]
    # Sentences below the rows: what there is no pool for, and why.
    notes: Callable[[Mapping[str, str]], Sequence[str]]
    # The same of one pod, by its node selector.
    pod_notes: Callable[[Mapping[str, str], Mapping[str, str]], Sequence[str]]
    # What happened in the pools, oldest first. Decisions say more than events, which the API server forgets.
    timeline: Callable[[PoolWorld, Mapping[str, str], Iterable[PoolEvent]], Sequence[PoolMoment]]
