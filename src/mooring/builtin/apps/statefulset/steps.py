"""The steps of a StatefulSet: raise missing pods, retire those out of range, replace outdated ones.

Each step says whether the next may follow. Claims are written a stage before the pods that need them, and a claim's
owner a stage before its pod is deleted, so that a crash in between leaves nothing behind that nobody owns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from mooring.api.apps.views import ControllerRevision, StatefulSet
from mooring.api.core.views import Pod
from mooring.api.kinds import Key, key_of
from mooring.builtin.apps.statefulset.claims import mounted, retained, supply
from mooring.builtin.apps.statefulset.ordinals import INDEX_LABEL, NAME_LABEL
from mooring.builtin.apps.statefulset.state import ObservedPods, ordinal_of
from mooring.kube.intorpercent import resolve
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Delete, Event, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import POD, REVISION_LABEL, STATEFUL_SET
from mooring.workloads.podcontrol import MAX_WRITES_PER_PASS, is_available, pod_from_template

# The gate of `maxUnavailable`. Without it pods are replaced one by one, whatever the field says.
MAX_UNAVAILABLE: Final = "MaxUnavailableStatefulSet"


class Steps:
    """Collects the writes of one run."""

    def __init__(
        self,
        view: View,
        stateful_set: StatefulSet,
        current: ControllerRevision,
        update: ControllerRevision,
        templates: Mapping[str, Object],
        observed: ObservedPods,
    ) -> None:
        self.view = view
        self.stateful_set = stateful_set
        self.current = current
        self.update = update
        self.templates = templates
        self.observed = observed
        self.ordered = stateful_set.spec.pod_management_policy != "Parallel"
        self.intent: list[Write] = []
        self.children: list[Write] = []
        self.events: list[Event] = []
        self.deleted: set[Key] = set()

    @property
    def creates_in_order(self) -> bool:
        return self.ordered and any(isinstance(write, Create) for write in self.children)

    # Raising

    def raise_replicas(self) -> bool:
        """Every ordinal gets a pod that lives; in order, the first that is not available ends the run."""
        for ordinal in self.observed.ordinals():
            if len(self.children) >= MAX_WRITES_PER_PASS:
                return False
            pod = self.observed.pods.get(ordinal)
            settled = self._create(ordinal) if pod is None else self._keep(ordinal, pod)
            if self.ordered and not settled:
                return False
        return True

    def _create(self, ordinal: int) -> bool:
        """Never settled: a pod that was just asked for is not available."""
        name = f"{self.stateful_set.metadata.name}-{ordinal}"
        if self.view.get(POD, self.stateful_set.metadata.namespace, name) is not None:
            self._record("Warning", "FailedCreate", "Create", name, f'failed error: pods "{name}" already exists')
            return False
        claims = supply(self.view, self.stateful_set, ordinal, None)
        if claims.blocked:
            return False
        self.intent += claims.creates
        self.events += claims.events
        self.children.append(Create(POD, self._pod(ordinal, name)))
        self._record("Normal", "SuccessfulCreate", "Create", name)
        if self.view.problem and self._is_refused(name):
            self._record("Warning", "FailedCreate", "Create", name, f"failed error: {self.view.problem}")
        return False

    def _is_refused(self, name: str) -> bool:
        """Whether the problem is about the pod of that name, or else, about none by its name, is the first one's."""
        problem = self.view.problem
        others = f'"{self.stateful_set.metadata.name}-'
        return f'"{name}"' in problem or (others not in problem and len(self.children) == 1)

    def _pod(self, ordinal: int, name: str) -> Object:
        revision = self.current if self._stays_behind(ordinal) else self.update
        pod = pod_from_template(STATEFUL_SET, self.stateful_set, self.templates[revision.metadata.name], name)
        pod["metadata"]["labels"] = {
            **pod["metadata"].get("labels", {}),
            NAME_LABEL: name,
            INDEX_LABEL: str(ordinal),
            REVISION_LABEL: revision.metadata.name,
        }
        spec = {**pod["spec"], "hostname": name}
        if self.stateful_set.spec.service_name:
            spec["subdomain"] = self.stateful_set.spec.service_name
        pod["spec"] = mounted(self.stateful_set, spec, ordinal)
        return pod

    def _stays_behind(self, ordinal: int) -> bool:
        """Whether an update has not come to this ordinal yet: it is below the partition, or below those that wait."""
        strategy = self.stateful_set.spec.update_strategy
        start = self.stateful_set.spec.ordinals.start
        if strategy.rolling_update is not None:
            return ordinal < start + strategy.rolling_update.partition
        waiting = self.observed.of_revision(self.current.metadata.name)
        return strategy.type == "RollingUpdate" and ordinal < start + waiting

    def _keep(self, ordinal: int, pod: Pod) -> bool:
        """Whether a pod that is there is available; what is amiss with it is put right."""
        if pod.finished:
            # How its containers ended does not matter: a member that is not running is replaced.
            if not pod.metadata.deleting:
                self.delete(pod.metadata.name)
            return False
        if pod.status.phase == "Pending":
            claims = supply(self.view, self.stateful_set, ordinal, pod)
            if claims.blocked:
                return False
            self.intent += claims.creates
            self.events += claims.events
        waits = self.stateful_set.spec.min_ready_seconds > 0
        if self.ordered and not (pod.healthy and (not waits or self.available(pod))):
            return False
        if pod.metadata.labels.get(NAME_LABEL) != pod.metadata.name:
            labels = {NAME_LABEL: pod.metadata.name, INDEX_LABEL: str(ordinal)}
            self.intent.append(Patch(POD, key_of(pod), {"metadata": {"labels": labels}}))
        self.intent += retained(self.view, self.stateful_set, ordinal, pod, condemned=False)
        return True

    # Retiring

    def retire_condemned(self) -> bool:
        """Pods out of range go, in order one by one from the top; whether none is left to wait for."""
        condemned = self.observed.condemned
        for pod in condemned:
            ordinal = ordinal_of(pod.metadata.name, self.stateful_set)
            self.intent += retained(self.view, self.stateful_set, ordinal, pod, condemned=True)
        if not self.ordered:
            for pod in [pod for pod in condemned if not pod.metadata.deleting][:MAX_WRITES_PER_PASS]:
                self.delete(pod.metadata.name)
            return True
        if not condemned:
            return True
        top = condemned[0]
        # One that is broken may go, but not before a broken one below it.
        ailing = next((pod for pod in reversed(condemned) if not self.available(pod) or pod.metadata.deleting), None)
        ready = top.status.phase == "Running" and self.available(top)
        if not top.metadata.deleting and (ready or top is ailing):
            self.delete(top.metadata.name)
        return False

    # Shared

    def available(self, pod: Pod) -> bool:
        return is_available(self.view, pod, self.stateful_set.spec.min_ready_seconds)

    def delete(self, name: str) -> None:
        key = Key(self.stateful_set.metadata.namespace, name)
        if key not in self.deleted:
            self.deleted.add(key)
            self.children.append(Delete(POD, key))
            self._record("Normal", "SuccessfulDelete", "Delete", name)

    def _record(
        self, type_: Literal["Normal", "Warning"], reason: str, verb: str, name: str, end: str = "successful"
    ) -> None:
        text = f"{verb} Pod {name} in StatefulSet {self.stateful_set.metadata.name} {end}"
        key = key_of(self.stateful_set)
        after = (POD, Key(key.namespace, name)) if type_ == "Normal" else None
        self.events.append(Event(STATEFUL_SET, key, type_, reason, text, after))


