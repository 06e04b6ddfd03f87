"""The objects of a LeaderWorkerSet: the StatefulSet of its leaders, one of workers for every group, and Services.

Everything here follows from the set and from a revision; names follow from the set's and a number. What is not asked
for leaves no trace, so that a newer Mooring changes nothing about groups that run.
"""

from __future__ import annotations

from typing import Any, Final

from mooring.api.core.views import Pod
from mooring.api.kinds import HasMeta, Kind
from mooring.features.groups.api import (
    EXCLUSIVE_TOPOLOGY,
    GROUP_INDEX,
    GROUP_KEY,
    LEADER_NAME,
    LEADER_REQUESTS_TPUS,
    NAME,
    REPLICAS,
    REVISION,
    SIZE,
    SUBDOMAIN,
    SUBGROUP_EXCLUSIVE_TOPOLOGY,
    SUBGROUP_SIZE,
    SUBGROUP_TYPE,
    UNIQUE_PER_REPLICA,
    WORKER_INDEX,
    LeaderWorkerSet,
    LeaderWorkerTemplate,
)
from mooring.features.groups.kinds import LEADER_WORKER_SET
from mooring.features.groups.pods.tpu import requests_tpus
from mooring.features.groups.pods.unique_placement import unique_annotations
from mooring.features.groups.revisions import Blueprint
from mooring.features.groups.rollout import Limits, Step
from mooring.kube.objects import Object
from mooring.runtime.decision import Apply, Create
from mooring.workloads.kinds import POD, SERVICE, STATEFUL_SET
from mooring.workloads.ownerrefs import controller_reference

# It describes the set and would lie about anything else.
_OWN: Final = "kubectl.kubernetes.io/last-applied-configuration"
_CLAIM_FIELDS: Final = ("accessModes", "storageClassName", "volumeMode")


def leaders_of(lws: LeaderWorkerSet, blueprint: Blueprint, limits: Limits, step: Step) -> Apply:
    """The StatefulSet of the leaders, whole."""
    name = lws.metadata.name
    annotations = _group_annotations(lws, blueprint.template)
    if blueprint.unique_subdomain:
        annotations[SUBDOMAIN] = UNIQUE_PER_REPLICA
    labels = {WORKER_INDEX: "0", NAME: name, REVISION: blueprint.revision_hash}
    rolling = {"partition": step.partition, "maxUnavailable": limits.max_disruption}
    spec: Object = {
        "replicas": step.replicas,
        "serviceName": name,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {NAME: name, WORKER_INDEX: "0"}},
        "template": _stamped(blueprint.leader_template, labels, annotations),
        "updateStrategy": {"type": lws.spec.rollout_strategy.type, "rollingUpdate": rolling},
        **_claims(blueprint.template),
    }
    metadata = {
        "name": name,
        "namespace": lws.metadata.namespace,
        "labels": {**lws.metadata.labels, NAME: name, REVISION: blueprint.revision_hash},
        "annotations": {**_inherited(lws), REPLICAS: str(lws.spec.replicas)},
        "ownerReferences": [controller_reference(LEADER_WORKER_SET, lws)],
    }
    return Apply(STATEFUL_SET, {"metadata": metadata, "spec": spec})


def workers_of(lws: LeaderWorkerSet, leader: Pod, blueprint: Blueprint, domain: dict[str, str]) -> Create:
    """The StatefulSet of a group's workers. `domain` is the node label that keeps them with their leader."""
    name, template = leader.metadata.name, blueprint.template
    identity = {
        GROUP_INDEX: leader.metadata.labels.get(GROUP_INDEX, ""),
        NAME: lws.metadata.name,
        GROUP_KEY: leader.metadata.labels.get(GROUP_KEY, ""),
    }
    labels = {**identity, REVISION: blueprint.revision_hash}
    annotations = _group_annotations(lws, template)
    annotations[LEADER_NAME] = name
    if requests_tpus(blueprint.leader_template.get("spec") or {}):
        annotations[LEADER_REQUESTS_TPUS] = "true"
    stamped = _stamped(template.worker_template, labels, annotations)
    if domain:
        selector = {**(stamped["spec"].get("nodeSelector") or {}), **domain}
        stamped["spec"] = {**stamped["spec"], "nodeSelector": selector}
    spec: Object = {
        "replicas": template.size - 1,
        "ordinals": {"start": 1},
        "serviceName": name if blueprint.unique_subdomain else lws.metadata.name,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": identity},
        "template": stamped,
        **_claims(template),
    }
    metadata: Object = {
        "name": name,
        "namespace": lws.metadata.namespace,
        "labels": {**lws.metadata.labels, **labels},
        "ownerReferences": [controller_reference(POD, leader)],
    }
    if inherited := _inherited(lws):
        metadata["annotations"] = inherited
    return Create(STATEFUL_SET, {"metadata": metadata, "spec": spec})


