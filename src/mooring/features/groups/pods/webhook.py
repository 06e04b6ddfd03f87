"""The pod webhook: every pod of a group is told who it is, and where it may land, before it is stored.

It reads nothing but the pod: all that it needs stands in labels and annotations. So it also serves pods that another
controller made, when it is the only part of Mooring that is switched on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mooring.features.groups.api import (
    EXCLUSIVE_TOPOLOGY,
    GROUP_INDEX,
    GROUP_KEY,
    LEADER_EXCLUDED,
    LEADER_NAME,
    NAME,
    SIZE,
    SUBDOMAIN,
    SUBGROUP_EXCLUSIVE_TOPOLOGY,
    SUBGROUP_INDEX,
    SUBGROUP_KEY,
    SUBGROUP_SIZE,
    SUBGROUP_TYPE,
    UNIQUE_PER_REPLICA,
    WORKER_INDEX,
)
from mooring.features.groups.identity import group_key, ordinal_of, subgroup_index, subgroup_key
from mooring.features.groups.pods.affinity import with_exclusive_placement
from mooring.features.groups.pods.env import with_group_env
from mooring.features.groups.pods.tpu import Member, with_tpu_env
from mooring.features.groups.pods.unique_placement import with_unique_placement, wrong_effect
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.runtime.view import View
from mooring.runtime.webhooks.model import Admitted, Denied, Rule, Webhook, WebhookRequest


class RefusedMember(MooringError):
    """A pod that cannot be a member of the group it says it is in."""


def admit(request: WebhookRequest, view: View) -> Admitted | Denied:
    pod = request.object or {}
    metadata = pod.get("metadata") or {}
    if NAME not in (metadata.get("labels") or {}):
        return Admitted()
    try:
        return Admitted(member(pod, metadata.get("name") or request.name, request.namespace))
    except RefusedMember as refused:
        return Denied(refused.message)


def member(pod: Object, name: str, namespace: str) -> Object:
    """A pod as a member of its group; Refused where it cannot be one."""
    metadata = pod["metadata"]
    labels, annotations = dict(metadata["labels"]), metadata.get("annotations") or {}
    size = _number(annotations, SIZE, name)
    ordinal = ordinal_of(name)
    if ordinal is None:
        raise RefusedMember(f"pod {name} is labelled {NAME} and its name does not end in a number")
    if reason := wrong_effect(annotations):
        raise RefusedMember(f"pod {name}: {reason}")
    spec = pod.get("spec") or {}
    if labels.get(WORKER_INDEX) == "0":
        leader, worker = name, 0
        spec = _lead(spec, labels, annotations, name, namespace, ordinal.number)
    else:
        leader, worker = annotations.get(LEADER_NAME) or ordinal.parent, ordinal.number
        labels[WORKER_INDEX] = str(worker)
    subgroup_size = _number(annotations, SUBGROUP_SIZE, name) if SUBGROUP_SIZE in annotations else 0
    excluded = worker == 0 and annotations.get(SUBGROUP_TYPE) == LEADER_EXCLUDED
    if subgroup_size and not excluded:
        spec = _join_subgroup(spec, labels, annotations, leader, subgroup_index(size, subgroup_size, max(worker, 1)))
    spec = with_unique_placement(spec, annotations, leader)
    spec = with_tpu_env(spec, annotations, _tpu_member(labels, leader, worker, size, subgroup_size, excluded))
    # A worker that another controller made may have no group index; its leader's name ends in it.
    address = f"{_leader_of(labels, leader)}.{spec.get('subdomain', '')}.{namespace}"
    spec = with_group_env(spec, address, annotations[SIZE], str(worker))
    return {**pod, "metadata": {**metadata, "labels": labels}, "spec": spec}


def _lead(
    spec: Object, labels: dict[str, str], annotations: Mapping[str, str], name: str, namespace: str, index: int
) -> Object:
    labels.setdefault(GROUP_INDEX, str(index))
    key = labels.setdefault(GROUP_KEY, group_key(namespace, name))
    if annotations.get(SUBDOMAIN) == UNIQUE_PER_REPLICA:
        spec = {**spec, "subdomain": name}
    if topology := annotations.get(EXCLUSIVE_TOPOLOGY):
        spec = with_exclusive_placement(spec, GROUP_KEY, key, topology)
    return spec


def _join_subgroup(
    spec: Object, labels: dict[str, str], annotations: Mapping[str, str], leader: str, computed: int
) -> Object:
    if labels.get(SUBGROUP_INDEX):
        return spec
    # The leader is always in the first subgroup.
    index = 0 if labels[WORKER_INDEX] == "0" else computed
    labels[SUBGROUP_INDEX] = str(index)
    labels[SUBGROUP_KEY] = subgroup_key(leader, index)
    if topology := annotations.get(SUBGROUP_EXCLUSIVE_TOPOLOGY):
        spec = with_exclusive_placement(spec, SUBGROUP_KEY, labels[SUBGROUP_KEY], topology)
    return spec


def _tpu_member(
    labels: Mapping[str, str], leader: str, worker: int, size: int, subgroup_size: int, excluded: bool
) -> Member:
    if excluded:
        # In no subgroup, it is a slice by itself.
        return Member(leader, 0, size, 1, 0)
    index = labels.get(SUBGROUP_INDEX, "0")
    return Member(leader, worker, size, subgroup_size, int(index) if index.isdecimal() else 0)


def _leader_of(labels: Mapping[str, str], leader: str) -> str:
    return f"{labels[NAME]}-{labels[GROUP_INDEX]}" if GROUP_INDEX in labels else leader


def _number(annotations: Mapping[str, str], key: str, name: str) -> int:
    text = annotations.get(key)
    if text is None:
        raise RefusedMember(f"pod {name} is labelled {NAME} and lacks annotation {key}, the size of its group")
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise RefusedMember(f'pod {name}: annotation {key} is "{text}"; it must be a number, 1 or more')
    return int(text)


POD_WEBHOOK: Final = Webhook(
    "pods.leaderworkerset.mooring.dev",
    "mutating",
    admit,
    (Rule("v1", "pods"),),
    object_selector={"matchExpressions": [{"key": NAME, "operator": "Exists"}]},
    switch="lws-pod-webhook",
)
