"""What MachineSets and MachineDeployments say of their Machines: counts, versions and conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from mooring.api.conditions import find_condition, is_true
from mooring.api.meta import Condition
from mooring.features.machines.api import conditions as say
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.parts import VersionCount
from mooring.features.machines.blocks import Block

__all__ = ["conditions_of", "count", "deleting", "machine_conditions", "scaling", "versions_of"]

# A sentence about Machines names these many of them.
_NAMED: int = 3


def count(machines: Iterable[Machine], kind: str) -> int:
    """How many Machines a condition holds for."""
    return sum(is_true(each.status.conditions, kind) for each in machines)


def versions_of(machines: Iterable[Machine]) -> tuple[VersionCount, ...]:
    counted = Counter(each.spec.version for each in machines if each.spec.version)
    return tuple(VersionCount(version, number) for version, number in sorted(counted.items()))


def scaling(wanted: int, there: int, block: Block | None) -> tuple[Condition, ...]:
    """Whether Machines are on their way in or out, and what they wait for."""
    growing, shrinking = wanted > there, wanted < there
    text = f"Scaling up from {there} to {wanted} Machines" if growing else ""
    if block is not None:
        text = f"{text}, which waits: {block.message}" if growing else f"Scaling up would wait: {block.message}"
    up = Condition(
        say.SCALING_UP,
        "True" if growing else "False",
        block.reason if block is not None else say.SCALING if growing else say.NOT_SCALING_UP,
        text,
    )
    text = f"Scaling down from {there} to {wanted} Machines" if shrinking else ""
    down = Condition(
        say.SCALING_DOWN,
        "True" if shrinking else "False",
        say.SCALING_IN if shrinking else say.NOT_SCALING_DOWN,
        text,
    )
    return up, down


def machine_conditions(machines: Sequence[Machine]) -> tuple[Condition, ...]:
    return (
        _all(machines, say.READY, say.MACHINES_READY, say.IS_READY, say.NOT_READY),
        _all(machines, say.UP_TO_DATE, say.MACHINES_UP_TO_DATE, say.IS_UP_TO_DATE, say.NOT_UP_TO_DATE),
    )


def _all(machines: Sequence[Machine], kind: str, made: str, good: str, bad: str) -> Condition:
    if not machines:
        return Condition(made, "True", say.NO_REPLICAS)
    short = sorted((each for each in machines if not is_true(each.status.conditions, kind)), key=_name)
    if not short:
        return Condition(made, "True", good)
    told = [f"Machine {_name(each)}: {_why(each, kind)}" for each in short[:_NAMED]]
    more = f"; and {len(short) - _NAMED} more" if len(short) > _NAMED else ""
    return Condition(made, "False", bad, "; ".join(told) + more)


def _name(machine: Machine) -> str:
    return machine.metadata.name


def _why(machine: Machine, kind: str) -> str:
    found = find_condition(machine.status.conditions, kind)
    return f"{kind} is not known yet" if found is None else found.message or found.reason


def deleting(machines: Sequence[Machine], *, going: bool) -> Condition:
    if not going:
        return Condition(say.DELETING, "False", say.NOT_DELETING)
    names = ", ".join(sorted(map(_name, machines))[:_NAMED])
    text = f"{len(machines)} Machines have to go first: {names}"
    return Condition(say.DELETING, "True", say.WAITING_FOR_MACHINES_DELETION, text)


def conditions_of(
    machines: Sequence[Machine], wanted: int, block: Block | None, paused: Condition, *, going: bool
) -> tuple[Condition, ...]:
    """The conditions that both kinds of pools have."""
    return (
        *machine_conditions(machines),
        *scaling(0 if going else wanted, len(machines), block),
        deleting(machines, going=going),
        paused,
    )
