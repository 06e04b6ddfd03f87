"""A shadow beside the recorded real scheduler: it expects what happened, and finds out what came in another order.

`MOORING_UPDATE_GOLDEN=1 pytest tests/placement/shadow/test_recorded_scheduler.py` writes down anew what it makes of
changes that come late and of pods that are bound elsewhere; look at the differences before keeping them.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterator
from typing import Any

import pytest

from mooring.api.core.defaults.pods import default_pod
from mooring.kube.objects import Object
from mooring.manifests.views import convert
from mooring.placement.devices.generated_claims import with_generated_claims
from mooring.placement.shadow import WATCHED, Agreement, Judgement, Shadow
from mooring.placement.shadow.judgements import RECHECK_CLAIMS_SECONDS
from mooring.placement.shadow.world import place_of
from mooring.placement.snapshot import VIEWS
from mooring.runtime.settings import DEFAULTS
from mooring.runway.explain.asked_pods.given import GivenList
from mooring.runway.explain.asked_pods.manifest_pods import read_manifest_pods
from tests.placement.drawn.dice import Dice
from tests.placement.drawn.differences import differences
from tests.placement.live.record import RECORDING, live_world, recorded

JUDGEMENTS = RECORDING.with_name("judgements.json.xz")
KNOWN = RECORDING.with_name("known_differences.json")
SEEDS = range(10_000, 10_300, 7)


class Beside:
    """A shadow that is told of a recorded world as a watch tells it."""

    def __init__(self, seed: int, case: dict[str, Any]) -> None:
        self.world, self.case = live_world(seed), case
        self.shadow, self.now = Shadow(), 0.0
        for kind in list(self.shadow.world.snapshot.unread_kinds):
            self.shadow.replace(kind, {})
        there = [
            pod | default_pod(pod) for pod in self.world.residents if pod["metadata"]["name"] not in case["refused"]
        ]
        for value in (*self.world.objects, *self.world.nodes, *there):
            if value["kind"] != "RuntimeClass":
                self.tell(value)
            else:
                self.shadow.world.snapshot.add(convert(value, _view("RuntimeClass")))
        self.shadow.ready = True

    def tell(self, value: Object, *, gone: bool = False) -> list[Judgement]:
        view = convert(value, _view(value["kind"]))
        self.now += 0.001
        return self.shadow.take(place_of(value["kind"], view), None if gone else view, self.now)

    def settle(self) -> list[Judgement]:
        self.now += RECHECK_CLAIMS_SECONDS
        return self.shadow.settle(self.now)

    def judged(self) -> Iterator[tuple[Object, dict[str, Any]]]:
        """The pods that the scheduler judged, as the API had them, with what it said."""
        for pod in self.world.waiting:
            told = self.case["pods"][pod["metadata"]["name"]]
            if "node" in told or "message" in told:
                yield self._admitted(pod), told

    def _admitted(self, pod: Object) -> Object:
        (unplaced,) = read_manifest_pods(
            self.shadow.world.snapshot, GivenList("pods", [pod]), "", "default", DEFAULTS
        ).pods
        uid = f"uid-{pod['metadata']['name']}"
        admitted: Object = {"kind": "Pod", **unplaced.pod, "metadata": {**unplaced.pod["metadata"], "uid": uid}}
        return with_generated_claims(self.shadow.world.snapshot.cluster.devices, admitted)

    def outcome(self, pod: Object, told: dict[str, Any], node: str = "") -> list[Object]:
        """The objects that change with what the scheduler decided, in the order in which it writes them."""
        if "waits" in told:
            return []
        if "node" in told:
            spec = {**pod["spec"], "nodeName": node or told["node"]}
            return [{**pod, "spec": spec}]
        reason = "SchedulerError" if told.get("error") else "Unschedulable"
        condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": told["message"]}
        status = {**pod.get("status", {}), "phase": "Pending", "conditions": [condition]}
        if "nominated" in told:
            status["nominatedNodeName"] = told["nominated"]
        return [{**pod, "status": status}]

    def after(self, pod: Object, told: dict[str, Any]) -> None:
        """What goes before the next pod comes: those without a place, and those that made room for them."""
        if "node" not in told or "waits" in told:
            self.tell(pod, gone=True)
        for key in told.get("victims", ()):
            namespace, _, name = key.partition("/")
            metadata = {"namespace": namespace, "name": name}
            self.tell({"kind": "Pod", "metadata": metadata, "spec": {"containers": []}}, gone=True)


def _view(kind: str) -> Any:
    return next(view for (_, name), view in {**VIEWS, **WATCHED}.items() if name == kind)


def _has_claims(world: Any) -> bool:
    return world.devices is not None


@pytest.mark.parametrize("chunk", range(3))
def test_a_shadow_expects_what_a_real_scheduler_did(chunk: int) -> None:
    known, cases, judged = json.loads(KNOWN.read_text(encoding="utf-8")), recorded(), 0
    for seed in SEEDS[chunk::3]:
        beside = Beside(seed, cases[seed])
        if _has_claims(beside.world):
            # What the claims were given was not recorded in full.
            continue
        for pod, told in beside.judged():
            beside.tell(pod)
            found = [each for value in beside.outcome(pod, told) for each in beside.tell(value)]
            if f"{seed} {pod['metadata']['name']}" not in known and "waits" not in told:
                assert [each.verdict for each in found] == [Agreement.EXACT], f"seed {seed}: {told} {found}"
                judged += 1
            beside.after(pod, told)
        assert not beside.shadow.undecided
    assert judged > 50


def disturbed(seed: int, case: dict[str, Any]) -> list[str]:
    """What the shadow says where outcomes come late, and where some pods are bound elsewhere."""
    dice, beside = Dice(seed), Beside(seed, case)
    said: list[Judgement] = []
    late: list[Object] = []
    for pod, told in beside.judged():
        said += beside.tell(pod)
        names = [node["metadata"]["name"] for node in beside.world.nodes]
        elsewhere = dice.pick(names) if dice.chance(0.15) else ""
        changes = beside.outcome(pod, told, elsewhere)
        if dice.chance(0.4):
            late += changes
        else:
            for value in [*changes, *late]:
                said += beside.tell(value)
            late = []
            beside.after(pod, told)
        if dice.chance(0.2):
            node = dice.pick(beside.world.nodes)
            said += beside.tell({**node, "spec": {**node["spec"], "unschedulable": dice.chance(0.5)}})
        if dice.chance(0.15):
            said += beside.settle()
    for value in late:
        said += beside.tell(value)
    said += beside.settle()
    return [f"{each.pod}: {each.verdict.value} {each.outcome}; {each.why}; {each.prediction}" for each in said]


def test_what_comes_late_is_judged_as_before() -> None:
    cases = recorded()
    now = {str(seed): disturbed(seed, cases[seed]) for seed in SEEDS}
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        JUDGEMENTS.write_bytes(lzma.compress(json.dumps(now).encode(), preset=9))
    found = differences(json.loads(lzma.decompress(JUDGEMENTS.read_bytes())), now)
    assert not found, found[:5]
    verdicts = {line.split(": ")[1].split()[0] for lines in now.values() for line in lines}
    assert verdicts >= {"exact", "near", "wrong"}
