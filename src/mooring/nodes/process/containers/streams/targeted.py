"""Ephemeral containers that join a running one: its processes, files, user and variables, with a command of their own.

This is what `kubectl debug --target` is for. There is no image that such a container could have files from, so it has
those of the container that it joins.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.nodes.process.containers.environment.command_lookup import start_problem
from mooring.nodes.process.containers.environment.variables import ConfigError, command_of
from mooring.nodes.process.containers.launch import Launch
from mooring.nodes.process.containers.proc import children, family
from mooring.nodes.process.containers.processes import ChildProcess, ContainerProcess
from mooring.nodes.process.containers.start import CannotCreate, StartFailed, default_command, named_variables
from mooring.nodes.process.containers.streams.stdio import ContainerStdio
from mooring.nodes.process.containers.streams.terminal import TERMINAL_VARIABLES, in_terminal
from mooring.nodes.process.logs import LogWriter
from mooring.nodes.process.node_context import NodeContext
from mooring.nodes.process.pods.model import CreateFailed

__all__ = ["start_targeted"]


class _TargetedProcess(ContainerProcess):
    """Its first process is a child of what entered the namespaces; everything it started descends from that."""

    def __init__(self, order: Launch, child: ChildProcess, stdio: ContainerStdio, target: ContainerProcess) -> None:
        super().__init__(order, child, None, stdio)
        self._child = child
        self._target = target

    def signal(self, number: int) -> None:
        if self._child.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(next(iter(children(self._child.pid)), self._child.pid), number)

    def kill(self) -> None:
        if self._child.returncode is None:
            for pid in reversed(family(self._child.pid)):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)

    def beside(
        self, command: Sequence[str], streams: Mapping[str, int], variables: Mapping[str, str] | None = None
    ) -> ChildProcess:
        return self._target.beside(command, streams, variables)

    def terminal(self) -> tuple[int, int]:
        return self._target.terminal()


async def start_targeted(
    context: NodeContext, pod: Object, container: Object, identity: str, target: ContainerProcess | None
) -> ContainerProcess:
    """Start a container in another one. Raises CannotCreate and StartFailed."""
    name, joined = container["name"], container["targetContainerName"]
    if target is None:
        why = f"container {joined} does not run, so ephemeral container {name} cannot join it"
        raise CannotCreate(CreateFailed(name, "CreateContainerError", why, True))
    try:
        named = await named_variables(context, pod, container)
    except (ConfigError, OSError, MooringError) as error:
        raise CannotCreate(CreateFailed(name, "CreateContainerConfigError", str(error), True)) from None
    command = command_of(container, {**target.order.environment, **named}) or default_command(pod, container)
    folder, variables = target.order.folder, target.order.environment
    if problem := start_problem(command[0], variables.get("PATH", ""), folder, target.order.mounts):
        raise StartFailed(problem)
    tty = bool(container.get("tty"))
    own = {**({} if "TERM" in variables or not tty else TERMINAL_VARIABLES), **named}
    order = Launch(
        id=identity,
        # Set where the rights are the container's: a program on the way there must not be led by them.
        command=["env", *(f"{key}={value}" for key, value in own.items()), *command] if own else command,
        environment=variables,
        folder=folder,
        hostname=target.order.hostname,
        mark=context.mark,
        log=LogWriter(context.disk.log(pod["metadata"]["uid"], name, 0)),
        stdin=bool(container.get("stdin")),
        tty=tty,
    )
    return _launch(order, target)


def _launch(order: Launch, target: ContainerProcess) -> ContainerProcess:
    terminal = target.terminal() if order.tty else None
    stdio = ContainerStdio(order.log, stdin=order.stdin, tty=order.tty, terminal=terminal)
    try:
        child = target.beside(in_terminal(order.command) if order.tty else order.command, stdio.child)
    except OSError as error:
        stdio.close()
        order.log.close()
        raise StartFailed(f"the container cannot be started: {error}") from None
    finally:
        stdio.close_child()
    stdio.listen()
    return _TargetedProcess(order, child, stdio, target)
