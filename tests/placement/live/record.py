"""Plays drawn worlds on a real control plane and writes down what its scheduler says of every pod.

    python -m tests.placement.live.record             all worlds
    python -m tests.placement.live.record 10007       these again, the others stay

Worlds are drawn from their seeds, so only the answers are written. A pod that finds no node is deleted before the next
one comes, and so are the pods that are preempted for it; one whose volumes are to be bound is noted with its node and
deleted, since nothing binds volumes there.
"""

from __future__ import annotations

import json
import lzma
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from mooring.kube.objects import Object
from tests.placement.drawn.world import DrawnWorld, draw_world
from tests.placement.live.scheduler import Scheduler, real_scheduler
from tests.placement.live.stage import Stage, path_of

RECORDING: Final = Path(__file__).parents[2] / "data" / "placement" / "scheduler.jsonl.xz"
SEEDS: Final = range(10_000, 10_300)
SECONDS: Final = 30.0
GATE: Final = {"name": "example.com/not-yet"}
_SELECTED: Final = "volume.kubernetes.io/selected-node"

Answer = dict[str, Any]


def live_world(seed: int) -> DrawnWorld:
    return draw_world(seed, residents=(3, 14), waiting=(9, 15))


class Play:
    """One world."""

    def __init__(self, scheduler: Scheduler, stage: Stage, world: DrawnWorld) -> None:
        self.scheduler = scheduler
        self.stage = stage
        self.world = world

    def run(self) -> Answer:
        for value in (*self.world.objects, *self.world.nodes):
            if refused := self.stage.add(value):
                raise AssertionError(f"{value['kind']} {value['metadata']['name']}: {refused}")
        refused_pods = [pod["metadata"]["name"] for pod in self.world.residents if self.stage.add(pod)]
        self.stage.settle()
        answers = {pod["metadata"]["name"]: self._place(pod) for pod in self.world.waiting}
        return {"refused": refused_pods, "pods": answers}

    def _place(self, pod: Object) -> Answer:
        self.scheduler.skip()
        held = {**pod, "spec": {**pod["spec"], "schedulingGates": [*pod["spec"].get("schedulingGates", ()), GATE]}}
        if refused := self.stage.add(held):
            return {"refused": refused.partition(": ")[2]}
        self._make_claims(pod)
        path = path_of(pod, pod["metadata"]["name"])
        gates = pod["spec"].get("schedulingGates")
        self.stage.api.patch(path, "merge", {"spec": {"schedulingGates": gates}})
        if gates or pod["spec"].get("schedulerName"):
            time.sleep(0.1)
            answer: Answer = {"left": True}
        else:
            answer = self._wait(pod, path)
        if not answer.get("node") or answer.pop("unbound", False):
            self.stage.remove(pod)
        return answer

    def _make_claims(self, pod: Object) -> None:
        """What a controller makes of claim templates."""
        namespace, statuses = pod["metadata"]["namespace"], []
        for reference in pod["spec"].get("resourceClaims", ()):
            template = reference.get("resourceClaimTemplateName")
            if template is None:
                continue
            (spec,) = (
                each["spec"]["spec"]
                for each in self.world.objects
                if each["kind"] == "ResourceClaimTemplate"
                and (each["metadata"]["namespace"], each["metadata"]["name"]) == (namespace, template)
            )
            metadata: Object = {"name": f"{pod['metadata']['name']}-{reference['name']}", "namespace": namespace}
            there = self.stage.api.get(path_of(pod, pod["metadata"]["name"])).body["metadata"]
            owner = {"apiVersion": "v1", "kind": "Pod", "name": there["name"], "uid": there["uid"], "controller": True}
            metadata |= {"ownerReferences": [owner]}
            claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": spec}
            if refused := self.stage.add(claim):
                raise AssertionError(refused)
            statuses.append({"name": reference["name"], "resourceClaimName": metadata["name"]})
        if statuses:
            path = f"{path_of(pod, pod['metadata']['name'])}/status"
            self.stage.api.patch(path, "merge", {"status": {"resourceClaimStatuses": statuses}})
        if pod["spec"].get("resourceClaims"):
            time.sleep(0.1)

    def _wait(self, pod: Object, path: str) -> Answer:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            time.sleep(0.01)
            there = self.stage.api.get(path).body
            if node := there["spec"].get("nodeName"):
                return self._scored(pod, {"node": node})
            if node := self._bound_for(pod):
                return self._scored(pod, {"node": node, "unbound": True, "waits": True})
            for condition in there["status"].get("conditions", ()):
                if condition["type"] == "PodScheduled" and condition["reason"] in ("Unschedulable", "SchedulerError"):
                    return self._rejected(there, condition)
        raise AssertionError(f"{path}: neither scheduled nor rejected")

    def _scored(self, pod: Object, answer: Answer) -> Answer:
        metadata = pod["metadata"]
        if scores := self.scheduler.scores(f"{metadata['namespace']}/{metadata['name']}"):
            answer["scores"] = {node: dict(sorted(of.items())) for node, of in sorted(scores.items())}
        claims = self._allocated(pod)
        return {**answer, "claims": claims} if claims and "waits" not in answer else answer

    def _allocated(self, pod: Object) -> Answer:
        """The devices that each claim of the pod was given."""
        found = {}
        for reference in pod["spec"].get("resourceClaims", ()):
            name = reference.get("resourceClaimName") or f"{pod['metadata']['name']}-{reference['name']}"
            path = f"/apis/resource.k8s.io/v1/namespaces/{pod['metadata']['namespace']}/resourceclaims/{name}"
            status = self.stage.api.get(path).body.get("status") or {}
            results = status.get("allocation", {}).get("devices", {}).get("results", ())
            found[name] = [f"{each['request']} {each['pool']}/{each['device']}" for each in results]
        return found

    def _bound_for(self, pod: Object) -> str:
        """The node for which the scheduler has written down volumes, which it then waits for in vain; undone here."""
        names = [
            volume["persistentVolumeClaim"]["claimName"]
            for volume in pod["spec"].get("volumes", ())
            if "persistentVolumeClaim" in volume
        ]
        if not names:
            return ""
        metadata = pod["metadata"]
        log = self.scheduler.binding(f"{metadata['namespace']}/{metadata['name']}")
        if log:
            self.stage.remove(pod)
            time.sleep(0.3)
            self._undo(metadata["namespace"], names)
        return log

    def _undo(self, namespace: str, names: list[str]) -> None:
        for name in names:
            path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}"
            self.stage.api.patch(path, "merge", {"metadata": {"annotations": {_SELECTED: None}}})
        for volume in self.stage.api.get("/api/v1/persistentvolumes").body["items"]:
            taken = volume["spec"].get("claimRef", {})
            is_free = volume["status"].get("phase") == "Available"
            if is_free and taken.get("namespace") == namespace and taken.get("name") in names:
                path = f"/api/v1/persistentvolumes/{volume['metadata']['name']}"
                self.stage.api.patch(path, "merge", {"spec": {"claimRef": None}})
        time.sleep(0.2)

    def _rejected(self, there: Object, condition: Object) -> Answer:
        answer: Answer = {"message": condition["message"]}
        if condition["reason"] == "SchedulerError":
            answer["error"] = True
        if node := there["status"].get("nominatedNodeName"):
            victims = self._victims()
            keys = [f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in victims]
            answer |= {"nominated": node, "victims": keys}
            self.stage.remove(there)
            for victim in victims:
                self.stage.remove(victim)
        return answer

    def _victims(self) -> list[Object]:
        """Pods that are being deleted, once there are some and no more come."""
        before = -1
        for _ in range(100):
            found = [pod for pod in self.stage.pods() if "deletionTimestamp" in pod["metadata"]]
            if found and len(found) == before:
                return sorted(found, key=lambda pod: (pod["metadata"]["namespace"], pod["metadata"]["name"]))
            before = len(found)
            time.sleep(0.15)
        raise AssertionError("a node is nominated, and nobody is preempted")


def recorded() -> dict[int, Answer]:
    lines = lzma.decompress(RECORDING.read_bytes()).splitlines() if RECORDING.exists() else []
    cases = map(json.loads, lines)
    return {case["seed"]: case for case in cases}


def write(answers: dict[int, Answer]) -> None:
    text = "".join(json.dumps(answers[seed], separators=(",", ":")) + "\n" for seed in sorted(answers))
    RECORDING.parent.mkdir(exist_ok=True)
    RECORDING.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def main() -> None:
    seeds = list(map(int, sys.argv[1:])) or list(SEEDS)
    answers = recorded()
    with tempfile.TemporaryDirectory() as folder, real_scheduler(Path(folder)) as scheduler:
        stage = Stage(scheduler.api)
        for number, seed in enumerate(seeds, 1):
            try:
                answers[seed] = {"seed": seed, **Play(scheduler, stage, live_world(seed)).run()}
            finally:
                stage.clear()
            stage.settle()
            print(f"{number} of {len(seeds)}: seed {seed}, {len(answers[seed]['pods'])} pods", flush=True)
            if number % 20 == 0:
                write(answers)
    write(answers)


if __name__ == "__main__":
    main()
