"""The node's state of a pod and its containers, the events that change it, and the actions that are decided on it.

Everything here is a value. The pod worker posts events (`Prepared`, `Started`, ...), `after` applies one to the state,
and `decisions.decide` returns the next actions; so a test plays a pod's whole life without any process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from mooring.kube.objects import Object

__all__ = [
    "EVICTED",
    "ChangeLimits",
    "ContainerRecord",
    "CreateFailed",
    "End",
    "Ended",
    "Evicted",
    "Kill",
    "LimitsChanged",
    "PendingResize",
    "PodAction",
    "PodEvent",
    "PodRecord",
    "PodTermination",
    "Prepare",
    "Prepared",
    "Probed",
    "RecordEvent",
    "Remove",
    "ResizeInProgress",
    "Start",
    "StartBlocker",
    "Started",
    "Stop",
    "Stopping",
    "after",
]

ProbeKind = Literal["startup", "liveness", "readiness"]


class End(NamedTuple):
    """How one run of a container ended. `started` is None when it never ran."""

    code: int
    reason: str
    message: str
    started: datetime | None
    finished: datetime
    id: str = ""


class StartBlocker(NamedTuple):
    """Why a pod or container cannot start. `again` is the time of the next attempt, None if none could succeed."""

    reason: str
    message: str
    again: datetime | None
    times: int = 1


class Stopping(NamedTuple):
    """A container was asked to end; at `deadline` it is killed."""

    deadline: datetime
    killed: bool = False


@dataclass(frozen=True, slots=True)
class ContainerRecord:
    """One container. `attempt` counts its restarts, `end` is set while its last run is over, `last` is the run before.

    `pause` is the back-off in force, and `paused` when it was last counted up.
    """

    process: Literal["none", "starting", "running", "ended"] = "none"
    attempt: int = 0
    id: str = ""
    since: datetime | None = None
    end: End | None = None
    last: End | None = None
    started: bool = False
    ready: bool = False
    stopping: Stopping | None = None
    blocker: StartBlocker | None = None
    pause: float = 0.0
    paused: datetime | None = None
    # Whether the BackOff event of the back-off in force was recorded.
    backoff_recorded: bool = False
    # The requests and limits of this run; whether they are being changed, and when a change that failed is tried again.
    resources: Object | None = None
    changing: bool = False
    change_again: datetime | None = None
    # Whether it was stopped to be started with other resources, whatever its restart policy.
    resized: bool = False

    @property
    def alive(self) -> bool:
        return self.process in ("starting", "running")


class PodTermination(NamedTuple):
    """The whole pod ends; at `deadline` whatever still runs is killed."""

    deadline: datetime


class PendingResize(NamedTuple):
    """A resize that the node cannot carry out now, or never can."""

    reason: str
    message: str
    generation: int


class ResizeInProgress(NamedTuple):
    """A resize that was admitted in this generation; `error` is why it does not come to its end."""

    generation: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class PodRecord:
    """What is known of a pod beyond its spec. `failure` is the reason and message of a pod that failed as a whole."""

    begun: datetime
    containers: Mapping[str, ContainerRecord] = field(default_factory=dict)
    prepared: Literal["no", "under way", "yes"] = "no"
    blocker: StartBlocker | None = None
    ending: PodTermination | None = None
    failure: tuple[str, str] | None = None
    # The phase is final: no container of it is ever started again.
    over: bool = False
    removed: bool = False
    # The requests and limits that containers were given; one that is not in it has yet to be admitted.
    allocated: Mapping[str, Object] = field(default_factory=dict)
    pending: PendingResize | None = None
    resizing: ResizeInProgress | None = None

    def container(self, name: str) -> ContainerRecord:
        return self.containers.get(name) or ContainerRecord()

    def having(self, name: str, container: ContainerRecord) -> PodRecord:
        return replace(self, containers={**self.containers, name: container})


# Actions: what the pod worker executes


class Prepare(NamedTuple):
    """Make the pod's folders and volumes ready."""


class Start(NamedTuple):
    name: str
    attempt: int


class Stop(NamedTuple):
    """Run the hook, if there is one, then send SIGTERM."""

    name: str
    seconds: float


class Kill(NamedTuple):
    """SIGKILL to everything that belongs to the container."""

    name: str


class Remove(NamedTuple):
    """Nothing of the pod runs any more and its deletion was asked for: take it out of the API."""


