"""DaemonSets as their controller sees them."""

from __future__ import annotations

import msgspec

from mooring.api.core.types import View
from mooring.api.meta import AnnotatedMeta
from mooring.kube.intorpercent import IntOrPercent
from mooring.kube.objects import Object


class RollingUpdateDaemonSet(View, frozen=True):
    max_unavailable: IntOrPercent = 1
    max_surge: IntOrPercent = 0


class DaemonSetUpdateStrategy(View, frozen=True):
    type: str = "RollingUpdate"
    rolling_update: RollingUpdateDaemonSet | None = None


class DaemonSetSpec(View, frozen=True):
    selector: Object | None = None
    template: Object = msgspec.field(default_factory=dict)
    update_strategy: DaemonSetUpdateStrategy = DaemonSetUpdateStrategy()
    min_ready_seconds: int = 0
    revision_history_limit: int = 10


class DaemonSetStatus(View, frozen=True):
    current_number_scheduled: int = 0
    number_misscheduled: int = 0
    desired_number_scheduled: int = 0
    number_ready: int = 0
    observed_generation: int = 0
    updated_number_scheduled: int = 0
    number_available: int = 0
    number_unavailable: int = 0
    collision_count: int | None = None


class DaemonSet(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()
