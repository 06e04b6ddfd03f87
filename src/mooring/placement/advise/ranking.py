"""Which advice comes first, and which is left out when there is too much to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from mooring.placement.advise.model import Advice, AdviceKind, Edit

_Rank = tuple[int, tuple[int, ...], int, int, str]


def _rank(advice: Advice) -> _Rank:
    """Few changes first; then least disturbance; then few victims; then the change that opens most nodes."""
    opened = max(advice.node_count, 1 + advice.alternative_count)
    kinds = tuple(sorted((part.kind for part in advice.parts or (advice,)), reverse=True))
    return advice.changes, kinds, len(advice.victims), -opened, advice.title


def ranked(found: Iterable[Advice], limit: int, *, nodes_apart: bool = False) -> list[Advice]:
    """The best advice, in order. Every kind keeps its best one before any shows a second.

    The same change of another node, which an advice names as an alternative, is left out unless it counts as another.
    """
    distinct = _distinct(sorted(found, key=_rank), nodes_apart)
    fair = [advice for advice in distinct if not advice.last_resort] or distinct
    if len(fair) <= limit:
        return fair
    seen: set[AdviceKind] = set()
    turns: list[tuple[int, int]] = []
    for position, advice in enumerate(fair):
        turns.append((int(advice.kind in seen), position))
        seen.add(advice.kind)
    chosen = sorted(position for _, position in sorted(turns)[:limit])
    return [fair[position] for position in chosen]


def _distinct(advice: list[Advice], nodes_apart: bool) -> list[Advice]:
    seen: set[frozenset[tuple[str, str, str]]] = set()
    kept = []
    for one in advice:
        if effect_of(one) not in seen:
            seen.update([effect_of(one)] if nodes_apart else _effects(one))
            kept.append(one)
    return kept


def disruptive_last(advice: Iterable[Advice]) -> list[Advice]:
    """In the same order, but for what costs other pods their place: that comes last, whatever it brings."""
    return sorted(advice, key=lambda each: max(each.kind, AdviceKind.ADD_NODE))


def _effects(advice: Advice) -> Iterator[frozenset[tuple[str, str, str]]]:
    """The effect of an advice, and what it would be with one of the other nodes that it names."""
    yield effect_of(advice)
    parts = advice.parts or (advice,)
    for part in parts:
        others = [edit for other in parts if other is not part for edit in other.edits]
        for name in part.alternatives:
            there = [msgspec.structs.replace(edit, target=f"node/{name}") for edit in part.edits]
            yield frozenset(map(_effect, (*others, *there)))


def effect_of(advice: Advice) -> frozenset[tuple[str, str, str]]:
    """What is changed to what, in whatever order."""
    return frozenset(_effect(edit) for edit in advice.edits)


def _effect(edit: Edit) -> tuple[str, str, str]:
    return edit.target, edit.path, repr(edit.after)
