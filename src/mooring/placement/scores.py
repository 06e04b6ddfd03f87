"""The scores of the default profile over all feasible nodes, with the scheduler's own arithmetic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mooring.placement.labels import Mask
from mooring.placement.plugins.interpod import InterPodScore
from mooring.placement.plugins.node_checks import NO_CHECKS, NodeChecks
from mooring.placement.plugins.node_matching import Divisor, NodeMatching, Scores
from mooring.placement.plugins.spread import SpreadScore, default_constraints
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import Amounts

WEIGHTS = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}


# Some slots, or all of them.
Where = NDArray[np.int64] | slice
EVERYWHERE = slice(None)


class Score(NamedTuple):
    plugin: str
    raw: Scores
    weighted: Scores


def prioritise(matching: NodeMatching, pod: PodInfo, feasible: Mask, checks: NodeChecks = NO_CHECKS) -> list[Score]:
    """Every score that applies to the pod; what the scheduler would skip is left out."""
    cluster = matching.cluster
    template = pod.template
    scores: list[tuple[str, Scores, Scores]] = []

    raw = matching.soft_taints(template.tolerations)
    scores.append(("TaintToleration", raw, normalised(raw, feasible, reverse=True)))
    if template.node_preferred:
        raw = matching.preferred(template.node_preferred)
        scores.append(("NodeAffinity", raw, normalised(raw, feasible, reverse=False)))
    raw = least_allocated(matching, *template.resources.score)
    scores.append(("NodeResourcesFit", raw, raw))
    found = np.flatnonzero(feasible)

    def everywhere(values: Scores) -> Scores:
        placed = np.zeros(cluster.size, dtype=np.int64)
        placed[found] = values
        return placed

    constraints = template.spread_soft if template.has_spread else default_constraints(cluster, pod)
    if constraints:
        spread = SpreadScore(matching, pod, constraints, found, strict=template.has_spread)
        scores.append(("PodTopologySpread", everywhere(spread.raw), everywhere(spread.normalised())))
    interpod = InterPodScore.of(matching, pod)
    if interpod is not None:
        scores.append(("InterPodAffinity", interpod.raw, everywhere(interpod.normalised(found))))
    raw = np.zeros(cluster.size, dtype=np.int64)
    if checks.devices is not None:
        raw[found] = [checks.devices.score(slot) for slot in found.tolist()]
    scores.append(("DynamicResources", raw, normalised(raw, feasible, reverse=False)))
    if any(template.resources.balanced):
        raw = balanced_allocation(matching, *template.resources.balanced)
        scores.append(("NodeResourcesBalancedAllocation", raw, raw))
    raw = matching.image_locality(template)
    scores.append(("ImageLocality", raw, raw))
    return [Score(plugin, raw, normal * WEIGHTS[plugin]) for plugin, raw, normal in scores]


def invalid_score(scores: list[Score], feasible: NDArray[np.int64]) -> str:
    """What the scheduler gives up with when a score leaves its range, as those of absurdly large nodes do."""
    normals = np.array([score.weighted[feasible] // WEIGHTS[score.plugin] for score in scores])
    if normals.min() >= 0 and normals.max() <= 100:
        return ""
    for column in normals.T.tolist():
        for score, normal in zip(scores, column, strict=True):
            if not 0 <= normal <= 100:
                complaint = f'plugin "{score.plugin}" returns an invalid score {normal}'
                limits = "it should in the range of [0, 100] after normalizing"
                return f"applying score defaultWeights on Score plugins: {complaint}, {limits}"
    return ""


def normalised(raw: Scores, feasible: Mask, *, reverse: bool) -> Scores:
    values = raw[feasible]
    most = int(values.max()) if values.size else 0
    if most == 0:
        return np.full(raw.size, 100 if reverse else 0, dtype=np.int64)
    scaled = 100 * raw // most
    return 100 - scaled if reverse else scaled


def least_allocated(matching: NodeMatching, cpu: int, memory: int, at: Where = EVERYWHERE) -> Scores:
    """The mean share of cpu and memory that stays free; a resource that a node lacks is not counted."""
    cluster, capacity = matching.cluster, matching.capacity()
    free_cpu = _free_share(cluster.alloc_cpu[at], cluster.nonzero_cpu[at], cpu, capacity.cpu, at)
    free_memory = _free_share(cluster.alloc_memory[at], cluster.nonzero_memory[at], memory, capacity.memory, at)
    if capacity.complete and capacity.cpu.exact and capacity.memory.exact:
        free_cpu += free_memory
        free_cpu >>= 1
        return free_cpu
    has_cpu, has_memory = cluster.alloc_cpu[at] != 0, cluster.alloc_memory[at] != 0
    total = free_cpu * has_cpu + free_memory * has_memory
    return truncated(total, np.maximum(has_cpu.astype(np.int64) + has_memory, 1))


def _free_share(allocatable: Amounts, used: Amounts, more: int, divisor: Divisor, at: Where) -> Amounts:
    left = allocatable - used
    left -= more
    np.maximum(left, 0, out=left)
    left *= 100
    if divisor.exact:
        return (left / divisor.floats[at]).astype(np.int64)
    return truncated(left, divisor.integers[at])


def truncated(dividend: Amounts, divisor: Amounts) -> Amounts:
    """Division towards zero; products beyond 64 bits have wrapped, so the dividend may be negative."""
    quotient, rest = np.divmod(dividend, divisor)
    quotient += (dividend < 0) & (rest != 0)
    return quotient


def balanced_allocation(matching: NodeMatching, cpu: int, memory: int, at: Where = EVERYWHERE) -> Scores:
    """How even the use of cpu and memory would be."""
    cluster, capacity = matching.cluster, matching.capacity()
    share = (cluster.used_cpu[at] + cpu) / capacity.cpu.floats[at]
    np.minimum(share, 1.0, out=share)
    memory_share = (cluster.used_memory[at] + memory) / capacity.memory.floats[at]
    np.minimum(memory_share, 1.0, out=memory_share)
    share -= memory_share
    share /= 2
    np.abs(share, out=share)
    if not capacity.complete:
        share *= (cluster.alloc_cpu[at] != 0) & (cluster.alloc_memory[at] != 0)
    np.subtract(1, share, out=share)
    share *= 100.0
    return share.astype(np.int64)