def replace_outdated(steps: Steps) -> None:
    """Delete pods of other revisions from the top down to the partition; they come back as what they should be."""
    strategy = steps.stateful_set.spec.update_strategy
    if strategy.type != "RollingUpdate":
        return
    lowest = steps.observed.start + (strategy.rolling_update.partition if strategy.rolling_update is not None else 0)
    limit = strategy.rolling_update.max_unavailable if strategy.rolling_update is not None else None
    if limit is None or not steps.view.gates.enabled(MAX_UNAVAILABLE):
        _one_by_one(steps, lowest)
    else:
        _within(steps, lowest, max(1, resolve(limit, steps.observed.replicas, up=False)))


def _one_by_one(steps: Steps, lowest: int) -> None:
    """The highest outdated pod, unless one above it is not available yet."""
    update = steps.update.metadata.name
    for ordinal in steps.observed.outdated(update):
        if ordinal < lowest:
            return
        pod = steps.observed.pods.get(ordinal)
        revision = steps.observed.revision_at(ordinal)
        if revision is not None and revision != update and not (pod is not None and pod.metadata.deleting):
            steps.delete(f"{steps.stateful_set.metadata.name}-{ordinal}")
            return
        if pod is None or pod.metadata.deleting or not steps.available(pod):
            return


def _within(steps: Steps, lowest: int, limit: int) -> None:
    """As many as may be away at once, counting those that are away already."""
    observed, update = steps.observed, steps.update.metadata.name
    away = 0
    for ordinal in observed.ordinals():
        pod = observed.pods.get(ordinal)
        away += pod is None or pod.metadata.deleting or not steps.available(pod)
    for ordinal in observed.outdated(update):
        if away >= limit or ordinal < lowest:
            return
        pod = observed.pods.get(ordinal)
        revision = observed.revision_at(ordinal)
        if revision is not None and revision != update and not (pod is not None and pod.metadata.deleting):
            steps.delete(f"{steps.stateful_set.metadata.name}-{ordinal}")
            away += 1
