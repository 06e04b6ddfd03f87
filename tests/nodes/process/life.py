"""A pod's life played through without a process: a test says what happens, and looks at what the node does about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from mooring.kube.objects import Object
from mooring.nodes.process.pods.decisions import PodDecision, decide, unhealthy
from mooring.nodes.process.pods.model import (
    CreateFailed,
    End,
    Ended,
    PodAction,
    PodRecord,
    Prepare,
    Prepared,
    Probed,
    ProbeKind,
    Start,
    Started,
    after,
)
from mooring.nodes.process.pods.specs import container_named, init_containers, is_sidecar
from mooring.nodes.process.pods.statuses import status_of

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def container(name: str = "main", **more: Any) -> Object:
    return {"name": name, "image": "busybox", "command": ["run", name], **more}


def sidecar(name: str = "side", **more: Any) -> Object:
    return container(name, restartPolicy="Always", **more)


def bound_pod(*containers: Object, init: tuple[Object, ...] = (), restart: str = "Always", **spec: Any) -> Object:
    """A pod that the scheduler has given to this node."""
    found: Object = {"restartPolicy": restart, "nodeName": "here", "containers": list(containers or (container(),))}
    if init:
        found["initContainers"] = list(init)
    metadata = {"name": "web", "namespace": "default", "uid": "u-1", "resourceVersion": "1", "generation": 1}
    return {"metadata": metadata, "spec": {**found, **spec}}


class Life:
    """One pod. `done` has all actions up to now, `new` those of the last step."""

    def __init__(self, spec: Object, pod: PodRecord | None = None) -> None:
        self.spec = spec
        self.now = NOON
        self.pod = pod or PodRecord(begun=NOON)
        self.done: list[PodAction] = []
        self.new: tuple[PodAction, ...] = ()
        self.wake: datetime | None = None

    def step(self, *, gone: bool = False) -> Life:
        return self._take(decide(self.spec, self.pod, self.now, gone=gone))

    def _take(self, decision: PodDecision) -> Life:
        self.pod, self.new, self.wake = decision
        self.done += self.new
        return self

    def later(self, seconds: float) -> Life:
        self.now += timedelta(seconds=seconds)
        return self.step()

    def _happens(self, what: Any) -> Life:
        self.pod = after(self.pod, what, self.now)
        return self.step()

    # What happens

    def prepared(self, problem: str = "") -> Life:
        if not self.done:
            self.step()
        assert Prepare() in self.done
        return self._happens(Prepared(problem))

    def started(self, name: str = "main", *, settled: bool = True, ready: bool = True) -> Life:
        return self._happens(Started(name, f"id-{name}-{self.pod.container(name).attempt}", settled, ready))

    def failed(self, name: str = "main", *, again: bool = True) -> Life:
        return self._happens(CreateFailed(name, "CreateContainerConfigError", 'secret "x" not found', again))

    def ended(self, name: str = "main", code: int = 0, reason: str = "") -> Life:
        known = self.pod.container(name)
        why = reason or ("Error" if code else "Completed")
        return self._happens(Ended(name, End(code, why, "", known.since, self.now, known.id)))

    def probed(self, kind: ProbeKind, good: bool, name: str = "main") -> Life:
        return self._happens(Probed(name, kind, good))

    def probe_failed(self, kind: str = "liveness", name: str = "main") -> Life:
        return self._take(unhealthy(self.spec, self.pod, container_named(self.spec, name), kind, self.now))

    def deleted(self, grace: int = 30) -> Life:
        self.spec["metadata"] |= {"deletionTimestamp": "2026-01-31T12:00:30Z", "deletionGracePeriodSeconds": grace}
        return self.step()

    def running(self) -> Life:
        """Brought to where every container runs."""
        self.prepared()
        while starts := [action for action in self.new if isinstance(action, Start)]:
            for action in starts:
                self.started(action.name)
                found = container_named(self.spec, action.name)
                if found in init_containers(self.spec) and not is_sidecar(found, self.spec):
                    self.ended(action.name)
        return self

    # What can be seen

    @property
    def starts(self) -> list[str]:
        return [action.name for action in self.new if isinstance(action, Start)]

    def did(self, kind: type) -> list[Any]:
        return [action for action in self.new if isinstance(action, kind)]

    @property
    def status(self) -> Object:
        return status_of(self.spec, self.pod, self.now, address="10.0.0.1")

    @property
    def phase(self) -> str:
        return str(self.status["phase"])

    def state(self, name: str = "main") -> Object:
        found = [*self.status["containerStatuses"], *self.status.get("initContainerStatuses", ())]
        return next(each for each in found if each["name"] == name)

    def condition(self, kind: str) -> Object:
        return next(each for each in self.status["conditions"] if each["type"] == kind)
