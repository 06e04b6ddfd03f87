"""A host for people: whether it is free, who has claimed it, and what it brings."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.client.transport import plain
from mooring.features.hosts.api.conditions import HOST_HEALTHY
from mooring.features.hosts.api.hosts import ByoHost
from mooring.features.hosts.api.names import API_VERSION
from mooring.manifests.views import convert
from mooring.runway.shown import Shown
from mooring.runway.workloads.records import ConditionShown

__all__ = ["HOST_KIND", "HostShown", "host_record"]

HOST_KIND: Final = (API_VERSION, "ByoHost")


class HostShown(Shown, frozen=True):
    """`phase` is Available, Claimed, Cleaning or Silent. A heartbeat is not told: it comes every few seconds."""

    namespace: str
    name: str
    phase: str
    labels: dict[str, str]
    capacity: dict[str, str]
    os: str
    addresses: tuple[str, ...]
    conditions: tuple[ConditionShown, ...]
    created_at: str
    claimed_by: str | None = None
    silent_since: str | None = None


def host_record(raw: msgspec.Raw) -> HostShown:
    obj = plain(raw)
    host: ByoHost = convert(obj, ByoHost)
    status = host.status
    healthy = next((each for each in status.conditions if each.type == HOST_HEALTHY), None)
    silent = healthy is not None and healthy.status != "True"
    return HostShown(
        host.metadata.namespace,
        host.metadata.name,
        status.phase,
        host.spec.labels,
        {name: str(amount) for name, amount in host.spec.capacity.items()},
        status.hostinfo.osimage or status.hostinfo.osname,
        tuple(address for network in status.network for address in network.ip_addrs),
        tuple(ConditionShown(each.type, each.status, each.reason, each.message) for each in status.conditions),
        obj["metadata"].get("creationTimestamp") or "",
        None if status.machine_ref is None else status.machine_ref.name,
        str(healthy.last_transition_time or "") or None if silent and healthy is not None else None,
    )
