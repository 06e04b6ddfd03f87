"""The probes of a pod that serves a model. Loading it may take long: a startup probe comes before the others."""

from __future__ import annotations

import math
from typing import Final

from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.sizing.models import Model
from mooring.features.workspaces.workload.commands import leader_host, shell
from mooring.features.workspaces.workload.ports import LEADER_PORT, serving_port
from mooring.kube.objects import Object

__all__ = ["probes"]

_PERIOD_SECONDS: Final = 10
# As long as the benchmark runs, and a while more.
_BENCHMARK_TIMEOUT_SECONDS: Final = 600
BENCHMARK_SCRIPT: Final = "/workspace/vllm/benchmark_entrypoint.py"
_HEALTH_CHECK: Final = "python3 /workspace/vllm/multi-node-health-check.py"


def probes(workspace: Workspace, model: Model, *, nodes: int, benchmark: bool) -> Object:
    """Those of one node ask the server; those of several ask the leader, because workers serve nothing."""
    failures = math.ceil(model.startup_seconds / _PERIOD_SECONDS)
    health = {"httpGet": {"path": "/health", "port": serving_port(workspace)}, "periodSeconds": _PERIOD_SECONDS}
    found: Object = {
        "startupProbe": {**health, "failureThreshold": failures},
        "livenessProbe": {**health, "failureThreshold": 3},
        "readinessProbe": {**health, "initialDelaySeconds": 30},
    }
    if nodes > 1:
        found = _distributed(workspace, failures)
    if benchmark:
        found["startupProbe"] = {
            "exec": {"command": _benchmark(nodes)},
            "periodSeconds": _PERIOD_SECONDS,
            "timeoutSeconds": _BENCHMARK_TIMEOUT_SECONDS,
            "failureThreshold": failures,
        }
    return found


def _distributed(workspace: Workspace, failures: int) -> Object:
    def check(kind: str, flag: str, port: int) -> Object:
        command = f"{_HEALTH_CHECK} {kind} --leader-address={leader_host(workspace)} --{flag}={port}"
        return {"exec": {"command": shell(command)}, "periodSeconds": _PERIOD_SECONDS}

    ready = check("readiness", "vllm-port", serving_port(workspace))
    return {
        "startupProbe": {**ready, "timeoutSeconds": 1, "failureThreshold": failures},
        # Workers need a minute to join. After that one dead actor stops the whole model.
        "livenessProbe": {
            **check("liveness", "ray-port", LEADER_PORT),
            "initialDelaySeconds": 60,
            "timeoutSeconds": 5,
            "failureThreshold": 1,
            "terminationGracePeriodSeconds": 1,
        },
        "readinessProbe": {**ready, "timeoutSeconds": 1, "failureThreshold": 1},
    }


def _benchmark(nodes: int) -> list[str]:
    if nodes == 1:
        return ["python3", BENCHMARK_SCRIPT]
    # Workers have nothing to measure, and must not wait for the leader.
    return shell(f'if [ "$POD_INDEX" = "0" ]; then python3 {BENCHMARK_SCRIPT}; else true; fi')
