"""A controller of `mooring up` that leaves its work to any other process which holds a Lease.

The other process, such as the pod of the autoscaler on this machine, holds the Lease for as long as it lives. A
stand-in takes it for seconds, and only when it has decided something: first it claims the Lease, and when the claim is
seen it decides again and acts. So the other process never waits for long, and two never act at once: a claim that is
about to run out is made again before anything is written.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from mooring.api.coordination.views import Lease
from mooring.api.kinds import Key
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Patch
from mooring.runtime.reads import named
from mooring.runtime.view import View
from mooring.workloads.kinds import LEASE

__all__ = ["NAMED_LEASE", "STAND_IN", "stand_in"]

NAMED_LEASE: Final = named(LEASE)
# The holder that a Lease names while the controllers of `mooring up` act.
STAND_IN: Final = "mooring-up"
_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_CLAIM: Final = timedelta(seconds=3)
# A claim this old is not acted on: what is decided must be written while the claim is good.
_ACTING: Final = timedelta(seconds=2)


def stand_in(controller: Controller, lease: Key) -> Controller:
    """The controller, which decides only while no other process holds the Lease."""

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        found = view.get(NAMED_LEASE, *lease)
        # 1. Another process holds the Lease. What is remembered was true before it began.
        if found is not None and _is_held_by_another(found) and not view.reached(_end(found)):
            return Decision()
        # 2. Nothing is to be done.
        decision = controller.reconcile(key, view, now)
        if decision.empty and not decision.events and not decision.effects:
            return decision
        # 3. The claim is good for long enough.
        if found is not None and found.spec.holder_identity == STAND_IN and now < _renewed(found) + _ACTING:
            return decision
        memory = None if controller.memory is None else view.memory(controller.memory)
        return Decision(intent=(_claim(found, lease, now),), memory=memory)

    return replace(
        controller,
        reconcile=reconcile,
        reads=(*controller.reads, NAMED_LEASE),
        writes={**controller.writes, NAMED_LEASE: ("create", "patch")},
    )


def _claim(found: Lease | None, lease: Key, now: datetime) -> Create | Patch:
    moment_text = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    seconds = int(_CLAIM.total_seconds())
    spec: Object = {"holderIdentity": STAND_IN, "leaseDurationSeconds": seconds, "renewTime": moment_text}
    if found is None:
        metadata = {"namespace": lease.namespace, "name": lease.name}
        return Create(NAMED_LEASE, {"metadata": metadata, "spec": {**spec, "acquireTime": moment_text}})
    if found.spec.holder_identity != STAND_IN:
        spec |= {"acquireTime": moment_text, "leaseTransitions": (found.spec.lease_transitions or 0) + 1}
    return Patch(NAMED_LEASE, lease, {"spec": spec})


def _is_held_by_another(lease: Lease) -> bool:
    return lease.spec.renew_time is not None and lease.spec.holder_identity not in (None, "", STAND_IN)


def _renewed(lease: Lease) -> datetime:
    return moment(lease.spec.renew_time) if lease.spec.renew_time else _NEVER


def _end(lease: Lease) -> datetime:
    return _renewed(lease) + timedelta(seconds=lease.spec.lease_duration_seconds or 0)
