"""What a pod's resource lists mean: kinds of names, what all containers need together, the QoS class.

Defaulting and validation need the same sums, so they live here once.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from mooring.kube.names import is_qualified_name
from mooring.kube.quantities import Quantity, parse_quantity

__all__ = [
    "STANDARD_CONTAINER_RESOURCES",
    "aggregate_containers",
    "is_extended_resource",
    "is_hugepages",
    "is_integer_resource",
    "is_native_resource",
    "is_overcommit_allowed",
    "is_pod_level_resource",
    "is_sidecar",
    "is_standard_resource",
    "qos_class",
]

Pod = Mapping[str, Any]

STANDARD_CONTAINER_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_COUNTED: Final = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_STANDARD: Final = (
    STANDARD_CONTAINER_RESOURCES
    | _COUNTED
    | {f"{kind}.{name}" for kind in ("requests", "limits") for name in STANDARD_CONTAINER_RESOURCES}
    | {"storage", "requests.storage"}
)
_POD_LEVEL: Final = frozenset({"cpu", "memory"})


def is_hugepages(name: str) -> bool:
    return name.startswith("hugepages-")


def is_native_resource(name: str) -> bool:
    """Names without a domain, and those of Kubernetes itself."""
    return "/" not in name or "kubernetes.io/" in name


def is_standard_resource(name: str) -> bool:
    return name in _STANDARD or name.startswith(("hugepages-", "requests.hugepages-"))


@lru_cache(maxsize=1024)
def is_extended_resource(name: str) -> bool:
    """Whether it is an extended resource: a name with a domain outside of kubernetes.io, such as nvidia.com/gpu."""
    if is_native_resource(name) or name.startswith("requests."):
        return False
    return not is_qualified_name(f"requests.{name}")


def is_integer_resource(name: str) -> bool:
    return name in _COUNTED or is_extended_resource(name)


def is_overcommit_allowed(name: str) -> bool:
    return is_native_resource(name) and not is_hugepages(name)


def is_pod_level_resource(name: str) -> bool:
    return name in _POD_LEVEL or is_hugepages(name)


def is_sidecar(container: Mapping[str, Any]) -> bool:
    return container.get("restartPolicy") == "Always"


def aggregate_containers(spec: Mapping[str, Any], kind: str) -> dict[str, Quantity]:
    """What all containers request (or are limited to) at the worst moment of the pod's life.

    Init containers run one after another, beside the sidecars started before them; containers run beside all sidecars.
    """
    total: dict[str, Quantity] = {}
    for container in spec.get("containers") or ():
        _add(total, _quantities(container, kind))
    sidecars: dict[str, Quantity] = {}
    peak: dict[str, Quantity] = {}
    for container in spec.get("initContainers") or ():
        needed = _quantities(container, kind)
        if is_sidecar(container):
            _add(total, needed)
            _add(sidecars, needed)
            needed = sidecars
        else:
            _add(needed, sidecars)
        _raise_to(peak, needed)
    _raise_to(total, peak)
    return total


def _quantities(container: Mapping[str, Any], kind: str) -> dict[str, Quantity]:
    return {name: parse_quantity(text) for name, text in (container["resources"].get(kind) or {}).items()}


def _add(total: dict[str, Quantity], more: Mapping[str, Quantity]) -> None:
    for name, quantity in more.items():
        total[name] = total[name] + quantity if name in total else quantity


def _raise_to(total: dict[str, Quantity], other: Mapping[str, Quantity]) -> None:
    for name, quantity in other.items():
        if name not in total or quantity > total[name]:
            total[name] = quantity


def qos_class(spec: Mapping[str, Any]) -> str:
    """Guaranteed when every limit of cpu and memory is set and requested, BestEffort when none is, else Burstable."""
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    guaranteed = True
    for resources in _qos_sources(spec):
        _add(requests, _positive(resources.get("requests")))
        limited = _positive(resources.get("limits"))
        _add(limits, limited)
        guaranteed = guaranteed and len(limited) == 2
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _qos_sources(spec: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The pod's own resources rule where they are given; otherwise every container counts."""
    if "resources" in spec:
        return (spec["resources"],)
    return [container["resources"] for name in ("containers", "initContainers") for container in spec.get(name) or ()]


def _positive(resources: Mapping[str, str] | None) -> dict[str, Quantity]:
    if not resources:
        return {}
    found = ((name, parse_quantity(resources[name])) for name in ("cpu", "memory") if name in resources)
    return {name: quantity for name, quantity in found if quantity.mantissa > 0}
