"""What kubelets do in a story: they bind pods, start them, end them and lose them, as the story says."""

from __future__ import annotations

from random import Random
from typing import Any

from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from tests.support.traces.story import Story


class Kubelet:
    """The kubelets of all nodes. With a `draw`, pods have fates; `likely` are the chances of them in one tick."""

    def __init__(self, story: Story, nodes: tuple[str, ...] = ("n0", "n1"), draw: Random | None = None) -> None:
        self.story, self.nodes = story, nodes
        self.draw = draw or Random(0)
        self._addresses = 0

    def pods(self, **labels: str) -> list[Object]:
        found = self.story.all("Pod")
        return [p for p in found if labels.items() <= p["metadata"].get("labels", {}).items()]

    def tick(self, start: float = 1.0, fail: float = 0.0, succeed: float = 0.0, unready: float = 0.0) -> None:
        """Every pod goes one step on: it is bound and started, or ends, or goes when it is deleted."""
        for number, pod in enumerate(sorted(self.pods(), key=lambda each: str(each["metadata"]["name"]))):
            name, phase = pod["metadata"]["name"], pod.get("status", {}).get("phase")
            if "deletionTimestamp" in pod["metadata"]:
                self.remove(pod)
            elif phase in ("Succeeded", "Failed"):
                continue
            elif phase != "Running":
                if self._likely(start):
                    self.bind(pod, self.nodes[number % len(self.nodes)])
                    self.start(name)
            elif self._likely(succeed):
                self.end(name, 0)
            elif self._likely(fail):
                self.end(name, self.draw.choice([1, 3, 137]))
            elif self._likely(unready):
                self.start(name, ready=False)

    def _likely(self, chance: float) -> bool:
        return chance >= 1 or (chance > 0 and self.draw.random() < chance)

    def bind(self, pod: Object, node: str) -> None:
        if not pod["spec"].get("nodeName"):
            self.story.bind(pod, node)

    def start(self, name: str, *, ready: bool = True, restarts: int = 0, namespace: str = "default") -> None:
        pod = self.story.get("Pod", name, namespace)
        assert pod is not None
        status: Object = {"phase": "Running", "startTime": self._now(), "conditions": self._conditions(pod, ready)}
        if "podIP" not in pod.get("status", {}):
            self._addresses += 1
            address = f"10.244.0.{self._addresses}"
            status |= {"podIP": address, "podIPs": [{"ip": address}, {"ip": f"fd00::{self._addresses:x}"}]}
        running = {"running": {"startedAt": self._now()}}
        status["containerStatuses"] = [
            {
                "name": c["name"],
                "image": c["image"],
                "imageID": "",
                "ready": ready,
                "restartCount": restarts,
                "state": running,
            }
            for c in pod["spec"]["containers"]
        ]
        self.status(name, status, namespace, "ready" if ready else "unready")

    def end(
        self, name: str, code: int, *, reason: str = "", conditions: tuple[Object, ...] = (), namespace: str = "default"
    ) -> None:
        pod = self.story.get("Pod", name, namespace)
        assert pod is not None, f"{name} is not there"
        phase = "Failed" if code or reason else "Succeeded"
        ended = {"terminated": {"exitCode": code, "finishedAt": self._now(), "startedAt": self._now()}}
        status: Object = {"phase": phase, "conditions": [*conditions, *self._conditions(pod, ready=False)]}
        if reason:
            status["reason"] = reason
        status["containerStatuses"] = [
            {"name": c["name"], "image": c["image"], "imageID": "", "ready": False, "restartCount": 0, "state": ended}
            for c in pod["spec"]["containers"]
        ]
        self.status(name, status, namespace, f"ends with {code} {reason}".rstrip())

    def remove(self, pod: Object) -> None:
        meta = pod["metadata"]
        if meta.get("finalizers") and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed"):
            self.end(meta["name"], 143, namespace=meta["namespace"])
        if self.story.get("Pod", meta["name"], meta["namespace"]) is not None:
            self.story.delete("Pod", meta["name"], meta["namespace"], told=f"{meta['name']} is gone", grace=0)

    def status(self, name: str, status: Object, namespace: str, told: str) -> None:
        self.story.patch("Pod", name, {"status": status}, "status", namespace, by="kubelet", told=f"{name} {told}")

    def _conditions(self, pod: Object, ready: bool) -> list[Object]:
        known: dict[str, Any] = {each["type"]: each for each in pod.get("status", {}).get("conditions", ())}
        found = [each for kind, each in known.items() if kind not in ("Ready", "ContainersReady")]
        for kind in ("ContainersReady", "Ready"):
            status = "True" if ready else "False"
            old = known.get(kind, {})
            moment = old["lastTransitionTime"] if old.get("status") == status else self._now()
            found.append({"type": kind, "status": status, "lastTransitionTime": moment})
        return found

    def _now(self) -> str:
        return timestamp(self.story.simulation.now)
