"""Why nodes are rejected, in words that name the taint, the label, the amount or the pod that is in the way.

The scheduler's reasons name none of these. Nodes are put into groups that the same things block, and each group is
described once, whatever its size: five thousand nodes of three pools are three groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mooring.api.core.types import Taint
from mooring.kube.nodeselectors import NodeSelectorTerm
from mooring.kube.selectors import Requirement
from mooring.placement.causes.amounts import shortage
from mooring.placement.causes.pods import affinity_cause, anti_affinity_cause, port_cause, spread_causes, symmetry_cause
from mooring.placement.causes.volumes import volume_causes
from mooring.placement.engine import Explanation
from mooring.placement.filters import (
    ALONE,
    CORDONED,
    CROWDED,
    NO_TOPOLOGY,
    OTHER_NAME,
    OUTSIDE,
    PORT_TAKEN,
    REPELLED,
    TAINTED,
    TOO_MANY_PODS,
    UNSELECTED,
    UNWELCOME,
    Filters,
)
from mooring.placement.labels import Mask
from mooring.placement.plugins.taints import UNSCHEDULABLE_TAINT, taint_text, untolerated
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.verdicts import UNSCHEDULABLE, Bits, Reason, Verdicts

Slots = NDArray[np.int64]

# How many different label values of a group are named.
MAX_VALUES = 3
# More groups than this are too many to read.
MAX_GROUPS = 8
# Checks of the node selector that tell groups apart; no pod comes near so many.
MAX_CHECKS = 62
# Resources that are parts of an NVIDIA GPU.
MIG = "nvidia.com/mig-"


class Cause(NamedTuple):
    plugin: str
    text: str


class Blocked(NamedTuple):
    """Nodes that the same things block, in the scheduler's order."""

    slots: Slots
    causes: tuple[Cause, ...]


class _Check(NamedTuple):
    """One condition that the pod puts on labels of nodes, and the slots that fail it. `term` is -1 for nodeSelector."""

    requirement: Requirement
    fails: Mask
    term: int = -1


def blocked_groups(explanation: Explanation, most: int = MAX_GROUPS) -> list[Blocked]:
    """All rejected nodes by what blocks them: those nearest to fitting first, then the larger groups.

    Where this makes more than `most` groups, nodes that differ only in which resources run short are put together.
    """
    verdicts, filters = explanation.verdicts, explanation.filters
    if verdicts is None or filters is None:
        return []
    order = explanation.order[verdicts.bits[explanation.order] != 0]
    if not order.size:
        return []
    checks = _checks(filters)
    details = [_taint_parts(filters)[order], _check_parts(filters, checks)[order], _rival_parts(filters)[order]]
    if filters.checks.devices is not None:
        from mooring.placement.causes.devices import device_parts

        details.append(device_parts(filters)[order])
    group = _grouped(verdicts.bits[order], details)
    if int(group.max()) >= most:
        group = _grouped(_without_shortages(verdicts, order), details)
    by_group = np.argsort(group, kind="stable")
    bounds = np.flatnonzero(np.diff(group[by_group])) + 1
    groups = [Blocked(slots, _causes(explanation, slots, checks)) for slots in np.split(order[by_group], bounds)]
    reasons = np.bitwise_count(verdicts.bits)
    return sorted(groups, key=lambda g: (int(reasons[g.slots].min()), len(g.causes), -g.slots.size))


