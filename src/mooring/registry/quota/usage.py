"""What an object takes of a quota, by the names that quotas have for it."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final

from mooring.api.core.resources import (
    aggregate_containers,
    is_extended_resource,
    is_hugepages,
    is_native_resource,
    is_pod_level_resource,
)
from mooring.kube.objects import Object
from mooring.kube.quantities import ZERO, Quantity, parse_quantity
from mooring.kube.times import moment

__all__ = ["Amounts", "concerned", "is_charged", "missing_requests", "stores_of", "usage"]

Amounts = dict[str, Quantity]

_ONE: Final = parse_quantity("1")
_COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
_POD_NAMES: Final = frozenset(
    {"count/pods", "pods", *_COMPUTE, *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _COMPUTE)}
)
# Of these every container must say something, where a quota counts them.
_MUST_BE_SAID: Final = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
_SERVICE_NAMES: Final = frozenset({"count/services", "services", "services.nodeports", "services.loadbalancers"})
_CLAIM_NAMES: Final = ("persistentvolumeclaims", "requests.storage")
_OF_CLASS: Final = ".storageclass.storage.k8s.io/"
_DEVICE_CLAIMS: Final = "resourceclaims.resource.k8s.io"
_OF_DEVICE_CLASS: Final = ".deviceclass.resource.k8s.io/devices"
_BY_DEVICE_CLASS: Final = "deviceclass.resource.kubernetes.io/"
# As many devices as a claim to all of them may get.
_ALL_DEVICES: Final = 32
# Kinds that have a second, older name.
_ALIASED: Final = frozenset({"configmaps", "resourcequotas", "replicationcontrollers", "secrets"})
_UNCOUNTED: Final = frozenset({"events"})
_ENDED: Final = ("Succeeded", "Failed")


def concerned(store: str, names: Iterable[str]) -> list[str]:
    """Those of a quota's names that objects of a store count for."""
    if store in _UNCOUNTED:
        return []
    if store == "pods":
        return [name for name in names if name in _POD_NAMES or _is_of_pods(name)]
    if store == "services":
        return [name for name in names if name in _SERVICE_NAMES]
    if store == "persistentvolumeclaims":
        ends = tuple(_OF_CLASS + name for name in _CLAIM_NAMES)
        return [name for name in names if name in (*_CLAIM_NAMES, f"count/{store}") or name.endswith(ends)]
    if store == _DEVICE_CLAIMS:
        return [name for name in names if name == f"count/{store}" or name.endswith(_OF_DEVICE_CLASS)]
    own = (f"count/{store}", store) if store in _ALIASED else (f"count/{store}",)
    return [name for name in names if name in own]


def _is_of_pods(name: str) -> bool:
    if name.startswith(("hugepages-", "requests.hugepages-", f"requests.{_BY_DEVICE_CLASS}")):
        return True
    return name.startswith("requests.") and not is_native_resource(name)


def stores_of(names: Iterable[str]) -> set[str]:
    """The stores whose objects may count for any of a quota's names."""
    special = {"pods", "services", "persistentvolumeclaims", _DEVICE_CLAIMS, *_ALIASED}
    named = {name.removeprefix("count/") for name in names if name.startswith("count/")}
    return {store for store in special | named if concerned(store, names)}


def usage(store: str, obj: Object, now: str | None = None) -> Amounts:
    """What one object takes. With a time, a pod that should be gone by then takes nothing but a place."""
    if store == "pods":
        return _of_pod(obj, now)
    if store == "services":
        return _of_service(obj["spec"])
    if store == "persistentvolumeclaims":
        return _of_claim(obj)
    if store == _DEVICE_CLAIMS:
        return _of_device_claim(obj["spec"])
    found = {f"count/{store}": _ONE}
    return found | {store: _ONE} if store in _ALIASED else found


# Pods


def is_charged(pod: Object, now: str | None = None) -> bool:
    """Whether a pod still takes anything: not when it has ended, nor when it should be gone and its node is lost."""
    if pod.get("status", {}).get("phase") in _ENDED:
        return False
    meta = pod["metadata"]
    if now is None or "deletionTimestamp" not in meta or "deletionGracePeriodSeconds" not in meta:
        return True
    return moment(now) <= moment(meta["deletionTimestamp"]) + timedelta(seconds=meta["deletionGracePeriodSeconds"])


