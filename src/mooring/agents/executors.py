"""The executors that a process with controllers has: of the effects that these controllers may ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from mooring.agents.process_executor import ProcessExecutor
from mooring.client.transport import AsyncTransport
from mooring.kube.errors import MooringError
from mooring.runtime.controller import Controller
from mooring.runtime.effects import Executor

PROCESS: Final = "process"


@asynccontextmanager
async def executors_for(
    controllers: Iterable[Controller], transport: AsyncTransport
) -> AsyncIterator[Mapping[str, Executor]]:
    """By the names that effects call them. What still runs at the end is ended, and run again by the next process."""
    effects = [effect for controller in controllers for effect in controller.effects]
    for effect in effects:
        if effect.executor != PROCESS or effect.command is None:
            raise MooringError(f"effect {effect.name} has no executor here; declare {PROCESS}, with a command")
    executor = ProcessExecutor(transport)
    try:
        yield {PROCESS: executor} if effects else {}
    finally:
        await executor.close()
