"""PodDisruptionBudgets, and what is left of them while nodes are taken away one after another."""

from __future__ import annotations

from collections.abc import Iterable

from mooring.api.policy.budgets import PodDisruptionBudget
from mooring.features.autoscaler.views import AutoscalerPod
from mooring.kube.selectors import Selector
from mooring.placement.pods import view_selector

__all__ = ["RemainingBudgets"]


class _Budget:
    __slots__ = ("allowed", "namespace", "selector")

    def __init__(self, budget: PodDisruptionBudget) -> None:
        self.namespace = budget.metadata.namespace
        self.selector: Selector = view_selector(budget.spec.selector)
        self.allowed = budget.status.disruptions_allowed

    def guards(self, pod: AutoscalerPod) -> bool:
        return self.namespace == pod.metadata.namespace and self.selector.matches(pod.metadata.labels or {})


class RemainingBudgets:
    def __init__(self, budgets: Iterable[PodDisruptionBudget] = ()) -> None:
        self._budgets = [_Budget(budget) for budget in budgets]

    def guard(self, pod: AutoscalerPod) -> bool:
        """Whether any budget is about a pod."""
        return any(budget.guards(pod) for budget in self._budgets)

    def forbid(self, pod: AutoscalerPod) -> bool:
        return any(budget.allowed < 1 and budget.guards(pod) for budget in self._budgets)

    def allow_at_once(self, pods: Iterable[AutoscalerPod]) -> bool:
        """Whether all of the pods may go at the same time."""
        return all(budget.allowed >= sum(map(budget.guards, pods)) for budget in self._budgets)

    def take(self, pods: Iterable[AutoscalerPod]) -> None:
        for budget in self._budgets:
            budget.allowed -= sum(map(budget.guards, pods))
