"""Homes for Workspaces: the embedded cluster, and a real control plane with `mooring run` beside it, in each mode.

How nodes come to Workspaces is decided when a process starts, so every mode is a start. The control plane is started
once and stays; `mooring run` is started beside it anew.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from mooring.catalog import CATALOG
from mooring.features.workspaces.feature import SIMULATED_CLAIMS, WORKSPACES
from mooring.features.workspaces.provisioning.api import NodeClaim
from mooring.features.workspaces.provisioning.simulated_node import claimed_type, simulated_node
from mooring.features.workspaces.sizing.instance_types import find_instance_type
from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.conditions import has_condition
from mooring.testing.homes import EMBEDDED, REAL, Home, simulated, whole
from mooring.testing.http import Answer, Api
from mooring.testing.processes import ProgramProcess, free_port
from tests.features.workspaces.objects import gpu_node, workspace

PATIENCE_SECONDS = 60.0
# How nodes come to Workspaces, as flags.
MODES: Mapping[str, tuple[str, ...]] = {
    "brought": (),
    "patient": ("--not-ready-nodes", "pending"),
    "provisioned": ("--feature-gates", "disableNodeAutoProvisioning=false"),
}
_FILLED = ("Launched", "Registered", "Initialized", "Ready")
# A node that no Workspace selects: with none at all the embedded cluster brings its own fleet.
FLEET = [node("plain")]
_CONTROLLERS = "workspaces,workspaces-webhook"
_CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/mooring"


@contextmanager
def control_plane(folder: Path) -> Iterator[Home]:
    """A real one, with simulated nodes and our kinds, and nobody yet who works on them.

    NodeClaims are defined as by a provisioner, whose part the stories play.
    """
    with whole(REAL, folder, FLEET) as home:
        with home.api() as api:
            for definition in CATALOG.definitions((*WORKSPACES.names, *SIMULATED_CLAIMS.names)):
                path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{definition['metadata']['name']}"
                answer = api.patch(path, "apply", definition, fieldManager="test", force="true")
                assert answer.code in (200, 201), answer.body
        yield home


@contextmanager
def embedded(folder: Path, mode: str) -> Iterator[Home]:
    with whole(EMBEDDED, folder, FLEET, up_arguments=("--node-claim-delay", "1s", *MODES[mode])) as home:
        yield home


@contextmanager
def beside(home: Home, mode: str) -> Iterator[Home]:
    """`mooring run` beside a control plane, once the API server asks its webhooks."""
    command = [sys.executable, "-m", "mooring", "run", "--controllers", _CONTROLLERS, "--no-leader-elect", *MODES[mode]]
    command += ["--webhook-url", f"https://127.0.0.1:{free_port()}", "--kubeconfig", str(home.kubeconfig)]
    command += ["--webhook-certificates", str(home.folder / f"{mode}-webhooks")]
    with home.api() as api:
        process = ProgramProcess(command, home.folder / f"{mode}.log")
        try:
            process.wait_until(lambda: _is_asked(api), PATIENCE_SECONDS)
            yield home
        finally:
            process.stop()
            api.delete(_WEBHOOKS)


def _is_asked(api: Api) -> bool:
    nowhere = workspace(preset="phi-2")
    return api.post("/apis/kaito.sh/v1beta1/namespaces/default/workspaces", nowhere, dryRun="All").code == 422


class Site:
    """One namespace and one pool of nodes, both of the same name, and verbs to speak of them."""

    def __init__(self, home: Home, api: Api, name: str) -> None:
        self.home, self.api, self.name = home, api, name
        self._nodes: list[str] = []
        self.done(api.post("/api/v1/namespaces", {"metadata": {"name": name}}))

    # Acting

    def brings(self, *names: str, ready: bool = True, pool: str | None = None, instance_type: str = "") -> None:
        """Nodes with a GPU, simulated ones if they are ready; of the others nothing is ever heard."""
        for name in names:
            made = gpu_node(self.node(name), pool=self.name if pool is None else pool, instance_type=instance_type)
            self.done(self.api.post("/api/v1/nodes", simulated(made) if ready else made))
            self._nodes.append(made["metadata"]["name"])
            if not ready:
                self.reports(name, ready=False)
        for name in names if ready else ():
            self.until(lambda name=name: has_condition(self._node(name), "Ready"), f"{name} is ready")  # type: ignore[misc]

    def reports(self, name: str, *, ready: bool) -> None:
        """A node that is not simulated says how it is."""
        state = ("True", "KubeletReady") if ready else ("False", "KubeletNotReady")
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        told = {"type": "Ready", "status": state[0], "reason": state[1], "lastHeartbeatTime": now}
        body = {"status": {"conditions": [{**told, "lastTransitionTime": now, "message": ""}]}}
        self.done(self.api.patch(f"/api/v1/nodes/{self.node(name)}/status", "strategic", body))

    def labels(self, name: str, pool: str | None) -> None:
        body = {"metadata": {"labels": {"pool": pool}}}
        self.done(self.api.patch(f"/api/v1/nodes/{self.node(name)}", "merge", body))

    def loses(self, name: str) -> None:
        self.done(self.api.delete(f"/api/v1/nodes/{self.node(name)}"))

    def apply(self, obj: Object) -> Answer:
        body = {**obj, "metadata": {**obj["metadata"], "namespace": self.name}}
        return self.api.post(self.path("Workspace"), body)

    def asks(self, name: str = "chat", **fields: object) -> Answer:
        return self.apply(workspace(name, **{"pool": self.name, **fields}))  # type: ignore[arg-type]

    def change(self, body: Object, name: str = "chat") -> Answer:
        return self.api.patch(f"{self.path('Workspace')}/{name}", "merge", body)

    def delete(self, kind: str = "Workspace", name: str = "chat") -> None:
        self.done(self.api.delete(f"{self.path(kind)}/{name}"))

    def fills_claims(self) -> None:
        """What a cloud does. The embedded cluster does it itself."""
        for obj in self.claims() if self.home.name == REAL else ():
            claim = msgspec.convert(obj, NodeClaim)
            known = find_instance_type("azure", claimed_type(claim))
            assert known is not None
            self.done(self.api.post("/api/v1/nodes", simulated_node(claim, known)))
            self._nodes.append(claim.metadata.name)
            now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            told = [
                {"type": each, "status": "True", "reason": each, "message": "", "lastTransitionTime": now}
                for each in _FILLED
            ]
            body = {"status": {"nodeName": claim.metadata.name, "conditions": told}}
            self.done(self.api.patch(f"{_CLAIMS}/{claim.metadata.name}/status", "merge", body))

    def leaves_defaults_of_upstream(self) -> None:
        """What upstream's chart puts beside its operator."""
        self.api.post("/api/v1/namespaces", {"metadata": {"name": "kaito-workspace"}})
        body = {"metadata": {"name": "inference-params-template"}, "data": {"inference_config.yaml": "vllm: {}"}}
        self.api.post("/api/v1/namespaces/kaito-workspace/configmaps", body)

    def done(self, answer: Answer) -> Object:
        assert answer.code in (200, 201), answer.body
        found: Object = answer.body
        return found

    # Looking

    def node(self, name: str) -> str:
        """Nodes are the whole cluster's, so their names tell whose they are."""
        return f"{self.name}-{name}"

    def path(self, kind: str) -> str:
        group = {"Workspace": "/apis/kaito.sh/v1beta1", "StatefulSet": "/apis/apps/v1"}.get(kind, "/api/v1")
        return f"{group}/namespaces/{self.name}/{kind.lower()}s"

    def get(self, kind: str = "Workspace", name: str = "chat") -> Object | None:
        answer = self.api.get(f"{self.path(kind)}/{name}")
        return answer.body if answer.code == 200 else None

    def all(self, kind: str) -> list[Object]:
        found: list[Object] = self.done(self.api.get(self.path(kind)))["items"]
        return found

    def claims(self) -> list[Object]:
        chosen = f"kaito.sh/workspacenamespace={self.name}"
        found: list[Object] = self.done(self.api.get(_CLAIMS, labelSelector=chosen))["items"]
        return found

    def is_told(self, kind: str, status: str = "True", *, reason: str = "", message: str = "") -> bool:
        found = self.get()
        if not has_condition(found, kind, status, reason=reason):
            return False
        assert found is not None
        return any(message in each["message"] for each in found["status"]["conditions"] if each["type"] == kind)

    def succeeds(self) -> None:
        self.until(lambda: self.is_told("WorkspaceSucceeded"), "the Workspace succeeds")

    def events(self, reason: str) -> list[str]:
        return [each.get("message", "") for each in self.all("Event") if each["reason"] == reason]

    def placed(self) -> set[str]:
        """The nodes of its pods, by the names that the story has for them."""
        pods = self.all("Pod")
        return {pod["spec"].get("nodeName", "nowhere").removeprefix(f"{self.name}-") for pod in pods}

    def until(self, what: Callable[[], bool], said: str) -> float:
        """How long it took."""
        began = time.monotonic()
        while not what():
            assert time.monotonic() < began + PATIENCE_SECONDS, f"{said}, but:\n{self._story()}"
            time.sleep(0.02)
        return time.monotonic() - began

    def _node(self, name: str) -> Object | None:
        answer = self.api.get(f"/api/v1/nodes/{self.node(name)}")
        return answer.body if answer.code == 200 else None

    def _story(self) -> str:
        told = [f"{each['metadata']['name']}: {each.get('status')}" for each in self.all("Workspace")]
        pods = [f"{each['metadata']['name']}: {each['status']}" for each in self.all("Pod")]
        events = [f"{each['reason']}: {each.get('message')}" for each in self.all("Event")]
        return "\n".join([*told, *pods, *events[-20:]])

    # The end

    def close(self) -> None:
        for obj in self.all("Workspace"):
            self.api.delete(f"{self.path('Workspace')}/{obj['metadata']['name']}")
        self.until(lambda: not self.all("Workspace"), "Workspaces go")
        for name in self._nodes:
            self.api.delete(f"/api/v1/nodes/{name}")
