"""Changes that help only together: the smallest sets of two or three, each confirmed by the engine.

A set is found one change at a time. The first is one that would help if some of the reasons were not there; it is made,
on a copy of the pod or on the cluster for the length of a `with` block, and the search goes on from what is left. The
last change of a set is found as a single change is, so what is shown was tried together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec
import numpy as np

from mooring.placement.advise import commands
from mooring.placement.advise.devices.claims import claim_sources, claims_changed
from mooring.placement.advise.model import Advice, AdviceKind, is_of_pod
from mooring.placement.advise.nodes.changed_nodes import added_nodes, changed_nodes, edited_nodes
from mooring.placement.advise.nodes.pools import raisings
from mooring.placement.advise.pointers import edited
from mooring.placement.advise.ranking import effect_of, ranked
from mooring.placement.advise.search import Search
from mooring.placement.verdicts import Reason
from mooring.placement.writes import Commands

__all__ = ["MOST_CHANGES", "Finder", "SetSearch", "joined", "together"]

MOST_CHANGES: Final = 3
# How many first changes are followed: all that matter in a small cluster, the best few in a large one, where each
# takes as long as there are nodes.
_MOST_FOLLOWED: Final = 48
_LEAST_FOLLOWED: Final = 6
_NODES_IN_ALL: Final = 20_000
# How many pools are raised to see what else it takes.
_MOST_POOLS: Final = 8
# Up to this many nodes every idea is tried: nothing is left out because there are too many of a kind.
_NODES_OF_A_COMPLETE_SEARCH: Final = 24
# A node that more reasons reject is not three changes away: one change lifts two reasons at most.
_MOST_REASONS: Final = 4

Finder = Callable[[Search], Iterator[Advice]]


class SetSearch:
    """Finds the smallest sets. `first` finds the changes that a set begins with, `last` those that it may end with.

    Once it has found nothing, `is_complete` says that there is nothing.
    """

    def __init__(self, search: Search, first: Finder, last: Finder) -> None:
        self._search = search
        self._first = first
        self._last = last
        self._seen: set[frozenset[tuple[str, str, str]]] = set()
        self._ends: dict[frozenset[str], list[Advice]] = {}
        self.is_complete = search.cluster.node_count <= _NODES_OF_A_COMPLETE_SEARCH

    def run(self, most: int = MOST_CHANGES) -> list[Advice]:
        """The smallest sets of up to so many changes, where there are any: all of them have the same number."""
        for count in range(2, most + 1):
            found = list(self._sets(self._search, count, frozenset()))
            if found:
                return [_trimmed(self._search, each) for each in found]
        return []

    def _sets(self, search: Search, count: int, made: frozenset[str]) -> Iterator[Advice]:
        for change in self._beginnings(search):
            for rest in self._rest(search, change, count - 1, made | _edits_of(change)):
                both = together(search, change, rest)
                if effect_of(both) not in self._seen:
                    self._seen.add(effect_of(both))
                    yield both

    def _rest(self, search: Search, change: Advice, count: int, after: frozenset[str]) -> list[Advice]:
        """What else helps once a change is made. In whatever order changes are made, the last one is the same."""
        if count == 1 and after in self._ends:
            return self._ends[after]
        with _made(search, change) as changed:
            if changed is None:
                found = []
            elif count == 1:
                found = [advice for advice in self._last(changed) if not advice.last_resort]
            else:
                found = list(self._sets(changed, count, after))
        if count == 1:
            self._ends[after] = found
        return found

    def _beginnings(self, search: Search) -> list[Advice]:
        """Changes that would help but for some reasons that are left, least disturbance first."""
        found = [
            advice
            for ignored in _combinations(search)
            for advice in self._first(search.ignoring(ignored))
            if not advice.last_resort
        ]
        most = max(_LEAST_FOLLOWED, min(_MOST_FOLLOWED, _NODES_IN_ALL // max(1, search.cluster.node_count)))
        best = ranked(found, most, nodes_apart=True)
        raised = raisings(search)
        self.is_complete &= len(best) < _MOST_FOLLOWED and len(raised) <= _MOST_POOLS
        # Raising a pool helps but for reasons that no node of today need have.
        return [*raised[:_MOST_POOLS], *best]


def _combinations(search: Search) -> list[frozenset[Reason]]:
    """What may be left to the other changes: some, or all, of the reasons that nodes are rejected for."""
    found: dict[frozenset[Reason], None] = {}
    values, counts = np.unique(search.verdicts.bits[search.candidates], return_counts=True)
    for _, bits in sorted(zip(counts.tolist(), values.tolist(), strict=True), reverse=True):
        reasons = search.verdicts.of(bits)
        if len(reasons) <= _MOST_REASONS:
            for part in range(1, 1 << len(reasons)):
                found[frozenset(reason for i, reason in enumerate(reasons) if part >> i & 1)] = None
    return list(found)


def _edits_of(change: Advice) -> frozenset[str]:
    """With what was there before: the first taint of a node is another one when the first is gone."""
    return frozenset(map(repr, change.edits))


@contextmanager
def _made(search: Search, change: Advice) -> Iterator[Search | None]:
    """What is left to search once a change is made; None where the pod is not rejected by nodes any more."""
    pod = edited(search.pod, [edit for edit in change.edits if edit.target == "pod"])
    devices = search.cluster.devices
    claims = claim_sources(devices, search.info, search.spec)
    nodes = changed_nodes(search.cluster, change.edits)
    with search.cluster.pretending(nodes), claims_changed(devices, claims, change.edits):
        explanation = search.engine.explain(search.compile(pod))
        if explanation.rejected is not None or explanation.feasible.size:
            yield None
        else:
            yield search.after_change(explanation, pod, added_nodes(change.edits), edited_nodes(change.edits))


def _trimmed(search: Search, advice: Advice) -> Advice:
    """Without the changes that are of no use any more: pods that go may leave more room than was looked for."""
    if all(part.kind is not AdviceKind.EVICT for part in advice.parts):
        return advice
    parts = advice.parts
    for part in advice.parts:
        others = tuple(each for each in parts if each is not part)
        if others and part.kind is not AdviceKind.EVICT and not _targets(part) & _targets(*others):
            nodes, count = _takers(search, others)
            if count:
                parts = others
                advice = msgspec.structs.replace(
                    parts[0] if len(parts) == 1 else joined(search, parts),
                    nodes=nodes,
                    node_count=count,
                    victims=advice.victims,
                )
    return advice


def _targets(*parts: Advice) -> set[str]:
    """The nodes that changes are of: one may have moved what another one names."""
    return {edit.target for part in parts for edit in part.edits if edit.target.startswith("node/")}


def _takers(search: Search, parts: tuple[Advice, ...]) -> tuple[tuple[str, ...], int]:
    """The nodes that would take the pod once all of these changes are made, and how many they are."""
    edits = [edit for part in parts for edit in part.edits]
    pod = edited(search.pod, [edit for edit in edits if edit.target == "pod"])
    gone = [edit.before for edit in edits if edit.target == "pods"]
    devices = search.cluster.devices
    claims = claim_sources(devices, search.info, search.spec)
    nodes = changed_nodes(search.cluster, edits)
    with search.cluster.pretending(nodes, gone), claims_changed(devices, claims, edits):
        mask = search.takers(search.compile(pod))
        slots = search.in_order(mask)
        return search.named(slots), int(slots.size)


def together(search: Search, change: Advice, rest: Advice) -> Advice:
    """One advice to make a change and then the rest."""
    parts = (*(change.parts or (change,)), *(rest.parts or (rest,)))
    return msgspec.structs.replace(
        joined(search, parts), nodes=rest.nodes, node_count=rest.node_count, victims=rest.victims
    )


def joined(search: Search, parts: tuple[Advice, ...]) -> Advice:
    """One advice of several changes, with one title and one command."""
    titles = _titles(search, parts)
    return Advice(
        max(part.kind for part in parts),
        ", and ".join([titles[0], *(title[:1].lower() + title[1:] for title in titles[1:])]),
        tuple(edit for part in parts for edit in part.edits),
        _commands(search, parts),
        parts=parts,
    )


def _titles(search: Search, parts: tuple[Advice, ...]) -> list[str]:
    """What each change is called; where they are changes of different templates, with the template."""
    targets = [{edit.target for edit in part.edits if is_of_pod(edit)} for part in parts]
    if search.workload is None or all(found <= {"pod"} or len(found) > 1 for found in targets):
        return [part.title for part in parts]
    asked = search.workload.pod_path.rpartition("/")[2]
    named = [next(iter(found)).rpartition(".")[2].replace("pod", asked) if len(found) == 1 else "" for found in targets]
    return [f"{part.title} in {name}" if name else part.title for part, name in zip(parts, named, strict=True)]


def _commands(search: Search, parts: tuple[Advice, ...]) -> Commands:
    """One patch for all that is edited of the pod, and what is done elsewhere; nothing where a part has no command."""
    if any(part.kind is AdviceKind.PRIORITISE and not part.commands for part in parts):
        # A priority without a class is nothing that people may write.
        return ()
    of_pod = tuple(edit for part in parts for edit in part.edits if is_of_pod(edit) and edit.path != "/spec/priority")
    others = [part.commands for part in parts if not is_of_pod(part.edits[0]) and part.kind is not AdviceKind.ADD_NODE]
    if of_pod:
        # A patch of a file prints what is to be applied, and what is printed after it would be applied with it.
        others.append(commands.patch(search.workload, search.pod, of_pod))
    return tuple(command for each in others for command in each) if all(others) else ()
