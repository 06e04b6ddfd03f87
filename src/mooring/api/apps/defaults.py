"""What the API server adds to Deployments, ReplicaSets, StatefulSets and DaemonSets, in place."""

import re
from typing import Final

from mooring.api.core.decoding.decoder import decode_or_refuse
from mooring.api.core.pod_templates import default_template
from mooring.kube.objects import Object

__all__ = [
    "default_daemon_set",
    "default_deployment",
    "default_replica_set",
    "default_stateful_set",
    "prepare_daemon_set",
    "prepare_daemon_set_update",
]


# Where older versions of the API kept it, and where it still stands.
_GENERATION: Final = "deprecated.daemonset.template.generation"
_INTEGER: Final = re.compile("[+-]?[0-9]+").fullmatch


def default_deployment(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    default_template(spec)
    strategy = _section(spec, "strategy")
    _type(strategy, "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = _section(strategy, "rollingUpdate")
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)


def default_replica_set(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    default_template(spec)


def default_stateful_set(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    default_template(spec)
    spec["podManagementPolicy"] = spec.get("podManagementPolicy") or "OrderedReady"
    strategy = _section(spec, "updateStrategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == "RollingUpdate" and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    retention = _section(spec, "persistentVolumeClaimRetentionPolicy")
    for name in ("whenDeleted", "whenScaled"):
        retention[name] = retention.get(name) or "Retain"
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    for index, claim in enumerate(spec.get("volumeClaimTemplates", ())):
        claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
        claim.setdefault("metadata", {})
        path = f"spec.volumeClaimTemplates[{index}].spec"
        claim["spec"] = decode_or_refuse("PersistentVolumeClaimSpec", claim.get("spec"), path)
        claim["spec"].setdefault("volumeMode", "Filesystem")
        claim.setdefault("status", {}).setdefault("phase", "Pending")


def default_daemon_set(obj: Object) -> None:
    annotations = obj["metadata"].get("annotations", {})
    told = annotations.get(_GENERATION, "")
    obj["metadata"]["annotations"] = {**annotations, _GENERATION: told if _INTEGER(told) else "0"}
    spec = obj.setdefault("spec", {})
    default_template(spec)
    strategy = _section(spec, "updateStrategy")
    _type(strategy, "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = _section(strategy, "rollingUpdate")
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)


def prepare_daemon_set(obj: Object, now: str) -> None:
    annotations = obj["metadata"]["annotations"]
    if int(annotations[_GENERATION]) < 1:
        _annotate(obj, "1")


def prepare_daemon_set_update(new: Object, old: Object) -> None:
    """The generation of the template is the server's to count."""
    was = int(old["metadata"].get("annotations", {}).get(_GENERATION, "0"))
    _annotate(new, str(was + (new["spec"]["template"] != old["spec"]["template"])))


def _annotate(obj: Object, generation: str) -> None:
    annotations = obj["metadata"].get("annotations", {})
    if annotations.get(_GENERATION) != generation:
        obj["metadata"] = {**obj["metadata"], "annotations": {**annotations, _GENERATION: generation}}


def _section(owner: Object, name: str) -> Object:
    section: Object = owner.setdefault(name, {})
    return section


def _type(strategy: Object, default: str) -> None:
    strategy["type"] = strategy.get("type") or default
