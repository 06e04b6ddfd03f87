"""Lives of pods drawn from a seed: what happens to each, step by step over virtual time, and what a node does about it.

Nothing runs: the drawn world answers the node's actions as processes would, sooner or later, well or badly. A row of
the recording is one step: what happened, the actions, when to look again, and what changed in the status.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.nodes.process.allocations import Allocations
from mooring.nodes.process.pods.decisions import PodDecision, decide, unhealthy
from mooring.nodes.process.pods.model import (
    ChangeLimits,
    CreateFailed,
    End,
    Ended,
    Evicted,
    Kill,
    LimitsChanged,
    PodRecord,
    Prepare,
    Prepared,
    Probed,
    ProbeKind,
    Remove,
    Start,
    Started,
    Stop,
    after,
)
from mooring.nodes.process.pods.resizes import admitted, resources_of
from mooring.nodes.process.pods.restored_state import restored_state
from mooring.nodes.process.pods.specs import all_containers, container_named
from mooring.nodes.process.pods.statuses import status_of
from tests.nodes.process.life import NOON, bound_pod
from tests.support.recordings import Draw

STEPS = 45
_PROBES: tuple[ProbeKind, ...] = ("startup", "readiness", "liveness")
_AMOUNTS: tuple[Object, ...] = (
    {},
    {"requests": {"cpu": "100m", "memory": "64Mi"}},
    {"requests": {"cpu": "500m"}, "limits": {"cpu": "1", "memory": "1Gi"}},
    {"requests": {"cpu": "3", "memory": "1Gi"}, "limits": {"cpu": "3"}},
    {"requests": {"cpu": "99"}},
)
_RULES: tuple[Object, ...] = (
    {"action": "Restart", "exitCodes": {"operator": "In", "values": [3, 42]}},
    {"action": "Restart", "exitCodes": {"operator": "NotIn", "values": [1]}},
)


def drawn_pod(draw: Draw) -> Object:
    mains = tuple(_container(draw, name) for name in ("main", "more")[: 1 + draw.chance(0.4)])
    init = tuple(_container(draw, name, init=True) for name in ("a", "b", "c")[: draw.one((0, 0, 0, 1, 2, 3))])
    spec: Object = {}
    spec |= {"terminationGracePeriodSeconds": draw.one((0, 1, 5, 60))} if draw.chance(0.5) else {}
    spec |= {"activeDeadlineSeconds": draw.one((20, 200))} if draw.chance(0.15) else {}
    spec |= {"readinessGates": [{"conditionType": "Gate"}, {"conditionType": "Road"}]} if draw.chance(0.25) else {}
    return bound_pod(*mains, init=init, restart=draw.one(("Always", "Always", "OnFailure", "Never")), **spec)


def _container(draw: Draw, name: str, *, init: bool = False) -> Object:
    found: Object = {"name": name, "image": f"{name}:1", "command": ["run"]}
    if init and draw.chance(0.5):
        found["restartPolicy"] = "Always"
    elif draw.chance(0.15):
        found |= {"restartPolicy": draw.one(("Never", "OnFailure")), "restartPolicyRules": draw.some(_RULES)}
    found |= {"resources": draw.one(_AMOUNTS[:4])} if draw.chance(0.6) else {}
    found |= (
        {"resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]} if draw.chance(0.3) else {}
    )
    found |= {"livenessProbe": {"terminationGracePeriodSeconds": 3}} if draw.chance(0.3) else {}
    return found


class _Ends(NamedTuple):
    """A container is due to end, if it still runs then."""

    name: str
    code: int


class DrawnLife:
    """One pod on one node, and the world around it."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.spec = drawn_pod(draw)
        self.now = NOON
        self.pod = PodRecord(begun=NOON)
        self.status: Object = {}
        self.wake: datetime | None = None
        self.is_gone = False
        self._coming: list[tuple[Any, int, Any]] = []
        self._count = 0
        self._room = Allocations({"cpu": "9", "memory": "4Gi"})
        self._room.hold("another", bound_pod({"name": "x", "resources": {"requests": {"cpu": "4"}}}))

    def rows(self) -> Iterator[Any]:
        yield [deepcopy(self.spec["spec"])]
        yield self._row("seen", self._decide())
        for _ in range(STEPS):
            if self.pod.removed:
                return
            yield self._step()

    def _step(self) -> Any:
        moments = [each for each in (self._coming[0][0] if self._coming else None, self.wake) if each is not None]
        if not moments or self.draw.chance(0.16):
            self.now += timedelta(seconds=self.draw.one((1, 3, 8)) if moments else self.draw.one((0, 2, 30, 700)))
            return self._row(*self._meddle())
        if self._coming and self._coming[0][0] <= min(moments):
            due, _, what = heapq.heappop(self._coming)
            self.now = max(self.now, due)
            if isinstance(what, _Ends):
                return self._row(*self._ends(*what))
            return self._row(self._told(what), self._happens(what))
        self.now = max(self.now, min(moments))
        return self._row("time", self._decide())

    # What the node decides

    def _decide(self) -> PodDecision:
        self.pod, told = admitted(self.spec, self.pod, self._room.refusal("u-1", self.spec, lambda: None))
        pod, actions, wake = decide(self.spec, self.pod, self.now, gone=self.is_gone)
        return PodDecision(pod, (*told, *actions), wake)

    def _happens(self, what: Any) -> PodDecision:
        self.pod = after(self.pod, what, self.now)
        return self._decide()

    def _row(self, what: Any, decision: PodDecision) -> Any:
        self.pod, actions, self.wake = decision
        for action in actions:
            self._answer(action)
        before, self.status = self.status, status_of(self.spec, self.pod, self.now, address="10.0.0.1")
        self.spec["status"] = deepcopy(self.status)
        changed = {name: value for name, value in self.status.items() if before.get(name) != value}
        changed |= dict.fromkeys(before.keys() - self.status.keys())
        seconds = None if self.wake is None else (self.wake - self.now).total_seconds()
        return [(self.now - NOON).total_seconds(), what, [self._told(each) for each in actions], seconds, changed]

    def _told(self, what: Any) -> Any:
        return [type(what).__name__, *(self._plain(each) for each in what)]

    def _plain(self, value: Any) -> Any:
        if isinstance(value, End):
            return [value.code, value.reason, value.message, value.started and timestamp(value.started), value.id]
        return value

    # What the world does

    def _later(self, seconds: float, what: Any) -> None:
        self._count += 1
        heapq.heappush(self._coming, (self.now + timedelta(seconds=seconds), self._count, what))

    def _answer(self, action: Any) -> None:
        draw = self.draw
        match action:
            case Prepare():
                self._later(draw.one((0, 1, 4)), Prepared("" if draw.chance(0.7) else 'secret "x" not found'))
            case Start(name, attempt) if draw.chance(0.12):
                problem = CreateFailed(name, "CreateContainerConfigError", f"attempt {attempt}", draw.chance(0.6))
                self._later(draw.one((0, 1)), problem)
            case Start(name, attempt):
                container = container_named(self.spec, name)
                given = self.pod.allocated.get(name, resources_of(container))
                settled, ready = draw.chance(0.6), draw.chance(0.7)
                started = Started(name, f"{name}-{attempt}", settled, ready, given if draw.chance(0.9) else None)
                self._later(draw.one((0, 1, 2)), started)
                self._later(draw.one((5, 15, 40, 90, 200, 700)), _Ends(name, draw.one((0, 0, 1, 3, 42, 137))))
                for kind in draw.some(_PROBES):
                    self._later(draw.one((3, 6, 20)), Probed(name, kind, draw.chance(0.7)))
            case Stop(name, seconds):
                if draw.chance(0.7):
                    self._later(min(draw.one((0, 1, 2)), seconds), _Ends(name, draw.one((143, 143, 0))))
            case Kill(name):
                self._later(draw.one((0, 1)), _Ends(name, 137))
            case ChangeLimits(name, resources):
                self._later(1, LimitsChanged(name, resources, "" if draw.chance(0.7) else "no such file"))
            case Remove():
                self._coming.clear()

    def _ends(self, name: str, code: int) -> tuple[Any, PodDecision]:
        known = self.pod.container(name)
        if known.process != "running":
            return ["nothing", name], self._decide()
        message = "last words" if self.draw.chance(0.3) else ""
        end = End(code, "Error" if code else "Completed", message, known.since, self.now, known.id)
        return self._told(Ended(name, end)), self._happens(Ended(name, end))

    def _meddle(self) -> tuple[Any, PodDecision]:
        """Something that nobody has asked for."""
        draw = self.draw
        names = [each["name"] for each in all_containers(self.spec)]
        name = draw.one(names)
        match draw.below(14):
            case 0 | 1 | 2:
                return self._ends(name, draw.one((0, 1, 3, 139)))
            case 3:
                probed = Probed(name, draw.one(_PROBES), draw.chance(0.5))
                return self._told(probed), self._happens(probed)
            case 4 | 5:
                kind = draw.one(("liveness", "startup"))
                container = container_named(self.spec, name)
                return ["unhealthy", name, kind], unhealthy(self.spec, self.pod, container, kind, self.now)
            case 6 | 7:
                return self._resized(name)
            case 8:
                return self._gate()
            case 9 if not self.spec["spec"].get("ephemeralContainers"):
                self.spec["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "tools"}]
                return ["debugged"], self._decide()
            case 10 if draw.chance(0.25):
                evicted = Evicted("Usage exceeds")
                return self._told(evicted), self._happens(evicted)
            case 11 if draw.chance(0.5):
                return self._restarted()
            case 12 if draw.chance(0.5):
                grace = draw.one((0, 1, 5, 30))
                self.spec["metadata"] |= {
                    "deletionTimestamp": timestamp(self.now + timedelta(seconds=grace)),
                    "deletionGracePeriodSeconds": grace,
                }
                return ["deleted", grace], self._decide()
            case 13 if draw.chance(0.3):
                self.is_gone = True
                return ["gone"], self._decide()
        self._room.hold("another", bound_pod({"name": "x", "resources": {"requests": {"cpu": draw.one(("2", "4"))}}}))
        return ["room"], self._decide()

    def _resized(self, name: str) -> tuple[Any, PodDecision]:
        # The spec of before is part of what was decided on it.
        self.spec = deepcopy(self.spec)
        self.spec["metadata"]["generation"] += 1
        container_named(self.spec, name)["resources"] = deepcopy(self.draw.one(_AMOUNTS))
        return ["resized", name], self._decide()

    def _gate(self) -> tuple[Any, PodDecision]:
        condition = {"type": self.draw.one(("Gate", "Road")), "status": self.draw.one(("True", "False"))}
        status = self.spec.setdefault("status", {})
        rest = [each for each in status.get("conditions", ()) if each["type"] != condition["type"]]
        status["conditions"] = [*rest, condition]
        return ["condition", condition], self._decide()

    def _restarted(self) -> tuple[Any, PodDecision]:
        """The node's process was killed and started again; nothing that was under way comes to its end."""
        self._coming.clear()
        self.pod = restored_state(self.spec, self.now)
        return ["restarted"], self._decide()


def lives(count: int) -> Iterator[list[Any]]:
    for number in range(count):
        yield list(DrawnLife(Draw(f"life {number}")).rows())
