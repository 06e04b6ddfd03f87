"""What to do about one pod now: a plain function of its spec, what is known of its processes, and the time.

The order of things is the kubelet's: volumes, init containers one after the other, sidecars among them that stay, then
all main containers together; and at the end the main containers first and the sidecars in the opposite order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from mooring.kube.objects import Object
from mooring.nodes.process.pods import backoff
from mooring.nodes.process.pods.model import (
    EVICTED,
    ChangeLimits,
    ContainerRecord,
    Kill,
    PodAction,
    PodRecord,
    PodTermination,
    Prepare,
    RecordEvent,
    Remove,
    Start,
    Stop,
    Stopping,
)
from mooring.nodes.process.pods.resizes import (
    completed,
    is_in_force,
    is_to_be_restarted,
    limits_change,
    resizable_containers,
)
from mooring.nodes.process.pods.specs import (
    deletion_grace,
    ephemeral_containers,
    full_name,
    init_containers,
    is_sidecar,
    main_containers,
    restarts,
    sidecars,
)
from mooring.nodes.process.pods.statuses import initialized, overdue

__all__ = ["PodDecision", "decide", "unhealthy"]


# A container that is not asked to end in good time is asked all the same.
_SHORTEST_GRACE_SECONDS = 1.0


class PodDecision(NamedTuple):
    """What is known once this has been decided, what to do, and when to look again if nothing happens before."""

    pod: PodRecord
    actions: tuple[PodAction, ...]
    wake: datetime | None


def decide(spec: Object, pod: PodRecord, now: datetime, *, gone: bool = False) -> PodDecision:
    """`gone` says that the pod is no longer in the API."""
    return _Round(spec, pod, now, [], []).run(gone)


def unhealthy(spec: Object, pod: PodRecord, container: Object, kind: str, now: datetime) -> PodDecision:
    """A liveness or startup probe has failed for good: the container has to end."""
    name = container["name"]
    known = pod.container(name)
    if known.process != "running" or known.stopping is not None or pod.ending is not None:
        return PodDecision(pod, (), None)
    own = (container.get(f"{kind}Probe") or {}).get("terminationGracePeriodSeconds")
    grace = spec["spec"].get("terminationGracePeriodSeconds") if own is None else own
    seconds = max(float(30 if grace is None else grace), _SHORTEST_GRACE_SECONDS)
    message = f"Container {name} failed {kind} probe"
    if restarts(container, spec, 137):
        message += ", will be restarted"
    stopped = replace(known, stopping=Stopping(now + timedelta(seconds=seconds)))
    actions = (RecordEvent("Normal", "Killing", message, name), Stop(name, seconds))
    return PodDecision(pod.having(name, stopped), actions, now + timedelta(seconds=seconds))


@dataclass
class _Round:
    spec: Object
    pod: PodRecord
    now: datetime
    actions: list[PodAction]
    times: list[datetime]

    def run(self, gone: bool) -> PodDecision:
        self._kill_late()
        if gone or self.spec["metadata"].get("deletionTimestamp"):
            self._delete(gone)
        elif not self.pod.over:
            self._live()
        return PodDecision(self.pod, tuple(self.actions), min(self.times, default=None))

    # The end

    def _delete(self, gone: bool) -> None:
        ended = self._all_ended(0.0 if gone else deletion_grace(self.spec))
        # What is being written to disk at this moment could not be removed for good.
        if ended and not self.pod.removed and self.pod.prepared != "under way":
            self.pod = replace(self.pod, over=True, removed=True)
            self.actions.append(Remove())

    def _fail(self, reason: str, message: str) -> None:
        self.pod = replace(self.pod, failure=(reason, message))
        self.actions.append(RecordEvent("Normal", reason, message))

    def _all_ended(self, grace: float) -> bool:
        """Bring everything to its end; whether it is there."""
        deadline = self.now + timedelta(seconds=max(grace, _SHORTEST_GRACE_SECONDS))
        if self.pod.ending is None or deadline < self.pod.ending.deadline:
            self.pod = replace(self.pod, ending=PodTermination(deadline))
        assert self.pod.ending is not None
        debugging = ephemeral_containers(self.spec)
        first = [each["name"] for each in (*self._preparing(), *main_containers(self.spec), *debugging)]
        for name in first:
            self._stop(name, self.pod.ending.deadline)
        if self._any_alive(first):
            return False
        return self._sidecars_ended(self.pod.ending.deadline)

    def _preparing(self) -> list[Object]:
        return [each for each in init_containers(self.spec) if not is_sidecar(each, self.spec)]

    def _sidecars_ended(self, deadline: datetime) -> bool:
        """Stop the sidecars, the last one first; whether none is left."""
        for each in reversed(sidecars(self.spec)):
            name = each["name"]
            if self.pod.container(name).alive:
                late = deadline <= self.now
                self._stop(name, self.now + timedelta(seconds=_SHORTEST_GRACE_SECONDS) if late else deadline)
                return False
        return True

    def _any_alive(self, names: list[str]) -> bool:
        return any(self.pod.container(name).alive for name in names)

    def _stop(self, name: str, deadline: datetime, why: str = "") -> None:
        known = self.pod.container(name)
        if known.process != "running":
            # One that is starting is stopped when it has started.
            return
        if known.stopping is not None:
            if known.stopping.killed:
                # Nothing more can be done but wait for it.
                return
            deadline = min(deadline, known.stopping.deadline)
            self._keep(name, replace(known, stopping=known.stopping._replace(deadline=deadline)))
        else:
            seconds = max((deadline - self.now).total_seconds(), 0.0)
            message = why or f"Stopping container {name}"
            self.actions += (RecordEvent("Normal", "Killing", message, name), Stop(name, seconds))
            self._keep(name, replace(known, stopping=Stopping(deadline)))
        self.times.append(deadline)

    def _kill_late(self) -> None:
        for name, known in self.pod.containers.items():
            stopping = known.stopping
            if stopping is None or stopping.killed or not known.alive:
                continue
            if stopping.deadline <= self.now:
                self.actions.append(Kill(name))
                self._keep(name, replace(known, stopping=stopping._replace(killed=True)))
            else:
                self.times.append(stopping.deadline)

    # Life

    def _live(self) -> None:
        if self.pod.failure is None and (end := overdue(self.spec, self.pod)) is not None:
            if end <= self.now:
                self._fail("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")
            else:
                self.times.append(end)
        if self.pod.failure is not None:
            evicted = self.pod.failure[0] == EVICTED
            if self._all_ended(_SHORTEST_GRACE_SECONDS if evicted else deletion_grace(self.spec)):
                self.pod = replace(self.pod, over=True)
            return
        if self.pod.prepared != "yes":
            self._prepare()
            return
        # Before all others: they may be there to find out why an init container fails.
        for container in ephemeral_containers(self.spec):
            if self.pod.container(container["name"]).process == "none":
                self._revive(container)
        self._resize()
        if not initialized(self.spec, self.pod) and not self._initialize():
            return
        self._run()

    def _resize(self) -> None:
        """Give running containers what they were allocated; those whose policy says so are restarted for it."""
        for container in resizable_containers(self.spec):
            name = container["name"]
            known = self.pod.container(name)
            if known.stopping is not None or is_in_force(self.pod, name, known):
                continue
            if is_to_be_restarted(container, self.pod, known):
                self._keep(name, replace(known, resized=True))
                grace = timedelta(seconds=max(deletion_grace(self.spec), _SHORTEST_GRACE_SECONDS))
                self._stop(name, self.now + grace, f"Container {name} resize requires restart")
                continue
            match limits_change(self.pod, name, known, self.now):
                case datetime() as again:
                    self.times.append(again)
                case ChangeLimits() as change:
                    self._keep(name, replace(known, changing=True))
                    self.actions.append(change)
        if (told := completed(self.spec, self.pod)) is not None:
            self.pod = replace(self.pod, resizing=None)
            self.actions.append(told)

    def _prepare(self) -> None:
        if self.pod.prepared == "under way":
            return
        blocker = self.pod.blocker
        if blocker is not None and blocker.again is not None and blocker.again > self.now:
            self.times.append(blocker.again)
            return
        self.pod = replace(self.pod, prepared="under way")
        self.actions.append(Prepare())

    def _initialize(self) -> bool:
        """Bring the pod to where its main containers can start; whether it is there."""
        for position, container in enumerate(init_containers(self.spec)):
            name = container["name"]
            known = self.pod.container(name)
            if is_sidecar(container, self.spec):
                if known.process == "running" and known.started:
                    continue
                self._revive(container)
                return False
            if known.process == "ended" and known.end is not None:
                if known.end.code == 0:
                    continue
                if not restarts(container, self.spec, known.end.code):
                    if self._sidecars_stopped():
                        self.pod = replace(self.pod, over=True)
                    return False
            self._revive_sidecars(init_containers(self.spec)[:position])
            self._revive(container)
            return False
        return True

    def _run(self) -> None:
        mains = main_containers(self.spec)
        if all(self._is_done(container) for container in mains):
            if self._sidecars_stopped():
                self.pod = replace(self.pod, over=True)
            return
        self._revive_sidecars(init_containers(self.spec))
        for container in mains:
            self._revive(container)

    def _is_done(self, container: Object) -> bool:
        known = self.pod.container(container["name"])
        if known.process != "ended" or known.end is None:
            return False
        return not known.resized and not restarts(container, self.spec, known.end.code)

    def _sidecars_stopped(self) -> bool:
        if self.pod.ending is None:
            self.pod = replace(self.pod, ending=PodTermination(self.now + timedelta(seconds=deletion_grace(self.spec))))
        assert self.pod.ending is not None
        debugging = [each["name"] for each in ephemeral_containers(self.spec)]
        for name in debugging:
            self._stop(name, self.pod.ending.deadline)
        return self._sidecars_ended(self.pod.ending.deadline) and not self._any_alive(debugging)

    def _revive_sidecars(self, among: list[Object]) -> None:
        for container in among:
            if is_sidecar(container, self.spec):
                self._revive(container)

    def _revive(self, container: Object) -> None:
        """Start a container that does not run, as soon as it may."""
        name = container["name"]
        known = self.pod.container(name)
        if known.alive:
            return
        if known.blocker is not None and (known.blocker.again is None or known.blocker.again > self.now):
            if known.blocker.again is not None:
                self.times.append(known.blocker.again)
            return
        if known.process == "ended":
            self._restart(container, known)
            return
        self._keep(name, replace(known, process="starting", blocker=None))
        self.actions.append(Start(name, known.attempt))

    def _restart(self, container: Object, known: ContainerRecord) -> None:
        name = container["name"]
        if known.end is None or not (known.resized or restarts(container, self.spec, known.end.code)):
            return
        due = self.now if known.resized else backoff.due(known)
        if due > self.now:
            self.times.append(due)
            if not known.backoff_recorded:
                message = f"Back-off restarting failed container {name} in pod {full_name(self.spec)}"
                self.actions.append(RecordEvent("Warning", "BackOff", message, name))
                self._keep(name, replace(known, backoff_recorded=True))
            return
        again = replace(known, resized=False) if known.resized else backoff.with_pause(known, self.now)
        again = replace(again, process="starting", attempt=known.attempt + 1, last=known.end, end=None, since=None)
        self._keep(name, replace(again, blocker=None, backoff_recorded=False))
        self.actions.append(Start(name, again.attempt))

    def _keep(self, name: str, container: ContainerRecord) -> None:
        self.pod = self.pod.having(name, container)
