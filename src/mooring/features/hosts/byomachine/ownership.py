"""Whose host it is: the writes by which a ByoMachine chooses a host, claims it, notes that both agree, or steps back.

One host belongs to one ByoMachine because `status.machineRef` of the host is written by compare-and-swap and nowhere
else decided. One ByoMachine has one host because

1. it records its choice (`status.hostRef`) before it claims, and claims only what is on record;
2. it undoes a choice that it has not confirmed, which a claim under way may outlast: that leaves a stray host, below;
3. once it has seen both agree it notes that (`hostRef.claimed`), and from then on never chooses again. Everything that
   reaches the host (Secrets, labels, taints) is written only after that.

A claim by a decision that was made on an old view of the ByoMachine leaves a host that names a ByoMachine which chose
another. Nothing was written to such a stray host, so it is given back by compare-and-swap.
"""

from __future__ import annotations

from datetime import datetime

from mooring.api.conditions import condition_objects, without_condition
from mooring.features.hosts.api.conditions import BYOHOST_READY, CLAIMING, HOST_CLEAN
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.kinds import BYO_HOST, BYO_MACHINE
from mooring.features.hosts.api.machines import ByoMachine
from mooring.features.hosts.api.names import API_VERSION
from mooring.features.hosts.api.references import reference_to
from mooring.features.hosts.statuses import status_patch, waiting
from mooring.runtime.decision import Patch, status
from mooring.runtime.view import View

__all__ = ["choose", "claim", "confirm", "give_back", "give_back_strays", "is_claimed_by", "step_back"]


def is_claimed_by(host: HostClaim, machine: ByoMachine) -> bool:
    ref = host.status.machine_ref
    return ref is not None and ref.uid == machine.metadata.uid


def choose(machine: ByoMachine, host: HostClaim, now: datetime) -> tuple[Patch, ...]:
    """Put the choice on record."""
    told = waiting(BYOHOST_READY, CLAIMING, f"ByoHost {host.metadata.name} is being claimed")
    chosen = {"name": host.metadata.name, "uid": host.metadata.uid, "claimed": False}
    return status_patch(BYO_MACHINE, machine, machine.status, (told,), now, {"hostRef": chosen})


def step_back(machine: ByoMachine) -> Patch:
    """Undo a choice."""
    return status(BYO_MACHINE, machine, {"hostRef": None})


def claim(machine: ByoMachine, host: HostClaim) -> Patch:
    """Claim the host that is on record, if it is as it was seen. That it was clean says nothing of the time after."""
    meta = machine.metadata
    ref = reference_to(API_VERSION, "ByoMachine", meta.namespace, meta.name, meta.uid)
    kept = condition_objects(without_condition(host.status.conditions, HOST_CLEAN))
    return status(BYO_HOST, host, {"machineRef": ref, "conditions": kept})


def confirm(machine: ByoMachine, host: HostClaim) -> Patch:
    """Note that both agree, which makes the choice final."""
    return status(
        BYO_MACHINE, machine, {"hostRef": {"name": host.metadata.name, "uid": host.metadata.uid, "claimed": True}}
    )


def give_back(host: HostClaim) -> tuple[Patch, ...]:
    """Free a host to which nothing was written yet. One that has its Secret was claimed for good, whatever a view says
    of the ByoMachine: that view is old then."""
    return () if host.spec.bootstrap_secret is not None else (status(BYO_HOST, host, {"machineRef": None}),)


def give_back_strays(view: View, machine: ByoMachine) -> tuple[Patch, ...]:
    """Free the hosts that name this ByoMachine and are not its choice."""
    ref = machine.status.host_ref
    chosen = "" if ref is None else ref.uid
    claimed = view.list(BYO_HOST, "claimer", machine.metadata.uid)
    return tuple(write for host in claimed if host.metadata.uid != chosen for write in give_back(host))
