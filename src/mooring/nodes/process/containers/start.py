"""The start of a container: from its spec to a process, with everything that is looked up, checked and made before."""

from __future__ import annotations

import os
import pwd
import secrets
import socket
from typing import Final

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.quantities import milli_value, value
from mooring.nodes.process.containers.environment.command_lookup import start_problem
from mooring.nodes.process.containers.environment.own_python import python_first, python_openings
from mooring.nodes.process.containers.environment.service_links import service_variables
from mooring.nodes.process.containers.environment.variables import ConfigError, command_of, environment, references
from mooring.nodes.process.containers.launch import Launch
from mooring.nodes.process.containers.processes import ContainerProcess, launch
from mooring.nodes.process.containers.sandbox.command import Mount, Sandbox, target_problem
from mooring.nodes.process.containers.sandbox.devices import devices
from mooring.nodes.process.containers.sandbox.driver_mounts import driver_mounts
from mooring.nodes.process.containers.sandbox.layers import Layer
from mooring.nodes.process.containers.sandbox.machine_files import make_scratch
from mooring.nodes.process.containers.sandbox.rights import Rights, rights_of
from mooring.nodes.process.containers.sandbox.users import Users, users_of
from mooring.nodes.process.containers.streams.terminal import TERMINAL_VARIABLES, in_terminal
from mooring.nodes.process.gpu_assignments import NotEnoughGpus, gpus_wanted
from mooring.nodes.process.gpus import Gpu
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
        rights = rights_of(pod, container, context.isolation.capabilities, sandboxed=not context.problem)
        named = await named_variables(context, pod, container)
        mounts = mounts_of(context, pod, container, named)
        message = Mount("", container.get("terminationMessagePath") or _MESSAGE_PATH)
        if problem := target_problem([*mounts, message]):
            raise ConfigError(f"container {name}: {problem}")
    except (ConfigError, VolumeError, OSError, MooringError) as error:
        raise CannotCreate(CreateFailed(name, "CreateContainerConfigError", str(error), True)) from None
    try:
        gpus = context.gpus.assign(pod["metadata"]["uid"], name, gpus_wanted(container))
    except NotEnoughGpus as error:
        raise CannotCreate(CreateFailed(name, "CreateContainerError", str(error), True)) from None
    # What the node gives out stands over what the pod wishes for.
    variables = {**_basic(pod, users), **_terminal(container), **named, **context.gpus.variables(gpus)}
    command = command_of(container, variables) or default_command(pod, container)
    if not command:
        why = f"no command specified: a process node ignores images, so the command of container {name} must be given"
        raise CannotCreate(CreateFailed(name, "CreateContainerError", why, False))
    try:
        order = _order(context, pod, container, attempt, identity, command, variables, mounts, users, rights, gpus)
    except OSError as error:
        why = f"the node cannot make what container {name} needs: {error.strerror}: {error.filename}"
        raise CannotCreate(CreateFailed(name, "CreateContainerError", why, True)) from None
    problem = start_problem(command[0], variables.get("PATH", ""), order.folder, order.mounts)
    if problem:
        _abandon(order)
        raise StartFailed(problem)
    try:
        process = launch(order)
    except OSError as error:
        _abandon(order)
        raise StartFailed(f"the container cannot be started: {error}") from None
    try:
        await process.begun()
        if order.layer is not None:
            order.layer.unmount()
    except BaseException:
        process.kill()
        await process.wait()
        order.release()
        raise
    ignored = [note for note in (users.note, rights.note) if note]
    return process, [
        RecordEvent("Warning", "SecurityContextIgnored", f"Container {name}: {note}", name) for note in ignored
    ]


def _abandon(order: Launch) -> None:
    order.log.close()
    order.release()


def default_command(pod: Object, container: Object) -> list[str]:
    """A shell for a container that was added to debug a pod: that is what the images for it start."""
    return ["sh"] if is_ephemeral(container, pod) else []


async def named_variables(context: NodeContext, pod: Object, container: Object) -> dict[str, str]:
    namespace = pod["metadata"]["namespace"]
    sources = await context.sources(namespace, references(container))
    services = service_variables(pod, await context.services.in_namespace(namespace), context.api)
    return environment(pod, container, sources, context.node_fields, services)


def _basic(pod: Object, users: Users) -> dict[str, str]:
    """What every process expects to find."""
    path = python_first(os.environ.get("PATH", os.defpath))
    found = {"PATH": path, "HOSTNAME": _hostname(pod), "HOME": _home(users.user)}
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
    rights: Rights,
    gpus: list[Gpu],
) -> Launch:
    uid, name = pod["metadata"]["uid"], container["name"]
    disk = context.disk
    disk.forget_logs(uid, name, attempt - 1)
    message = disk.message(uid, name)
    message.parent.mkdir(parents=True, exist_ok=True)
    message.write_bytes(b"")
    message.chmod(0o666)
    path = container.get("terminationMessagePath") or _MESSAGE_PATH
    memory, cpu = limit_of(container, "memory"), limit_of(container, "cpu")
    group = context.isolation.control_groups.make(identity, memory=memory, cpu_milli=cpu)
    layer, sandbox = None, None
    if not context.problem:
        shown = [*mounts, Mount(str(message.absolute()), path)]
        layer, sandbox = _sandbox(context, pod, container, shown, memory, users, gpus)
    return Launch(
        id=identity,
        command=in_terminal(command) if container.get("tty") else command,
        environment=variables,
        folder=container.get("workingDir") or "/",
        hostname=_hostname(pod),
        mark=context.mark,
        log=LogWriter(disk.log(uid, name, attempt)),
        sandbox=sandbox,
        layer=layer,
        group=group,
        user=users.user,
        gid=users.group,
        groups=users.groups,
        capabilities=rights.capabilities,
        kept=rights.kept,
        memory=memory,
        stdin=bool(container.get("stdin")),
        tty=bool(container.get("tty")),
    )


def _sandbox(
    context: NodeContext,
    pod: Object,
    container: Object,
    mounts: list[Mount],
    memory: int | None,
    users: Users,
    gpus: list[Gpu],
) -> tuple[Layer | None, Sandbox]:
    folder = context.disk.layer(pod["metadata"]["uid"], container["name"])
    # What an earlier run wrote is not for this one.
    Layer(folder, ()).remove()
    view = context.isolation.view()
    layer = Layer(folder, view.disks) if view.layered else None
    if layer is None:
        make_scratch(folder)
    security = container.get("securityContext") or {}
    return layer, Sandbox(
        view=view,
        mounts=[*(driver_mounts(view) if gpus and layer is not None else ()), *mounts],
        overlays=() if layer is None else layer.mount(),
        scratch=str(folder),
        openings=python_openings(users.user),
        devices=devices(context.gpus.devices(gpus), has_gpus=bool(context.gpus.known)),
        read_only=bool(security.get("readOnlyRootFilesystem")),
        privileged=bool(security.get("privileged")) and view.root,
        host_ipc=bool(pod["spec"].get("hostIPC")),
        shared_memory=memory,
    )


def limit_of(container: Object, resource: str) -> int | None:
    """A limit in bytes, or in thousandths of a CPU."""
    found = ((container.get("resources") or {}).get("limits") or {}).get(resource)
    if found is None:
        return None
    return milli_value(found) if resource == "cpu" else value(found)
