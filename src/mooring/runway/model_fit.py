"""Which models of the catalogue a cluster holds, now or once GPUs are given back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from mooring.features.workspaces.sizing.gpus import NodeGpus
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.runway.capacity import cluster_capacity
from mooring.runway.models.catalogue import CatalogModel, ModelFit
from mooring.runway.models.sizing import Recommended, recommended_for
from mooring.runway.node_facts import gpu_memory_gib, labels_of

__all__ = ["with_fits"]


def with_fits(models: Iterable[CatalogModel], cluster: SchedulerCache) -> tuple[CatalogModel, ...]:
    """The models, each with how it fits the cluster."""
    # How many nodes there are by the memory of a GPU, by all GPUs and by those that are free.
    kinds: Counter[tuple[int, int, int]] = Counter()
    for node in cluster_capacity(cluster).nodes:
        found = cluster.node(node.name)
        if node.total and found is not None:
            kinds[gpu_memory_gib(labels_of(found)), node.total, node.free] += 1
    return tuple(msgspec.structs.replace(model, fit=_fit(model, kinds)) for model in models)


def _fit(model: CatalogModel, kinds: Counter[tuple[int, int, int]]) -> ModelFit:
    if not model.gpu.recommended.gpus:
        return ModelFit("fits", 0, 1)
    known = {(memory, total) for memory, total, _ in kinds if memory}
    sizes = sorted(
        (size.nodes, size.gpus, memory)
        for memory, total in known
        if (size := _size(model.id, total, total * memory)) is not None
    )
    if not sizes:
        wanted = model.gpu.recommended
        return ModelFit("unknown" if kinds else "exceeds", wanted.gpus, wanted.nodes)
    for nodes, gpus, memory in sizes:
        # Larger GPUs hold it too.
        if sum(count for (has, _, free), count in kinds.items() if has >= memory and free >= gpus) >= nodes:
            return ModelFit("fits", gpus, nodes)
    for nodes, gpus, memory in sizes:
        if sum(count for (has, total, _), count in kinds.items() if has >= memory and total >= gpus) >= nodes:
            return ModelFit("full", gpus, nodes)
    nodes, gpus, _ = sizes[0]
    return ModelFit("exceeds", gpus, nodes)


@lru_cache(maxsize=4096)
def _size(model: str, gpus: int, memory_gib: int) -> Recommended | None:
    return recommended_for(model, NodeGpus(gpus, memory_gib))
