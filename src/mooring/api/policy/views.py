"""PodDisruptionBudgets as their controller sees them."""

from __future__ import annotations

from mooring.api.core.types import LabelSelector, View
from mooring.api.meta import Condition, Meta
from mooring.kube.intorpercent import IntOrPercent


class DisruptionBudgetSpec(View, frozen=True):
    selector: LabelSelector | None = None
    min_available: IntOrPercent | None = None
    max_unavailable: IntOrPercent | None = None


class DisruptionBudgetStatus(View, frozen=True):
    observed_generation: int = 0
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    disrupted_pods: dict[str, str] | None = None
    conditions: tuple[Condition, ...] = ()


class PodDisruptionBudget(View, frozen=True):
    metadata: Meta = Meta()
    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()
    status: DisruptionBudgetStatus = DisruptionBudgetStatus()