class RecordEvent(NamedTuple):
    """Record an event about the pod, or about one container of it."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    container: str = ""


class ChangeLimits(NamedTuple):
    """Give a container that runs other resources."""

    name: str
    resources: Object


PodAction = Prepare | Start | Stop | Kill | Remove | RecordEvent | ChangeLimits


# Events: what the pod worker reports


class Prepared(NamedTuple):
    """The volumes are there, or `problem` says why not."""

    problem: str = ""


class Started(NamedTuple):
    """`settled` is False while a startup probe has yet to succeed, `ready` while a readiness probe has."""

    name: str
    id: str
    settled: bool
    ready: bool
    resources: Object | None = None


class CreateFailed(NamedTuple):
    """A container cannot be made out of what its spec says; `again` is whether a later try may succeed."""

    name: str
    reason: str
    message: str
    again: bool


class Ended(NamedTuple):
    name: str
    end: End


class Probed(NamedTuple):
    """The verdict of a probe has changed."""

    name: str
    kind: ProbeKind
    good: bool


class Evicted(NamedTuple):
    """The pod has used more of the machine than it may."""

    message: str


class LimitsChanged(NamedTuple):
    """A container that runs has other resources now, or `problem` says why not."""

    name: str
    resources: Object
    problem: str = ""


PodEvent = Prepared | Started | CreateFailed | Ended | Probed | Evicted | LimitsChanged

EVICTED = "Evicted"

_RETRY_SECONDS = 5.0
_RESIZE_RETRY_SECONDS = 10.0
_PREPARE_RANGE_SECONDS = (0.5, 30.0)


def after(pod: PodRecord, event: PodEvent, now: datetime) -> PodRecord:
    """The pod's state after an event."""
    match event:
        case Prepared(problem=""):
            return replace(pod, prepared="yes", blocker=None)
        case Prepared(problem=problem):
            times = 1 if pod.blocker is None else pod.blocker.times + 1
            wait = min(_PREPARE_RANGE_SECONDS[0] * 2 ** (times - 1), _PREPARE_RANGE_SECONDS[1])
            return replace(pod, prepared="no", blocker=StartBlocker("FailedMount", problem, _later(now, wait), times))
        case Started(name, id, settled, ready, resources):
            known = replace(pod.container(name), process="running", id=id, since=now, started=settled, blocker=None)
            known = replace(known, resources=resources, changing=False, change_again=None)
            return pod.having(name, replace(known, ready=ready and settled))
        case CreateFailed(name, reason, message, again):
            blocker = StartBlocker(reason, message, _later(now, _RETRY_SECONDS) if again else None)
            known = pod.container(name)
            # A first start that failed is no restart; a later one goes back to how the last run ended.
            if known.last is not None and known.attempt:
                back = replace(known, process="ended", end=known.last, last=None, attempt=known.attempt - 1)
                return pod.having(name, replace(back, blocker=blocker, stopping=None))
            return pod.having(name, replace(known, process="none", blocker=blocker, stopping=None))
        case Ended(name, end):
            known = replace(pod.container(name), process="ended", end=end, started=False, ready=False)
            return pod.having(name, replace(known, id=end.id or known.id, stopping=None))
        case Probed():
            return _probed(pod, event)
        case LimitsChanged():
            return _limits_changed(pod, event, now)
        case Evicted(message):
            return pod if pod.over or pod.failure is not None else replace(pod, failure=(EVICTED, message))


def _probed(pod: PodRecord, probed: Probed) -> PodRecord:
    known = pod.container(probed.name)
    if known.process != "running" or probed.kind == "liveness":
        return pod
    if probed.kind == "startup":
        return pod.having(probed.name, replace(known, started=probed.good))
    return pod.having(probed.name, replace(known, ready=probed.good and known.started))


def _limits_changed(pod: PodRecord, event: LimitsChanged, now: datetime) -> PodRecord:
    known = replace(pod.container(event.name), changing=False)
    if known.process != "running":
        return pod.having(event.name, known)
    if event.problem:
        waits = replace(known, change_again=_later(now, _RESIZE_RETRY_SECONDS))
        resizing = None if pod.resizing is None else pod.resizing._replace(error=event.problem)
        return replace(pod.having(event.name, waits), resizing=resizing)
    return pod.having(event.name, replace(known, resources=event.resources, change_again=None))


def _later(now: datetime, seconds: float) -> datetime:
    return now + timedelta(seconds=seconds)
