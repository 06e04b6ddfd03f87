"""Leases as the node lifecycle controller and leader election see them."""

from __future__ import annotations

from mooring.api.core.types import View
from mooring.api.meta import Meta


class LeaseSpec(View, frozen=True):
    holder_identity: str | None = None
    renew_time: str | None = None
    lease_duration_seconds: int | None = None
    lease_transitions: int | None = None


class Lease(View, frozen=True):
    metadata: Meta = Meta()
    spec: LeaseSpec = LeaseSpec()
