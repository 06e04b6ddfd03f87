"""What comes before the five letters in the names of a set's Machines."""

from __future__ import annotations

import re
from typing import Final

from mooring.features.machines.api.machine_sets import MachineSet

__all__ = ["RANDOM_AT_THE_END", "base_name"]

# Names are told apart by their last five letters, so nothing may follow on them.
RANDOM_AT_THE_END: Final = re.compile(r"-\{\{\s*\.random\s*\}\}$")
_PLACEHOLDER: Final = re.compile(r"\{\{\s*\.(machineSet|cluster)\.name\s*\}\}")


def base_name(machine_set: MachineSet) -> str:
    template = machine_set.spec.machine_naming.template
    if not template:
        return machine_set.metadata.name
    names = {"machineSet": machine_set.metadata.name, "cluster": machine_set.spec.cluster_name}
    return _PLACEHOLDER.sub(lambda found: names[found[1]], RANDOM_AT_THE_END.sub("", template))
