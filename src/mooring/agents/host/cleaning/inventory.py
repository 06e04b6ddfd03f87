"""What is on a machine: mounts, processes, links, control groups, chains, files.

Taken before a claim and after it, the two are equal, or something was left.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from mooring.agents.host.cleaning.control_groups import group_folders, group_processes
from mooring.agents.host.cleaning.firewall import list_chains
from mooring.agents.host.cleaning.outside_files import existing_paths, own_outside_files
from mooring.agents.host.detection.netlink import list_links
from mooring.agents.host.root_folder import MARK_VARIABLE, RootFolder
from mooring.nodes.process.containers.proc import family
from mooring.nodes.process.containers.sandbox.mount_table import mount_points

__all__ = ["Inventory", "node_processes", "take_inventory"]


_WORDS: Final = ("mount", "process", "link", "control group", "chain", "file")


class Inventory(NamedTuple):
    """Of the whole machine, or of the namespaces that this process is in; processes are those of one agent's node."""

    mounts: tuple[str, ...]
    processes: tuple[str, ...]
    links: tuple[str, ...]
    control_groups: tuple[str, ...]
    chains: tuple[str, ...]
    files: tuple[str, ...]

    def lines(self) -> list[str]:
        """For people: one line for each thing."""
        return [f"{word} {each}" for word, found in zip(_WORDS, self, strict=True) for each in found]

    def added_since(self, before: Inventory) -> list[str]:
        """What is here now and was not before."""
        known = set(before.lines())
        return [line for line in self.lines() if line not in known]


def take_inventory(root: RootFolder) -> Inventory:
    groups = [str(folder) for folder in group_folders(root.control_group) if folder.exists()]
    files = [*existing_paths(), *map(str, own_outside_files(root)), *([str(root.node)] if root.node.exists() else [])]
    return Inventory(
        mounts=tuple(sorted(f"{mount.path} {mount.kind}" for mount in mount_points())),
        processes=tuple(f"{pid} {_command(pid)}" for pid in sorted(node_processes(root))),
        links=tuple(sorted(link.name for link in list_links())),
        control_groups=tuple(sorted(groups)),
        chains=tuple(sorted(list_chains())),
        files=tuple(sorted(set(files))),
    )


def node_processes(root: RootFolder) -> set[int]:
    """Processes of the node: those with the agent's mark, all that descend from them, and those in the pods' group."""
    marked = {pid for pid in _pids() if pid != os.getpid() and _has_mark(pid, root.mark)}
    found = {each for pid in marked for each in family(pid)} | group_processes(root.control_group)
    return found - _own_line()


def _own_line() -> set[int]:
    """This process and those that it descends from."""
    found, pid = set(), os.getpid()
    while pid:
        found.add(pid)
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return found


def _pids() -> Iterable[int]:
    return [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]


def _has_mark(pid: int, mark: str) -> bool:
    with suppress(OSError):
        return f"{MARK_VARIABLE}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return False


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""
