"""Which labels of a Machine its Node has, for those who make the Node and for those who keep it in step."""

from __future__ import annotations

from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import GROUP, TEMPLATE_HASH

__all__ = ["node_labels"]


def node_labels(machine: Machine) -> dict[str, str]:
    """All but those by which Machines are found."""
    return {
        name: value
        for name, value in machine.metadata.labels.items()
        if name != TEMPLATE_HASH and name.partition("/")[0] != GROUP
    }
