"""The placement engine on a drawn world that a real scheduler was asked about, pod by pod as it was asked."""

from __future__ import annotations

from typing import Any

from mooring.api.core.defaults.pods import default_pod
from mooring.kube.objects import Object
from mooring.manifests.views import convert
from mooring.placement.engine import Engine, Explanation
from mooring.placement.pods import PodInfo
from mooring.placement.reservations import assume, reservation
from mooring.placement.snapshot import VIEWS, Snapshot
from mooring.runtime.settings import DEFAULTS
from mooring.runway.explain.asked_pods.given import GivenList
from mooring.runway.explain.asked_pods.manifest_pods import read_manifest_pods
from mooring.runway.explain.asked_pods.unplaced_pods import UnplacedPod
from tests.placement.drawn.world import DrawnWorld

Answer = dict[str, Any]


class Replay:
    """`refused` are the pods that the API did not take; what the others were answered decides what comes next."""

    def __init__(self, world: DrawnWorld, refused: list[str]) -> None:
        self.snapshot = Snapshot(len(world.nodes))
        self.cluster = self.snapshot.cluster
        # As the API has them: what a pod says of its own labels is part of its selectors.
        there = [pod | default_pod(pod) for pod in world.residents if pod["metadata"]["name"] not in refused]
        for value in (*world.objects, *world.nodes, *there):
            self.snapshot.add(convert(value, VIEWS[value["apiVersion"], value["kind"]]))
        self.engine = Engine(self.cluster)

    def answer(self, pod: Object, told: Answer) -> Answer:
        """What the engine says of a pod; then what the real scheduler said is done."""
        unplaced = self._read(pod)
        if unplaced.errors:
            return {"refused": True}
        info = self.cluster.compiler.compile(unplaced.view)
        if info.gates or unplaced.unknowns:
            return {"left": True}
        explanation = self.engine.explain(info, 0)
        # The short way to the node is another one.
        placed = self.engine.place(info, 0)
        assert (placed.slot, placed.error) == (explanation.chosen, bool(explanation.error)), unplaced.key
        if placed.slot < 0:
            assert explanation.message.startswith(placed.message), unplaced.key
        answer = self._answer(info, explanation, told)
        if told.get("node") and explanation.chosen >= 0:
            self._go_on(info, told, answer)
        for key in told.get("victims", ()):
            self.cluster.remove_pod(key)
        return answer

    def _read(self, pod: Object) -> UnplacedPod:
        given = GivenList("pods", [pod])
        (unplaced,) = read_manifest_pods(self.snapshot, given, "", "default", DEFAULTS).pods
        return unplaced

    def _answer(self, info: PodInfo, explanation: Explanation, told: Answer) -> Answer:
        names = self.cluster.names
        if explanation.chosen >= 0:
            best = [names[slot] for slot in explanation.best.tolist()] or [names[explanation.chosen]]
            # Of equal nodes the real one takes any: its nodes stand in no order.
            answer: Answer = {"node": told.get("node") if told.get("node") in best else best[0]}
            if explanation.scores and explanation.feasible.size > 1:
                answer["scores"] = {
                    names[slot]: {score.plugin: int(score.weighted[slot]) for score in explanation.scores}
                    for slot in explanation.feasible.tolist()
                }
            return answer
        answer = {"message": explanation.message}
        if explanation.error:
            answer["error"] = True
        preemption = explanation.preemption
        if preemption is not None and preemption.slot >= 0:
            answer["nominated"] = names[preemption.slot]
            answer["victims"] = sorted(pod.key for pod in preemption.victims)
            tied = [names[slot] for slot in preemption.tied]
            if told.get("nominated") in tied and told["nominated"] != answer["nominated"]:
                # Of equal nodes the real one takes any here, too.
                answer |= {"nominated": told["nominated"], "victims": told["victims"]}
        return answer

    def _go_on(self, info: PodInfo, told: Answer, answer: Answer) -> None:
        slot = self.cluster.slots[told["node"]]
        reserved = reservation(self.cluster, info, slot)
        if reserved.volumes:
            # Nothing binds volumes there, so the pod was taken away again.
            answer["waits"] = True
            return
        assume(self.cluster, reserved)
        if claims := self._devices(info):
            answer["claims"] = claims
        self.cluster.bind(info, slot)

    def _devices(self, info: PodInfo) -> Answer:
        found = {}
        for reference in info.claims:
            claim = self.cluster.devices.claims[f"{info.namespace}/{reference.claim}"]
            allocation = claim.status.allocation
            results = allocation.devices.results or () if allocation is not None else ()
            found[claim.metadata.name] = [f"{each.request} {each.pool}/{each.device}" for each in results]
        return found
