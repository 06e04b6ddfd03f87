"""Controllers as guests of a cluster that has a life of its own: which are safe there, and who else does their work."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from mooring.catalog import CATALOG
from mooring.client.transport import AsyncTransport, Unreachable
from mooring.kube.status import ApiError
from mooring.kube.times import moment
from mooring.runtime.controller import Controller

if TYPE_CHECKING:
    from mooring.runtime.webhooks.model import Webhook

__all__ = ["described", "rivals"]


def described(part: Controller | Webhook) -> str:
    """What a controller or a webhook does, in one line: the first of the module that has its function."""
    function = part.reconcile if isinstance(part, Controller) else part.admit
    text = sys.modules[function.__module__].__doc__ or ""
    return text.partition("\n")[0].strip()


async def rivals(transport: AsyncTransport, names: Iterable[str], now: datetime) -> list[str]:
    """Warnings about controllers that Kubernetes has too, one for each program that has them."""
    return [await _warning(transport, rival, ours, now) for rival, ours in _by_rival(names)]


def _by_rival(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    programs = CATALOG.rivals
    chosen = [name for name in names if name in programs]
    for rival in sorted({programs[name] for name in chosen}, reverse=True):
        yield rival, [name for name in chosen if programs[name] == rival]


async def _warning(transport: AsyncTransport, rival: str, ours: list[str], now: datetime) -> str:
    does = "does the work of" if len(ours) > 1 else "does that work:"
    listed = ", ".join(ours)
    holder = await _holder(transport, rival, now)
    if holder:
        return f"{rival} runs in this cluster ({holder}) and {does} {listed}; the two will work against each other"
    return f"where {rival} runs, it {does} {listed}; be sure that it does not run in this cluster"


async def _holder(transport: AsyncTransport, rival: str, now: datetime) -> str:
    """Who holds the lease of a program that runs; empty if nobody does, or nobody may know."""
    try:
        lease = await transport.get("coordination.k8s.io/v1", "Lease", "kube-system", rival)
    except (ApiError, Unreachable):
        return ""
    spec = lease.get("spec") or {}
    if not spec.get("renewTime") or not spec.get("holderIdentity"):
        return ""
    age = (now - moment(spec["renewTime"])).total_seconds()
    return str(spec["holderIdentity"]) if age <= float(spec.get("leaseDurationSeconds") or 15) else ""
