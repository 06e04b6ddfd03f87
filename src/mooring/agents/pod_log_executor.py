"""Reads the end of a container's log through the API, of which an effect makes a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, Protocol

from mooring.agents.task_executor import TaskExecutor, system_clock
from mooring.client.transport import AsyncTransport
from mooring.kube.errors import MooringError
from mooring.kube.status import ApiError
from mooring.runtime.effects import PodLog, Report, Run

__all__ = ["LogTransport", "PodLogExecutor"]

# A container may write lines of any length.
_MAX_LOG_BYTES: Final = 8 << 20


class LogTransport(AsyncTransport, Protocol):
    """A transport to a server that has logs."""

    async def log(self, namespace: str, pod: str, query: Mapping[str, str]) -> str:
        """A log, as far as the query asks for it."""
        ...


class PodLogExecutor(TaskExecutor):
    def __init__(self, transport: LogTransport, *, clock: Callable[[], datetime] = system_clock) -> None:
        super().__init__(transport, clock=clock)
        self._transport = transport

    async def carry_out(self, run: Run) -> Report:
        """A refusal is reported. A server that cannot be reached is no matter of the log, and asked again later."""
        if run.effect.parse is None:
            raise MooringError(f"effect {run.effect.name} says nothing of what a log means; declare parse")
        wanted: PodLog = run.arguments
        query = {"container": wanted.container, "tailLines": str(wanted.lines), "limitBytes": str(_MAX_LOG_BYTES)}
        text = problem = ""
        try:
            text = await self._transport.log(wanted.namespace, wanted.pod, query)
        except ApiError as error:
            problem = error.message
        return run.effect.parse(wanted, text, problem)
