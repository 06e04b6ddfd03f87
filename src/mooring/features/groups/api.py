"""The LeaderWorkerSet API, leaderworkerset.x-k8s.io/v1: its names, and typed views of it.

One LeaderWorkerSet is a number of groups that come, go and are updated as a whole; a group is a leader pod and its
workers. Templates stay plain objects, because they are stamped out as they are.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from mooring.api.apps.views import ClaimRetention
from mooring.api.core.types import View
from mooring.api.crds.markers import Int32, Int64, Markers
from mooring.api.meta import AnnotatedMeta, Condition
from mooring.kube.intorpercent import IntOrPercent
from mooring.kube.objects import Object

PodTemplate = Annotated[Object, Markers(of="core.v1.PodTemplateSpec")]
VolumeClaim = Annotated[Object, Markers(of="core.v1.PersistentVolumeClaim")]

GROUP: Final = "leaderworkerset.x-k8s.io"
API_VERSION: Final = f"{GROUP}/v1"
KIND: Final = "LeaderWorkerSet"
PLURAL: Final = "leaderworkersets"

_PREFIX: Final = "leaderworkerset.sigs.k8s.io/"
# Labels.
NAME: Final = f"{_PREFIX}name"
GROUP_INDEX: Final = f"{_PREFIX}group-index"
GROUP_KEY: Final = f"{_PREFIX}group-key"
WORKER_INDEX: Final = f"{_PREFIX}worker-index"
SUBGROUP_INDEX: Final = f"{_PREFIX}subgroup-index"
SUBGROUP_KEY: Final = f"{_PREFIX}subgroup-key"
REVISION: Final = f"{_PREFIX}template-revision-hash"
# Annotations.
SIZE: Final = f"{_PREFIX}size"
REPLICAS: Final = f"{_PREFIX}replicas"
LEADER_NAME: Final = f"{_PREFIX}leader-name"
EXCLUSIVE_TOPOLOGY: Final = f"{_PREFIX}exclusive-topology"
SUBGROUP_EXCLUSIVE_TOPOLOGY: Final = f"{_PREFIX}subgroup-exclusive-topology"
SUBGROUP_SIZE: Final = f"{_PREFIX}subgroup-size"
SUBGROUP_TYPE: Final = f"{_PREFIX}subgroup-policy-type"
SUBDOMAIN: Final = f"{_PREFIX}subdomainPolicy"
LEADER_REQUESTS_TPUS: Final = f"{_PREFIX}leader-requests-tpus"
RECREATE_AFTER_START: Final = f"{_PREFIX}experimental-recreate-group-after-start"
UNIQUE_SELECTOR: Final = f"{_PREFIX}replicaUniqueNodeSelector"
UNIQUE_TOLERATION_KEY: Final = f"{_PREFIX}replicaUniqueTolerationKey"
UNIQUE_TOLERATION_EFFECT: Final = f"{_PREFIX}replicaUniqueTolerationEffect"

TPU: Final = "google.com/tpu"
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
MAX_REPLICAS: Final = 1_000_000
MAX_PODS: Final = 2**31 - 1
UNIQUE_PER_REPLICA: Final = "UniquePerReplica"
LEADER_EXCLUDED: Final = "LeaderExcluded"


class SubGroupPolicy(View, frozen=True):
    sub_group_size: Annotated[
        Int32 | None,
        Markers(
            "How many pods a subgroup has. The size of the group, or that size less the leader, must be a multiple of "
            "it. It cannot be changed later."
        ),
    ] = None
    sub_group_policy_type: Annotated[
        str,
        Markers(
            "Whether the leader belongs to the first subgroup (LeaderWorker) or to none (LeaderExcluded).",
            enum=("LeaderWorker", "LeaderExcluded"),
            defaulted=True,
        ),
    ] = "LeaderWorker"


class ReplicaUniqueToleration(View, frozen=True):
    key: Annotated[str, Markers("The key of the taint.", required=True, min_length=1)] = ""
    effect: Annotated[str, Markers("The effect of the taint.", required=True, enum=EFFECTS)] = ""


class SchedulingPolicy(View, frozen=True):
    """Every replica on nodes of its own: the value of label and taint is the name of the replica's leader."""

    replica_unique_node_selector: Annotated[
        str, Markers("A label key. All pods of a group go only to nodes where this label is the name of their leader.")
    ] = ""
    replica_unique_toleration: Annotated[
        ReplicaUniqueToleration | None,
        Markers("A taint that all pods of a group tolerate if its value is the name of their leader."),
    ] = None


