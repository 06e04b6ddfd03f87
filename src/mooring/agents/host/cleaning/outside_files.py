"""Files that containerd, kubelet and network plug-ins keep outside of the agent's folder whatever they are told.

Another agent on the same machine has files in the same folders, so only what belongs to this one is removed: by the
sockets that its shims have on record, the links that lead into its folder, the sandboxes that it ran.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.services.systemd import POD_SLICE
from mooring.nodes.process.containers.sandbox.mount_table import below

__all__ = ["FOLDERS", "existing_paths", "has_pod_slice", "own_outside_files", "remove_outside_files"]

CONTAINER_LOGS: Final = Path("/var/log/containers")
NETWORK_RESULTS: Final = Path("/var/lib/cni/results")
KUBELET: Final = Path("/var/lib/kubelet")
# Where a network that the cluster brings writes its configuration; the next claim must not find it.
NETWORK_CONFIGURATION: Final = Path("/etc/cni/net.d")
_POD_SLICES: Final = tuple(Path("/sys/fs/cgroup", each, POD_SLICE) for each in ("", "systemd"))
# The innermost first: a folder that was not there before the claim goes when it is empty.
FOLDERS: Final = (
    NETWORK_CONFIGURATION,
    NETWORK_CONFIGURATION.parent,
    CONTAINER_LOGS,
    Path("/var/log/pods"),
    NETWORK_RESULTS,
    Path("/var/lib/cni/networks"),
    Path("/var/lib/cni"),
    KUBELET / "device-plugins",
    KUBELET,
    Path("/run/containerd/s"),
    Path("/run/containerd"),
    Path("/run/netns"),
)


def existing_paths() -> tuple[str, ...]:
    """The folders that there are, and the configuration of networks."""
    folders = [str(folder) for folder in (*FOLDERS, *_POD_SLICES) if folder.exists()]
    return (*folders, *(str(path) for path in NETWORK_CONFIGURATION.glob("*")))


def has_pod_slice(paths: Collection[str]) -> bool:
    """Whether another kubelet had pods on the machine, as systemd has them: those are not this agent's to end."""
    return any(str(folder) in paths for folder in _POD_SLICES)


def own_outside_files(root: RootFolder) -> list[Path]:
    """Files outside of the folder that are this agent's; found before the folder is removed, which names them."""
    return sorted({*_shim_sockets(root), *_log_links(root), *_network_results(root)})


def remove_outside_files(files: Collection[Path], before: Collection[str]) -> None:
    """Remove the files, what is new of networks, and the folders that were not there before and are empty now."""
    networks = [path for path in NETWORK_CONFIGURATION.glob("*") if str(path) not in before]
    for path in (*files, *networks):
        with suppress(OSError):
            path.unlink(missing_ok=True)
    for folder in FOLDERS:
        if str(folder) in before:
            continue
        if folder == KUBELET / "device-plugins":
            for path in folder.glob("kubelet*"):
                with suppress(OSError):
                    path.unlink()
        with suppress(OSError):
            folder.rmdir()


def _shim_sockets(root: RootFolder) -> Iterator[Path]:
    for address in root.containerd_state.glob("io.containerd.runtime.v2.task/*/*/address"):
        with suppress(OSError):
            yield Path(address.read_text().strip().removeprefix("unix://"))


def _log_links(root: RootFolder) -> Iterator[Path]:
    real = os.path.realpath(root.path)
    with suppress(OSError):
        for path in CONTAINER_LOGS.iterdir():
            if path.is_symlink() and below(os.path.realpath(path.readlink()), real):
                yield path


def _network_results(root: RootFolder) -> Iterator[Path]:
    sandboxes = {path.name for path in root.containerd.glob("io.containerd.grpc.v1.cri/sandboxes/*")}
    with suppress(OSError):
        for path in NETWORK_RESULTS.iterdir():
            if path.name.startswith(f"{root.network_name}-") or any(each in path.name for each in sandboxes):
                yield path
