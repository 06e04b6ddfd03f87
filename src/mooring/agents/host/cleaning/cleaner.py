"""Cleans a host: services and containers ended, mounts, links, chains, groups and files removed, settings put back.

Every part can be done twice and on a clean machine, because an agent that was killed in the middle begins again. What
cannot be removed is named, and the host is not free until it is gone.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from mooring.agents.host.cleaning.control_groups import group_folders, remove_control_group
from mooring.agents.host.cleaning.firewall import remove_chains
from mooring.agents.host.cleaning.inventory import node_processes
from mooring.agents.host.cleaning.mounts import unmount_below
from mooring.agents.host.cleaning.outside_files import has_pod_slice, own_outside_files, remove_outside_files
from mooring.agents.host.cleaning.sysctls import restore_sysctls
from mooring.agents.host.detection.netlink import delete_link, list_links
from mooring.agents.host.progress import MachineBaseline
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.services.service import ServiceManager
from mooring.kube.errors import MooringError

__all__ = ["LeftBehind", "clean_machine", "stop_node"]

# In this order: a kubelet that runs would start containers again.
_SERVICES: Final = ("kubelet", "containerd")
_KILL_SECONDS: Final = 15.0
_KILL_POLL_SECONDS: Final = 0.05
_SHOWN: Final = 5
_log = logging.getLogger("mooring.agent")


class LeftBehind(MooringError):
    """Something of a claim could not be removed; the sentence names it."""


async def clean_machine(root: RootFolder, services: ServiceManager, baseline: MachineBaseline) -> None:
    """Remove everything of a claim but its scripts, which are run before this. Raises LeftBehind."""
    await stop_node(root, services)
    if not has_pod_slice(baseline.paths):
        await services.stop_pods()
    await asyncio.to_thread(_remove, root, baseline)


async def stop_node(root: RootFolder, services: ServiceManager) -> None:
    """End services and containers, so that an uninstall script may remove their programs."""
    for name in _SERVICES:
        await services.stop(name)
    await asyncio.to_thread(_kill, root)


def _remove(root: RootFolder, baseline: MachineBaseline) -> None:
    outside = own_outside_files(root)
    left = [f"process {pid}" for pid in _kill(root)]
    left += [f"mount {path}" for path in unmount_below(root.node)]
    left += _delete_links(root)
    remove_chains(baseline.chains)
    remove_control_group(root.control_group)
    left += [f"control group {folder}" for folder in group_folders(root.control_group) if folder.exists()]
    remove_outside_files(outside, baseline.paths)
    restore_sysctls(baseline.sysctls)
    if not left:
        left += _delete_files(root)
    if left:
        raise LeftBehind(f"this is left on the machine and could not be removed: {_shortened(left)}")


def _kill(root: RootFolder) -> set[int]:
    """Kill every process of the node; those that are still there in the end, such as one that waits for a dead disk."""
    deadline = time.monotonic() + _KILL_SECONDS
    while (found := node_processes(root)) and time.monotonic() < deadline:
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_KILL_POLL_SECONDS)
        _reap(found)
    return found


def _reap(pids: set[int]) -> None:
    """Those that this process has started itself stay as zombies until they are waited for."""
    for pid in pids:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _delete_links(root: RootFolder) -> list[str]:
    """Delete the bridge of the pods and its ports. Ends of pods' links went with the namespaces of their networks."""
    links = list_links()
    bridges = {link.number for link in links if link.name == root.bridge}
    left = []
    for link in links:
        if link.master in bridges or link.number in bridges:
            try:
                delete_link(link.number)
            except OSError as error:
                left.append(f"link {link.name} ({error.strerror})")
    return left


def _delete_files(root: RootFolder) -> list[str]:
    problems: list[str] = []

    def note(_: object, path: str, error: BaseException | tuple[object, ...]) -> None:
        if Path(path).exists():
            problems.append(f"file {path}")

    if root.node.exists():
        shutil.rmtree(root.node, onerror=note)
    return problems


def _shortened(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
