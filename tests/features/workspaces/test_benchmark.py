"""The benchmark of a preset: what its pod's log says, and what the Workspace makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.features.workspaces.benchmark import BenchmarkLog, benchmark_report
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.testing.workspaces import gpu_node, workspace
from tests.features.workspaces.town import WorkspaceTown

LOG = BenchmarkLog("default", "llm-0", "llm", 500, "fp8")
STAMP = "2026-01-01T00:00:00Z"
CONFIG = '{"duration_sec": 60, "input_tokens": 512, "output_tokens": 128, "max_concurrency": 32}'


def line(tag: str, payload: str) -> str:
    return f"KAITO_BENCHMARK_{tag} {STAMP} {payload}\n"


def result(total: float) -> str:
    return line("RESULT", f'{{"vllm_total_tpm": {total}, "ttft_avg_ms": 12.5}}')


def metric(text: str) -> Object:
    found: Object = benchmark_report(LOG, text, "").status["performance"]["metrics"]["peakTokensPerMinute"]
    return found


def with_failure(town: WorkspaceTown) -> list[Object]:
    """The conditions of a Workspace whose benchmark failed."""
    failed = {
        "type": "BenchmarkCompleted",
        "status": "False",
        "reason": "BenchmarkFailed",
        "message": "no result",
        "lastTransitionTime": timestamp(town.simulation.now),
    }
    found = town.get("Workspace", "llm")["status"]["conditions"]
    return [failed if each["type"] == failed["type"] else each for each in found]


@pytest.mark.parametrize(
    ("log", "value"),
    [
        (result(98000), "98000"),
        (result(1234.5), "1234.5"),
        (result(5000) + "INFO more\n" + result(7000.75), "7000.75"),
        ("(EngineCore) " + result(0.25), "0.25"),
        (result(1e-7), "0.0000001"),
        (result(1e22), "10000000000000000000000"),
    ],
    ids=["whole", "fraction", "the last of several", "after other words", "small", "large"],
)
def test_the_last_result_counts(log: str, value: str) -> None:
    assert metric(log)["value"] == value


def test_the_settings_of_the_benchmark_are_kept_with_its_result() -> None:
    known = {"engine": "vllm", "engineVersion": "0.25.1", "quantization": "fp8"}
    settings = {"durationSec": "60", "inputTokens": "512", "outputTokens": "128", "maxConcurrency": "32"}
    assert metric(line("CONFIG", CONFIG) + result(1))["config"] == {**settings, **known}
    assert metric(line("CONFIG", "{broken") + result(1))["config"] == known


@pytest.mark.parametrize(
    ("log", "problem", "message"),
    [
        ("INFO started\n", "", "pod default/llm-0: there is no line KAITO_BENCHMARK_RESULT in the last 500 lines"),
        (line("RESULT", "{bad"), "", "pod default/llm-0: the line KAITO_BENCHMARK_RESULT of its log cannot be read"),
        (result(-1.0), "", "pod default/llm-0: -1 tokens a minute mean that the benchmark failed"),
        (f"KAITO_BENCHMARK_RESULT {STAMP}\n", "", "pod default/llm-0: there is no line KAITO_BENCHMARK_RESULT"),
        ("", "no such container", "the log of pod default/llm-0 cannot be read: no such container"),
    ],
    ids=["nothing", "no JSON", "failed", "cut short", "no log"],
)
def test_a_log_without_a_result_says_why(log: str, problem: str, message: str) -> None:
    report = benchmark_report(LOG, log, problem)
    (condition,) = report.conditions
    assert (condition.status, condition.reason) == ("False", "BenchmarkFailed")
    assert condition.message.startswith(message)
    assert not report.status


@given(st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_any_log_has_a_report(noise: str, total: float) -> None:
    for text in (noise, f"KAITO_BENCHMARK_RESULT {noise}", f"{noise}\n{result(total)}"):
        (condition,) = benchmark_report(LOG, text, "").conditions
        assert condition.reason in ("BenchmarkCompleted", "BenchmarkFailed")


def test_a_preset_has_succeeded_when_its_result_is_read() -> None:
    town = WorkspaceTown(gpu_node("a"), workspace(preset="phi-4"))
    (run,) = town.simulation.executor.started
    assert run.arguments == BenchmarkLog("default", "llm-0", "llm", 500)
    assert town.condition("BenchmarkCompleted")[0] == "True"
    assert town.condition("WorkspaceSucceeded")[0] == "True"


def test_a_benchmark_that_failed_is_told_and_its_log_read_again_a_minute_later() -> None:
    town = WorkspaceTown(gpu_node("a"), workspace(preset="phi-4"))
    town.patch("Workspace", "llm", {"status": {"conditions": with_failure(town)}}, "status")
    town.simulation.run(until=lambda: town.condition("WorkspaceSucceeded")[0] == "False")
    assert town.condition("WorkspaceSucceeded") == ("False", "BenchmarkFailed", "no result")
    assert town.get("Workspace", "llm")["status"]["state"] == "NotReady"
    town.run(120)
    assert town.condition("WorkspaceSucceeded")[0] == "True"
    assert town.get("Workspace", "llm")["status"]["state"] == "Ready"


def test_a_failure_is_forgotten_when_the_benchmark_is_switched_off() -> None:
    town = WorkspaceTown(gpu_node("a"), workspace(preset="phi-4"))
    town.patch("Workspace", "llm", {"status": {"conditions": with_failure(town)}}, "status")
    town.patch("Workspace", "llm", {"metadata": {"annotations": {"kaito.sh/disable-benchmark": "true"}}})
    town.run(10)
    assert town.condition("BenchmarkCompleted")[0] == ""
    assert town.condition("WorkspaceSucceeded")[0] == "True"


def test_nothing_is_measured_on_a_simulated_node_nor_where_the_benchmark_is_off() -> None:
    fake = gpu_node("a")
    fake["metadata"]["annotations"] = {"kwok.x-k8s.io/node": "fake"}
    for objects in (
        (fake, workspace(preset="phi-4")),
        (gpu_node("a"), workspace(preset="phi-4", annotations={"kaito.sh/disable-benchmark": "true"})),
        (gpu_node("a"), workspace(gpu=1)),
    ):
        town = WorkspaceTown(*objects)
        assert not town.simulation.executor.started
        assert town.condition("BenchmarkCompleted")[0] == ""
        assert town.condition("WorkspaceSucceeded")[0] == "True"
