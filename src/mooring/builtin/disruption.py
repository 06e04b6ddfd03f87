"""PodDisruptionBudget: says how many of the selected pods may be evicted now.

Evictions spend what the status allows and preemption avoids breaking it, so whatever cannot be computed allows nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from mooring.api.conditions import condition_objects, set_conditions
from mooring.api.core.views import Pod
from mooring.api.kinds import Key, key_of
from mooring.api.meta import Condition, OwnerRef
from mooring.api.policy.views import DisruptionBudgetStatus, PodDisruptionBudget
from mooring.builtin.selections import SELECTIONS
from mooring.kube.intorpercent import resolve
from mooring.kube.times import moment
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event, Patch, status
from mooring.runtime.view import View
from mooring.workloads.kinds import (
    DEPLOYMENT,
    POD,
    POD_DISRUPTION_BUDGET,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    STATEFUL_SET,
)

# A pod whose eviction was allowed counts as gone for this long; if it is still there then, it stays.
EVICTION_TIME: Final = timedelta(minutes=2)
ALLOWED: Final = "DisruptionAllowed"
_WITHOUT_SCALE: Final = {
    ("batch/v1", "Job"): "jobs.batch",
    ("apps/v1", "DaemonSet"): "daemonsets.apps",
    ("v1", "Node"): "nodes",
}


class Expectation(NamedTuple):
    """How many pods there should be, how many of them healthy, and whether some have no controller.

    `problem` says why the counts are unknown.
    """

    pods: int = 0
    healthy: int = 0
    unmanaged: bool = False
    problem: str = ""


class ScaledOwner(NamedTuple):
    """Whom a pod belongs to in the end, and how many pods that wants."""

    uid: str
    replicas: int


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    budget = view.get(POD_DISRUPTION_BUDGET, *key)
    if budget is None:
        return Decision()
    selection = view.fold(SELECTIONS).of(POD_DISRUPTION_BUDGET, key)
    pods = [] if selection is None else [selection.members[name] for name in sorted(selection.members)]
    expected = _expect(budget, pods, view)
    if expected.problem:
        return _fail_safe(budget, expected.problem, now)
    disrupted = _still_disrupted(budget, pods, view)
    healthy = sum(pod.ready and not pod.metadata.deleting and pod.metadata.name not in disrupted for pod in pods)
    allowed = max(0, healthy - expected.healthy) if expected.pods > 0 else 0
    wanted = DisruptionBudgetStatus(
        observed_generation=budget.metadata.generation,
        disruptions_allowed=allowed,
        current_healthy=healthy,
        desired_healthy=expected.healthy,
        expected_pods=expected.pods,
        disrupted_pods=disrupted or None,
        conditions=_conditions(budget, now, allowed=allowed > 0),
    )
    written = _write(budget, wanted)
    return Decision(status=written, events=_events(budget, pods, expected) if written else ())


def _expect(budget: PodDisruptionBudget, pods: list[Pod], view: View) -> Expectation:
    most, least = budget.spec.max_unavailable, budget.spec.min_available
    if most is None and isinstance(least, int):
        return Expectation(len(pods), least)
    if most is None and least is None:
        return Expectation()
    scales: dict[str, int] = {}
    unmanaged = False
    for owner, pod in _owners(pods):
        if owner is None:
            unmanaged = True
            continue
        scale = _scale(owner, pod.metadata.namespace, view)
        if scale is None:
            return Expectation(problem=_unscaled(owner, pod))
        scales[scale.uid] = scale.replicas
    total = sum(scales.values())
    if most is not None:
        return Expectation(total, max(0, total - resolve(most, total, up=True)), unmanaged)
    return Expectation(total, resolve(least or 0, total, up=True), unmanaged)


def _owners(pods: Iterable[Pod]) -> Iterable[tuple[OwnerRef | None, Pod]]:
    """Each owner with one of its pods; None stands for the pods that have none."""
    found: dict[str, tuple[OwnerRef | None, Pod]] = {}
    for pod in pods:
        owner = pod.metadata.controller
        found.setdefault("" if owner is None else owner.uid, (owner, pod))
    return found.values()


def _scale(owner: OwnerRef, namespace: str, view: View) -> ScaledOwner | None:
    """What an owner wants; None where that is gone, or of a kind whose scale is not known here."""
    group = owner.api_version.rpartition("/")[0]
    if owner.kind == "ReplicaSet" and group in ("apps", "extensions"):
        return _scale_of_set(owner, namespace, view)
    if owner.kind == "StatefulSet" and group == "apps":
        found = view.get(STATEFUL_SET, namespace, owner.name)
        return None if found is None or found.metadata.uid != owner.uid else ScaledOwner(owner.uid, found.spec.replicas)
    if owner.kind == "ReplicationController" and not group:
        other = view.get(REPLICATION_CONTROLLER, namespace, owner.name)
        return None if other is None or other.metadata.uid != owner.uid else ScaledOwner(owner.uid, other.spec.replicas)
    return None


def _unscaled(owner: OwnerRef, pod: Pod) -> str:
    resource = _WITHOUT_SCALE.get((owner.api_version, owner.kind))
    if resource is not None:
        return f"{resource} does not implement the scale subresource"
    return f'found no controllers for pod "{pod.metadata.name}"'


def _scale_of_set(owner: OwnerRef, namespace: str, view: View) -> ScaledOwner | None:
    """A ReplicaSet's own scale, or that of its Deployment: during a rollout two sets serve one purpose."""
    replica_set = view.get(REPLICA_SET, namespace, owner.name)
    if replica_set is None or replica_set.metadata.uid != owner.uid:
        return None
    above = replica_set.metadata.controller
    if above is None or above.kind != "Deployment":
        return ScaledOwner(owner.uid, replica_set.spec.replicas)
    deployment = view.get(DEPLOYMENT, namespace, above.name)
    if deployment is None or deployment.metadata.uid != above.uid:
        return None
    return ScaledOwner(above.uid, deployment.spec.replicas)


