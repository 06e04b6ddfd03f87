"""Relax a topology spread constraint by as little as is enough, or leave out the domains that it waits for in vain."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mooring.kube.objects import Object
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.nearest import meant_key
from mooring.placement.advise.nodes.conditions import HOSTNAME
from mooring.placement.advise.pod.gates import REQUIRED
from mooring.placement.advise.pointers import pointer, resolve
from mooring.placement.advise.search import Search
from mooring.placement.filters import CROWDED, NO_TOPOLOGY
from mooring.placement.plugins.spread import HardConstraint
from mooring.placement.pods import DO_NOT_SCHEDULE

FIELD = ("spec", "topologySpreadConstraints")
SOFT = "ScheduleAnyway"
# How many domains are left out at most.
MOST_LEFT_OUT = 3


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
            yield from _left_out(search, index, constraints, where)
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


def _left_out(search: Search, index: int, constraints: list[Object], where: str) -> Iterator[Advice]:
    """Takes domains where no node has a place out of those that are counted: constraints honour node affinity."""
    number = sum(each.get("whenUnsatisfiable") == DO_NOT_SCHEDULE for each in constraints[:index])
    spread = search.filters.spread
    if spread is None or number >= len(spread.constraints):
        return
    hard = spread.constraints[number]
    if not hard.constraint.honor_affinity:
        return
    closed = _closed(search, hard)
    # Over less than two domains nothing is spread.
    most = min(MOST_LEFT_OUT, int(hard.present.sum()) - 2)
    for count in range(1, min(len(closed), most) + 1):
        names = closed[:count]
        key = hard.constraint.topology_key
        word = "node" if key == HOSTNAME else key.rpartition("/")[2]
        advice = search.on_pod(
            AdviceKind.LEAVE_OUT,
            f"Leave {word} {' and '.join(names)} out of {where} (node affinity NotIn)",
            *_shunning(search, {"key": key, "operator": "NotIn", "values": names}),
        )
        if advice is not None:
            yield advice
            return


def _closed(search: Search, hard: HardConstraint) -> list[str]:
    """The domains that are counted and where other reasons than crowding reject every node, the emptiest first."""
    lifted = search.bits((CROWDED, NO_TOPOLOGY)) | search.bits(search.ignored)
    codes = hard.column.codes
    is_open = np.zeros(hard.present.size, dtype=np.bool_)
    opened = codes[search.candidates & (codes >= 0) & (search.verdicts.bits & ~lifted == 0)]
    is_open[opened[opened < is_open.size]] = True
    closed = np.flatnonzero(hard.present & ~is_open)
    return [hard.column.values[code] for code in closed[np.argsort(hard.counts[closed], kind="stable")].tolist()]


def _shunning(search: Search, expression: Object) -> list[Edit]:
    """Edits that add a requirement to every term of the pod's node affinity, of which one must hold."""
    path = ("spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms")
    terms = resolve(search.pod, pointer(*path)) or []
    if not terms:
        return [Edit("pod", "add", pointer(*path, "-"), None, {"matchExpressions": [expression]})]
    return [Edit("pod", "add", pointer(*path, i, "matchExpressions", "-"), None, expression) for i in range(len(terms))]


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
