"""The real scheduler and controllers of Kubernetes, unmodified, on the embedded API server: ours are left out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mooring.testing.homes import EMBEDDED, Home, whole
from mooring.testing.http import Api
from mooring.testing.processes import ProgramProcess
from tests.external.conftest import required

PATIENCE_SECONDS = 90.0
# What only this machine can play: nodes, and the containers on them.
OURS = "nodes,stages"


@pytest.fixture(scope="module")
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("kube")
    with whole(EMBEDDED, folder / "home", up_arguments=("--controllers", OURS)) as home:
        running = [start(name, home, folder) for name in ("kube-scheduler", "kube-controller-manager")]
        try:
            yield home
        finally:
            for each in running:
                each.stop()


def start(name: str, home: Home, folder: Path) -> ProgramProcess:
    asks = [f"--{use}kubeconfig={home.kubeconfig}" for use in ("", "authentication-", "authorization-")]
    command: list[str | Path] = [
        required(name),
        *asks,
        "--leader-elect=false",
        "--secure-port=0",
        f"--cert-dir={folder / name}",
    ]
    return ProgramProcess(command, folder / f"{name}.log")


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"not in {PATIENCE_SECONDS:.0f} s: {what}"
        time.sleep(0.2)


def test_a_deployment_runs_and_goes(kube: Home) -> None:
    pod = {"containers": [{"name": "main", "image": "serve:1"}]}
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    with Api(kube.url, kube.token, kube.ca) as api:
        path = "/apis/apps/v1/namespaces/default/deployments"
        assert api.post(path, {"metadata": {"name": "web"}, "spec": spec}).code == 201
        until(lambda: api.get(f"{path}/web").body.get("status", {}).get("readyReplicas") == 3, "three pods are ready")
        pods = "/api/v1/namespaces/default/pods"
        assert all(each["spec"]["nodeName"] for each in api.get(pods).body["items"])
        assert api.delete(f"{path}/web").code == 200
        until(lambda: not api.get(pods).body["items"], "the garbage collector took the pods")
