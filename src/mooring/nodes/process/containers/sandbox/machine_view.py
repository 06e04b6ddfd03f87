"""What of this machine containers see: its disks, but not the data folder, nor the keys and sockets of its people.

Whoever may create a pod would otherwise have what the node's user has: the cluster's tokens, SSH keys, cloud accounts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from mooring.nodes.process.containers.sandbox.mount_table import MountPoint, aliases, below, mount_points
from mooring.nodes.process.containers.sandbox.trusted_setpriv import setpriv_files

__all__ = ["MADE", "MachineView", "binds_descriptors", "machine_view", "sandbox_problem"]

# These are made anew for every container.
MADE: Final = ("/dev", "/proc", "/run", "/sys")
_NO_DISKS: Final = frozenset(
    (
        *("autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs"),
        *("efivarfs", "fusectl", "hugetlbfs", "mqueue", "nsfs", "overlay", "proc", "pstore", "ramfs", "rpc_pipefs"),
        *("securityfs", "selinuxfs", "sysfs", "tmpfs", "tracefs", "squashfs", "iso9660"),
    )
)
_KEYS_OF_HOMES: Final = (
    *(".ssh", ".gnupg", ".kube", ".aws", ".azure", ".docker", ".config/gcloud", ".config/gh"),
    *(".netrc", ".git-credentials", ".pypirc", ".npmrc", ".password-store"),
)
_KEYS: Final = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssl/private"),
    *("/etc/kubernetes", "/var/lib/kubelet"),
)


class MachineView(NamedTuple):
    """`data` is the data folder by all its paths, `keys` are files and folders that are covered, `disks` mount points.

    `layered` is whether containers write to a layer of their own; otherwise the machine is read-only for them.
    """

    data: tuple[str, ...]
    keys: tuple[str, ...]
    disks: tuple[str, ...]
    layered: bool
    root: bool
    # Where the processes of the machine are listed, with ways into what each of them sees.
    procs: tuple[str, ...] = ("/proc",)

    @property
    def covered(self) -> tuple[str, ...]:
        return (*self.data, *self.keys)


def machine_view(data: Path, *, layered: bool, mounts: list[MountPoint] | None = None) -> MachineView:
    """The machine as it is now."""
    table = mount_points() if mounts is None else mounts
    folders = aliases(str(data), table)
    disks = [each.path for each in table if each.path == "/" or _is_disk(each.kind)]
    return MachineView(
        data=tuple(path for path in folders if os.path.lexists(path)),
        keys=tuple(_keys()),
        disks=tuple(sorted({path for path in disks if _is_seen(path, folders)}, key=len)),
        layered=layered,
        root=os.geteuid() == 0,
        procs=tuple(dict.fromkeys(each.path for each in table if each.kind == "proc")),
    )


def _is_disk(kind: str) -> bool:
    # What a user has mounted by FUSE is for that user alone.
    return kind not in _NO_DISKS and not kind.startswith("fuse.")


def _is_seen(path: str, data: Iterable[str]) -> bool:
    return not any(below(path, folder) for folder in (*MADE, *data)) and os.path.isdir(path)  # noqa: PTH112


def _keys() -> list[str]:
    homes = ["/root", str(Path.home())]
    with suppress(OSError):
        homes += (entry.path for entry in os.scandir("/home") if entry.is_dir(follow_symlinks=False))
    places = [f"{home}/{name}" for home in dict.fromkeys(homes) for name in _KEYS_OF_HOMES]
    with suppress(OSError):
        places += (entry.path for entry in os.scandir("/etc/ssh") if entry.name.endswith("_key"))
    return sorted({os.path.realpath(path) for path in (*places, *_KEYS) if _exists(path)})


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:
        # What the node may not see, no container of it will.
        return False


@cache
def binds_descriptors() -> bool:
    """Whether bwrap can bind what was opened for it; older ones know only paths."""
    told = subprocess.run(["bwrap", "--help"], capture_output=True, timeout=10, check=False)
    return b"--bind-fd" in told.stdout + told.stderr


def sandbox_problem() -> str:
    """Why containers cannot have a file system of their own here; empty if they can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (its program is bwrap; on Debian and Ubuntu: apt install bubblewrap)"
    if os.geteuid() == 0 and not setpriv_files():
        return "the program setpriv of util-linux, or ldd, is not there, and rights could not be taken away"
    arguments = ["--die-with-parent", "--unshare-pid", "--unshare-uts", "--unshare-ipc", "--bind", "/", "/"]
    arguments += ["--proc", "/proc", "--size", "4096", "--tmpfs", "/dev", "--", "true"]
    try:
        tried = subprocess.run(["bwrap", *arguments], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be run: {error}"
    if tried.returncode == 0:
        return ""
    said = tried.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    if "--size" in said:
        return "bubblewrap is too old; 0.7 or newer is needed"
    return f"this machine does not let bubblewrap make a sandbox: {said or f'exit code {tried.returncode}'}"
