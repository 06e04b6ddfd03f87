"""Which advice comes first, and which is left out when there is more than anybody reads."""

from __future__ import annotations

from collections.abc import Iterable

from mooring.placement.advise.model import Advice, AdviceKind, Edit

_Rank = tuple[int, tuple[int, ...], int, int, str]


def _rank(advice: Advice) -> _Rank:
    """Few changes first; then least disturbance; then few victims; then the change that opens most nodes."""
    opened = max(advice.node_count, 1 + advice.alternative_count)
    kinds = tuple(sorted((part.kind for part in advice.parts or (advice,)), reverse=True))
    return advice.changes, kinds, len(advice.victims), -opened, advice.title


def ranked(found: Iterable[Advice], limit: int) -> list[Advice]:
    """The best advice, in order. Every kind keeps its best one before any shows a second."""
    distinct = _distinct(sorted(found, key=_rank))
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


def _distinct(advice: list[Advice]) -> list[Advice]:
    seen: set[frozenset[tuple[str, str, str]]] = set()
    kept = []
    for one in advice:
        effect = effect_of(one)
        if effect not in seen:
            seen.add(effect)
            kept.append(one)
    return kept


def effect_of(advice: Advice) -> frozenset[tuple[str, str, str]]:
    """What is changed to what, in whatever order."""
    return frozenset(_effect(edit) for edit in advice.edits)


def _effect(edit: Edit) -> tuple[str, str, str]:
    return edit.target, edit.path, repr(edit.after)
