"""The LeaderWorkerSet API, leaderworkerset.x-k8s.io/v1: its names, and typed views of it.

One LeaderWorkerSet is a number of groups that come, go and are updated as a whole; a group is a leader pod and its
workers. Templates stay plain objects, because they are stamped out as they are.
"""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.api.apps.views import ClaimRetention
from mooring.api.core.types import View
from mooring.api.meta import AnnotatedMeta
from mooring.kube.objects import Object

IntOrPercent = int | str

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
    sub_group_size: int | None = None
    sub_group_policy_type: str = "LeaderWorker"


class ReplicaUniqueToleration(View, frozen=True):
    key: str = ""
    effect: str = ""


class SchedulingPolicy(View, frozen=True):
    """Every replica on nodes of its own: the value of label and taint is the name of the replica's leader."""

    replica_unique_node_selector: str = ""
    replica_unique_toleration: ReplicaUniqueToleration | None = None


class LeaderWorkerTemplate(View, frozen=True):
    leader_template: Object | None = None
    worker_template: Object = msgspec.field(default_factory=dict)
    size: int = 1
    restart_policy: str = "RecreateGroupOnPodRestart"
    sub_group_policy: SubGroupPolicy | None = None
    volume_claim_templates: tuple[Object, ...] = ()
    persistent_volume_claim_retention_policy: ClaimRetention | None = None
    scheduling_policy: SchedulingPolicy | None = None


class RollingUpdate(View, frozen=True):
    partition: int = 0
    max_unavailable: IntOrPercent = 1
    max_surge: IntOrPercent = 0


class RolloutStrategy(View, frozen=True):
    type: str = "RollingUpdate"
    rolling_update_configuration: RollingUpdate = RollingUpdate()


class NetworkConfig(View, frozen=True):
    subdomain_policy: str = "Shared"


class LeaderWorkerSetSpec(View, frozen=True):
    replicas: int = 1
    # As it is written: what a revision holds. `template` is the typed view of it.
    leader_worker_template: Object = msgspec.field(default_factory=dict)
    rollout_strategy: RolloutStrategy = RolloutStrategy()
    startup_policy: str = "LeaderCreated"
    network_config: NetworkConfig = NetworkConfig()

    @property
    def template(self) -> LeaderWorkerTemplate:
        return read_template(self.leader_worker_template)


class StatusCondition(View, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    observed_generation: int = 0


class LeaderWorkerSetStatus(View, frozen=True):
    conditions: tuple[StatusCondition, ...] = ()
    ready_replicas: int = 0
    updated_replicas: int = 0
    replicas: int = 0
    hpa_pod_selector: str = ""
    observed_generation: int = 0


class LeaderWorkerSet(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: LeaderWorkerSetSpec = LeaderWorkerSetSpec()
    status: LeaderWorkerSetStatus = LeaderWorkerSetStatus()


def read_template(obj: Object) -> LeaderWorkerTemplate:
    """The typed view of a `leaderWorkerTemplate`."""
    return msgspec.convert({name: value for name, value in obj.items() if value is not None}, LeaderWorkerTemplate)
