"""Waits for a deployment to answer, and says on the way how far it is: one line that changes, on a terminal."""

from __future__ import annotations

import asyncio
import shutil
import sys
from typing import TYPE_CHECKING, Final

import click

from mooring.runway.operations.deployments import find_deployment

if TYPE_CHECKING:
    from mooring.client.transport import AsyncTransport
    from mooring.runway.deployments.config import DeploymentConfig
    from mooring.runway.deployments.deployed_model import DeployedModel

__all__ = ["wait_until_running"]

_POLL_SECONDS: Final = 0.5
_CLEAR_LINE: Final = "\r\x1b[K"


async def wait_until_running(transport: AsyncTransport, config: DeploymentConfig, seconds: float) -> bool:
    """Whether it runs in time. What it says goes to standard error, as far as it changes."""
    loop = asyncio.get_running_loop()
    until, said, line = loop.time() + seconds, "", ""
    while True:
        found = await find_deployment(transport, config.name, config.provider, config.namespace)
        line = _line(found)
        if line != said:
            _say(line)
            said = line
        if found.phase in ("Running", "Failed", "Terminating") or loop.time() >= until:
            break
        await asyncio.sleep(_POLL_SECONDS)
    _end(found, seconds)
    return found.phase == "Running"


def _line(found: DeployedModel) -> str:
    on_nodes = sum(bool(pod.node) for pod in found.pods)
    pods = f", {on_nodes} of {len(found.pods)} pods on nodes" if found.pods else ""
    ready = f"{found.replicas.ready}/{found.replicas.desired} ready"
    return f"{found.name}: {found.phase}, {ready}{pods}{f': {found.message}' if found.message else ''}"


def _say(line: str) -> None:
    if sys.stderr.isatty():
        # A line that wraps could not be taken back.
        width = shutil.get_terminal_size().columns - 1
        click.echo(f"{_CLEAR_LINE}{line[:width]}", nl=False, err=True)
    else:
        click.echo(line, err=True)


def _end(found: DeployedModel, seconds: float) -> None:
    if sys.stderr.isatty():
        click.echo(err=True)
    if found.phase == "Running":
        click.echo(f"{found.name} answers at {found.frontend_service} in namespace {found.namespace}")
    elif found.phase not in ("Failed", "Terminating"):
        click.echo(f"{found.name} does not answer after {seconds:g} s; it goes on without this command", err=True)
