"""How a ByoMachine that goes releases its host: its agent is asked to clean it, and the finalizer waits for that."""

from __future__ import annotations

from datetime import datetime

from mooring.api.kinds import key_of
from mooring.features.hosts.api.conditions import BYOHOST_READY, RELEASING
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.kinds import BYO_HOST, BYO_MACHINE
from mooring.features.hosts.api.machines import ByoMachine
from mooring.features.hosts.api.names import BYOMACHINE_FINALIZER
from mooring.features.hosts.byohost.release import unregister
from mooring.features.hosts.byomachine.ownership import give_back, give_back_strays, is_claimed_by
from mooring.features.hosts.statuses import status_patch, waiting
from mooring.runtime.decision import Decision, Event
from mooring.runtime.view import View
from mooring.workloads.finalizers import remove_finalizer

__all__ = ["release_host"]


def release_host(view: View, machine: ByoMachine, now: datetime) -> Decision:
    strays = give_back_strays(view, machine)
    ref = machine.status.host_ref
    host = None if ref is None else view.get(BYO_HOST, machine.metadata.namespace, ref.name)
    # 1. There is no host, it is another one by now, or it is free.
    if ref is None or host is None or host.metadata.uid != ref.uid or not is_claimed_by(host, machine):
        freed = host is not None and ref is not None and ref.claimed
        return Decision(
            children=strays,
            release=() if strays else remove_finalizer(BYO_MACHINE, machine, BYOMACHINE_FINALIZER),
            events=_released(machine, host) if freed and host is not None else (),
        )
    # 2. Nothing has reached the host yet.
    if not ref.claimed:
        return Decision(children=(*strays, *give_back(host)))
    # 3. Its agent cleans it.
    message = f"ByoHost {ref.name} is being cleaned by its agent"
    told = status_patch(
        BYO_MACHINE,
        machine,
        machine.status,
        (waiting(BYOHOST_READY, RELEASING, message),),
        now,
        {"cleanupStarted": True, "ready": False},
    )
    return Decision(children=(*strays, *unregister(BYO_HOST, host, now)), status=told)


def _released(machine: ByoMachine, host: HostClaim) -> tuple[Event, ...]:
    message = f"Released ByoHost {host.metadata.name}"
    return (
        Event(BYO_MACHINE, key_of(machine), "Normal", "ByoHostReleaseSucceeded", message),
        Event(BYO_HOST, key_of(host), "Normal", "ByoHostReleaseSucceeded", f"Released by ByoMachine {key_of(machine)}"),
    )
