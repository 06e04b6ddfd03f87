"""What a pod asks of a node, summed exactly as the scheduler sums it.

Sums are taken on exact quantities and rounded up once at the end, so two containers of `1500m` bytes ask for 3 bytes
and not 4. Four sums of one pod differ on purpose:

- `fit`: what the incoming pod must find free;
- `node`: what a pod that is already on a node holds (an in-place resize in flight holds the larger side);
- `nonzero`: `node`, with 100m and 200 MiB for every container that names no cpu or memory, used by scores only;
- `score`: the incoming pod's side of LeastAllocated, which never sees pod-level requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from mooring.api.core.types import Container, ContainerStatus, Pod, PodSpec, ResourceList, ResourceRequirements
from mooring.kube.names import is_qualified_name
from mooring.kube.quantities import ZERO, Quantity, parse_quantity

DEFAULTS = {"cpu": Quantity(100, -3), "memory": Quantity(200 * 1024 * 1024)}
NO_DEFAULTS: Mapping[str, Quantity] = {}

Amounts = dict[str, Quantity]


class Requests(NamedTuple):
    """Amounts in the scheduler's units: milli-cpu, bytes, and whole units of every scalar resource."""

    cpu: int = 0
    memory: int = 0
    ephemeral: int = 0
    scalars: tuple[tuple[str, int], ...] = ()

    @property
    def anything(self) -> bool:
        return bool(self.cpu or self.memory or self.ephemeral or self.scalars)


class PodResources(NamedTuple):
    fit: Requests
    node: Requests
    nonzero: tuple[int, int]
    score: tuple[int, int]
    balanced: tuple[int, int]


@lru_cache(maxsize=4096)
def is_scalar(name: str) -> bool:
    """Resources that are counted one by one: extended, huge pages, attachable volumes, and names of kubernetes.io."""
    if name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name:
        return True
    return "/" in name and not name.startswith("requests.") and not is_qualified_name("requests." + name)


def _is_pod_level(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def _add(total: Amounts, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def _max(total: Amounts, other: Mapping[str, Quantity]) -> None:
    for name, amount in other.items():
        if name not in total or amount > total[name]:
            total[name] = amount


def parse(resources: ResourceList | None) -> Amounts:
    return {name: parse_quantity(amount) for name, amount in resources.items()} if resources else {}


def _held(container: Container, status: ContainerStatus | None, infeasible: bool) -> Amounts:
    """A running container holds the largest of what was asked, allotted and put in force."""
    asked = parse(container.resources.requests)
    if status is None or status.resources is None:
        return asked
    held: Amounts = {} if infeasible else asked
    _max(held, parse(status.resources.requests))
    _max(held, parse(status.allocated_resources))
    return held


def _aggregate(
    spec: PodSpec, statuses: Mapping[str, ContainerStatus], infeasible: bool, defaults: Mapping[str, Quantity]
) -> Amounts:
    def container(c: Container, status: ContainerStatus | None) -> Amounts:
        amounts = _held(c, status, infeasible)
        for name, amount in defaults.items():
            amounts.setdefault(name, amount)
        return amounts

    total: Amounts = {}
    for c in spec.containers or ():
        _add(total, container(c, statuses.get(c.name)))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for c in spec.init_containers or ():
        if c.restart_policy == "Always":
            amounts = container(c, statuses.get(c.name))
            _add(total, amounts)
            _add(sidecars, amounts)
            _max(peak, sidecars)
        else:
            step = container(c, None)
            _add(step, sidecars)
            _max(peak, step)
    _max(total, peak)
    return total


def _finish(total: Amounts, spec: PodSpec, pod_level: Mapping[str, Quantity]) -> Amounts:
    total = {**total, **pod_level}
    _add(total, parse(spec.overhead))
    return total


def to_requests(total: Mapping[str, Quantity]) -> Requests:
    scalars = tuple(sorted((name, amount.value) for name, amount in total.items() if is_scalar(name)))
    return Requests(
        total.get("cpu", ZERO).milli_value,
        total.get("memory", ZERO).value,
        total.get("ephemeral-storage", ZERO).value,
        scalars,
    )


def _cpu_memory(total: Mapping[str, Quantity]) -> tuple[int, int]:
    return total.get("cpu", ZERO).milli_value, total.get("memory", ZERO).value


def has_what_it_asks_for(asked: ResourceRequirements | None, status: ContainerStatus) -> bool:
    """Whether a node reports of a container what it asks for anyway, as it does of nearly all."""
    wanted = (asked.requests if asked is not None else None) or {}
    reported = status.resources.requests if status.resources is not None else None
    return (reported or {}) == wanted and (status.allocated_resources or {}) == wanted


def _statuses(pod: Pod) -> dict[str, ContainerStatus]:
    """Of the containers that have something else than they ask for."""
    named: Iterable[ContainerStatus] = (pod.status.container_statuses or ()) + (
        pod.status.init_container_statuses or ()
    )
    reported = [status for status in named if status.resources is not None]
    if not reported:
        return {}
    asked = {each.name: each.resources for each in (*(pod.spec.containers or ()), *(pod.spec.init_containers or ()))}
    return {each.name: each for each in reported if not has_what_it_asks_for(asked.get(each.name), each)}


def _resize_infeasible(pod: Pod) -> bool:
    for condition in pod.status.conditions or ():
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def pod_resources(pod: Pod) -> PodResources:
    spec = pod.spec
    pod_level: Amounts = {}
    if spec.resources is not None:
        pod_level = {n: a for n, a in parse(spec.resources.requests).items() if _is_pod_level(n)}
    statuses = _statuses(pod)
    infeasible = bool(statuses) and _resize_infeasible(pod)

    asked = _aggregate(spec, {}, False, NO_DEFAULTS)
    fit = _finish(asked, spec, pod_level)
    held = _finish(_aggregate(spec, statuses, infeasible, NO_DEFAULTS), spec, pod_level) if statuses else fit
    with_defaults = _finish(_aggregate(spec, statuses, infeasible, DEFAULTS), spec, {})
    if pod_level:
        missing = {name: amount for name, amount in DEFAULTS.items() if name not in held}
        nonzero = _finish(_aggregate(spec, statuses, infeasible, missing), spec, pod_level)
    else:
        nonzero = with_defaults
    fit_requests = to_requests(fit)
    return PodResources(
        fit=fit_requests,
        node=to_requests(held) if statuses else fit_requests,
        nonzero=_cpu_memory(nonzero),
        score=_cpu_memory(with_defaults),
        balanced=_cpu_memory(held),
    )
