"""Relax a topology spread constraint by as little as is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mooring.kube.objects import Object
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.nearest import meant_key
from mooring.placement.advise.pointers import pointer
from mooring.placement.advise.search import Search
from mooring.placement.filters import CROWDED, NO_TOPOLOGY
from mooring.placement.pods import DO_NOT_SCHEDULE

FIELD = ("spec", "topologySpreadConstraints")
SOFT = "ScheduleAnyway"


def spreading(search: Search) -> Iterator[Advice]:
    if not search.only(NO_TOPOLOGY, CROWDED).any():
        return
    constraints: list[Object] = search.spec.get("topologySpreadConstraints") or []
    for index, constraint in enumerate(constraints):
        if constraint.get("whenUnsatisfiable") == DO_NOT_SCHEDULE:
            where = f"spread constraint {index} over {constraint.get('topologyKey')}"
            yield from _key(search, index, constraint)
            yield from _skew(search, index, constraint, where)
            yield from _domains(search, index, constraint, where)
            yield from _policies(search, index, constraint, where)
            yield from _soften(search, index, constraints, where)


def misspelt_topology(search: Search, key: str) -> str | None:
    """The label key that was meant by a topology key that is on no node."""
    labels, valid = search.cluster.labels.columns, search.cluster.valid
    present = [name for name, column in labels.items() if bool(column.present[valid].any())]
    return None if key in present else meant_key(key, present)


def _key(search: Search, index: int, constraint: Object) -> Iterator[Advice]:
    key = str(constraint.get("topologyKey") or "")
    other = misspelt_topology(search, key)
    if other is not None:
        advice = search.on_pod(
            AdviceKind.CORRECT,
            f'Correct topologyKey of spread constraint {index} from "{key}" to "{other}"',
            Edit("pod", "replace", pointer(*FIELD, index, "topologyKey"), key, other),
        )
        if advice is not None:
            yield advice


def _skew(search: Search, index: int, constraint: Object, where: str) -> Iterator[Advice]:
    before = int(constraint.get("maxSkew") or 0)

    def edit(skew: int) -> Edit:
        return Edit("pod", "relax", pointer(*FIELD, index, "maxSkew"), before, skew)

    # No domain can hold more pods than there are, so beyond this nothing changes.
    most = before + len(search.cluster.pods) + 1
    skew = _least(before + 1, most, lambda n: bool(search.takers_of((edit(n),)).any()))
    if skew is not None:
        advice = search.on_pod(AdviceKind.RELAX, f"Raise maxSkew of {where} from {before} to {skew}", edit(skew))
        if advice is not None:
            yield advice


def _domains(search: Search, index: int, constraint: Object, where: str) -> Iterator[Advice]:
    before = constraint.get("minDomains")
    if before is None or before <= 1:
        return

    def edit(lowered_by: int) -> Edit:
        return Edit("pod", "relax", pointer(*FIELD, index, "minDomains"), before, before - lowered_by)

    step = _least(1, before - 1, lambda n: bool(search.takers_of((edit(n),)).any()))
    if step is not None:
        title = f"Lower minDomains of {where} from {before} to {before - step}"
        advice = search.on_pod(AdviceKind.RELAX, title, edit(step))
        if advice is not None:
            yield advice


def _least(low: int, high: int, enough: Callable[[int], bool]) -> int | None:
    """The least number that is enough, given that more is never worse."""
    if low > high or not enough(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _policies(search: Search, index: int, constraint: Object, where: str) -> Iterator[Advice]:
    for field, default in (("nodeAffinityPolicy", "Honor"), ("nodeTaintsPolicy", "Ignore")):
        before = constraint.get(field)
        after = "Ignore" if (before or default) == "Honor" else "Honor"
        advice = search.on_pod(
            AdviceKind.RELAX,
            f"Set {field} of {where} to {after}",
            Edit("pod", "relax", pointer(*FIELD, index, field), before, after),
        )
        if advice is not None:
            yield advice


def _soften(search: Search, index: int, constraints: list[Object], where: str) -> Iterator[Advice]:
    """Make the constraint a wish; where the pod has that wish already, drop it."""
    constraint = constraints[index]
    key = constraint.get("topologyKey")
    if any(c.get("topologyKey") == key and c.get("whenUnsatisfiable") == SOFT for c in constraints):
        edits = [Edit("pod", "drop", pointer(*FIELD, index), constraint, None)]
        kind, title = AdviceKind.DROP, f"Drop {where}"
    else:
        path = pointer(*FIELD, index, "whenUnsatisfiable")
        edits = [Edit("pod", "relax", path, DO_NOT_SCHEDULE, SOFT)]
        if constraint.get("minDomains") is not None:
            # The API accepts minDomains with DoNotSchedule only.
            edits.append(Edit("pod", "relax", pointer(*FIELD, index, "minDomains"), constraint["minDomains"], None))
        kind, title = AdviceKind.RELAX, f"Make {where} a preference (whenUnsatisfiable: {SOFT})"
    advice = search.on_pod(kind, title, *edits)
    if advice is not None:
        yield advice
