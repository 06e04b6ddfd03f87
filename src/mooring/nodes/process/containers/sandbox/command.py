"""The command line that gives a container a file system of its own: this machine's, with the pod's volumes in it.

bubblewrap starts from an empty root and binds into it what it is told. Processes get numbers of their own too, so that
all of them end with the first one, and none sees those of the machine or of another container.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from mooring.nodes.process.containers.environment.own_python import Opening
from mooring.nodes.process.containers.sandbox import trusted_setpriv
from mooring.nodes.process.containers.sandbox.machine_files import layer_arguments, read_only_arguments
from mooring.nodes.process.containers.sandbox.machine_view import MachineView
from mooring.nodes.process.containers.sandbox.mount_table import below

__all__ = ["Mount", "Sandbox", "inner_command", "sandbox_arguments", "target_problem"]

_BASIC_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS: Final = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
# What setpriv needs until the container's command runs.
_DROPPING: Final = ("SETGID", "SETPCAP", "SETUID")


class Mount(NamedTuple):
    """A file or folder of this machine that a container sees at `target`.

    `within` is the volume that the source lies in, where a container could have changed the way to it meanwhile.
    """

    source: str
    target: str
    read_only: bool = False
    within: str = ""


@dataclass(frozen=True)
class Sandbox:
    """What a sandbox is made of. `overlays` are the container's layer, `scratch` its folder where it has no layer.

    `devices` are those beyond the usual ones, `openings` folders that the container's user could not enter.
    `shared_memory` is the size of /dev/shm in bytes, None for the kernel's.
    """

    view: MachineView
    mounts: Sequence[Mount] = ()
    overlays: Sequence[tuple[str, str]] = ()
    scratch: str = ""
    devices: Sequence[str] = ()
    openings: Sequence[Opening] = ()
    read_only: bool = False
    privileged: bool = False
    host_ipc: bool = False
    shared_memory: int | None = None


def sandbox_arguments(
    sandbox: Sandbox,
    environment: Mapping[str, str],
    *,
    hostname: str,
    folder: str,
    status_fd: int,
    capabilities: Iterable[str],
    descriptors: Mapping[str, int] | None = None,
) -> list[str]:
    """Arguments for bwrap, up to the command. `descriptors` are those of sources that were opened for it."""
    found = ["--die-with-parent", "--unshare-pid", "--unshare-uts", "--hostname", hostname[:63]]
    found += [] if sandbox.host_ipc else ["--unshare-ipc"]
    found += ["--json-status-fd", str(status_fd)]
    targets = sorted((mount._replace(target=_resolved(mount.target)) for mount in sandbox.mounts), key=_depth)
    if sandbox.overlays:
        found += layer_arguments(sandbox.overlays, sandbox.view)
    else:
        scratch = "" if sandbox.read_only else sandbox.scratch
        found += read_only_arguments(sandbox.view, [mount.target for mount in targets], scratch)
    found += [*_openings(sandbox), *_kernel(sandbox), *_devices(sandbox), *_run()]
    for mount in targets:
        word = "--ro-bind" if mount.read_only else "--bind"
        found += _way_to(mount, targets)
        opened = (descriptors or {}).get(mount.source)
        found += [word, mount.source, mount.target] if opened is None else [f"{word}-fd", str(opened), mount.target]
        found += _covered_in(mount, sandbox)
    if sandbox.view.root:
        # Over everything that the pod mounts.
        found += _setpriv()
    if sandbox.read_only:
        for place in ("/run", *dict.fromkeys(place for _, place in (*reversed(sandbox.overlays), ("", "/")))):
            found += ["--remount-ro", place]
    if sandbox.view.root:
        found += ["--cap-drop", "ALL"]
        for name in sorted({*capabilities, *_DROPPING}):
            found += ["--cap-add", f"CAP_{name}"]
    found += ["--chdir", folder, "--clearenv"]
    for name, value in environment.items():
        found += ["--setenv", name, value]
    return found


def _openings(sandbox: Sandbox) -> list[str]:
    found = []
    for opening in sandbox.openings:
        found += ["--perms", "0755", "--tmpfs", opening.folder]
        for place in opening.shown:
            # The folders on the way would be for root alone.
            for folder in reversed(Path(place).relative_to(opening.folder).parents[:-1]):
                found += ["--perms", "0755", "--dir", str(Path(opening.folder) / folder)]
            found += ["--ro-bind", place, place]
    return found


def _kernel(sandbox: Sandbox) -> list[str]:
    return [*_proc("/proc", sandbox), "--bind" if sandbox.privileged else "--ro-bind", "/sys", "/sys"]


def _proc(place: str, sandbox: Sandbox) -> list[str]:
    found = ["--proc", place]
    if sandbox.view.root and not sandbox.privileged:
        # Settings of the whole machine, which root may write to whatever its capabilities are.
        found += ["--ro-bind", "/proc/sys", f"{place}/sys"]
    return found


def _devices(sandbox: Sandbox) -> list[str]:
    """A /dev of its own, with terminals of its own where root can make them.

    For others bwrap's ready-made one makes a user namespace that probes could not enter afterwards.
    """
    if sandbox.privileged:
        return ["--dev-bind", "/dev", "/dev"]
    if sandbox.view.root:
        found = ["--dev", "/dev"]
    else:
        found = ["--tmpfs", "/dev"]
        for name in _BASIC_DEVICES:
            found += ["--dev-bind", f"/dev/{name}", f"/dev/{name}"]
        for name, target in _LINKS.items():
            found += ["--symlink", target, f"/dev/{name}"]
    size = [] if sandbox.shared_memory is None else ["--size", str(sandbox.shared_memory)]
    found += ["--perms", "1777", *size, "--tmpfs", "/dev/shm"]
    for device in sandbox.devices:
        found += ["--dev-bind-try", device, device]
    return found


def _run() -> list[str]:
    """An empty /run: on this machine it has the sockets of services that obey everybody who reaches them."""
    found = ["--perms", "0755", "--tmpfs", "/run"]
    names = os.path.realpath("/etc/resolv.conf")
    if below(names, "/run") and Path(names).is_file():
        found += ["--ro-bind", names, names]
    return found


def _way_to(mount: Mount, mounts: Sequence[Mount]) -> list[str]:
    """The folders that are made for a mount: bwrap's own would be for root alone, whoever the container runs as."""
    found = []
    for folder in reversed(Path(mount.target).parents):
        place = str(folder)
        if any(each is not mount and below(place, each.target) for each in mounts):
            # What lies in a volume is the pod's.
            break
        if (below(place, "/run") and place != "/run") or not folder.exists():
            found += ["--perms", "0755", "--dir", place]
    return found


