"""Deployments, ReplicaSets, StatefulSets and ControllerRevisions as controllers see them."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mooring.api.core.types import View
from mooring.api.crds.markers import Markers
from mooring.api.meta import AnnotatedMeta, Condition, Meta
from mooring.kube.intorpercent import IntOrPercent
from mooring.kube.objects import Object
from mooring.kube.selectors import Selector, selector_from_dict


class ReplicaSetSpec(View, frozen=True):
    replicas: int = 1
    min_ready_seconds: int = 0
    selector: Object | None = None
    template: Object = msgspec.field(default_factory=dict)

    @property
    def label_selector(self) -> Selector:
        return selector_from_dict(self.selector)


class ReplicaSetStatus(View, frozen=True):
    replicas: int = 0
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    terminating_replicas: int | None = None
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class ReplicaSet(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class RollingUpdateDeployment(View, frozen=True):
    max_unavailable: IntOrPercent = "25%"
    max_surge: IntOrPercent = "25%"


class DeploymentStrategy(View, frozen=True):
    type: str = "RollingUpdate"
    rolling_update: RollingUpdateDeployment | None = None


class DeploymentSpec(View, frozen=True):
    replicas: int = 1
    selector: Object | None = None
    template: Object = msgspec.field(default_factory=dict)
    strategy: DeploymentStrategy = DeploymentStrategy()
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None
    paused: bool = False
    progress_deadline_seconds: int | None = None


class DeploymentStatus(View, frozen=True):
    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    terminating_replicas: int | None = None
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()


class Deployment(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()


class RollingUpdateStatefulSet(View, frozen=True):
    partition: int = 0
    max_unavailable: IntOrPercent | None = None


class StatefulSetUpdateStrategy(View, frozen=True):
    type: str = "RollingUpdate"
    rolling_update: RollingUpdateStatefulSet | None = None


class ClaimRetention(View, frozen=True):
    when_deleted: Annotated[
        str, Markers("Retain keeps claims when their StatefulSet is deleted, Delete deletes them.")
    ] = "Retain"
    when_scaled: Annotated[
        str, Markers("Retain keeps claims of pods that scaling down removes, Delete deletes them.")
    ] = "Retain"


class Ordinals(View, frozen=True):
    start: int = 0


class StatefulSetSpec(View, frozen=True):
    replicas: int = 1
    selector: Object | None = None
    template: Object = msgspec.field(default_factory=dict)
    volume_claim_templates: tuple[Object, ...] = ()
    service_name: str = ""
    pod_management_policy: str = "OrderedReady"
    update_strategy: StatefulSetUpdateStrategy = StatefulSetUpdateStrategy()
    revision_history_limit: int | None = None
    min_ready_seconds: int = 0
    persistent_volume_claim_retention_policy: ClaimRetention = ClaimRetention()
    ordinals: Ordinals = Ordinals()


class StatefulSetStatus(View, frozen=True):
    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: int | None = None


class StatefulSet(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class ControllerRevision(View, frozen=True):
    metadata: Meta = Meta()
    data: Object = msgspec.field(default_factory=dict)
    revision: int = 0
