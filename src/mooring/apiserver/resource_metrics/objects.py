"""PodMetrics and NodeMetrics, made of what kubelets measured, or of what annotations of simulated ones say.

What nobody measures and nobody says has no metrics: zero would be a claim.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from mooring.api.metrics.said_usage import USAGE, Usage, parse_usage
from mooring.apiserver.resource_metrics.resources import NODE_METRICS, POD_METRICS
from mooring.apiserver.resource_metrics.summaries import PodStats, Stats, Summary
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.quantities import Quantity
from mooring.kube.times import timestamp

__all__ = ["measured_node", "measured_pod", "said_node", "said_pod"]

# Kubelets do not say over how long they measured; they look every ten to fifteen seconds.
_MEASURED_WINDOW: Final = "15s"
# What an annotation says is no average of anything.
_SAID_WINDOW: Final = "0s"
_ZERO: Final = {"cpu": Quantity(0), "memory": Quantity(0, style="BinarySI")}

Amounts = Mapping[str, Quantity]


def said_pod(pod: Object, now: datetime) -> Object | None:
    usage = _said(pod)
    if usage is None:
        return None
    names = [each["name"] for each in _lasting(pod)]
    return _pod_metrics(pod, timestamp(now), _SAID_WINDOW, {name: _of(usage, name, names[0]) for name in names})


def said_node(node: Object, pods: Iterable[Object], now: datetime) -> Object | None:
    """What is said of the node, or of the pods on it together."""
    usage = _said(node)
    if usage is not None:
        return _node_metrics(node, timestamp(now), _SAID_WINDOW, {**_ZERO, **usage.get("", {})})
    total, known = dict(_ZERO), False
    for pod in pods:
        said = _said(pod)
        if said is None:
            continue
        known = True
        for amounts in said.values():
            for resource, amount in amounts.items():
                total[resource] = total[resource] + amount
    return _node_metrics(node, timestamp(now), _SAID_WINDOW, total) if known else None


def measured_pod(pod: Object, stats: PodStats) -> Object | None:
    """None where one of its containers has not been measured yet: half a pod would look like a small one."""
    uid = pod["metadata"]["uid"]
    if stats.pod_ref.uid not in ("", uid):
        return None
    found = {each.name: amounts for each in stats.containers or () if (amounts := _measured(each)) is not None}
    if not found or any(each["name"] not in found for each in pod["spec"]["containers"]):
        return None
    return _pod_metrics(pod, _when(stats.containers or ()), _MEASURED_WINDOW, found)


def measured_node(node: Object, summary: Summary) -> Object | None:
    amounts = _measured(summary.node)
    return None if amounts is None else _node_metrics(node, _when([summary.node]), _MEASURED_WINDOW, amounts)


def _said(obj: Object) -> Usage | None:
    text = (obj["metadata"].get("annotations") or {}).get(USAGE)
    if text is None:
        return None
    try:
        return parse_usage(text)
    except MooringError:
        # Whoever wrote it was warned then.
        return None


def _lasting(pod: Object) -> list[Object]:
    """The containers that run for as long as the pod does; the first is never a sidecar."""
    sidecars = [each for each in pod["spec"].get("initContainers") or () if each.get("restartPolicy") == "Always"]
    return [*pod["spec"]["containers"], *sidecars]


def _of(usage: Usage, name: str, first: str) -> Amounts:
    unnamed = usage.get("", {}) if name == first else {}
    return {**_ZERO, **unnamed, **usage.get(name, {})}


def _measured(stats: Stats) -> Amounts | None:
    cpu, memory = stats.cpu, stats.memory
    if cpu is None or cpu.usage_nano_cores is None or memory is None or memory.working_set_bytes is None:
        return None
    return {"cpu": Quantity(cpu.usage_nano_cores, -9), "memory": Quantity(memory.working_set_bytes, style="BinarySI")}


def _when(stats: Iterable[Stats]) -> str:
    """The oldest of the readings."""
    return min(each.cpu.time for each in stats if each.cpu is not None)


def _pod_metrics(pod: Object, when: str, window: str, containers: Mapping[str, Amounts]) -> Object:
    shown = [{"name": name, "usage": _shown(amounts)} for name, amounts in containers.items()]
    return {
        "kind": POD_METRICS.kind,
        "apiVersion": POD_METRICS.api_version,
        "metadata": _metadata(pod, when),
        "timestamp": when,
        "window": window,
        "containers": shown,
    }


def _node_metrics(node: Object, when: str, window: str, amounts: Amounts) -> Object:
    return {
        "kind": NODE_METRICS.kind,
        "apiVersion": NODE_METRICS.api_version,
        "metadata": _metadata(node, when),
        "timestamp": when,
        "window": window,
        "usage": _shown(amounts),
    }


def _metadata(obj: Object, when: str) -> Object:
    metadata = {key: obj["metadata"][key] for key in ("name", "namespace", "labels") if key in obj["metadata"]}
    return {**metadata, "creationTimestamp": when}


def _shown(amounts: Amounts) -> dict[str, str]:
    return {resource: str(amount) for resource, amount in amounts.items()}
