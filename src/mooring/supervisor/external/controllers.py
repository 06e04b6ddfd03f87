"""Controllers on an external cluster: what each does, and warnings about conflicting controllers of that cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import aclosing
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from mooring.apiserver.health import VERSION_SUFFIX
from mooring.catalog import CATALOG
from mooring.client.http import HttpTransport
from mooring.client.transport import AsyncTransport, Item, Scope, Unreachable
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, UnauthorizedError
from mooring.kube.times import moment
from mooring.runtime.controller import Controller
from mooring.supervisor.own_rights import BINDING_PREFIX, MANAGED_BY_UP

if TYPE_CHECKING:
    from mooring.runtime.webhooks.model import Webhook

__all__ = ["conflict_warnings", "described", "embedded_conflicts", "upstream_conflicts"]

_BINDING: Final = ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding")


def described(part: Controller | Webhook) -> str:
    """What a controller or a webhook does, in one line: the first line of its module's docstring."""
    function = part.reconcile if isinstance(part, Controller) else part.admit
    function = function.func if isinstance(function, partial) else function
    text = sys.modules[function.__module__].__doc__ or ""
    return text.partition("\n")[0].strip()


async def conflict_warnings(transport: AsyncTransport, names: Iterable[str], now: datetime) -> list[str]:
    """Warnings about controllers that the external cluster runs too, one for each of its programs."""
    return [await _warning(transport, program, ours, now) for program, ours in _grouped(names, CATALOG.conflicts)]


async def upstream_conflicts(transport: AsyncTransport, names: Iterable[str]) -> list[str]:
    """What to say of Deployments of the external cluster whose controllers are to run here too, one line for each."""
    found = []
    for name, ours in _grouped(names, CATALOG.upstream):
        for place in await _running(transport, name):
            left_out = ",".join(f"-{each}" for each in ours)
            found.append(
                f"Deployment {place} runs in this cluster and does the work of {', '.join(ours)}; "
                f"leave them out with --controllers {left_out}"
            )
    return found


async def embedded_conflicts(transport: HttpTransport, names: Iterable[str]) -> list[str]:
    """What to say of `mooring up` where it runs these controllers in the cluster that it serves.

    Credentials that the server refuses are refused here, before anything waits for them.
    """
    try:
        if not (await transport.version()).endswith(VERSION_SUFFIX):
            return []
        async with aclosing(transport.list(*_BINDING, Scope(labels=MANAGED_BY_UP))) as pages:
            bound = {_plain(item)["metadata"]["name"] async for page in pages for item in page.items}
    except UnauthorizedError:
        raise
    except (ApiError, Unreachable):
        return []
    ours = [name for name in names if f"{BINDING_PREFIX}{name}" in bound]
    if not ours:
        return []
    return [
        f"mooring up runs {', '.join(ours)} in this cluster already; choose others with --controllers, "
        f"or start it with mooring up --controllers {','.join(f'-{each}' for each in ours)}"
    ]


async def _running(transport: AsyncTransport, name: str) -> list[str]:
    """The Deployments of a name that have pods to run, as far as they may be read."""
    scope = Scope(fields=f"metadata.name={name}")
    try:
        async with aclosing(transport.list("apps/v1", "Deployment", scope)) as pages:
            items = [_plain(item) async for page in pages for item in page.items]
    except (ApiError, Unreachable):
        return []
    return [f"{each['metadata']['namespace']}/{name}" for each in items if each["spec"].get("replicas", 1)]


def _plain(item: Item) -> Object:
    found: Object = item if isinstance(item, dict) else msgspec.json.decode(item)
    return found


def _grouped(names: Iterable[str], programs: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    chosen = [name for name in names if name in programs]
    for program in sorted({programs[name] for name in chosen}, reverse=True):
        yield program, [name for name in chosen if programs[name] == program]


async def _warning(transport: AsyncTransport, program: str, ours: list[str], now: datetime) -> str:
    does = "does the work of" if len(ours) > 1 else "does that work:"
    listed = ", ".join(ours)
    holder = await _holder(transport, program, now)
    if holder:
        return f"{program} runs in this cluster ({holder}) and {does} {listed}; the two will work against each other"
    return f"where {program} runs, it {does} {listed}; be sure that it does not run in this cluster"


async def _holder(transport: AsyncTransport, program: str, now: datetime) -> str:
    """The holder of the program's Lease; empty if it is not held, or may not be read."""
    try:
        lease = await transport.get("coordination.k8s.io/v1", "Lease", "kube-system", program)
    except (ApiError, Unreachable):
        return ""
    spec = lease.get("spec") or {}
    if not spec.get("renewTime") or not spec.get("holderIdentity"):
        return ""
    age = (now - moment(spec["renewTime"])).total_seconds()
    return str(spec["holderIdentity"]) if age <= float(spec.get("leaseDurationSeconds") or 15) else ""
