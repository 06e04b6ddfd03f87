"""What this machine lets the node use to keep containers apart, found once when the node starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from mooring.nodes.process.containers.sandbox.capabilities import bounding_set
from mooring.nodes.process.containers.sandbox.cgroups import ControlGroups, find_control_groups
from mooring.nodes.process.containers.sandbox.layers import layer_problem, unmount_below
from mooring.nodes.process.containers.sandbox.machine_view import MachineView, machine_view

__all__ = ["Isolation", "find_isolation"]


# Where the groups of the node lie: the next one may be started from elsewhere, and then has others.
_GROUPS_FILE: Final = "control-groups"


class Isolation(NamedTuple):
    """`data` is the folder that no pod sees. `capabilities` are what the node can give: none if it is not root."""

    data: Path
    layered: bool
    capabilities: frozenset[str]
    control_groups: ControlGroups

    def view(self) -> MachineView:
        return machine_view(self.data, layered=self.layered)

    def leave(self, folder: Path) -> None:
        """Leave nothing mounted and no groups; the node ends."""
        if os.geteuid() == 0:
            unmount_below(folder)
        self.control_groups.remove()


def find_isolation(data: Path, folder: Path, mark: str) -> Isolation:
    """`folder` is the node's own. What an earlier node left mounted or in control groups is removed."""
    if os.geteuid() == 0:
        unmount_below(folder)
    groups = find_control_groups(mark)
    _remove_earlier(folder / _GROUPS_FILE)
    (folder / _GROUPS_FILE).write_text("".join(f"{root}\n" for root in groups.roots.values()))
    return Isolation(
        data=data,
        layered=not layer_problem(folder),
        capabilities=bounding_set() if os.geteuid() == 0 else frozenset(),
        control_groups=groups,
    )


def _remove_earlier(listed: Path) -> None:
    try:
        roots = [Path(line) for line in listed.read_text().splitlines()]
    except OSError:
        return
    ControlGroups({str(root): root for root in roots}, unified=False).remove()
