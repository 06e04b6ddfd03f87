"""A cluster that real hosts can join, of either home, and a way to kill its API server."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mooring.catalog import CATALOG
from mooring.features.hosts.feature import HOSTS
from mooring.features.machines.feature import MACHINES
from mooring.kube.objects import Object
from mooring.net.certificates import KUBELET_CLIENT_USER
from mooring.testing.controlplane import EXTRAS, ControlPlane
from mooring.testing.homes import EMBEDDED, GATES, Home, home_in, whole
from mooring.testing.processes import ProgramProcess, free_port
from tests.realnode.agent import command_line

__all__ = ["cluster_for_hosts"]

READY_SECONDS = 60.0
PARTS = [name for feature in (HOSTS, MACHINES) for name in feature.names if name not in feature.on_request]
RBAC = "/apis/rbac.authorization.k8s.io/v1"


@contextmanager
def cluster_for_hosts(name: str, folder: Path, host: str) -> Iterator[tuple[Home, Callable[[], None]]]:
    """The home, served at `host`, and what kills its API server, which comes back by itself."""
    if name == EMBEDDED:
        with whole(EMBEDDED, folder, host=host) as home:
            yield home, lambda: _kill_embedded(home)
        return
    with ControlPlane(folder, EXTRAS, gates=GATES, host=host) as plane:
        home = home_in(plane)
        _define(home)
        command: list[str | Path] = [
            sys.executable,
            "-m",
            "mooring",
            "run",
            "--no-leader-elect",
            "--kubeconfig",
            home.kubeconfig,
        ]
        command += ["--controllers", ",".join(PARTS), "--webhook-url", f"https://127.0.0.1:{free_port()}"]
        process = ProgramProcess(command, folder / "run.log")
        try:
            process.wait_until(lambda: _is_registered(home), READY_SECONDS)
            yield home, plane.kill_api_server
        finally:
            process.stop()


def _define(home: Home) -> None:
    """What an administrator applies from config/crd and config/rbac, and kubelets' trust in the API server."""
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:kubelet-api-admin"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": KUBELET_CLIENT_USER}
    trust: Object = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "kubelets"},
        "roleRef": role,
        "subjects": [subject],
    }
    with home.api() as api:
        for each in CATALOG.definitions(PARTS):
            _applied(api.patch(_path("/apis/apiextensions.k8s.io/v1", each), "apply", each, fieldManager="test").code)
        for each in (*CATALOG.rules(PARTS), trust):
            _applied(api.patch(_path(RBAC, each), "apply", each, fieldManager="test").code)


def _path(base: str, obj: Object) -> str:
    return f"{base}/{obj['kind'].lower()}s/{obj['metadata']['name']}"


def _applied(code: int) -> None:
    assert code in (200, 201)


def _is_registered(home: Home) -> bool:
    with home.api() as api:
        found = api.get("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations")
        return bool(found.body["items"])


def _kill_embedded(home: Home) -> None:
    """kill -9 of the API server's process; its parent, `mooring up`, starts it again."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and b"mooring.supervisor.server" in command_line(entry):
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            if str(home.folder).encode() in command_line(Path("/proc", parent)):
                os.kill(int(entry.name), signal.SIGKILL)
                return
    raise AssertionError("no API server runs")