def _still_disrupted(budget: PodDisruptionBudget, pods: Iterable[Pod], view: View) -> dict[str, str]:
    """Evictions that were allowed and have not happened yet."""
    before = budget.status.disrupted_pods
    if not before:
        return {}
    staying = [pod.metadata.name for pod in pods if not pod.metadata.deleting]
    return {
        name: before[name]
        for name in staying
        if name in before and not view.reached(moment(before[name]) + EVICTION_TIME)
    }


def _conditions(budget: PodDisruptionBudget, now: datetime, *, allowed: bool) -> tuple[Condition, ...]:
    reason = "SufficientPods" if allowed else "InsufficientPods"
    return _with_condition(budget, "True" if allowed else "False", reason, "", budget.metadata.generation, now)


def _with_condition(
    budget: PodDisruptionBudget, value: str, reason: str, message: str, generation: int, now: datetime
) -> tuple[Condition, ...]:
    wanted = Condition(ALLOWED, value, reason, message, observed_generation=generation)
    return set_conditions(budget.status.conditions, (wanted,), now)


def _fail_safe(budget: PodDisruptionBudget, problem: str, now: datetime) -> Decision:
    """While the counts are unknown the budget allows no disruption."""
    old = budget.status
    conditions = _with_condition(budget, "False", "SyncFailed", problem, old.observed_generation, now)
    wanted = DisruptionBudgetStatus(
        old.observed_generation, 0, old.current_healthy, old.desired_healthy, old.expected_pods, old.disrupted_pods,
        conditions,
    )  # fmt: skip
    written = _write(budget, wanted)
    said = f"Failed to calculate the number of expected pods: {problem}"
    event = Event(POD_DISRUPTION_BUDGET, key_of(budget), "Warning", "CalculateExpectedPodCountFailed", said)
    return Decision(status=written, events=(event,) if written else ())


def _write(budget: PodDisruptionBudget, wanted: DisruptionBudgetStatus) -> tuple[Patch, ...]:
    old = budget.status
    if msgspec.structs.replace(old, disrupted_pods=old.disrupted_pods or None) == wanted:
        return ()
    body: dict[str, object] = {
        "observedGeneration": wanted.observed_generation or None,
        "disruptionsAllowed": wanted.disruptions_allowed,
        "currentHealthy": wanted.current_healthy,
        "desiredHealthy": wanted.desired_healthy,
        "expectedPods": wanted.expected_pods,
        "conditions": condition_objects(wanted.conditions, complete=True),
    }
    if (old.disrupted_pods or None) != wanted.disrupted_pods:
        # A merge patch keeps what it does not name.
        gone = dict.fromkeys((old.disrupted_pods or {}).keys())
        body["disruptedPods"] = None if wanted.disrupted_pods is None else gone | wanted.disrupted_pods
    return (status(POD_DISRUPTION_BUDGET, budget, body),)


def _events(budget: PodDisruptionBudget, pods: list[Pod], expected: Expectation) -> tuple[Event, ...]:
    key = key_of(budget)
    events = []
    if not pods:
        events.append(Event(POD_DISRUPTION_BUDGET, key, "Normal", "NoPods", "No matching pods found"))
    if expected.unmanaged:
        events.append(
            Event(
                POD_DISRUPTION_BUDGET,
                key,
                "Warning",
                "UnmanagedPods",
                "Some of the selected pods have no controller, so the number of expected pods leaves them out; "
                "set spec.minAvailable to a number to count them",
            )
        )
    return tuple(events)


CONTROLLER: Final = Controller(
    "disruption",
    reconcile,
    of=POD_DISRUPTION_BUDGET,
    reads=(POD, REPLICA_SET, DEPLOYMENT, STATEFUL_SET, REPLICATION_CONTROLLER),
    writes={POD_DISRUPTION_BUDGET: ("status",)},
    folds=(SELECTIONS,),
    reporter="controllermanager",
)
