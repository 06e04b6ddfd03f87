"""Watches over each host: says whether it is heard of, ends claims whose ByoMachine is gone, and tidies released hosts.

A host is released by its agent, which cleans it and clears `machineRef` in one write. Where the agent does not do so in
time, the claim is ended without it, and the host stays out of use until its agent has cleaned it after all.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from mooring.api.conditions import find_condition, is_true
from mooring.api.kinds import Key, key_of
from mooring.api.meta import Condition
from mooring.features.hosts.api import conditions as told
from mooring.features.hosts.api.hosts import AVAILABLE, CLAIMED, CLEANING, SILENT, ByoHost
from mooring.features.hosts.api.kinds import BYO_HOST_HEARTBEAT, BYO_MACHINE
from mooring.features.hosts.api.names import CLEANUP_STARTED_AT, UNREGISTERING
from mooring.features.hosts.byohost.release import release_patch, unregister
from mooring.features.hosts.settings import HostSettings
from mooring.features.hosts.statuses import holds, status_patch, waiting
from mooring.kube.objects import Object
from mooring.kube.times import moment, timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event, Patch, Write
from mooring.runtime.view import View


class OrphanSeen(NamedTuple):
    """Since when the ByoMachine of a claim has not been there."""

    uid: str
    since: datetime


def byohost_controller(settings: HostSettings) -> Controller:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        host = view.get(BYO_HOST_HEARTBEAT, *key)
        if host is None or host.metadata.deleting:
            return Decision()
        health = _health(host, view, settings)
        cleaning = UNREGISTERING in host.metadata.annotations
        # 1. A claim whose ByoMachine is gone for good ends.
        if host.status.machine_ref is not None and not cleaning and not _is_there(view, host):
            return _end_orphaned(host, view, settings, now)
        # 2. An agent that does not clean in time is waited for no longer.
        if cleaning and host.status.machine_ref is not None:
            return _cleaning(host, view, settings, now, health)
        # 3. What a claim brought is taken away once the host is clean.
        left = cleaning or host.spec.bootstrap_secret is not None
        if host.status.machine_ref is None and left and is_true(host.status.conditions, told.HOST_CLEAN):
            fields = {"phase": _phase(host, health, clean=True), "lastReleasedTime": timestamp(now)}
            freed = status_patch(BYO_HOST_HEARTBEAT, host, host.status, (health,), now, fields)
            return Decision(intent=freed, children=(release_patch(BYO_HOST_HEARTBEAT, host),))
        return Decision(status=_status(host, health, now))

    return Controller(
        "byohost",
        reconcile,
        of=BYO_HOST_HEARTBEAT,
        reads=(BYO_MACHINE,),
        writes={BYO_HOST_HEARTBEAT: ("patch", "status")},
        memory=OrphanSeen,
    )


def _health(host: ByoHost, view: View, settings: HostSettings) -> Condition:
    """A host that stays silent changes nothing, so its silence is looked for: a poll, which keeps no plan waiting."""
    last = host.status.last_heartbeat_time
    if last is None:
        message = f"no agent has been heard of on ByoHost {host.metadata.name} yet; start `mooring agent` on it"
        return waiting(told.HOST_HEALTHY, told.HEARTBEAT_MISSING, message, "Warning")
    silent_at = moment(last) + settings.heartbeat_timeout
    if silent_at > view.now:
        view.poll_again(silent_at)
        return holds(told.HOST_HEALTHY, told.HEARTBEAT_FRESH)
    message = (
        f"the agent of ByoHost {host.metadata.name} was last heard of at {last}, more than "
        f"{settings.heartbeat_timeout.total_seconds():.0f} s ago; the host is not claimed until it is heard of again"
    )
    return waiting(told.HOST_HEALTHY, told.HEARTBEAT_STALE, message, "Warning")


def _is_there(view: View, host: ByoHost) -> bool:
    ref = host.status.machine_ref
    if ref is None:
        return False
    machine = view.get(BYO_MACHINE, ref.namespace or host.metadata.namespace, ref.name)
    return machine is not None and machine.metadata.uid == ref.uid


def _end_orphaned(host: ByoHost, view: View, settings: HostSettings, now: datetime) -> Decision:
    ref = host.status.machine_ref
    uid = "" if ref is None else ref.uid
    seen = view.memory(OrphanSeen)
    if seen is None or seen.uid != uid:
        seen = OrphanSeen(uid, now)
    if not view.reached(seen.since + settings.orphan_grace):
        return Decision(memory=seen)
    if host.spec.bootstrap_secret is None:
        # Nothing of the claim has reached the host.
        return Decision(children=(Patch(BYO_HOST_HEARTBEAT, key_of(host), {"status": {"machineRef": None}}, "status"),))
    name = "" if ref is None else ref.name
    message = f"ByoMachine {name} is gone, so its claim ends: the agent is to clean the host"
    event = Event(BYO_HOST_HEARTBEAT, key_of(host), "Warning", "ByoMachineGone", message)
    return Decision(children=unregister(BYO_HOST_HEARTBEAT, host, now), events=(event,))


def _cleaning(host: ByoHost, view: View, settings: HostSettings, now: datetime, health: Condition) -> Decision:
    started = host.metadata.annotations.get(CLEANUP_STARTED_AT)
    if started is None:
        return Decision(children=unregister(BYO_HOST_HEARTBEAT, host, now))
    if not view.reached(moment(started) + settings.cleanup_timeout):
        return Decision(status=_status(host, health, now))
    message = (
        f"the agent of ByoHost {host.metadata.name} has not cleaned it within "
        f"{settings.cleanup_timeout.total_seconds():.0f} s, so its claim was ended; start the agent, which cleans the "
        "host before it can be claimed again"
    )
    forced = waiting(told.HOST_CLEAN, told.FORCED_RELEASE, message, "Warning")
    fields: Object = {"machineRef": None, "phase": CLEANING}
    written = status_patch(BYO_HOST_HEARTBEAT, host, host.status, (health, forced), now, fields)
    event = Event(BYO_HOST_HEARTBEAT, key_of(host), "Warning", told.FORCED_RELEASE, message)
    return Decision(status=written, events=(event,))


def _status(host: ByoHost, health: Condition, now: datetime) -> tuple[Write, ...]:
    clean = find_condition(host.status.conditions, told.HOST_CLEAN)
    phase = _phase(host, health, clean=clean is None or clean.status != "False")
    return status_patch(BYO_HOST_HEARTBEAT, host, host.status, (health,), now, {"phase": phase})


def _phase(host: ByoHost, health: Condition, *, clean: bool) -> str:
    """The one word of `kubectl get byohost`; derived here and nowhere decided on."""
    if not clean or (UNREGISTERING in host.metadata.annotations and host.status.machine_ref is not None):
        return CLEANING
    if host.status.machine_ref is not None:
        return CLAIMED
    return AVAILABLE if health.status == "True" else SILENT