def _setpriv() -> list[str]:
    found = ["--perms", "0755", "--tmpfs", trusted_setpriv.PLACE]
    for source, target in trusted_setpriv.setpriv_files():
        found += ["--ro-bind", source, target]
    return [*found, "--remount-ro", trusted_setpriv.PLACE]


def _covered_in(mount: Mount, sandbox: Sandbox) -> list[str]:
    """A folder that is mounted may hold the data folder, or the machine's processes: both are covered there too.

    Root in a container may look into every process that has no more rights than itself, and bwrap's own process is one
    of them: it sees the whole machine.
    """

    def inside(path: str) -> str:
        return os.path.normpath(Path(mount.target) / os.path.relpath(path, mount.source))

    found = []
    for path in sandbox.view.data:
        if path != mount.source and below(path, mount.source):
            found += ["--perms", "0555", "--tmpfs", inside(path)]
    for path in sandbox.view.procs:
        if below(path, mount.source):
            found += _proc(inside(path), sandbox)
    return found


def target_problem(mounts: Sequence[Mount]) -> str:
    """Why these mounts cannot be made, empty if they can.

    A mount path inside of another mount may lead through a link that a container has put there. bwrap would follow it,
    and make the path where it leads to on this machine.
    """
    places = {os.path.normpath(mount.target): mount for mount in mounts}
    for place in places:
        # The loader obeys a file in /etc, also while rights are still to be taken away.
        if _resolved(place) in ("/", "/etc", "/etc/ld.so.preload") or below(_resolved(place), trusted_setpriv.PLACE):
            return f"mount path {place} cannot be used: the sandbox needs it itself"
        for outer, mount in places.items():
            if outer != place and below(place, outer):
                real = os.path.realpath(mount.source)
                inner = os.path.normpath(Path(real) / os.path.relpath(place, outer))
                if os.path.realpath(inner) != inner:
                    return (
                        f"mount path {place} cannot be used: it leads through a symbolic link in the volume at {outer}"
                    )
    return ""


def inner_command(
    command: Sequence[str],
    *,
    setpriv: Sequence[str],
    user: int | None,
    group: int | None,
    groups: Iterable[int],
    capabilities: Iterable[str],
    kept: Iterable[str] = (),
    memory: int | None,
) -> list[str]:
    """The command with its user, its rights and its memory limit.

    `setpriv` is the program that takes rights away, empty where there are none to take. `kept` are capabilities that
    stay with a user who is not root.
    """
    words = list(command)
    if memory is not None:
        # Not the address space, of which many programs reserve far more than they use: what they can write to.
        words = ["prlimit", f"--data={memory}:{memory}", "--", *words]
    if not setpriv:
        return words
    others = sorted(set(groups))
    found = [*setpriv, f"--bounding-set={_listed(capabilities)}", "--no-new-privs"]
    passed = _listed(kept if user else ())
    found += [f"--inh-caps={passed}", f"--ambient-caps={passed}"]
    if user is not None:
        found.append(f"--reuid={user}")
    if group is not None or user is not None:
        found.append(f"--regid={0 if group is None else group}")
    if user is not None or group is not None or others:
        found.append(f"--groups={','.join(map(str, others))}" if others else "--clear-groups")
    return [*found, "--", *words]


def _listed(capabilities: Iterable[str]) -> str:
    return ",".join(["-all", *(f"+{name.lower()}" for name in sorted(capabilities))])


def _depth(mount: Mount) -> int:
    return mount.target.count("/")


def _resolved(target: str) -> str:
    """The path without links on the way: below a link nothing could be mounted."""
    path = Path(os.path.normpath(target))
    found = path.parent.resolve() / path.name
    return str(found.resolve() if found.is_symlink() else found)
