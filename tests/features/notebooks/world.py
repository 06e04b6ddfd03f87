"""A cluster in memory whose nodes are real as far as jobs can tell: a test says what becomes of every pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from mooring.api.core.types import View as Typed
from mooring.api.kinds import Key, Kind, key_of
from mooring.api.meta import Meta
from mooring.builtin.controllers import CONTENT
from mooring.builtin.garbagecollector.controller import garbage_collector
from mooring.builtin.metadata_kinds import CUSTOM_KINDS, IN_NAMESPACES, OF_THE_CLUSTER
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.catalog import CATALOG
from mooring.features.notebooks.api.names import API_VERSION, KIND
from mooring.features.notebooks.controller import notebook_validation
from mooring.features.notebooks.feature import NOTEBOOKS
from mooring.features.notebooks.kinds import PodStep
from mooring.features.notebooks.result_log import READ_RESULT, result_report
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, status
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import START, Settled, Simulation
from mooring.runtime.effects import PodLog, Report
from mooring.runtime.settings import Configuration
from mooring.runtime.view import View
from mooring.testing.builders import node
from mooring.testing.decisions import DecidingTwice
from mooring.testing.notebooks import (
    clone_failed_status,
    not_started_status,
    run_log,
    running_status,
    validator_ended_status,
)
from mooring.testing.simulations import checked_simulation

VERSIONS = {KIND: API_VERSION}


class PodRun(NamedTuple):
    """What becomes of one pod: it runs for a while and ends with a code, with this log; or something is in the way."""

    exit_code: int = 0
    seconds: float = 10
    # Whether its node stops it at its deadline.
    stops: bool = True
    log: str = run_log()
    # How the validator ended, beside its code.
    state: Mapping[str, str] = {}
    clone_exit_code: int = 0
    clone_message: str = ""
    # Why the validator does not start.
    waiting: str = ""
    # Why the node ended the pod.
    ended_by_node: str = ""
    # For how long its node leaves a deletion undone.
    lingers: float = 0
    # Why the log cannot be read, for this many readings.
    log_problem: str = ""
    unreadable: int = 0


Script = Callable[[str], PodRun]


class _Spec(Typed, frozen=True):
    node_name: str = ""
    active_deadline_seconds: int | None = None


class _Status(Typed, frozen=True):
    phase: str = ""
    reason: str = ""
    start_time: str | None = None
    container_statuses: tuple[PodStep, ...] = ()

    @property
    def has_ended(self) -> bool:
        return all(step.state.terminated is not None for step in self.container_statuses)


class KubeletPod(Typed, frozen=True):
    metadata: Meta = Meta()
    spec: _Spec = _Spec()
    status: _Status = _Status()


KUBELET_POD = Kind("v1", "Pod", KubeletPod)


def played_kubelet(script: Script) -> Controller:
    """Runs pods that have a node, as a test says."""

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        pod = view.get(KUBELET_POD, *key)
        if pod is None or not pod.spec.node_name:
            return Decision()
        if pod.metadata.deletion_timestamp is not None:
            lingers = timedelta(seconds=script(key.name).lingers)
            if lingers and not view.reached(moment(pod.metadata.deletion_timestamp) + lingers):
                return Decision()
            return Decision(children=(Delete(KUBELET_POD, key_of(pod), grace=0),))
        body = _next_status(view, pod, script(key.name), now)
        return Decision(status=(status(KUBELET_POD, pod, body),) if body else ())

    return Controller("kubelet", reconcile, of=KUBELET_POD, writes={KUBELET_POD: ("status", "delete")})


def _next_status(view: View, pod: KubeletPod, run: PodRun, now: datetime) -> Object | None:
    if pod.status.phase == "Failed" and pod.status.reason == "DeadlineExceeded":
        return None if pod.status.has_ended else {**validator_ended_status(now, 1), "reason": "DeadlineExceeded"}
    if pod.status.phase in ("Succeeded", "Failed"):
        return None
    if pod.status.start_time is None:
        if run.waiting:
            return not_started_status(now, run.waiting)
        if run.clone_exit_code:
            return clone_failed_status(now, run.clone_exit_code, run.clone_message)
        return running_status(now)
    started, limit = moment(pod.status.start_time), pod.spec.active_deadline_seconds
    if limit is not None and run.stops and view.reached(started + timedelta(seconds=limit)):
        # A node says first that it stops a pod, and then that its containers ended.
        return {"phase": "Failed", "reason": "DeadlineExceeded", "message": "played"}
    if run.waiting or not view.reached(started + timedelta(seconds=run.seconds)):
        return None
    if run.ended_by_node:
        return {"phase": "Failed", "reason": run.ended_by_node, "message": "the node was low on memory"}
    return validator_ended_status(now, run.exit_code, **run.state)


def passes(pod: str) -> PodRun:
    return PodRun()


class NotebookWorld:
    """Jobs, a scheduler, and nodes that run pods by a script."""

    def __init__(
        self,
        *objects: Object,
        script: Script = passes,
        nodes: Iterable[Object] = (),
        grace: str = "5m",
        seed: int = 0,
        faults: Faults | None = None,
        run: bool = True,
        scheduler: bool = True,
        more: Iterable[Controller] = (),
    ) -> None:
        self.decider = DecidingTwice()
        self.simulation = checked_simulation(
            [*(each for each in notebook_controllers(script) if scheduler or each is not SCHEDULER), *more],
            registry=registry_with_jobs(seed),
            seed=seed,
            faults=faults,
            decider=self.decider,
            configuration=Configuration(settings={"unschedulable-grace": grace}),
        )
        self.registry = self.simulation.registry
        for each in nodes or (node("n0"),):
            self.brings(each)
        for each in objects:
            self.create(each)
        if run:
            self.run()

    def create(self, obj: Object) -> Object:
        resource = self.registry.resource(obj["apiVersion"], obj["kind"])
        namespace = obj["metadata"].get("namespace", "default") if resource.namespaced else None
        return self.registry.create(resource, obj, now=self.simulation.now, namespace=namespace)

    def brings(self, made: Object) -> None:
        """A node that is ready: the taint that every new one has is gone."""
        put_node(self.simulation, made)

    def run(self, seconds: float | None = None) -> Settled:
        return self.simulation.run() if seconds is None else self.simulation.run(timedelta(seconds=seconds))

    def patch(self, kind: str, name: str, body: Object, subresource: str = "") -> None:
        resource = self.registry.resource(VERSIONS.get(kind, "v1"), kind)
        where = "default" if resource.namespaced else ""
        self.registry.patch(resource, where, name, "merge", body, now=self.simulation.now, subresource=subresource)

    def delete(self, kind: str, name: str) -> None:
        resource = self.registry.resource(VERSIONS.get(kind, "v1"), kind)
        where = "default" if resource.namespaced else ""
        self.registry.delete(resource, where, name, now=self.simulation.now)

    # Reading

    def find(self, kind: str, name: str) -> Object | None:
        resource = self.registry.resource(VERSIONS.get(kind, "v1"), kind)
        return self.registry.find(VERSIONS.get(kind, "v1"), kind, "default" if resource.namespaced else "", name)

    def job(self, name: str = "train") -> Object:
        found = self.find(KIND, name)
        assert found is not None, f"there is no job {name}"
        return found

    def status(self, name: str = "train") -> Object:
        found: Object = self.job(name).get("status", {})
        return found

    def phase(self, name: str = "train") -> str:
        return str(self.status(name).get("phase", ""))

    def condition(self, kind: str, name: str = "train") -> tuple[str, str, str]:
        """Status, reason and message."""
        for each in self.status(name).get("conditions", ()):
            if each["type"] == kind:
                return each["status"], each["reason"], each["message"]
        return "", "", ""

    def all(self, kind: str) -> dict[str, Object]:
        found = self.registry.list(self.registry.resource(VERSIONS.get(kind, "v1"), kind)).items
        return {obj["metadata"]["name"]: obj for obj in found}

    def pods(self) -> list[str]:
        return sorted(self.all("Pod"))

    def events(self, reason: str) -> list[Object]:
        return [event for event in self.all("Event").values() if event["reason"] == reason]

    @property
    def seconds(self) -> float:
        return (self.simulation.now - START).total_seconds()


def put_node(simulation: Simulation, made: Object) -> None:
    registry, now = simulation.registry, simulation.now
    resource = registry.resource("v1", "Node")
    registry.create(resource, made, now=now)
    registry.patch(resource, "", made["metadata"]["name"], "merge", {"spec": made["spec"]}, now=now)


def registry_with_jobs(seed: int = 0) -> Registry:
    registry = Registry(now=START, seed=seed)
    kind = registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    for definition in CATALOG.definitions(NOTEBOOKS.names):
        registry.create(kind, definition, now=START)
    return registry


def notebook_controllers(script: Script = passes) -> tuple[Controller, ...]:
    readings: dict[str, int] = {}

    def read(log: PodLog) -> tuple[timedelta, Report]:
        run = script(log.pod)
        readings[log.pod] = readings.get(log.pod, 0) + 1
        problem = run.log_problem if readings[log.pod] <= run.unreadable else ""
        return timedelta(seconds=1), result_report(log, "" if problem else run.log, problem)

    garbage = garbage_collector((*CONTENT, *IN_NAMESPACES, *OF_THE_CLUSTER), CUSTOM_KINDS)
    return (notebook_validation(replace(READ_RESULT, model=read)), played_kubelet(script), SCHEDULER, garbage)