class LeaderWorkerTemplate(View, frozen=True):
    leader_template: Annotated[
        PodTemplate | None,
        Markers("The template of leader pods, as in a StatefulSet. Without it the leader is made from workerTemplate."),
    ] = None
    worker_template: Annotated[
        PodTemplate, Markers("The template of worker pods, as in a StatefulSet.", required=True)
    ] = msgspec.field(default_factory=dict)
    size: Annotated[
        Int32,
        Markers("How many pods a group has, its leader included. A group of one has no workers.", defaulted=True),
    ] = 1
    restart_policy: Annotated[
        str,
        Markers(
            "What happens to a group when a container of it restarts or a pod of it is deleted: "
            "RecreateGroupOnPodRestart makes the whole group anew, RecreateGroupAfterStart does so only once all its "
            "pods have started, and None replaces that pod alone. Default is an old name for None.",
            enum=("Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"),
            defaulted=True,
        ),
    ] = "RecreateGroupOnPodRestart"
    sub_group_policy: Annotated[
        SubGroupPolicy | None,
        Markers("Divides a group into subgroups that can be placed apart. It cannot be added or removed later."),
    ] = None
    volume_claim_templates: Annotated[
        tuple[VolumeClaim, ...],
        Markers(
            "Claims that every pod gets for itself, leaders and workers alike. Of each its name, access modes, storage "
            "class, volume mode and resources count."
        ),
    ] = ()
    persistent_volume_claim_retention_policy: Annotated[
        ClaimRetention | None, Markers("What becomes of the claims when their pods are not wanted any more.")
    ] = None
    scheduling_policy: Annotated[
        SchedulingPolicy | None,
        Markers(
            "Gives every replica nodes of its own, by a label and a taint whose value is the name of the leader pod."
        ),
    ] = None


class RollingUpdate(View, frozen=True):
    partition: Annotated[Int32, Markers("Groups below this number are not updated.", defaulted=True)] = 0
    max_unavailable: Annotated[
        IntOrPercent,
        Markers(
            "How many groups may be away at once, as a number or as a percentage of replicas, rounded down. It cannot "
            "be zero if maxSurge is.",
            defaulted=True,
        ),
    ] = 1
    max_surge: Annotated[
        IntOrPercent,
        Markers(
            "How many groups may be there beyond replicas during an update, as a number or as a percentage of "
            "replicas, rounded up.",
            defaulted=True,
        ),
    ] = 0


class RolloutStrategy(View, frozen=True):
    type: Annotated[
        str,
        Markers(
            "RollingUpdate replaces groups from the highest to the lowest.",
            required=True,
            enum=("RollingUpdate",),
            defaulted=True,
        ),
    ] = "RollingUpdate"
    rolling_update_configuration: Annotated[RollingUpdate, Markers("How fast a rolling update goes.")] = RollingUpdate()


class NetworkConfig(View, frozen=True):
    subdomain_policy: Annotated[
        str,
        Markers(
            "Shared has one headless Service for all groups, UniquePerReplica one for each.",
            required=True,
            enum=("Shared", "UniquePerReplica"),
        ),
    ] = "Shared"


class LeaderWorkerSetSpec(View, frozen=True):
    replicas: Annotated[
        Int32,
        Markers(
            "How many groups there are. Groups come and go as a whole; the highest ones go first.",
            minimum=0,
            maximum=MAX_REPLICAS,
            defaulted=True,
        ),
    ] = 1
    # As it is written: what a revision holds. `template` is the typed view of it.
    leader_worker_template: Annotated[
        Object,
        Markers(
            "What one group consists of. Changing it updates group by group.", of=LeaderWorkerTemplate, required=True
        ),
    ] = msgspec.field(default_factory=dict)
    rollout_strategy: Annotated[
        RolloutStrategy, Markers("How a change of leaderWorkerTemplate reaches the groups.")
    ] = RolloutStrategy()
    startup_policy: Annotated[
        str,
        Markers(
            "When the workers of a group are made: as soon as its leader exists, or once its leader is ready.",
            enum=("LeaderCreated", "LeaderReady"),
            defaulted=True,
        ),
    ] = "LeaderCreated"
    network_config: Annotated[NetworkConfig, Markers("How pods of a group find each other by name.")] = NetworkConfig()

    @property
    def template(self) -> LeaderWorkerTemplate:
        return read_template(self.leader_worker_template)


class LeaderWorkerSetStatus(View, frozen=True):
    conditions: Annotated[
        tuple[Annotated[Condition, Markers(of="meta.v1.Condition")], ...],
        Markers(
            "Available: all groups are ready. Progressing: groups come or go. UpdateInProgress: groups are being "
            "replaced. Placeable: whether every group can be scheduled on the nodes there are, and if not, why and "
            "what would help. Conflicted: a StatefulSet of a name that the set needs belongs to another.",
            list_type="map",
            list_map_keys=("type",),
        ),
    ] = ()
    ready_replicas: Annotated[Int32, Markers("How many groups are ready: their leader, and all of their workers.")] = 0
    updated_replicas: Annotated[Int32, Markers("How many groups are of the newest template.")] = 0
    replicas: Annotated[Int32, Markers("How many groups there are, those of a surge included.")] = 0
    hpa_pod_selector: Annotated[
        str, Markers("Selects the leader pods, whose metrics a HorizontalPodAutoscaler looks at.")
    ] = ""
    observed_generation: Annotated[Int64, Markers("The generation of the spec that this status is about.")] = 0


class LeaderWorkerSet(View, frozen=True):
    """Groups of pods, a leader and its workers each, that are scaled, updated and replaced as one."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[LeaderWorkerSetSpec, Markers("What is wanted.")] = LeaderWorkerSetSpec()
    status: Annotated[LeaderWorkerSetStatus, Markers("What was seen last.")] = LeaderWorkerSetStatus()


def read_template(obj: Object) -> LeaderWorkerTemplate:
    """The typed view of a `leaderWorkerTemplate`."""
    return msgspec.convert({name: value for name, value in obj.items() if value is not None}, LeaderWorkerTemplate)
