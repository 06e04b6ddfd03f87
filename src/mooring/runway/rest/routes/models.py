"""The catalogue of models, and the GPUs that are there for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from mooring.kube.status import ForbiddenError
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.runway.capacity import ClusterCapacity, cluster_capacity
from mooring.runway.model_fit import with_fits
from mooring.runway.models.catalogue import CatalogModel, all_models, find_catalog_model
from mooring.runway.preflight import Preflight, preflight
from mooring.runway.problems import nearest
from mooring.runway.rest.errors import RestError
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.shown import Shown
from mooring.runway.sources.refusal import ServerRefusal

__all__ = ["MODEL_ROUTES"]

T = TypeVar("T")


class ModelsShown(Shown, frozen=True):
    models: tuple[CatalogModel, ...]


class GpuNodeShown(Shown, frozen=True):
    node_name: str
    total_gpus: int
    allocated_gpus: int
    available_gpus: int


class GpuCapacityShown(Shown, frozen=True):
    """The capacity in the words of upstream's clients."""

    total_gpus: int
    allocated_gpus: int
    available_gpus: int
    max_contiguous_available: int
    max_node_gpu_capacity: int
    gpu_node_count: int
    nodes: tuple[GpuNodeShown, ...]


async def _models(call: RestCall) -> ModelsShown:
    return ModelsShown(await _with_fits(call, all_models()))


async def _with_fits(call: RestCall, models: tuple[CatalogModel, ...]) -> tuple[CatalogModel, ...]:
    """Whether the cluster holds them; who may not read its nodes is told of the models alone."""
    try:
        return await _of_cluster(call, lambda cluster: with_fits(models, cluster))
    except ServerRefusal as error:
        if not isinstance(error.error, ForbiddenError):
            raise
        return models


async def _of_cluster(call: RestCall, answer: Callable[[SchedulerCache], T]) -> T:
    """What is computed from all that placement depends on, as the caller may read it."""

    def work() -> T:
        source = call.service.source(call.caller)
        try:
            cluster = source.load(lambda pod: False).cluster
        finally:
            source.close()
        return answer(cluster)

    return await call.service.compute(work)


async def _model(call: RestCall) -> CatalogModel:
    name = call.path["id"]
    found = find_catalog_model(name)
    if found is None:
        raise RestError(404, f'Model not found: "{name}"{nearest(name, [each.id for each in all_models()])}')
    return (await _with_fits(call, (found,)))[0]


async def _capacity(call: RestCall) -> ClusterCapacity:
    return await _of_cluster(call, cluster_capacity)


async def _gpu_capacity(call: RestCall) -> GpuCapacityShown:
    found = await _capacity(call)
    nodes = [each for each in found.nodes if each.total]
    return GpuCapacityShown(
        found.gpus.total,
        found.gpus.allocated,
        found.gpus.free,
        found.gpus.largest_free_block,
        max((each.total for each in nodes), default=0),
        len(nodes),
        tuple(GpuNodeShown(each.name, each.total, each.allocated, each.free) for each in nodes),
    )


async def _preflight(call: RestCall) -> Preflight:
    return await _of_cluster(call, lambda cluster: preflight(node for node in cluster.nodes if node is not None))


MODEL_ROUTES: Final = (
    Route("GET", "/api/models", "The models that can be deployed by name.", _models, ModelsShown),
    Route("GET", "/api/models/{id:path}", "One model; its id may have slashes.", _model, CatalogModel),
    Route("GET", "/api/capacity", "Free GPUs by node, pool and kind, and the largest pod.", _capacity, ClusterCapacity),
    Route("GET", "/api/preflight", "What is missing for GPU workloads, and how to mend it.", _preflight, Preflight),
    Route(
        "GET",
        "/api/installation/gpu-capacity",
        "The capacity in the words of upstream's clients.",
        _gpu_capacity,
        GpuCapacityShown,
    ),
)
