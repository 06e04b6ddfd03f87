"""Views read the fields that the API has, and of an absent one they show what the API means by that."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import msgspec

import mooring.api
from mooring.api.core.types import View
from mooring.api.meta import Condition
from mooring.kube.schemas import Schema, builtin_schema
from mooring.kube.schemas.builtin import object_meta
from mooring.registry.resources import builtin_resources

# What an absent field stands for where that is not nothing: the API fills these in, and some are absent in what others
# than the API server hand over, as in manifests and templates.
DEFAULTS: dict[str, Any] = {
    "DaemonSetSpec.revisionHistoryLimit": 10,
    "DaemonSetUpdateStrategy.type": "RollingUpdate",
    "RollingUpdateDaemonSet.maxUnavailable": 1,
    "DeploymentSpec.replicas": 1,
    "DeploymentStrategy.type": "RollingUpdate",
    "RollingUpdateDeployment.maxSurge": "25%",
    "RollingUpdateDeployment.maxUnavailable": "25%",
    "ReplicaSetSpec.replicas": 1,
    "ReplicationControllerSpec.replicas": 1,
    "StatefulSetSpec.replicas": 1,
    "StatefulSetSpec.podManagementPolicy": "OrderedReady",
    "StatefulSetUpdateStrategy.type": "RollingUpdate",
    "ClaimRetention.whenDeleted": "Retain",
    "ClaimRetention.whenScaled": "Retain",
    "CronJobSpec.concurrencyPolicy": "Allow",
    "JobSpec.backoffLimit": 6,
    "JobSpec.completionMode": "NonIndexed",
    "JobSpec.parallelism": 1,
    "JobSpec.podReplacementPolicy": "TerminatingOrFailed",
    "OnPodCondition.status": "True",
    "AutoscalerSpec.minReplicas": 1,
    "ScalingRules.selectPolicy": "Max",
    "ServicePort.protocol": "TCP",
    "PersistentVolumeSpec.persistentVolumeReclaimPolicy": "Retain",
    "StorageClass.reclaimPolicy": "Delete",
    "StorageClass.volumeBindingMode": "Immediate",
    "DeviceSubRequest.allocationMode": "ExactCount",
    "DeviceSubRequest.count": 1,
    "ExactDeviceRequest.allocationMode": "ExactCount",
    "ExactDeviceRequest.count": 1,
    "DeviceCapacity.value": "0",
}
ANNOTATIONS = {
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-index-failure-count",
    "batch.kubernetes.io/job-index-ignored-failure-count",
    "controller.kubernetes.io/pod-deletion-cost",
    "kwok.x-k8s.io/node",
    "mooring.dev/duration",
    "mooring.dev/exit-code",
    "mooring.dev/local-volumes",
    "mooring.dev/lost",
    "mooring.dev/quiet",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "pv.kubernetes.io/provisioned-by",
    "storage.alpha.kubernetes.io/migrated-plugins",
    "storageclass.beta.kubernetes.io/is-default-class",
    "storageclass.kubernetes.io/is-default-class",
    "volume.beta.kubernetes.io/storage-class",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
}
# Conditions have the fields that those of some kind have, also of kinds that are not built in.
CONDITION = {
    *("type", "status", "reason", "message", "lastTransitionTime", "lastUpdateTime", "lastProbeTime"),
    *("observedGeneration", "severity"),
}
# What is served elsewhere than in the registry, and what stands for any kind.
OTHERS = {"Bare", "ContainerMetrics", "PodMetrics"}
# Of a kind with several versions the newest one.
VERSIONS = {each.kind: each.api_version for each in sorted(builtin_resources(), key=lambda each: each.api_version)}


def views() -> list[type[View]]:
    """Every view of a built-in kind or of a part of one."""
    found = []
    for each in pkgutil.walk_packages(mooring.api.__path__, "mooring.api."):
        if not each.name.startswith("mooring.api.crds."):
            module = importlib.import_module(each.name)
            found += [
                value
                for value in vars(module).values()
                if isinstance(value, type) and issubclass(value, View) and value.__module__ == each.name
            ]
    return [each for each in found if each is not View]


def test_of_an_absent_field_a_view_shows_what_the_api_means_by_that() -> None:
    found = {}
    for view in views():
        for field in msgspec.structs.fields(view):
            value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
            is_nothing = value in (None, 0, "", (), {}) or (isinstance(value, View) and value == type(value)())
            if not is_nothing:
                found[f"{view.__name__}.{field.encode_name}"] = value
    assert found == DEFAULTS


def test_views_read_fields_that_the_api_has() -> None:
    schemas: dict[type, list[Schema]] = defaultdict(list)
    for view in views():
        if "metadata" in view.__struct_fields__ and view.__name__ in VERSIONS:
            _walk(view, builtin_schema(VERSIONS[view.__name__], view.__name__), schemas)
    unknown = [
        f"{view.__qualname__}.{field.encode_name}"
        for view, places in schemas.items()
        for field in msgspec.structs.fields(view)
        if not any(field.encode_name in each.properties for each in places)
    ]
    assert unknown == []
    annotations = {field.encode_name for view in views() if _is_notes(view) for field in msgspec.structs.fields(view)}
    assert annotations == ANNOTATIONS
    assert {field.encode_name for field in msgspec.structs.fields(Condition)} == CONDITION
    reached = {*schemas, *(each for each in views() if _is_notes(each) or issubclass(each, Condition))}
    assert {each.__name__ for each in views() if each not in reached} == OTHERS


def _is_notes(view: type) -> bool:
    return view.__name__.endswith("Notes")


def _walk(view: type, schema: Schema, found: dict[type, list[Schema]]) -> None:
    if any(each is schema for each in found[view]):
        return
    found[view].append(schema)
    hints = typing.get_type_hints(view)
    for field in msgspec.structs.fields(view):
        inner = object_meta() if field.encode_name == "metadata" else schema.properties.get(field.encode_name)
        for part, depth in _views_of(hints[field.name]):
            if inner is not None and not _is_notes(part) and not issubclass(part, Condition):
                _walk(part, _inside(inner, depth), found)


def _views_of(hint: Any, depth: int = 0) -> Iterator[tuple[type[View], int]]:
    """The views in a type, with how many lists or maps they lie in."""
    if inspect.isclass(hint) and issubclass(hint, View):
        yield hint, depth
    holds = typing.get_origin(hint) in (tuple, dict)
    for inner in typing.get_args(hint):
        yield from _views_of(inner, depth + holds)


def _inside(schema: Schema, depth: int) -> Schema:
    for _ in range(depth):
        inner = schema.items or schema.additional_properties
        assert inner is not None
        schema = inner
    return schema
