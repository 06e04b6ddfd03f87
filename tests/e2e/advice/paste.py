"""A person who asks `mooring explain`, pastes a command that it prints, and waits for what it promised."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from mooring.cli.main import cli
from mooring.features.groups.api import REVISION
from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml
from mooring.testing.conditions import has_condition
from mooring.testing.homes import Home, simulated
from mooring.testing.http import Api
from mooring.testing.tools import tool
from tests.e2e.advice.broken import FILE, NAME, BrokenScene

# How long the cluster may take to do what it is going to do.
PATIENCE = 20.0
POLL = 0.05
# What tells the pods of one version of a template from those of another.
VERSIONS = (REVISION, "pod-template-hash", "controller-revision-hash")
APPLY = "kubectl apply -f -"
PATHS = {
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "Pod": "/api/v1/namespaces/{}/pods",
    "ReplicaSet": "/apis/apps/v1/namespaces/{}/replicasets",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "LeaderWorkerSet": "/apis/leaderworkerset.x-k8s.io/v1/namespaces/{}/leaderworkersets",
    "Workspace": "/apis/kaito.sh/v1beta1/namespaces/{}/workspaces",
}


class Proposal(NamedTuple):
    """What was proposed, and how many pods of the workload it promises a node."""

    title: str
    command: str | None
    new_nodes: list[Object]
    promised: int


class PastingUser:
    """Someone with a shell and kubectl in one scene."""

    def __init__(self, home: Home, api: Api, scene: BrokenScene, folder: Path) -> None:
        self._home, self._api, self._scene = home, api, scene
        self._file = folder / f"{scene.namespace}.yaml"
        self._pods = PATHS["Pod"].format(scene.namespace)
        path = f"{tool('kubectl').parent}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": path, "KUBECONFIG": str(home.kubeconfig)}

    def set_the_scene(self) -> None:
        scene = self._scene
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": scene.namespace}}
        objects = [namespace, *scene.nodes, *scene.storage, *scene.residents]
        self._file.write_text("---\n".join(map(to_yaml, objects)))
        self._shell(f"kubectl apply --validate=false -f {self._file}")
        self._wait("nodes that are ready", self._nodes_are_ready)
        self._wait("residents that run, or are refused", self._residents_are_settled)
        self._file.write_text(to_yaml(scene.workload))
        if scene.form != FILE:
            self._shell(f"kubectl apply --validate=false -f {self._file}")
            self._wait("pods that the scheduler has looked at", self._is_settled)

    def proposals(self) -> list[Proposal]:
        """Those that can be carried out from here; none where all pods land, or nothing can be done."""
        asked = ["-f", str(self._file)]
        if self._scene.form != FILE:
            asked = [f"{self._scene.workload['kind'].lower()}/{NAME}", "-n", self._scene.namespace]
        result = CliRunner().invoke(
            cli, ["explain", *asked, "-o", "json", "--limit", "10", "--kubeconfig", str(self._home.kubeconfig)]
        )
        assert result.exit_code in (0, 2), f"explain {asked}: {result.output}{result.exception!r}"
        answer = json.loads(result.stdout)
        pods = answer.get("pods", [answer])
        landing = sum(each["lands"] for each in pods)
        found = []
        for advice in (advice for each in pods for advice in each["advice"]):
            added = [edit["after"] for edit in advice["edits"] if edit["op"] == "addNode"]
            if advice["command"] is not None or len(added) == len(advice["edits"]):
                promised = advice.get("brings", min(landing + 1, len(pods)))
                found.append(Proposal(advice["title"], advice["command"], added, promised))
        return found

    def paste(self, proposal: Proposal) -> None:
        for made in proposal.new_nodes:
            self._create_node(made)
        if proposal.command is not None and "--local" in proposal.command:
            command = proposal.command
            self._shell(command if command.endswith(APPLY) else f"{command} | {APPLY}")
            return
        if proposal.command is not None:
            self._shell(proposal.command)
        if self._scene.form == FILE:
            self._shell(f"kubectl apply --validate=false -f {self._file}")

    def landed(self) -> int:
        """How many pods of the workload have a node, of that version of its template of which there are most."""
        versions: Counter[str] = Counter()
        for pod in self._own_pods():
            if pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]:
                labels = pod["metadata"].get("labels") or {}
                versions[next((labels[key] for key in VERSIONS if key in labels), "")] += 1
        return max(versions.values(), default=0)

    def wait_for(self, promised: int) -> bool:
        end = time.monotonic() + PATIENCE
        while self.landed() < promised:
            if time.monotonic() > end:
                return False
            time.sleep(POLL)
        return True

    def story(self) -> str:
        """What the cluster looks like, for the one who has to find out why."""
        pods = [f"{pod['metadata']['name']} on {pod['spec'].get('nodeName')}: {_why(pod)}" for pod in self._own_pods()]
        found = [*self._scene.storage, self._workload(), *self._scene.nodes]
        return "\n".join([*map(to_yaml, found), *pods])

    def leave(self) -> None:
        """Take away everything, at once: the next scene must not see any of it."""
        scene = self._scene
        self._api.delete(f"{PATHS[scene.workload['kind']].format(scene.namespace)}/{NAME}")
        for each in self._api.get("/api/v1/nodes").body["items"]:
            self._api.delete(f"/api/v1/nodes/{each['metadata']['name']}")
        for disk in (each for each in scene.storage if each["kind"] == "PersistentVolume"):
            self._api.delete(f"/api/v1/persistentvolumes/{disk['metadata']['name']}")
        self._api.delete(f"/api/v1/namespaces/{scene.namespace}")

        def is_clear() -> bool:
            for each in self._api.get(self._pods).body["items"]:
                self._api.delete(f"{self._pods}/{each['metadata']['name']}", gracePeriodSeconds="0")
            return not self._api.get(self._pods).body["items"] and not self._api.get("/api/v1/nodes").body["items"]

        self._wait("an empty cluster", is_clear)

    def _workload(self) -> Object:
        """As it is in the cluster, or as it was written."""
        answer = self._api.get(f"{PATHS[self._scene.workload['kind']].format(self._scene.namespace)}/{NAME}")
        return answer.body if answer.code == 200 else self._scene.workload

    def _create_node(self, made: Object) -> None:
        status = made["status"]
        whole = {"apiVersion": "v1", "kind": "Node", **made, "status": {**status, "capacity": status["allocatable"]}}
        answer = self._api.post("/api/v1/nodes", simulated(whole))
        assert answer.code == 201, answer.body

    def _shell(self, command: str) -> None:
        done = subprocess.run(["sh", "-c", command], env=self._environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"

    def _wait(self, what: str, is_there: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not is_there():
            assert time.monotonic() < end, f"no {what} in {PATIENCE:g} s\n{self.story()}"
            time.sleep(POLL)

    def _nodes_are_ready(self) -> bool:
        return all(_is_ready(each) for each in self._api.get("/api/v1/nodes").body["items"])

    def _residents_are_settled(self) -> bool:
        """More may be put on a node than it has room for: it then refuses some, which hold nothing."""
        return all(pod["status"].get("phase") in ("Running", "Failed") for pod in self._listed("resident=true"))

    def _is_settled(self) -> bool:
        pods = self._own_pods()
        status = self._workload().get("status") or {}
        # A DaemonSet may choose no node.
        expected = status.get("desiredNumberScheduled", 1) if "observedGeneration" in status else 1
        return len(pods) >= expected and all(pod["spec"].get("nodeName") or _why(pod) for pod in pods)

    def _own_pods(self) -> list[Object]:
        return self._listed("!resident")

    def _listed(self, selector: str) -> list[Any]:
        items: list[Any] = self._api.get(self._pods, labelSelector=selector).body["items"]
        return items


def _why(pod: Object) -> str:
    conditions = pod["status"].get("conditions") or ()
    return next((c.get("message", "") for c in conditions if c["type"] == "PodScheduled" and c["status"] != "True"), "")


def _is_ready(item: Object) -> bool:
    keys = {taint["key"] for taint in item["spec"].get("taints") or ()}
    return has_condition(item, "Ready") and "node.kubernetes.io/not-ready" not in keys
