"""Shows the output of a step while it runs: in the Installation's status, at most once a second."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from mooring.client.transport import AsyncTransport, Request, UnknownOutcome, Unreachable
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.runtime.effects import Run

__all__ = ["show_progress"]

_INTERVAL_SECONDS: Final = 1.0
_log = logging.getLogger("mooring.agents")


async def show_progress(transport: AsyncTransport, run: Run, text: Callable[[], str]) -> None:
    """Until it is cancelled. What cannot be written is written the next time, or with the end of the run."""
    shown = ""
    while True:
        await asyncio.sleep(_INTERVAL_SECONDS)
        new = text()
        if new == shown:
            continue
        try:
            found = await transport.get(run.kind.api_version, run.kind.kind, *run.key)
            if (request := progressed(run, new, found)) is not None:
                await transport.write(request)
                shown = new
        except (ApiError, UnknownOutcome, Unreachable) as error:
            _log.debug("the output of %s is not shown: %s", run.identity, error)


def progressed(run: Run, output: str, found: Object) -> Request | None:
    """The write of a step's output; None where the step is not that of the run any more."""
    steps = (found.get("status") or {}).get("steps") or []
    if found["metadata"]["uid"] != run.uid or not any(_is_of(step, run) for step in steps):
        return None
    told = [{**step, "output": output} if _is_of(step, run) else step for step in steps]
    return Request(
        "patch",
        run.kind.api_version,
        run.kind.kind,
        *run.key,
        {"status": {"steps": told}},
        "status",
        f"mooring-effect-{run.effect.name}",
        resource_version=found["metadata"]["resourceVersion"],
    )


def _is_of(step: Object, run: Run) -> bool:
    return step.get("state") == "Running" and step.get("run") == run.id