def shared_service(lws: LeaderWorkerSet) -> Create:
    """One Service in which every pod of every group has a name."""
    return _service(lws, lws.metadata.name, {}, LEADER_WORKER_SET, lws)


def group_service(lws: LeaderWorkerSet, leader: Pod) -> Create:
    """A Service for one group, which goes with its leader."""
    index = {GROUP_INDEX: leader.metadata.labels.get(GROUP_INDEX, "")}
    return _service(lws, leader.metadata.name, index, POD, leader)


def _service(lws: LeaderWorkerSet, name: str, selector: dict[str, str], kind: Kind[Any], owner: HasMeta) -> Create:
    metadata = {
        "name": name,
        "namespace": lws.metadata.namespace,
        "labels": {NAME: lws.metadata.name},
        "ownerReferences": [controller_reference(kind, owner)],
    }
    # Members look for each other before they are ready.
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {NAME: lws.metadata.name, **selector},
    }
    return Create(SERVICE, {"metadata": metadata, "spec": spec})


def _group_annotations(lws: LeaderWorkerSet, template: LeaderWorkerTemplate) -> dict[str, str]:
    """What the pod webhook must know about a group, for it sees nothing but the pod."""
    said = lws.metadata.annotations
    found = {SIZE: str(template.size)}
    if topology := said.get(EXCLUSIVE_TOPOLOGY):
        found[EXCLUSIVE_TOPOLOGY] = topology
    policy = template.sub_group_policy
    if policy is not None:
        found[SUBGROUP_TYPE] = policy.sub_group_policy_type
        found[SUBGROUP_SIZE] = str(policy.sub_group_size)
        if topology := said.get(SUBGROUP_EXCLUSIVE_TOPOLOGY):
            found[SUBGROUP_EXCLUSIVE_TOPOLOGY] = topology
    return {**found, **unique_annotations(template)}


def _stamped(template: Object, labels: dict[str, str], annotations: dict[str, str]) -> Object:
    metadata = template.get("metadata") or {}
    ours = {
        "labels": {**(metadata.get("labels") or {}), **labels},
        "annotations": {**(metadata.get("annotations") or {}), **annotations},
    }
    return {**template, "metadata": {**metadata, **ours}, "spec": template.get("spec") or {}}


def _inherited(lws: LeaderWorkerSet) -> dict[str, str]:
    return {name: value for name, value in lws.metadata.annotations.items() if name != _OWN}


def _claims(template: LeaderWorkerTemplate) -> Object:
    made: Object = {}
    if template.volume_claim_templates:
        made["volumeClaimTemplates"] = claims_of(template)
    policy = template.persistent_volume_claim_retention_policy
    if policy is not None:
        made["persistentVolumeClaimRetentionPolicy"] = {
            "whenDeleted": policy.when_deleted,
            "whenScaled": policy.when_scaled,
        }
    return made


def claims_of(template: LeaderWorkerTemplate) -> list[Object]:
    """The claims that every pod of a group has, as they stand in its StatefulSet."""
    return [_claim(claim) for claim in template.volume_claim_templates or ()]


def _claim(claim: Object) -> Object:
    given = claim.get("spec") or {}
    spec = {field: given[field] for field in _CLAIM_FIELDS if given.get(field) is not None}
    amounts = given.get("resources") or {}
    resources = {field: amounts[field] for field in ("requests", "limits") if amounts.get(field) is not None}
    if resources:
        spec["resources"] = resources
    return {"metadata": {"name": (claim.get("metadata") or {}).get("name", "")}, "spec": spec}
