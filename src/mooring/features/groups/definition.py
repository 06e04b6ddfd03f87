"""The CustomResourceDefinition of LeaderWorkerSets, made from the typed views and from one table of words and rules.

A field that the table does not describe cannot get into the definition, so nothing is left undescribed.
`config/crd/` holds what comes out; `python -m scripts.crds` writes it again.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from mooring.api.openapi_schemas import INT_OR_STRING, builtin_openapi
from mooring.features.groups.api import (
    EFFECTS,
    GROUP,
    KIND,
    MAX_REPLICAS,
    PLURAL,
    LeaderWorkerSetSpec,
    LeaderWorkerSetStatus,
    LeaderWorkerTemplate,
)
from mooring.kube.objects import Object

__all__ = ["leader_worker_set_definition"]


class _Said(NamedTuple):
    """What is said about one field: words for people, and rules."""

    words: str
    rules: Mapping[str, Any] = MappingProxyType({})
    required: bool = False


_POLICY: Final = "persistentVolumeClaimRetentionPolicy"
_SPEC: Final[dict[str, _Said]] = {
    "replicas": _Said(
        "How many groups there are. Groups come and go as a whole; the highest ones go first.",
        {"default": 1, "minimum": 0, "maximum": MAX_REPLICAS},
    ),
    "startupPolicy": _Said(
        "When the workers of a group are made: as soon as its leader exists, or once its leader is ready.",
        {"default": "LeaderCreated", "enum": ["LeaderCreated", "LeaderReady"]},
    ),
    "leaderWorkerTemplate": _Said("What one group consists of. Changing it updates group by group.", required=True),
    "leaderWorkerTemplate.leaderTemplate": _Said(
        "The template of leader pods, as in a StatefulSet. Without it the leader is made from workerTemplate."
    ),
    "leaderWorkerTemplate.workerTemplate": _Said("The template of worker pods, as in a StatefulSet.", required=True),
    "leaderWorkerTemplate.size": _Said(
        "How many pods a group has, its leader included. A group of one has no workers.", {"default": 1}
    ),
    "leaderWorkerTemplate.restartPolicy": _Said(
        "What happens to a group when a container of it restarts or a pod of it is deleted: RecreateGroupOnPodRestart "
        "makes the whole group anew, RecreateGroupAfterStart does so only once all its pods have started, and None "
        "replaces that pod alone. Default is an old name for None.",
        {
            "default": "RecreateGroupOnPodRestart",
            "enum": ["Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"],
        },
    ),
    "leaderWorkerTemplate.subGroupPolicy": _Said(
        "Divides a group into subgroups that can be placed apart. It cannot be added or removed later."
    ),
    "leaderWorkerTemplate.subGroupPolicy.subGroupSize": _Said(
        "How many pods a subgroup has. The size of the group, or that size less the leader, must be a multiple of it. "
        "It cannot be changed later."
    ),
    "leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType": _Said(
        "Whether the leader belongs to the first subgroup (LeaderWorker) or to none (LeaderExcluded).",
        {"default": "LeaderWorker", "enum": ["LeaderWorker", "LeaderExcluded"]},
    ),
    "leaderWorkerTemplate.volumeClaimTemplates": _Said(
        "Claims that every pod gets for itself, leaders and workers alike. Of each its name, access modes, storage "
        "class, volume mode and resources count."
    ),
    f"leaderWorkerTemplate.{_POLICY}": _Said("What becomes of the claims when their pods are not wanted any more."),
    f"leaderWorkerTemplate.{_POLICY}.whenDeleted": _Said(
        "Retain keeps claims when their StatefulSet is deleted, Delete deletes them."
    ),
    f"leaderWorkerTemplate.{_POLICY}.whenScaled": _Said(
        "Retain keeps claims of pods that scaling down removes, Delete deletes them."
    ),
    "leaderWorkerTemplate.schedulingPolicy": _Said(
        "Gives every replica nodes of its own, by a label and a taint whose value is the name of the leader pod."
    ),
    "leaderWorkerTemplate.schedulingPolicy.replicaUniqueNodeSelector": _Said(
        "A label key. All pods of a group go only to nodes where this label is the name of their leader."
    ),
    "leaderWorkerTemplate.schedulingPolicy.replicaUniqueToleration": _Said(
        "A taint that all pods of a group tolerate if its value is the name of their leader."
    ),
    "leaderWorkerTemplate.schedulingPolicy.replicaUniqueToleration.key": _Said(
        "The key of the taint.", {"minLength": 1}, required=True
    ),
    "leaderWorkerTemplate.schedulingPolicy.replicaUniqueToleration.effect": _Said(
        "The effect of the taint.", {"enum": list(EFFECTS)}, required=True
    ),
    "rolloutStrategy": _Said("How a change of leaderWorkerTemplate reaches the groups."),
    "rolloutStrategy.type": _Said(
        "RollingUpdate replaces groups from the highest to the lowest.",
        {"default": "RollingUpdate", "enum": ["RollingUpdate"]},
        required=True,
    ),
    "rolloutStrategy.rollingUpdateConfiguration": _Said("How fast a rolling update goes."),
    "rolloutStrategy.rollingUpdateConfiguration.partition": _Said(
        "Groups below this number are not updated.", {"default": 0}
    ),
    "rolloutStrategy.rollingUpdateConfiguration.maxUnavailable": _Said(
        "How many groups may be away at once, as a number or as a percentage of replicas, rounded down. It cannot be "
        "zero if maxSurge is.",
        {"default": 1},
    ),
    "rolloutStrategy.rollingUpdateConfiguration.maxSurge": _Said(
        "How many groups may be there beyond replicas during an update, as a number or as a percentage of replicas, "
        "rounded up.",
        {"default": 0},
    ),
    "networkConfig": _Said("How pods of a group find each other by name."),
    "networkConfig.subdomainPolicy": _Said(
        "Shared has one headless Service for all groups, UniquePerReplica one for each.",
        {"enum": ["Shared", "UniquePerReplica"]},
        required=True,
    ),
}
_STATUS: Final[dict[str, _Said]] = {
    "conditions": _Said(
        "Available: all groups are ready. Progressing: groups come or go. UpdateInProgress: groups are being replaced. "
        "Placeable: whether every group can land on the nodes there are, and if not, why and what would help."
    ),
    "readyReplicas": _Said("How many groups are ready: their leader, and all of their workers."),
    "updatedReplicas": _Said("How many groups are of the newest template."),
    "replicas": _Said("How many groups there are, those of a surge included."),
    "hpaPodSelector": _Said("Selects the leader pods, whose metrics a HorizontalPodAutoscaler looks at."),
    "observedGeneration": _Said("The generation of the spec that this status is about."),
}
_CONDITION: Final[Object] = {
    "type": "object",
    "required": ["lastTransitionTime", "message", "reason", "status", "type"],
    "properties": {
        "type": {
            "type": "string",
            "maxLength": 316,
            "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
            r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        },
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "reason": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1024,
            "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        },
        "message": {"type": "string", "maxLength": 32768},
        "lastTransitionTime": {"type": "string", "format": "date-time"},
        "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
    },
}
_COLUMNS: Final = (
    ("Ready", "integer", ".status.readyReplicas", "Groups that are ready"),
    ("Desired", "integer", ".spec.replicas", "Groups that are wanted"),
    ("Up-to-date", "integer", ".status.updatedReplicas", "Groups of the newest template"),
    ("Age", "date", ".metadata.creationTimestamp", ""),
)


@cache
def leader_worker_set_definition() -> Object:
    """The definition, ready to be applied. It is shared and must not be changed."""
    schema = {
        "type": "object",
        "description": "Groups of pods, a leader and its workers each, that are scaled, updated and replaced as one.",
        "properties": {
            "apiVersion": {"type": "string", "description": "The version of the API that this object is written in."},
            "kind": {"type": "string", "description": "The kind of this object."},
            "metadata": {"type": "object"},
            "spec": {"description": "What is wanted.", **_struct(LeaderWorkerSetSpec, "", _SPEC)},
            "status": {"description": "What was seen last.", **_struct(LeaderWorkerSetStatus, "", _STATUS)},
        },
    }
    scale = {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.hpaPodSelector",
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [_column(*column) for column in _COLUMNS],
        "subresources": {"status": {}, "scale": scale},
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": PLURAL,
                "singular": KIND.lower(),
                "shortNames": ["lws"],
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def _column(name: str, kind: str, path: str, words: str) -> Object:
    return {"name": name, "type": kind, "jsonPath": path} | ({"description": words} if words else {})


def _struct(view: type[msgspec.Struct], path: str, said: dict[str, _Said]) -> Object:
    properties: Object = {}
    required = []
    for field in msgspec.structs.fields(view):
        name = field.encode_name
        here = f"{path}.{name}" if path else name
        about = said[here]
        properties[name] = {"description": about.words, **_value(here, field.type, said), **about.rules}
        if about.required:
            required.append(name)
    return {"type": "object", "properties": properties} | ({"required": sorted(required)} if required else {})


def _value(path: str, kind: Any, said: dict[str, _Said]) -> Object:
    if path in _PARTS:
        return _PARTS[path]()
    arms = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)
    arms = tuple(arm for arm in arms if arm is not type(None))
    if set(arms) == {int, str}:
        return INT_OR_STRING
    (kind,) = arms
    if kind is int:
        return {"type": "integer", "format": "int64" if path == "observedGeneration" else "int32"}
    if kind is str:
        return {"type": "string"}
    return _struct(kind, path, said)


def _claims() -> Object:
    return {"type": "array", "items": builtin_openapi("v1", "PersistentVolumeClaim")}


def _pod_template() -> Object:
    return builtin_openapi("apps/v1", "StatefulSet", "spec", "template")


def _conditions() -> Object:
    marks = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
    return {"type": "array", "items": _CONDITION, **marks}


# Parts that typed views keep as plain objects.
_PARTS: Final = {
    "leaderWorkerTemplate": lambda: _struct(LeaderWorkerTemplate, "leaderWorkerTemplate", _SPEC),
    "leaderWorkerTemplate.leaderTemplate": _pod_template,
    "leaderWorkerTemplate.workerTemplate": _pod_template,
    "leaderWorkerTemplate.volumeClaimTemplates": _claims,
    "conditions": _conditions,
}