def _grouped(bits: Bits, details: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Numbers from 0 that are equal where the bits and all details are."""
    group: NDArray[np.int64] = np.unique(bits, return_inverse=True)[1]
    for part in details:
        group = np.unique(group * (int(part.max()) + 1) + part, return_inverse=True)[1]
    return group


def all_node_causes(explanation: Explanation) -> dict[int, tuple[Cause, ...]]:
    """The causes of every rejected node by its slot, each described on its own."""
    if explanation.filters is None or explanation.verdicts is None:
        return {}
    checks = _checks(explanation.filters)
    rejected = explanation.order[explanation.verdicts.bits[explanation.order] != 0]
    return {int(slot): _causes(explanation, rejected[i : i + 1], checks) for i, slot in enumerate(rejected)}


# What tells groups apart


def _without_shortages(verdicts: Verdicts, order: Slots) -> Bits:
    """The reasons of each node without the resources that run short, unless nothing else blocks it."""
    bits = verdicts.bits[order]
    moving = sum(1 << i for i, reason in enumerate(verdicts.reasons) if _is_shortage(reason))
    steady = bits & ~moving
    return np.where(steady, steady, bits)


def _is_shortage(reason: Reason) -> bool:
    return reason.plugin == "NodeResourcesFit" and reason.code == UNSCHEDULABLE


def _taint_parts(filters: Filters) -> NDArray[np.int64]:
    cluster = filters.cluster
    seen: dict[tuple[Taint, ...], int] = {}
    table = [
        seen.setdefault(tuple(untolerated(filters.pod.template.tolerations, taints)), len(seen))
        for taints in cluster.taint_sets
    ]
    return np.array(table, dtype=np.int64)[cluster.taint_set]


def _check_parts(filters: Filters, checks: list[_Check]) -> NDArray[np.int64]:
    parts = np.zeros(filters.cluster.size, dtype=np.int64)
    for i, check in enumerate(checks[:MAX_CHECKS]):
        parts |= check.fails.astype(np.int64) << i
    return np.unique(parts, return_inverse=True)[1]


def _rival_parts(filters: Filters) -> NDArray[np.int64]:
    """Nodes where room is held for a nominated pod are told apart one by one: there are few of them."""
    parts = np.zeros(filters.cluster.size, dtype=np.int64)
    for i, (name, _) in enumerate(_rivals(filters)):
        parts[filters.cluster.slots[name]] = i + 1
    return parts


def _rivals(filters: Filters) -> list[tuple[str, list[PodInfo]]]:
    found = []
    for name, nominated in filters.cluster.nominated.items():
        pod = filters.pod
        rivals = [p for p in nominated.values() if p.priority >= pod.priority and p.key != pod.key]
        if rivals and name in filters.cluster.slots:
            found.append((name, rivals))
    return found


def _checks(filters: Filters) -> list[_Check]:
    wanted = filters.pod.template.node_terms
    if wanted is None:
        return []
    labels, named = filters.cluster.labels, filters.matching.named
    checks = []
    for key, value in wanted.node_selector:
        requirement = Requirement(key, "In", (value,))
        checks.append(_Check(requirement, ~labels.requirement(requirement)))
    for i, term in enumerate(wanted.terms or ()):
        checks.extend(_Check(r, ~labels.requirement(r), i) for r in term.labels.requirements)
        for field in term.fields.requirements:
            here = named(field.values[0])
            checks.append(_Check(field, ~here if field.op == "In" else here, i))
    return checks


# The words


def _causes(explanation: Explanation, slots: Slots, checks: list[_Check]) -> tuple[Cause, ...]:
    filters, verdicts = explanation.filters, explanation.verdicts
    assert filters is not None
    assert verdicts is not None
    found: list[Cause] = []
    bits = verdicts.bits[slots]
    for i, reason in enumerate(verdicts.reasons):
        where = slots[bits >> i & 1 == 1]
        if where.size:
            plugin = reason.plugin or "NodeAffinity"
            some = f" (on {where.size:,} of them)" if where.size < slots.size else ""
            found.extend(Cause(plugin, text + some) for text in _texts(filters, reason, where, checks))
    for name, rivals in _rivals(filters):
        if name == filters.cluster.names[slots[0]]:
            keys = ", ".join(p.key for p in rivals)
            found.append(Cause("Nominated", f"room is held for {keys}, nominated to this node"))
    return tuple(dict.fromkeys(found))


def _texts(filters: Filters, reason: Reason, slots: Slots, checks: list[_Check]) -> list[str]:
    cluster, pod = filters.cluster, filters.pod
    match reason:
        case _ if reason == CORDONED:
            return ["cordoned (spec.unschedulable)"]
        case _ if reason == OTHER_NAME:
            return [f"spec.nodeName asks for {pod.node_name}"]
        case _ if reason == OUTSIDE:
            return [f"node affinity names {', '.join(sorted(filters.narrowed or ()))}"]
        case _ if reason == TAINTED:
            return _taint_texts(filters, slots)
        case _ if reason == UNSELECTED:
            return _selector_texts(filters, slots, checks)
        case _ if reason == PORT_TAKEN:
            return port_cause(filters, slots)
        case _ if reason == TOO_MANY_PODS:
            return [_pods_text(cluster, slots)]
        case _ if reason in (NO_TOPOLOGY, CROWDED):
            return spread_causes(filters, slots)
        case _ if reason == ALONE:
            return affinity_cause(filters, slots)
        case _ if reason == REPELLED:
            return anti_affinity_cause(filters, slots)
        case _ if reason == UNWELCOME:
            return symmetry_cause(filters, slots)
    if any(check.plugin == reason.plugin for check in filters.checks.volumes):
        return volume_causes(filters, reason, int(slots[0])) or [reason.text]
    if filters.checks.devices is not None and reason.plugin == filters.checks.devices.plugin:
        from mooring.placement.causes.devices import device_causes

        return device_causes(filters, reason, int(slots[0])) or [reason.text]
    for need in filters.needs():
        if need.name == reason.subject:
            allocatable = need.allocatable[slots]
            text = shortage(need.name, need.amount, allocatable, allocatable - need.used[slots])
            return [text + _other_profiles(cluster, need.name, slots)]
    return [reason.text]


def _other_profiles(cluster: SchedulerCache, name: str, slots: Slots) -> str:
    """The parts that GPUs are cut into here, where a part is asked for that none is cut into."""
    asked = cluster.alloc_scalar.get(name)
    if not name.startswith(MIG) or (asked is not None and bool(asked[slots].any())):
        return ""
    there = sorted(
        other for other, column in cluster.alloc_scalar.items() if other.startswith(MIG) and bool(column[slots].any())
    )
    return f"; there are {' and '.join(there)}" if there else ""


def _pods_text(cluster: SchedulerCache, slots: Slots) -> str:
    counts, limits = cluster.pod_count[slots], cluster.alloc_pods[slots]
    if int(limits.min()) == int(limits.max()):
        return f"full: {int(limits[0])} pod{'' if limits[0] == 1 else 's'} at most"
    return f"full: {int(counts.min())} to {int(counts.max())} pods, all that each takes"


def _taint_texts(filters: Filters, slots: Slots) -> list[str]:
    cluster, tolerations = filters.cluster, filters.pod.template.tolerations
    found = untolerated(tolerations, cluster.taint_sets[cluster.taint_set[slots[0]]])
    if filters.matching.cordoned(tolerations)[slots[0]]:
        # Cordoning brings this taint along, and uncordoning takes it away: one cause, told once.
        found = [t for t in found if t != UNSCHEDULABLE_TAINT]
    return [f"taint {taint_text(t)} is not tolerated" for t in found]


def _selector_texts(filters: Filters, slots: Slots, checks: list[_Check]) -> list[str]:
    cluster = filters.cluster
    wanted = filters.pod.template.node_terms
    assert wanted is not None
    failing = [check for check in checks if check.fails[slots[0]]]
    texts = [
        f"nodeSelector {check.requirement}: {_have(cluster, check.requirement, slots)}"
        for check in failing
        if check.term < 0
    ]
    terms = wanted.terms
    if terms is None:
        return texts
    if not terms:
        return [*texts, "node affinity has no terms, so it matches no node"]
    failed = {check.term for check in failing}
    if any(i not in failed and not t.empty and not t.error for i, t in enumerate(terms)):
        return texts
    parts = [_term_text(cluster, term, slots, [c for c in failing if c.term == i]) for i, term in enumerate(terms)]
    if len(parts) == 1:
        return [*texts, f"node affinity {parts[0]}"]
    return [*texts, *(f"node affinity term {i} of {len(parts)}: {part}" for i, part in enumerate(parts, 1))]


def _term_text(cluster: SchedulerCache, term: NodeSelectorTerm, slots: Slots, failing: list[_Check]) -> str:
    if term.error:
        return f"cannot be read: {term.error}"
    if term.empty:
        return "is empty, so it matches no node"
    return "; ".join(f"{c.requirement}: {_have(cluster, c.requirement, slots)}" for c in failing)


def _have(cluster: SchedulerCache, requirement: Requirement, slots: Slots) -> str:
    """What the nodes have instead of what is asked for."""
    key = requirement.key
    if key == "metadata.name":
        return "is another node" if requirement.op == "In" else "is this node"
    column = cluster.labels.column(key)
    counts = Counter(column.codes[slots].tolist()).most_common()
    named = [(column.values[code] or '""' if code >= 0 else "no such label", count) for code, count in counts]
    if len(named) == 1:
        return f"has {named[0][0]}"
    parts = [f"{text} ({count:,})" for text, count in named[:MAX_VALUES]]
    if len(named) > MAX_VALUES:
        parts.append(f"{len(named) - MAX_VALUES} other values ({sum(count for _, count in named[MAX_VALUES:]):,})")
    return f"has {', '.join(parts)}"
