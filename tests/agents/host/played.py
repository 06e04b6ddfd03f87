"""A machine on which an agent can be played: programs that only look like containerd and kubelet, and an API server."""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from mooring.agents.host.cleaning.inventory import node_processes, take_inventory
from mooring.agents.host.root_folder import RootFolder
from mooring.api.crds.resource import definition
from mooring.features.hosts.api.definitions import BYO_HOSTS
from mooring.kube.objects import Object
from mooring.testing.homes import Home
from mooring.testing.http import Api
from mooring.testing.processes import ProgramProcess

T = TypeVar("T")
PATIENCE_SECONDS = 30.0
HOSTS = "/apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/default/byohosts"
MACHINE = {
    "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
    "kind": "ByoMachine",
    "namespace": "default",
    "name": "worker-1",
    "uid": "uid-1",
}
UNREGISTERING = "byoh.infrastructure.cluster.x-k8s.io/unregistering"
# containerd is as good as up when its socket listens; its shim is a process in a session of its own.
CONTAINERD = """#!/bin/sh
echo "containerd $$" >> {log}
{kill}
setsid sleep 1000 &
exec {python} -c '
import socket, sys, tomllib
s = socket.socket(socket.AF_UNIX)
s.bind(tomllib.load(open(sys.argv[1].removeprefix("--config="), "rb"))["grpc"]["address"])
s.listen()
while True:
    s.accept()[0].close()
' "$1"
"""
# A kubelet that has a certificate at once.
KUBELET = """#!/bin/sh
[ "$1" = --version ] && echo "Kubernetes {version}" && exit 0
echo "kubelet $$ $*" >> {log}
{kill}
for word; do
  case "$word" in
    --cert-dir=*) mkdir -p "${{word#*=}}"; touch "${{word#*=}}/kubelet-client-current.pem" ;;
    --kubeconfig=*) touch "${{word#*=}}" ;;
  esac
done
exec sleep 1000
"""
# Kills the agent the first time that it is run.
KILL_ONCE = '[ -e {mark} ] || {{ touch {mark}; kill -9 "$(cat {pid})"; sleep 0.2; }}'


def eventually(look: Callable[[], T | None], what: str) -> T:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {PATIENCE_SECONDS:g} s: {what}")


def serve_hosts(api: Api) -> None:
    """Have the API serve ByoHosts."""
    made = api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(BYO_HOSTS))
    assert made.code in (201, 409), made.body
    eventually(lambda: api.get(HOSTS).code == 200, "ByoHosts served")


@dataclass
class PlayedHost:
    """One host: its folder, its agent, and what the controllers of hosts would do to it."""

    name: str
    folder: Path
    home: Home
    api: Api
    version: str = "v1.35.8"
    agents: list[ProgramProcess] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.programs.mkdir(parents=True)
        self.put_program("containerd", CONTAINERD)
        self.put_program("kubelet", KUBELET)
        self.put_program("runc", "#!/bin/sh\n")

    @property
    def programs(self) -> Path:
        return self.folder / "bundles" / "bin"

    @property
    def root(self) -> RootFolder:
        return RootFolder(self.folder / "root")

    @property
    def started(self) -> list[str]:
        """A line for each time that a program was started."""
        path = self.folder / "started"
        return path.read_text().splitlines() if path.exists() else []

    def put_program(self, name: str, text: str, *, kills: bool = False) -> None:
        """`kills`: the program kills the agent the first time that it is run."""
        path = self.programs / name
        path.write_text(
            text.format(
                log=self.folder / "started",
                version=self.version,
                python=sys.executable,
                kill=self.kill_once(name) if kills else "",
            )
        )
        path.chmod(0o755)

    def kill_once(self, name: str) -> str:
        return KILL_ONCE.format(mark=self.folder / f"killed-{name}", pid=self.folder / "pid")

    # The agent

    def start(self, *arguments: str) -> ProgramProcess:
        command: list[str | Path] = [sys.executable, "-m", "mooring", "agent", "--kubeconfig", self.home.kubeconfig]
        command += ["--hostname-override", self.name, "--root", self.root.path, "--metricsbindaddress", "0"]
        command += ["--downloadpath", self.folder / "bundles", *arguments]
        agent = ProgramProcess(command, self.folder / "agent.log")
        (self.folder / "pid").write_text(str(agent.pid))
        self.agents.append(agent)
        return agent

    def keep_agent(self, look: Callable[[], T | None], what: str, *arguments: str) -> T:
        """Start the agent again whenever it was killed, until something is so."""

        def looked() -> T | None:
            if not self.agents or not self.agents[-1].running():
                self.start(*arguments)
            return look()

        return eventually(looked, f"{what}\n{self.agents[-1].tail() if self.agents else ''}")

    def end(self) -> None:
        """Leave nothing of a test behind, however it went."""
        for agent in self.agents:
            agent.kill()
        for pid in node_processes(self.root):
            os.kill(pid, signal.SIGKILL)

    def left_on_the_machine(self) -> list[str]:
        """What is there of a claim. Others share the machine, so only what bears the host's own names is told."""
        names = (str(self.root.path), self.root.short_mark)
        return [
            line
            for line in take_inventory(self.root).lines()
            if line.startswith("process ") or any(name in line for name in names)
        ]

    # The API

    @property
    def path(self) -> str:
        return f"{HOSTS}/{self.name}"

    @property
    def host(self) -> Object | None:
        found = self.api.get(self.path)
        return found.body if found.code == 200 else None

    @property
    def status(self) -> Object:
        return (self.host or {}).get("status") or {}

    def condition(self, kind: str) -> Object | None:
        return next((each for each in self.status.get("conditions") or () if each["type"] == kind), None)

    def says(self, kind: str, status: str) -> Object | None:
        found = self.condition(kind)
        return found if found is not None and found["status"] == status else None

    def patch(self, body: Object, subresource: str = "") -> Object:
        answer = self.api.patch(f"{self.path}{subresource}", "merge", body)
        assert answer.code == 200, answer.body
        found: Object = answer.body
        return found

    def secret(self, name: str, **data: str) -> Object:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
        body = {"metadata": {"name": f"{self.name}-{name}"}, "data": encoded}
        answer = self.api.post("/api/v1/namespaces/default/secrets", body)
        assert answer.code == 201, answer.body
        return {"kind": "Secret", "namespace": "default", "name": f"{self.name}-{name}"}

    def claim(self, *, uid: str = "uid-1", version: str = "", **scripts: str) -> None:
        """What the controller writes once a ByoMachine has the host."""
        bootstrap: Object = {"apiVersion": "v1", "kind": "Config", "current-context": "c", "users": []}
        bootstrap |= {"clusters": [{"name": "c", "cluster": {"server": self.home.url}}], "contexts": []}
        spec: dict[str, Any] = {
            "joinMode": "tlsBootstrap",
            "kubernetesVersion": version,
            "labels": {"purpose": "worker"},
            "bootstrapSecret": self.secret(f"bootstrap-{uid}", value=json.dumps(bootstrap)),
        }
        if scripts:
            spec["installationSecret"] = self.secret(f"install-{uid}", **scripts)
        self.patch({"status": {"machineRef": {**MACHINE, "uid": uid}}}, "/status")
        self.patch({"spec": spec})

    def release(self) -> None:
        self.patch({"metadata": {"annotations": {UNREGISTERING: ""}}})

    def is_released(self) -> bool:
        return "machineRef" not in self.status and self.says("HostClean", "True") is not None
