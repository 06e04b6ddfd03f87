"""The benchmark of a preset: a pod measures itself at its start and writes the result into its log, where it is read.

Reading a log is an effect. Its result stands in the Workspace's status, as the condition BenchmarkCompleted and as
`performance`, and once it is there it is not read again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

import msgspec

from mooring.api.apps.views import StatefulSet
from mooring.api.conditions import find_condition, is_true
from mooring.api.core.types import View as Typed
from mooring.api.kinds import key_of
from mooring.api.meta import Condition
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.condition_messages import shortened
from mooring.features.workspaces.kinds import WORKSPACE
from mooring.features.workspaces.sizing.models import find_model
from mooring.features.workspaces.workload.probes import BENCHMARK_SCRIPT
from mooring.features.workspaces.workload.stateful_set import runs_benchmark
from mooring.kube.objects import Object
from mooring.runtime.effects import Effect, PodLog, Report, Run
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE, POD

__all__ = ["COMPLETED", "READ_BENCHMARK", "BenchmarkLog", "benchmark_report", "benchmark_result", "is_measured", "read"]

COMPLETED: Final = "BenchmarkCompleted"
FAILED: Final = "BenchmarkFailed"
_LOG_LINES: Final = 500
_CONFIG_TAG: Final = "KAITO_BENCHMARK_CONFIG"
_RESULT_TAG: Final = "KAITO_BENCHMARK_RESULT"
_ENGINE_VERSION: Final = "0.25.1"
# A log without a result is read again this often.
_RETRY_INTERVAL: Final = timedelta(minutes=1)
_TIMEOUT: Final = timedelta(seconds=30)
# How long a measurement takes in a simulation, and what comes of it.
_MODEL_DURATION: Final = timedelta(seconds=1)


class BenchmarkLog(PodLog, frozen=True):
    """The log of a first pod, and how the weights of its model are quantized."""

    quantization: str = ""


class _Result(Typed, frozen=True):
    total: float = msgspec.field(default=0.0, name="vllm_total_tpm")


class _Settings(Typed, frozen=True):
    duration: int = msgspec.field(default=0, name="duration_sec")
    input_tokens: int = msgspec.field(default=0, name="input_tokens")
    output_tokens: int = msgspec.field(default=0, name="output_tokens")
    concurrency: int = msgspec.field(default=0, name="max_concurrency")


def is_measured(view: View, workspace: Workspace, there: StatefulSet | None) -> bool:
    """Whether the workload measures itself: it has the probe for it, and a node that really runs it."""
    preset = None if workspace.inference is None else workspace.inference.preset
    if preset is None or there is None or not runs_benchmark(workspace) or not _has_probe(there):
        return False
    first = view.get(POD, workspace.metadata.namespace, f"{workspace.metadata.name}-0")
    node = view.get(NODE, "", first.spec.node_name) if first is not None and first.spec.node_name else None
    return node is None or node.metadata.annotations.fake != "fake"


def benchmark_result(workspace: Workspace) -> Condition | None:
    """What is known of the result: None while the log has not been read."""
    return find_condition(workspace.status.conditions, COMPLETED)


def read(view: View, workspace: Workspace, now: datetime) -> tuple[Run, ...]:
    """The reading of the log, for as long as there is no result."""
    if is_true(workspace.status.conditions, COMPLETED):
        return ()
    view.poll_again(now + _RETRY_INTERVAL)
    preset = None if workspace.inference is None else workspace.inference.preset
    model = None if preset is None else find_model(preset.name)
    name = workspace.metadata.name
    log = BenchmarkLog(
        workspace.metadata.namespace, f"{name}-0", name, _LOG_LINES, "" if model is None else model.quantization
    )
    attempt = int(now.timestamp() // _RETRY_INTERVAL.total_seconds())
    return (Run(READ_BENCHMARK, WORKSPACE, key_of(workspace), str(attempt), log),)


def benchmark_report(log: BenchmarkLog, text: str, problem: str) -> Report:
    """What the end of a log says. `problem` is why it could not be read."""
    where = f"pod {log.namespace}/{log.pod}"
    if problem:
        return _failed(f"the log of {where} cannot be read: {problem}")
    lines = text.splitlines()
    found = _last(lines, _RESULT_TAG)
    if not found:
        return _failed(f"{where}: there is no line {_RESULT_TAG} in the last {log.lines} lines of its log")
    try:
        total = msgspec.json.decode(found, type=_Result).total
    except msgspec.MsgspecError as error:
        return _failed(f"{where}: the line {_RESULT_TAG} of its log cannot be read: {error}")
    if total <= 0:
        return _failed(f"{where}: {_figure(total)} tokens a minute mean that the benchmark failed or was cut short")
    metric = {
        "description": "stress/high-concurrency",
        "value": _figure(total),
        "unit": "tokens/min",
        "config": {
            **_config(_last(lines, _CONFIG_TAG)),
            "engine": "vllm",
            "engineVersion": _ENGINE_VERSION,
            "quantization": log.quantization,
        },
    }
    condition = Condition(COMPLETED, "True", COMPLETED, "benchmark result has been recorded")
    measured = {"performance": {"metrics": {"peakTokensPerMinute": metric}}}
    return Report("Succeeded", status=measured, conditions=(condition,))


def _failed(text: str) -> Report:
    return Report("Failed", conditions=(Condition(COMPLETED, "False", FAILED, shortened(text)),))


def _last(lines: Iterable[str], tag: str) -> str:
    """What the last line with a tag says, after the tag and a time."""
    found = ""
    for line in lines:
        _, tagged, rest = line.partition(tag)
        _, space, payload = rest.strip().partition(" ")
        if tagged and space and payload.strip():
            found = payload.strip()
    return found


def _config(payload: str) -> Object:
    try:
        found = msgspec.json.decode(payload, type=_Settings)
    except msgspec.MsgspecError:
        return {}
    return {
        "durationSec": str(found.duration),
        "inputTokens": str(found.input_tokens),
        "outputTokens": str(found.output_tokens),
        "maxConcurrency": str(found.concurrency),
    }


def _figure(number: float) -> str:
    """In full and as short as can be, as Go's FormatFloat('f', -1) has it."""
    return f"{Decimal(repr(number)):f}".removesuffix(".0")


def _has_probe(there: StatefulSet) -> bool:
    """One that was made before there was a benchmark has none."""
    containers = (there.spec.template.get("spec") or {}).get("containers") or ()
    probes = (((each.get("startupProbe") or {}).get("exec") or {}).get("command") or () for each in containers)
    return any(BENCHMARK_SCRIPT in " ".join(command) for command in probes)


def _model(log: BenchmarkLog) -> tuple[timedelta, Report]:
    """In a simulation every measurement succeeds and says nothing."""
    condition = Condition(COMPLETED, "True", COMPLETED, "nothing was measured: the workload was simulated")
    return _MODEL_DURATION, Report("Succeeded", conditions=(condition,))


READ_BENCHMARK: Final = Effect(
    "read-benchmark",
    "pod-log",
    BenchmarkLog,
    _TIMEOUT,
    _model,
    parse=benchmark_report,
    done=lambda workspace: is_true(workspace.status.conditions, COMPLETED),
)
