"""What Clusters, pools and Machines say where their authors say nothing, filled in on every write.

An object comes here before it is held against its schema, so a part of the wrong type is left for the schema to refuse.
"""

from __future__ import annotations

from typing import Any, Final

from mooring.features.machines.api.names import (
    AUTOSCALER_MAX_SIZE,
    AUTOSCALER_MIN_SIZE,
    CLUSTER_NAME,
    DEPLOYMENT_NAME,
    SET_NAME,
)
from mooring.kube.objects import Object

__all__ = ["autoscaler_bounds", "default_cluster", "default_machine", "default_machine_deployment", "default_set"]

_NODE_DELETION_TIMEOUT_SECONDS: Final = 10
_DEFAULT_REPLICAS: Final = 1


def default_cluster(obj: Object, old: Object | None = None) -> Object:
    spec = _part(obj, "spec")
    for name in ("infrastructureRef", "controlPlaneRef"):
        _normalise(spec, name)
    return {**obj, "spec": spec} if spec else obj


def default_machine(obj: Object, old: Object | None = None) -> Object:
    spec = _machine_spec(_part(obj, "spec"))
    deletion = _part(spec, "deletion")
    deletion.setdefault("nodeDeletionTimeoutSeconds", _NODE_DELETION_TIMEOUT_SECONDS)
    return _labelled({**obj, "spec": {**spec, "deletion": deletion}})


def default_set(obj: Object, old: Object | None = None) -> Object:
    """A MachineSet."""
    spec = _pool_spec(obj, SET_NAME)
    if spec.get("replicas") is None:
        spec["replicas"] = _DEFAULT_REPLICAS
    return _labelled({**obj, "spec": spec})


def default_machine_deployment(obj: Object, old: Object | None = None) -> Object:
    spec = _pool_spec(obj, DEPLOYMENT_NAME)
    if spec.get("replicas") is None:
        spec["replicas"] = _replicas(obj, old)
    rollout = _part(spec, "rollout")
    strategy = _part(rollout, "strategy")
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = _part(strategy, "rollingUpdate")
        for name, number in (("maxSurge", 1), ("maxUnavailable", 0)):
            if rolling.get(name) is None:
                rolling[name] = number
        strategy["rollingUpdate"] = rolling
    return _labelled({**obj, "spec": {**spec, "rollout": {**rollout, "strategy": strategy}}})


def autoscaler_bounds(obj: Object) -> tuple[int, int] | None:
    """The bounds that an autoscaler keeps to, where both are written and make sense."""
    annotations = _part(_part(obj, "metadata"), "annotations")
    texts = [str(annotations.get(name, "")) for name in (AUTOSCALER_MIN_SIZE, AUTOSCALER_MAX_SIZE)]
    if not all(text.isdecimal() for text in texts):
        return None
    lowest, highest = map(int, texts)
    return (lowest, highest) if lowest <= highest else None


def _replicas(obj: Object, old: Object | None) -> int:
    """How many Machines somebody wants who names no number: those there are, within an autoscaler's bounds."""
    bounds = autoscaler_bounds(obj)
    if bounds is None:
        return _DEFAULT_REPLICAS
    current = _part(old or {}, "spec").get("replicas")
    return min(max(current, bounds[0]), bounds[1]) if isinstance(current, int) else bounds[0]


def _part(obj: Object, name: str) -> Object:
    """A copy of a part, or nothing where there is none or something else."""
    part = obj.get(name)
    return {**part} if isinstance(part, dict) else {}


def _labelled(obj: Object) -> Object:
    """With the label of the Cluster, by which everything of it is found."""
    cluster = obj["spec"].get("clusterName")
    metadata = _part(obj, "metadata")
    labels = _part(metadata, "labels")
    if not isinstance(cluster, str) or labels.get(CLUSTER_NAME) == cluster:
        return obj
    return {**obj, "metadata": {**metadata, "labels": {**labels, CLUSTER_NAME: cluster}}}


def _pool_spec(obj: Object, own_label: str) -> Object:
    spec = _part(obj, "spec")
    selector, template = _part(spec, "selector"), _part(spec, "template")
    metadata = _part(template, "metadata")
    wanted, labels = _part(selector, "matchLabels"), _part(metadata, "labels")
    name = _part(obj, "metadata").get("name")
    if not wanted and not selector.get("matchExpressions") and isinstance(name, str):
        wanted[own_label] = labels[own_label] = name
    if isinstance(cluster := spec.get("clusterName"), str):
        wanted[CLUSTER_NAME] = labels[CLUSTER_NAME] = cluster
    template = {**template, "metadata": {**metadata, "labels": labels}, "spec": _machine_spec(_part(template, "spec"))}
    return {**spec, "selector": {**selector, "matchLabels": wanted}, "template": template}


def _machine_spec(spec: Object) -> Object:
    version = spec.get("version")
    if isinstance(version, str) and version and not version.startswith("v"):
        spec["version"] = f"v{version}"
    _normalise(spec, "infrastructureRef")
    if isinstance(spec.get("bootstrap"), dict):
        bootstrap = _part(spec, "bootstrap")
        _normalise(bootstrap, "configRef")
        spec["bootstrap"] = bootstrap
    return spec


def _normalise(parent: Object, name: str) -> None:
    """A reference as upstream writes it: by the group alone. Autoscalers look its version up themselves."""
    reference: Any = parent.get(name)
    if not isinstance(reference, dict):
        return
    group = reference.get("apiGroup") or reference.get("apiVersion")
    if isinstance(group, str):
        rest = {key: value for key, value in reference.items() if key not in ("apiGroup", "apiVersion")}
        parent[name] = {"apiGroup": group.partition("/")[0], **rest}
