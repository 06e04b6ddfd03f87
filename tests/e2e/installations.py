"""Homes for installations: the embedded cluster, and a real control plane with `mooring run` beside it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from mooring.catalog import CATALOG
from mooring.client.rest_mapper import RestMapper
from mooring.features.installation.api.names import API_VERSION
from mooring.features.installation.feature import INSTALLATION
from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.controlplane import write_kubeconfig
from mooring.testing.homes import EMBEDDED, Home, whole
from mooring.testing.http import Answer, Api
from mooring.testing.installations import helm_chart, installation
from mooring.testing.processes import ProgramProcess, free_port
from mooring.testing.tools import tool
from scripts.rbac import FOLDER
from tests.support.chart_repositories import chart_repository, helm

PATIENCE_SECONDS = 60.0
PATH = f"/apis/{API_VERSION}/installations"
NODE = "plain"
_NAMES = ",".join(INSTALLATION.names)
# Helm 3 lists some states by default, and Helm 4 all of them without a flag for it.
_ALL_STATES = ("--deployed", "--failed", "--pending", "--superseded", "--uninstalled", "--uninstalling")
_ENDS = ("Installed", "Failed", "Cancelled")


class InstallationSite:
    """A cluster and a chart repository, and verbs to speak of what is installed."""

    def __init__(self, home: Home, api: Api, url: str, folder: Path, kill: Callable[[], None]) -> None:
        self.home, self.api, self.url, self._folder = home, api, url, folder
        # kill -9 of the process with the controllers; another one takes over.
        self.kill = kill

    # Acting

    def asks(
        self,
        name: str,
        chart: str = "workspace",
        version: str = "0.8.0",
        *,
        user: str = "",
        values: Any = None,
        **spec: Any,
    ) -> Answer:
        """An Installation with one chart, whose release and namespace are called like it."""
        made = helm_chart(name, version, chart=chart, namespace=name, **({} if values is None else {"values": values}))
        body = installation(name, made, url=self.url, **{"timeoutSeconds": 60, **spec})
        headers = {"Impersonate-User": user} if user else {}
        return self.api.request("POST", PATH, body, headers=headers)

    def change(self, name: str, **spec: Any) -> None:
        answer = self.api.patch(f"{PATH}/{name}", "merge", {"spec": spec})
        assert answer.code == 200, answer.body

    def turns_to(self, name: str, chart: str, version: str, *, values: Any = None, **spec: Any) -> None:
        made = helm_chart(name, version, chart=chart, namespace=name, **({} if values is None else {"values": values}))
        self.change(name, charts=[made], **spec)

    def deletes(self, name: str) -> None:
        assert self.api.delete(f"{PATH}/{name}").code == 200
        self.until(lambda: self.api.get(f"{PATH}/{name}").code == 404, f"{name} is uninstalled")

    def helm(self, *arguments: str) -> str:
        done = helm(*arguments, kubeconfig=self.home.kubeconfig, folder=self._folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def mooring(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "KUBECONFIG": str(self.home.kubeconfig)}
        command = [sys.executable, "-m", "mooring", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    # Looking

    def status(self, name: str) -> Object:
        found: Object = self.api.get(f"{PATH}/{name}").body.get("status", {})
        return found

    def reason(self, name: str) -> str:
        conditions = self.status(name).get("conditions") or [{}]
        return str(conditions[0].get("reason"))

    def release(self, name: str) -> Object | None:
        """What real Helm says of a release, which has the name of its namespace."""
        found = json.loads(self.helm("list", "-n", name, *_ALL_STATES, "-o", "json"))
        return next((each for each in found if each["name"] == name), None)

    def has_namespace(self, name: str) -> bool:
        answer = self.api.get(f"/api/v1/namespaces/{name}")
        return answer.code == 200 and "deletionTimestamp" not in answer.body["metadata"]

    def until(self, holds: Callable[[], bool], what: str, seconds: float = PATIENCE_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, f"not in {seconds:.0f} s: {what}"
            time.sleep(0.1)

    def ended(self, name: str) -> Object:
        """The status once an installation has come to an end, whichever it is."""
        self.until(lambda: self._has_ended(name), f"{name} ends; it is {self.status(name).get('message')}")
        return self.status(name)

    def _has_ended(self, name: str) -> bool:
        found = self.api.get(f"{PATH}/{name}").body
        status = found.get("status", {})
        told = status.get("conditions") or [{}]
        is_current = told[0].get("observedGeneration") == found["metadata"]["generation"]
        return status.get("phase") in _ENDS and is_current


@contextmanager
def site_in(name: str, folder: Path) -> Iterator[InstallationSite]:
    flags = ("--helm", str(tool("helm")))
    with (
        chart_repository(folder / "charts") as url,
        whole(name, folder / "home", [node(NODE)], up_arguments=flags) as home,
        home.api() as api,
    ):
        if name == EMBEDDED:
            yield InstallationSite(home, api, url, folder, lambda: os.kill(controllers_of(home), signal.SIGKILL))
            return
        running = _Running(home, api, _account(home, api), flags)
        try:
            yield InstallationSite(home, api, url, folder, running.kill)
        finally:
            running.process.stop()


def _account(home: Home, api: Api) -> Path:
    """A kubeconfig with the rights that config/rbac has for installations, and no others."""
    wanted = [*CATALOG.definitions(INSTALLATION.names)]
    for path in sorted(FOLDER.glob("*.yaml")):
        wanted += yaml.safe_load_all(path.read_text(encoding="utf-8"))
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "mooring:installation"}
    subject = {"kind": "ServiceAccount", "name": "mooring", "namespace": "mooring-system"}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "roleRef": role}
    wanted.append({**binding, "metadata": {"name": "mooring:installation"}, "subjects": [subject]})
    for obj in wanted:
        place = RestMapper().find(obj["apiVersion"], obj["kind"])
        assert place is not None
        where = place.object(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        answer = api.patch(where, "apply", obj, fieldManager="test", force="true")
        assert answer.code in (200, 201), answer.body
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = api.post("/api/v1/namespaces/mooring-system/serviceaccounts/mooring/token", request)
    kubeconfig = home.folder / "account.kubeconfig"
    write_kubeconfig(kubeconfig, "account", home.url, home.ca, token.body["status"]["token"])
    return kubeconfig


class _Running:
    """`mooring run` beside a real control plane."""

    def __init__(self, home: Home, api: Api, kubeconfig: Path, flags: tuple[str, ...]) -> None:
        self._home, self._api = home, api
        command = [sys.executable, "-m", "mooring", "run", "--controllers", _NAMES, "--no-leader-elect", *flags]
        command += ["--kubeconfig", str(kubeconfig), "--webhook-url", f"https://127.0.0.1:{free_port()}"]
        self._command = [*command, "--webhook-certificates", str(home.folder / "webhooks")]
        self.process = self._started()

    def kill(self) -> None:
        self.process.kill()
        self.process = self._started()

    def _started(self) -> ProgramProcess:
        process = ProgramProcess(self._command, self._home.folder / "installations.log")
        process.wait_until(self._is_asked, PATIENCE_SECONDS)
        return process

    def _is_asked(self) -> bool:
        stamped = self._api.post(PATH, installation("nobody"), dryRun="All")
        return bool(stamped.code == 201 and "requestedBy" in stamped.body["spec"])


def controllers_of(home: Home) -> int:
    """The process of `mooring up` that runs the controllers. If it ends, its supervisor starts another one."""
    wanted = str(home.folder).encode()
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            if b"mooring.supervisor.controllers" in command and _parent_has(int(entry.name), wanted):
                return int(entry.name)
        except OSError:
            continue
    raise AssertionError("there is no controllers process")


def _parent_has(pid: int, text: bytes) -> bool:
    parent = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
    return text in Path(f"/proc/{parent}/cmdline").read_bytes()
