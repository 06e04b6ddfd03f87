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
from tests.client.stories import awaited, until
from tests.features.groups.town import registry_with_groups

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
MEASURED = 'KAITO_BENCHMARK_RESULT 2026-01-01T00:00:00Z {"vllm_total_tpm": 1234.5}\n'
LOG = BenchmarkLog("default", "llm-0", "llm", 500)


class Logs(AsyncInProcess):
    """Answers for one log, one answer after the other; everything else is the registry's."""

    def __init__(self, registry: Registry, *answers: str | Exception) -> None:
        super().__init__(registry, lambda: NOW)
        self.answers, self.asked = list(answers), list[tuple[object, ...]]()

    async def log(self, *asked: object) -> str:
        self.asked.append(asked)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Reading:
    """A run for a Workspace, and the server that it asks."""

    def __init__(self, *answers: str | Exception) -> None:
        self._registry = registry_with_groups()
        self._resource = self._registry.resource(WORKSPACE.api_version, WORKSPACE.kind)
        made = self._registry.create(self._resource, workspace(preset="phi-4"), now=NOW)
        self.transport = Logs(self._registry, *answers)
        self.executor = PodLogExecutor(self.transport, clock=lambda: NOW)
        self.run = Run(READ_BENCHMARK, WORKSPACE, Key("default", "llm"), "1", LOG, made["metadata"]["uid"])
        self.executor.start(self.run)

    @property
    def workspace(self) -> Object:
        return self._registry.get(self._resource, "default", "llm")

    async def end(self) -> None:
        await asyncio.gather(*self.executor._runs.values(), return_exceptions=True)


async def read(*answers: str | Exception) -> tuple[Logs, Object]:
    """The Workspace after a run."""
    reading = Reading(*answers)
    await reading.end()
    return reading.transport, reading.workspace


@awaited
async def test_what_a_log_says_is_written_into_the_status() -> None:
    transport, found = await read(MEASURED)
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
async def test_a_server_that_cannot_be_reached_says_nothing_of_the_log_and_is_asked_again() -> None:
    transport, found = await read(Unreachable("nobody answers"), MEASURED)
    assert len(transport.asked) == 2
    (condition,) = found["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("BenchmarkCompleted", "True")


@awaited
async def test_a_run_that_is_not_wanted_any_more_is_not_begun_again() -> None:
    reading = Reading(Unreachable("nobody answers"), MEASURED)
    await until(lambda: len(reading.transport.asked) == 1)
    assert not reading.workspace.get("status", {}).get("conditions")
    reading.executor.cancel(reading.run)
    await reading.end()
    assert reading.transport.answers == [MEASURED]


@awaited
async def test_a_process_with_the_controller_has_the_executor() -> None:
    async with executors_for([CONTROLLER], Logs(Registry(now=NOW), "")) as executors:
        assert list(executors) == ["pod-log"]
