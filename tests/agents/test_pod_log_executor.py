"""Logs: read through the API by an executor, of which an effect makes a report."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from mooring.agents.executors import executors_for
from mooring.agents.pod_log_executor import PodLogExecutor
from mooring.api.kinds import Key
from mooring.client.inprocess import AsyncInProcess
from mooring.client.transport import Unreachable
from mooring.features.workspaces.benchmark import READ_BENCHMARK, BenchmarkLog
from mooring.features.workspaces.controller import CONTROLLER
from mooring.features.workspaces.kinds import WORKSPACE
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError
from mooring.registry import Registry
from mooring.runtime.effects import Run
from mooring.testing.workspaces import workspace
from tests.client.stories import awaited
from tests.features.groups.town import registry_with_groups

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
LOG = BenchmarkLog("default", "llm-0", "llm", 500)


class Logs(AsyncInProcess):
    """Answers for one log; everything else is the registry's."""

    def __init__(self, registry: Registry, answer: str | Exception) -> None:
        super().__init__(registry, lambda: NOW)
        self.answer, self.asked = answer, list[tuple[object, ...]]()

    async def log(self, *asked: object) -> str:
        self.asked.append(asked)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def read(answer: str | Exception) -> tuple[Logs, Object]:
    """The Workspace after a run."""
    registry = registry_with_groups()
    resource = registry.resource(WORKSPACE.api_version, WORKSPACE.kind)
    made = registry.create(resource, workspace(preset="phi-4"), now=NOW)
    transport = Logs(registry, answer)
    executor = PodLogExecutor(transport, clock=lambda: NOW)
    executor.start(Run(READ_BENCHMARK, WORKSPACE, Key("default", "llm"), "1", LOG, made["metadata"]["uid"]))
    await asyncio.gather(*executor._runs.values())
    return transport, registry.get(resource, "default", "llm")


@awaited
async def test_what_a_log_says_is_written_into_the_status() -> None:
    transport, found = await read('KAITO_BENCHMARK_RESULT 2026-01-01T00:00:00Z {"vllm_total_tpm": 1234.5}\n')
    query = {"container": "llm", "tailLines": "500", "limitBytes": "8388608"}
    assert transport.asked == [("default", "llm-0", query)]
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("BenchmarkCompleted", "True")
    assert found["status"]["performance"]["metrics"]["peakTokensPerMinute"]["value"] == "1234.5"


@awaited
async def test_a_log_that_is_refused_is_told() -> None:
    _, found = await read(BadRequestError("container llm is waiting to start"))
    (condition,) = found["status"]["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "BenchmarkFailed")
    assert condition["message"] == ("the log of pod default/llm-0 cannot be read: container llm is waiting to start")


@awaited
async def test_a_server_that_cannot_be_reached_says_nothing_of_the_log() -> None:
    _, found = await read(Unreachable("nobody answers"))
    assert "status" not in found or not found["status"].get("conditions")


@awaited
async def test_a_process_with_the_controller_has_the_executor() -> None:
    async with executors_for([CONTROLLER], Logs(Registry(now=NOW), "")) as executors:
        assert list(executors) == ["pod-log"]
