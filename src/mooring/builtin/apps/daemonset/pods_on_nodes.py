"""What is missing and what is too many on each node, apart from updates.

A pod that failed is deleted and made anew, but on one node not faster and faster: a kubelet that turns a pod away would
be asked again and again. That patience is memory, and may be lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from mooring.api.apps.daemonsets import DaemonSet
from mooring.api.core.views import Pod
from mooring.api.kinds import key_of
from mooring.builtin.apps.daemonset.nodes import NodeVerdict
from mooring.kube.intorpercent import resolve
from mooring.runtime.decision import Event
from mooring.runtime.view import View
from mooring.workloads.incarnations import Issued
from mooring.workloads.kinds import DAEMON_SET, REVISION_LABEL
from mooring.workloads.podcontrol import is_available

INITIAL_BACKOFF = timedelta(seconds=1)
MAX_BACKOFF = timedelta(minutes=15)


class Patience(NamedTuple):
    """When a failed pod was last deleted on a node, and how long the next one has to wait."""

    since: datetime
    delay: timedelta


class DaemonSetMemory(NamedTuple):
    """The last refusal that was told, the patience with each node under one generation of the set, and the names."""

    reported: str = ""
    generation: int = 0
    patience: Mapping[str, Patience] = MappingProxyType({})
    issued: Issued | None = None


class Moves(NamedTuple):
    """The nodes that get a pod, and the pods that go."""

    nodes: Sequence[str]
    pods: Sequence[Pod]


def surge_count(daemon_set: DaemonSet, total: int) -> int:
    strategy = daemon_set.spec.update_strategy
    if strategy.type != "RollingUpdate" or strategy.rolling_update is None:
        return 0
    return resolve(strategy.rolling_update.max_surge, total, up=True)


class DaemonPlacing:
    """Collects what one run moves."""

    def __init__(self, view: View, daemon_set: DaemonSet, revision: str, memory: DaemonSetMemory) -> None:
        self.view = view
        self.daemon_set = daemon_set
        self.revision = revision
        self.surges = surge_count(daemon_set, 1) > 0
        generation = daemon_set.status.observed_generation
        known = memory.patience if memory.generation == generation else {}
        self.patience = {
            node: kept for node, kept in known.items() if view.now - kept.since <= 2 * MAX_BACKOFF
        }  # fmt: skip
        self.memory = memory._replace(generation=generation)
        self.needing: list[str] = []
        self.surplus: list[Pod] = []
        self.events: list[Event] = []

    def place(self, verdicts: Mapping[str, NodeVerdict], pods: Mapping[str, Sequence[Pod]]) -> Moves:
        for node, verdict in verdicts.items():
            here = pods.get(node, ())
            if verdict.stay and len(here) == 1 and here[0].active:
                # As it nearly always is.
                continue
            if verdict.run and not here:
                self.needing.append(node)
            elif verdict.stay:
                self._keep(node, verdict, here)
            else:
                self.surplus += [pod for pod in here if not pod.metadata.deleting]
        # Their node is gone: no scheduler can bind them, and no other controller deletes them.
        self.surplus += [
            pod
            for node, here in pods.items()
            if node not in verdicts
            for pod in here
            if not pod.spec.node_name and not pod.metadata.deleting
        ]
        return Moves(sorted(self.needing), sorted(self.surplus, key=key_of))

    @property
    def remembered(self) -> DaemonSetMemory:
        return self.memory._replace(patience=MappingProxyType(self.patience))

    def _keep(self, node: str, verdict: NodeVerdict, here: Sequence[Pod]) -> None:
        staying = [pod for pod in here if not pod.metadata.deleting]
        running = [pod for pod in staying if not pod.finished]
        for pod in staying:
            if pod.finished:
                self._replace(node, pod)
        if not self.surges:
            self.surplus += running[1:]
        elif len(running) > 1:
            self._thin_out(running)
        elif not running and verdict.run:
            # One that is on its way out does not keep the next one waiting.
            self.needing.append(node)

    def _replace(self, node: str, pod: Pod) -> None:
        succeeded = pod.status.phase == "Succeeded"
        if not succeeded and not self._patient(node):
            return
        self.surplus.append(pod)
        where = f"daemon pod {key_of(pod)} on node {node}"
        key = key_of(self.daemon_set)
        if succeeded:
            text = f"Found succeeded {where}, will try to delete it"
            self.events.append(Event(DAEMON_SET, key, "Normal", "SucceededDaemonPod", text))
        else:
            text = f"Found failed {where}, will try to kill it"
            self.events.append(Event(DAEMON_SET, key, "Warning", "FailedDaemonPod", text))

    def _patient(self, node: str) -> bool:
        """Whether the next failed pod of a node may be deleted now."""
        now, known = self.view.now, self.patience.get(node)
        if known is None:
            self.patience[node] = Patience(now, INITIAL_BACKOFF)
            return True
        if not self.view.reached(known.since + known.delay):
            return False
        self.patience[node] = Patience(now, min(2 * known.delay, MAX_BACKOFF))
        return True

    def _thin_out(self, running: Sequence[Pod]) -> None:
        """Two may share a node while the new one is not available and the old one is ready; all others go."""
        new = [pod for pod in running if pod.metadata.labels.get(REVISION_LABEL) == self.revision]
        old = [pod for pod in running if pod.metadata.labels.get(REVISION_LABEL) != self.revision]
        self.surplus += [*new[1:], *old[1:]]
        if new and old and (not old[0].ready or self.available(new[0])):
            self.surplus.append(old[0])

    def available(self, pod: Pod) -> bool:
        return is_available(self.view, pod, self.daemon_set.spec.min_ready_seconds)
