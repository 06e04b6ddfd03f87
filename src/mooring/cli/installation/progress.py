"""Follows an Installation until it has ended, and shows on the way what goes on: one line for each step."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from typing import Final

import click

from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.runway.operations.installation import ENDED, InstallationTransport, commands_by_hand, find_installation

__all__ = ["follow", "follow_end"]

_LOOK_SECONDS: Final = 0.5
# How long a controller may take to say anything at all.
_TAKEN_UP_SECONDS: Final = 20.0
_SHOWN: Final = {"Done": "done", "Failed": "failed", "Cancelled": "cancelled"}


class ProgressLines:
    """Steps as they begin and end. At a terminal the step that runs has a line that changes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._told: set[tuple[str, str]] = set()
        self._live = sys.stderr.isatty()
        self._clock, self._began = clock, clock()

    def show(self, status: Object) -> None:
        for step in status.get("steps") or ():
            state, key = step["state"], (step["name"], f"{step['state']} {step.get('run', '')}")
            if state in _SHOWN and key not in self._told:
                self._told.add(key)
                self._clear()
                click.echo(f"{step['title']}: {_SHOWN[state]}", err=True)
            elif state == "Running" and self._live:
                lines = step.get("output", "").strip().splitlines()
                last = f": {lines[-1]}" if lines else ""
                text = f"{step['title']} ({self._clock() - self._began:.0f} s){last}"
                click.echo(f"\r\033[K{text[:100]}", nl=False, err=True)

    def end(self) -> None:
        self._clear()

    def _clear(self) -> None:
        if self._live:
            click.echo("\r\033[K", nl=False, err=True)


async def follow(transport: InstallationTransport, made: Object) -> Object:
    """The Installation once what was asked for has ended, well or badly."""
    name, generation = made["metadata"]["name"], made["metadata"]["generation"]
    lines, deadline = ProgressLines(), time.monotonic() + _TAKEN_UP_SECONDS
    try:
        while True:
            found = await find_installation(transport, name)
            if found is None:
                raise InputError(f"Installation {name} was deleted meanwhile")
            status = found.get("status") or {}
            told: Object = next(iter(status.get("conditions") or ()), {})
            if told.get("observedGeneration", 0) >= generation:
                lines.show(status)
                if status.get("phase") in ENDED:
                    return found
            elif not told and time.monotonic() > deadline:
                raise _nobody_there(made)
            await asyncio.sleep(_LOOK_SECONDS)
    finally:
        lines.end()


async def follow_end(transport: InstallationTransport, name: str) -> None:
    """Until it is gone."""
    lines = ProgressLines()
    try:
        while (found := await find_installation(transport, name)) is not None:
            lines.show(found.get("status") or {})
            await asyncio.sleep(_LOOK_SECONDS)
    finally:
        lines.end()


def _nobody_there(made: Object) -> InputError:
    typed = "; ".join(commands_by_hand(made))
    return InputError(
        f"nobody has taken up Installation {made['metadata']['name']}; start mooring run --controllers "
        f"installation,installation-webhook --webhook-url https://HOST:PORT, or type: {typed}"
    )