def _of_pod(pod: Object, now: str | None) -> Amounts:
    if not is_charged(pod, now):
        return {"count/pods": _ONE}
    spec = pod["spec"]
    return {"count/pods": _ONE, **_compute(_pod_total(spec, "requests"), _pod_total(spec, "limits"))}


def _pod_total(spec: Object, kind: str) -> Amounts:
    total = aggregate_containers(spec, kind)
    own = (spec.get("resources") or {}).get(kind) or {}
    total |= {name: parse_quantity(text) for name, text in own.items() if is_pod_level_resource(name)}
    for name, text in (spec.get("overhead") or {}).items():
        if kind == "requests" or total.get(name):
            total[name] = total.get(name, ZERO) + parse_quantity(text)
    return total


def _compute(requests: Mapping[str, Quantity], limits: Mapping[str, Quantity]) -> Amounts:
    found: Amounts = {"pods": _ONE}
    for name in _COMPUTE:
        if name in requests:
            found[name] = found[f"requests.{name}"] = requests[name]
        if name in limits:
            found[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if is_hugepages(name):
            found[name] = found[f"requests.{name}"] = amount
        elif is_extended_resource(name) or name.startswith(_BY_DEVICE_CLASS):
            found[f"requests.{name}"] = amount
    return found


def missing_requests(pod: Object, names: Iterable[str]) -> str:
    """What containers must say where a quota counts it, and do not; empty where nothing is missing."""
    spec = pod["spec"]
    wanted = _MUST_BE_SAID.intersection(names)
    own = spec.get("resources") or {}
    if not wanted or any(map(is_pod_level_resource, {**own.get("requests", {}), **own.get("limits", {})})):
        return ""
    missing: dict[str, set[str]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        said = _said(container["resources"])
        for name in wanted - said:
            missing.setdefault(name, set()).add(container["name"])
    if not missing:
        return ""
    parts = [f"{name} for: {','.join(sorted(containers))}" for name, containers in sorted(missing.items())]
    return f"must specify {'; '.join(parts)}"


def _said(resources: Mapping[str, Any]) -> set[str]:
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    return {*requests, *(f"requests.{name}" for name in requests), *(f"limits.{name}" for name in limits)}


# Services and claims


def _of_service(spec: Object) -> Amounts:
    ports, kind = spec.get("ports") or (), spec.get("type")
    found = {"count/services": _ONE, "services": _ONE, "services.loadbalancers": ZERO, "services.nodeports": ZERO}
    if kind not in ("NodePort", "LoadBalancer"):
        return found
    if kind == "LoadBalancer":
        found["services.loadbalancers"] = _ONE
        if spec.get("allocateLoadBalancerNodePorts") is False:
            ports = [port for port in ports if port.get("nodePort")]
    return found | {"services.nodeports": _ONE * len(ports)}


def _of_claim(claim: Object) -> Amounts:
    found = {"count/persistentvolumeclaims": _ONE, "persistentvolumeclaims": _ONE}
    annotations = claim["metadata"].get("annotations", {})
    chosen = annotations.get("volume.beta.kubernetes.io/storage-class") or claim["spec"].get("storageClassName")
    text = claim["spec"]["resources"].get("requests", {}).get("storage")
    if text is not None:
        allocated = claim.get("status", {}).get("allocatedResources", {}).get("storage", "0")
        found["requests.storage"] = max(parse_quantity(text), parse_quantity(allocated)).round_up(0)
    if chosen:
        found |= {f"{chosen}{_OF_CLASS}{name}": found[name] for name in _CLAIM_NAMES if name in found}
    return found


def _of_device_claim(spec: Object) -> Amounts:
    found = {f"count/{_DEVICE_CLAIMS}": _ONE}
    for request in spec.get("devices", {}).get("requests") or ():
        # Of several that would do, the largest number of each class counts.
        most: Amounts = {}
        for each in request.get("firstAvailable") or ([request["exactly"]] if request.get("exactly") else ()):
            count = _ALL_DEVICES if each.get("allocationMode") == "All" else each.get("count", 0)
            name = f"{each['deviceClassName']}{_OF_DEVICE_CLASS}"
            most[name] = max(most.get(name, ZERO), _ONE * count)
        for name, amount in most.items():
            found[name] = found.get(name, ZERO) + amount
    return found
