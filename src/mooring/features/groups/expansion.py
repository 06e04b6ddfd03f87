"""The pods that a LeaderWorkerSet would make, as its controllers and webhooks would make them, without a cluster.

Leaders come first, as they do in a cluster, and then the workers of one group after the other. Where groups are placed
exclusively, workers are tied to their leader by affinity here: its node is not known before it is placed.
"""

from __future__ import annotations

import msgspec

from mooring.api.core.views import Pod
from mooring.features.groups.api import EXCLUSIVE_TOPOLOGY, GROUP_KEY, KIND, LeaderWorkerSet
from mooring.features.groups.defaults import default_leader_worker_set
from mooring.features.groups.objects import claims_of, leaders_of, workers_of
from mooring.features.groups.pods.affinity import with_group_affinity
from mooring.features.groups.pods.webhook import member
from mooring.features.groups.revision_data import data_of
from mooring.features.groups.revisions import blueprint_from
from mooring.features.groups.rollout import Step, limits_of
from mooring.features.groups.validation import validate_leader_worker_set
from mooring.kube.objects import Object
from mooring.placement.workloads.expansion import MAX_PODS, Expansion, WorkloadError, take_claims
from mooring.workloads.kinds import STATEFUL_SET
from mooring.workloads.podcontrol import pod_from_template

_CLAIM_TEMPLATES = "spec.leaderWorkerTemplate.volumeClaimTemplates"
_NOBODY = "00000000-0000-0000-0000-000000000000"


def expand_groups(value: Object, namespace: str = "default") -> Expansion:
    """Raises WorkloadError, or msgspec.ValidationError for a value of the wrong type."""
    metadata = value.get("metadata") or {}
    name, home = metadata.get("name") or "", metadata.get("namespace") or namespace
    if not name:
        raise WorkloadError(f"a {KIND} needs a name", "metadata.name")
    obj = default_leader_worker_set({**value, "metadata": {**metadata, "namespace": home, "uid": _NOBODY}})
    if not isinstance(obj.get("spec"), dict):
        raise WorkloadError(f"a {KIND} needs a spec", "spec")
    lws = msgspec.convert(obj, LeaderWorkerSet)
    template = lws.spec.template
    if not template.worker_template:
        raise WorkloadError(f"a {KIND} needs a pod template", "spec.leaderWorkerTemplate.workerTemplate")
    count = lws.spec.replicas * template.size
    if count > MAX_PODS:
        raise WorkloadError(f"{count:,} pods are too many to be told; {MAX_PODS:,} is the limit", "spec.replicas")
    for error in validate_leader_worker_set(obj):
        raise WorkloadError(error.body, error.path)
    notes = () if count > 0 else ("spec.replicas is 0, so it makes no pods",)
    path = "spec.leaderWorkerTemplate.workerTemplate"
    pods = _pods(lws)
    made = claims_of(template)
    claims = [claim for pod in pods for claim in take_claims(pod, made, home, _CLAIM_TEMPLATES)] if made else []
    return Expansion(KIND, home, name, pods, notes=notes, template_path=path, claims=tuple(claims))


def _pods(lws: LeaderWorkerSet) -> list[Object]:
    blueprint = blueprint_from(data_of(lws), "new")
    step = Step(0, lws.spec.replicas)
    template = leaders_of(lws, blueprint, limits_of(lws.spec), step).object["spec"]["template"]
    leaders = [_pod(lws, template, f"{lws.metadata.name}-{number}") for number in range(lws.spec.replicas)]
    exclusive = lws.metadata.annotations.get(EXCLUSIVE_TOPOLOGY)
    workers = []
    for leader in leaders if blueprint.template.size > 1 else ():
        made = workers_of(lws, msgspec.convert(leader, Pod), blueprint, {}).object
        key = leader["metadata"]["labels"][GROUP_KEY]
        for number in range(1, blueprint.template.size):
            worker = _pod(lws, made["spec"]["template"], f"{leader['metadata']['name']}-{number}")
            if exclusive:
                worker["spec"] = with_group_affinity(worker["spec"], key, exclusive)
            workers.append(worker)
    return [*leaders, *workers]


def _pod(lws: LeaderWorkerSet, template: Object, name: str) -> Object:
    pod = pod_from_template(STATEFUL_SET, lws, template, name)
    del pod["metadata"]["ownerReferences"]
    return member({"apiVersion": "v1", "kind": "Pod", **pod}, name, lws.metadata.namespace)
