"""Typed views of policy/v1 and scheduling.k8s.io/v1: what decides who may be preempted."""

from __future__ import annotations

from typing import Any

from mooring.api.core.types import LabelSelector, ObjectMeta, View


class PodDisruptionBudgetSpec(View, frozen=True):
    selector: LabelSelector | None = None


class PodDisruptionBudgetStatus(View, frozen=True):
    disruptions_allowed: int = 0
    disrupted_pods: dict[str, Any] | None = None


class PodDisruptionBudget(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class PriorityClass(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None
