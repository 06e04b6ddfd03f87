"""The start of a container: from its spec to a process, with everything that is looked up, checked and made before."""

from __future__ import annotations

import os
import pwd
import secrets
import socket
from typing import Final

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.quantities import value
from mooring.nodes.process.containers.command_lookup import start_problem
from mooring.nodes.process.containers.environment import ConfigError, command_of, environment, references
from mooring.nodes.process.containers.processes import ContainerProcess, Launch, launch
from mooring.nodes.process.containers.sandbox import Mount
from mooring.nodes.process.containers.terminal import TERMINAL_VARIABLES, in_terminal
from mooring.nodes.process.containers.users import Users, users_of
from mooring.nodes.process.logs import LogWriter
from mooring.nodes.process.node_context import NodeContext
from mooring.nodes.process.pods.model import CreateFailed, RecordEvent
from mooring.nodes.process.pods.specs import is_ephemeral
from mooring.nodes.process.volumes.contents import VolumeError
from mooring.nodes.process.volumes.manager import mounts_of

__all__ = ["CannotCreate", "StartFailed", "default_command", "named_variables", "new_id", "start"]


_INHERITED: Final = ("LANG", "LC_ALL", "TZ")
_MESSAGE_PATH: Final = "/dev/termination-log"


class StartFailed(Exception):
    """The command cannot be run; the text is what a container runtime says."""


class CannotCreate(Exception):
    """The container cannot be made out of its spec."""

    def __init__(self, failed: CreateFailed) -> None:
        super().__init__(failed.message)
        self.failed = failed


def new_id() -> str:
    return secrets.token_hex(32)


async def start(
    context: NodeContext, pod: Object, container: Object, attempt: int, identity: str
) -> tuple[ContainerProcess, list[RecordEvent]]:
    """Start one run of a container. Returns its process and events to record.

    Raises CannotMake for a spec that is wrong, and StartFailed for a command that cannot be run.
    """
    name = container["name"]
    try:
        users = users_of(pod, container, context.user)
        named = await named_variables(context, pod, container)
        mounts = mounts_of(context, pod, container, named)
    except (ConfigError, VolumeError, OSError, MooringError) as error:
        raise CannotCreate(CreateFailed(name, "CreateContainerConfigError", str(error), True)) from None
    variables = {**_basic(pod, users), **_terminal(container), **named}
    command = command_of(container, variables) or default_command(pod, container)
    if not command:
        why = f"no command specified: a process node ignores images, so the command of container {name} must be given"
        raise CannotCreate(CreateFailed(name, "CreateContainerError", why, False))
    order = _order(context, pod, container, attempt, identity, command, variables, mounts, users)
    problem = start_problem(command[0], variables.get("PATH", ""), order.folder, order.mounts)
    if problem:
        order.log.close()
        raise StartFailed(problem)
    try:
        process = launch(order)
    except OSError as error:
        order.log.close()
        raise StartFailed(f"the container cannot be started: {error}") from None
    try:
        await process.begun()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    notes = (
        [RecordEvent("Warning", "SecurityContextIgnored", f"Container {name}: {users.note}", name)]
        if users.note
        else []
    )
    return process, notes


def default_command(pod: Object, container: Object) -> list[str]:
    """A shell for a container that was added to debug a pod: that is what the images for it start."""
    return ["sh"] if is_ephemeral(container, pod) else []


async def named_variables(context: NodeContext, pod: Object, container: Object) -> dict[str, str]:
    sources = await context.sources(pod["metadata"]["namespace"], references(container))
    return environment(pod, container, sources, context.node_fields)


def _basic(pod: Object, users: Users) -> dict[str, str]:
    """What every process expects to find."""
    found = {"PATH": os.environ.get("PATH", os.defpath), "HOSTNAME": _hostname(pod), "HOME": _home(users.user)}
    return found | {name: os.environ[name] for name in _INHERITED if name in os.environ}


def _terminal(container: Object) -> dict[str, str]:
    return TERMINAL_VARIABLES if container.get("tty") else {}


def _hostname(pod: Object) -> str:
    if pod["spec"].get("hostNetwork"):
        return socket.gethostname()
    return str(pod["spec"].get("hostname") or pod["metadata"]["name"])


def _home(user: int | None) -> str:
    if user is None:
        return os.environ.get("HOME", "/")
    try:
        return pwd.getpwuid(user).pw_dir
    except KeyError:
        return "/"


def _order(
    context: NodeContext,
    pod: Object,
    container: Object,
    attempt: int,
    identity: str,
    command: list[str],
    variables: dict[str, str],
    mounts: list[Mount],
    users: Users,
) -> Launch:
    uid, name = pod["metadata"]["uid"], container["name"]
    disk = context.disk
    disk.forget_logs(uid, name, attempt - 1)
    message = disk.message(uid, name)
    message.parent.mkdir(parents=True, exist_ok=True)
    message.write_bytes(b"")
    message.chmod(0o666)
    sandboxed = not context.problem
    path = container.get("terminationMessagePath") or _MESSAGE_PATH
    return Launch(
        id=identity,
        command=in_terminal(command) if container.get("tty") else command,
        environment=variables,
        folder=container.get("workingDir") or "/",
        hostname=_hostname(pod),
        mark=context.mark,
        log=LogWriter(disk.log(uid, name, attempt)),
        sandboxed=sandboxed,
        mounts=[*mounts, Mount(str(message.absolute()), path)] if sandboxed else (),
        read_only=bool((container.get("securityContext") or {}).get("readOnlyRootFilesystem")),
        user=users.user,
        group=users.group,
        groups=users.groups,
        memory=_memory(container),
        stdin=bool(container.get("stdin")),
        tty=bool(container.get("tty")),
    )


def _memory(container: Object) -> int | None:
    limit = ((container.get("resources") or {}).get("limits") or {}).get("memory")
    return None if limit is None else value(limit)
