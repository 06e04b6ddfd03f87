"""Recorded requests: a cluster and pods as JSON, answered in the shape of `answers.py`."""

from __future__ import annotations

from typing import Any

import msgspec

from mooring.api.apps.owners import ReplicaSet, StatefulSet
from mooring.api.core.types import Namespace, Node, Pod, ReplicationController, Service
from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.node import admission
from mooring.api.policy.budgets import PodDisruptionBudget
from mooring.kube.errors import MooringError
from mooring.placement.answers import Json, explain_answer, reserve_answer
from mooring.placement.devices.dra_manager import DEVICE_KINDS
from mooring.placement.devices.generated_claims import with_generated_claims
from mooring.placement.engine import ALL_NODES, Engine, Placement
from mooring.placement.reservations import assume, reservation
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.volumes.ephemeral_claims import ephemeral_claims
from mooring.placement.volumes.storage_cache import STORAGE_VIEWS

STORAGE_KINDS: dict[str, Any] = {view.__name__: view for view in STORAGE_VIEWS}


def add_object(cluster: SchedulerCache, kind: str, value: Any) -> bool:
    """Take an object of any kind that matters to placement into the cluster; False for other kinds."""
    match kind:
        case "Node":
            cluster.set_node(msgspec.convert(value, Node))
        case "Pod":
            cluster.set_pod(msgspec.convert(value, Pod))
        case "Namespace":
            cluster.set_namespace(msgspec.convert(value, Namespace))
        case "Service":
            cluster.default_selectors.set_service(msgspec.convert(value, Service))
        case "ReplicaSet":
            cluster.default_selectors.set_owner(kind, msgspec.convert(value, ReplicaSet))
        case "StatefulSet":
            cluster.default_selectors.set_owner(kind, msgspec.convert(value, StatefulSet))
        case "ReplicationController":
            cluster.default_selectors.set_owner(kind, msgspec.convert(value, ReplicationController))
        case "PodDisruptionBudget":
            cluster.set_budget(msgspec.convert(value, PodDisruptionBudget))
        case "StorageClass" | "PersistentVolume" | "CSINode" | "CSIDriver" | "VolumeAttachment":
            cluster.storage.set(msgspec.convert(value, STORAGE_KINDS[kind]))
        case "PersistentVolumeClaim" | "CSIStorageCapacity":
            cluster.storage.set(msgspec.convert(_in_namespace(value), STORAGE_KINDS[kind]))
        case "DeviceClass" | "ResourceSlice" | "ResourceClaim" | "ResourceClaimTemplate":
            cluster.devices.set(msgspec.convert(_in_namespace(value), DEVICE_KINDS[kind]))
        case _:
            return False
    return True


def _in_namespace(value: Json) -> Json:
    metadata = value["metadata"]
    return {**value, "metadata": {**metadata, "namespace": metadata.get("namespace") or "default"}}


# The lists of one kind that a request can have beside its objects.
LISTS = {
    "persistentVolumes": "PersistentVolume",
    "persistentVolumeClaims": "PersistentVolumeClaim",
    "storageClasses": "StorageClass",
    "csiNodes": "CSINode",
    "csiDrivers": "CSIDriver",
    "csiStorageCapacities": "CSIStorageCapacity",
    "volumeAttachments": "VolumeAttachment",
    "deviceClasses": "DeviceClass",
    "resourceSlices": "ResourceSlice",
    "resourceClaims": "ResourceClaim",
    "resourceClaimTemplates": "ResourceClaimTemplate",
}


def build(request: Json) -> SchedulerCache:
    nodes = request.get("nodes") or []
    cluster = SchedulerCache(len(nodes))
    for value in request.get("objects") or []:
        add_object(cluster, value["kind"], value)
    for field, kind in LISTS.items():
        for value in request.get(field) or []:
            add_object(cluster, kind, value)
    for value in nodes:
        add_object(cluster, "Node", value)
    for value in request.get("pods") or []:
        add_object(cluster, "Pod", value)
    return cluster


def explain_request(request: Json) -> Json:
    """Answer a request about one pod."""
    cluster = build(request)
    engine = Engine(cluster, _percentage(request))
    value, answer = request["pod"], {"id": request.get("id")}
    if request.get("admit"):
        try:
            value = _admitted(value, request.get("runtimeClasses") or [])
        except MooringError as error:
            name = value["metadata"]["name"]
            return {**answer, "message": f'pods "{name}" is forbidden: {error.message}', "rejected": True}
        if value["spec"].get("runtimeClassName"):
            fields = ("overhead", "nodeSelector", "tolerations")
            answer["admitted"] = {name: value["spec"][name] for name in fields if value["spec"].get(name)}
    if request.get("controllers"):
        for made in ephemeral_claims(value):
            claim = msgspec.convert(made, PersistentVolumeClaim)
            if f"{claim.metadata.namespace}/{claim.metadata.name}" not in cluster.storage.claims:
                cluster.storage.set(claim)
        value = with_generated_claims(cluster.devices, value)
    pod = cluster.compiler.compile(msgspec.convert(value, Pod))
    explanation = engine.explain(pod)
    answer |= explain_answer(cluster, explanation)
    if explanation.chosen >= 0:
        answer |= reserve_answer(reservation(cluster, pod, explanation.chosen))
    return answer


def _admitted(pod: Json, classes: list[Json]) -> Json:
    """A pod after admission. Raises MooringError where it is refused."""
    name, found = pod["spec"].get("runtimeClassName"), None
    spec = pod["spec"]
    if name is not None:
        found = next((each for each in classes if each["metadata"]["name"] == name), None)
        if found is None:
            raise MooringError(admission.not_found(name))
        spec = admission.with_runtime_class(spec, found)
    admission.check_overhead(spec, found)
    return {**pod, "spec": spec}


def schedule_request(request: Json) -> Json:
    """Answer a request about pods that come one after another, each placed before the next."""
    cluster = build(request)
    engine = Engine(cluster, _percentage(request))
    scheduled: list[Json] = []
    for value in request.get("pending") or []:
        pod = cluster.compiler.compile(msgspec.convert(value, Pod))
        placement = engine.schedule(pod)
        entry: Json = {"pod": pod.key}
        if placement.slot >= 0:
            reserved = reservation(cluster, pod, placement.slot)
            assume(cluster, reserved)
            if reserved.error:
                placement = Placement(-1, reserved.error, error=True)
            else:
                entry |= reserve_answer(reserved)
        if placement.slot >= 0:
            entry["node"] = cluster.names[placement.slot]
            entry["evaluated"] = placement.evaluated
            entry["feasible"] = placement.feasible
            cluster.bind(pod, placement.slot)
        else:
            entry["message"] = placement.message
            if placement.error:
                entry["schedulerError"] = True
        scheduled.append(entry)
    return {"id": request.get("id"), "scheduled": scheduled}


def _percentage(request: Json) -> int:
    """All nodes are scored unless the request asks for a sample; 0 lets the size of the cluster decide."""
    found = request.get("percentageOfNodesToScore")
    return ALL_NODES if found is None else int(found)
