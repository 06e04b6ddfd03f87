"""Keeps a cluster busy: Deployments that are rolled over, one after the other, until standard input ends."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.wire import ApiEndpoint, Wire

NODES = 10
_DEPLOYMENTS = 8
_REPLICAS = 10
# A roll-over of ten replicas twice a second is about twenty pods made, placed, started and removed every second.
_POLL_SECONDS = 0.5
_SPACE = "churn"
_PATH = f"/apis/apps/v1/namespaces/{_SPACE}/deployments"


@contextmanager
def busy(endpoint: ApiEndpoint) -> Iterator[None]:
    """The controllers of a cluster have their hands full while this lasts."""
    command = [sys.executable, "-m", "bench.churn", endpoint.text()]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        if not worker.stdout.readline():
            raise RuntimeError("the workload that keeps the cluster busy could not be made")
        yield
    finally:
        worker.communicate("")
    if worker.returncode:
        raise RuntimeError("the workload that keeps the cluster busy broke off")


def _wait_for_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def churn(endpoint: ApiEndpoint) -> None:
    wire = Wire(endpoint)
    over = threading.Event()
    threading.Thread(target=_wait_for_end, args=(over,), daemon=True).start()
    wire.call("POST", "/api/v1/namespaces", {"metadata": {"name": _SPACE}})
    for number in range(_DEPLOYMENTS):
        wire.call("POST", _PATH, _deployment(number))
    _wait_for_pods(wire, over)
    print("busy", flush=True)
    turn = 0
    while not over.wait(_POLL_SECONDS):
        patch = {"spec": {"template": {"metadata": {"annotations": {"turn": str(turn)}}}}}
        path = f"{_PATH}/app-{turn % _DEPLOYMENTS}"
        wire.call("PATCH", path, patch, "application/merge-patch+json")
        turn += 1
    wire.close()


def _wait_for_pods(wire: Wire, over: threading.Event) -> None:
    """Until the first pods run, so that what comes next rolls."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not over.wait(0.2):
        items = wire.call("GET", _PATH)["items"]
        if sum((item.get("status") or {}).get("readyReplicas", 0) for item in items) >= _REPLICAS:
            return
    raise RuntimeError("no pod of the workload ran after 60 s")


def _deployment(number: int) -> dict[str, Any]:
    labels = {"app": f"app-{number}"}
    resources = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    spec = {
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "main", "image": "registry.example/app:1", "resources": resources}],
    }
    rolling = {"rollingUpdate": {"maxSurge": "100%", "maxUnavailable": "50%"}}
    template = {"metadata": {"labels": labels}, "spec": spec}
    whole = {"replicas": _REPLICAS, "selector": {"matchLabels": labels}, "strategy": rolling, "template": template}
    return {"metadata": {"name": f"app-{number}"}, "spec": whole}


if __name__ == "__main__":
    churn(ApiEndpoint.of(sys.argv[1]))
