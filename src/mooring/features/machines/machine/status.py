"""What a Machine says of itself: conditions, their summary, and the phase."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from mooring.api.conditions import find_condition, is_true, set_conditions
from mooring.api.meta import Condition
from mooring.features.machines.api import conditions as say
from mooring.features.machines.api.kinds import MACHINE
from mooring.features.machines.api.machines import Machine, MachineStatus
from mooring.features.machines.kinds import MachineNode
from mooring.kube.times import moment, timestamp
from mooring.runtime.decision import Patch
from mooring.runtime.view import View
from mooring.workloads.podcontrol import status_change

__all__ = ["node_conditions", "ready_condition", "with_conditions", "with_phase", "written_status"]

# What a Machine is summed up from.
_SUMMED: Final = (say.BOOTSTRAP_CONFIG_READY, say.INFRASTRUCTURE_READY, say.NODE_HEALTHY)
_PRESSURES: Final = ("MemoryPressure", "DiskPressure", "PIDPressure")


def node_conditions(machine: Machine, node: MachineNode | None) -> tuple[Condition, Condition]:
    """NodeReady and NodeHealthy."""
    if node is None:
        lost = machine.status.node_ref.name
        text = f"Node {lost} is gone" if lost else f"there is no Node with the providerID {machine.spec.provider_id}"
        if not machine.spec.provider_id:
            text = "the provider has not told which Node it is"
        return (
            Condition(say.NODE_READY, "False" if lost else "Unknown", say.NODE_NOT_FOUND, text),
            Condition(say.NODE_HEALTHY, "False" if lost else "Unknown", say.NODE_NOT_FOUND, text),
        )
    name = node.metadata.name
    if node.ready:
        ready = Condition(say.NODE_READY, "True", say.NODE_IS_READY)
    else:
        found = find_condition(node.status.conditions, "Ready")
        text = f"Node {name} is not ready" + (f": {found.message}" if found is not None and found.message else "")
        ready = Condition(say.NODE_READY, "False", say.NODE_NOT_READY, text)
    pressed = [each for each in _PRESSURES if is_true(node.status.conditions, each)]
    if not node.ready or pressed:
        text = f"Node {name} has {', '.join(pressed)}" if pressed else ready.message
        return ready, Condition(say.NODE_HEALTHY, "False", say.NODE_NOT_HEALTHY, text)
    return ready, Condition(say.NODE_HEALTHY, "True", say.NODE_IS_HEALTHY)


def ready_condition(machine: Machine, conditions: Sequence[Condition]) -> Condition:
    """The sum of all that makes a Machine ready, the gates of its spec included."""
    if machine.metadata.deleting:
        return Condition(say.READY, "False", say.NOT_READY, "it is being deleted")
    wrong = [each for kind in _SUMMED if (each := _short_of(conditions, kind)) is not None]
    for gate in machine.spec.readiness_gates:
        good = "False" if gate.polarity == "Negative" else "True"
        if (each := _short_of(conditions, gate.condition_type, good)) is not None:
            wrong.append(each)
    if not wrong:
        return Condition(say.READY, "True", say.IS_READY)
    text = "; ".join(f"{each.type}: {each.message or each.reason}" for each in wrong)
    return Condition(say.READY, "False", say.NOT_READY, text)


def _short_of(conditions: Iterable[Condition], kind: str, good: str = "True") -> Condition | None:
    found = find_condition(conditions, kind)
    if found is None:
        return Condition(kind, "Unknown", "", "it is not known yet")
    return None if found.status == good else found


def _available(view: View, machine: Machine, ready: Condition) -> Condition:
    """Ready for minReadySeconds; if it is not yet, the Machine is looked at again when it will be."""
    if ready.status != "True" or ready.last_transition_time is None:
        return Condition(say.AVAILABLE, "False", say.NOT_AVAILABLE, ready.message)
    since = moment(ready.last_transition_time)
    if view.reached(since + timedelta(seconds=machine.spec.min_ready_seconds)):
        return Condition(say.AVAILABLE, "True", say.IS_AVAILABLE)
    text = f"it has to be ready for {machine.spec.min_ready_seconds} seconds"
    return Condition(say.AVAILABLE, "False", say.WAITING_FOR_MIN_READY_SECONDS, text)


def with_conditions(
    view: View, machine: Machine, status: MachineStatus, wanted: Iterable[Condition], now: datetime
) -> MachineStatus:
    """A status with these conditions, and with Ready and Available as they follow from them."""
    generation = machine.metadata.generation
    own = set_conditions(status.conditions, wanted, now)
    own = set_conditions(own, (ready_condition(machine, own),), now)
    ready = find_condition(own, say.READY) or Condition(say.READY, "False")
    own = set_conditions(own, (_available(view, machine, ready),), now)
    return replace(status, conditions=own, observed_generation=generation)


def with_phase(machine: Machine, status: MachineStatus, now: datetime) -> MachineStatus:
    phase = _phase(machine, status)
    if phase == status.phase:
        return status
    return replace(status, phase=phase, last_updated=timestamp(now))


def _phase(machine: Machine, status: MachineStatus) -> str:
    if machine.metadata.deleting:
        return "Deleting"
    if status.node_ref.name and status.initialization.infrastructure_provisioned:
        return "Running"
    if status.initialization.infrastructure_provisioned:
        return "Provisioned"
    return "Provisioning" if status.initialization.bootstrap_data_secret_created else "Pending"


def written_status(machine: Machine, status: MachineStatus) -> tuple[Patch, ...]:
    return status_change(MACHINE, machine, machine.status, status)
