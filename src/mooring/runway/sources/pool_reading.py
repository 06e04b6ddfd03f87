"""What is read of a cluster to tell about its pools: pools, hosts, and what was decided about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mooring.kube.errors import InputError
from mooring.kube.status import ApiError, NotFoundError
from mooring.runway.sources.live_source import read_kinds
from mooring.runway.sources.refusal import refusal

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport
    from mooring.runtime.pool_report import PoolReport

__all__ = ["PoolReading", "read_pools"]


class PoolReading(NamedTuple):
    """The views by kind, and the ConfigMap of decisions."""

    report: PoolReport
    world: dict[str, list[Any]]
    decisions: dict[str, str]


async def read_pools(transport: HttpTransport, report: PoolReport) -> PoolReading:
    world: dict[str, list[Any]] = {kind: [] for _, kind in report.views}
    gaps = await read_kinds(transport, dict(report.views), lambda kind, view: world[kind].append(view), report.views)
    if gaps:
        raise InputError(f"{transport.server}: {gaps[0].text}")
    try:
        found = await transport.get("v1", "ConfigMap", *report.decisions)
    except NotFoundError:
        return PoolReading(report, world, {})
    except ApiError as error:
        raise refusal(transport.server, f"read ConfigMap {report.decisions}", error) from None
    return PoolReading(report, world, found.get("data") or {})
