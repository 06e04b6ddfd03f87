"""What `mooring pools` and `mooring doctor` read of a cluster: pools, hosts, and what was decided about them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mooring.cli.cluster_access import connect, refusal
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport
    from mooring.runtime.pool_report import PoolReport

__all__ = ["PoolReading", "read_pools"]


class PoolReading(NamedTuple):
    """What was read for a report, and the namespace of the context."""

    report: PoolReport
    world: dict[str, list[Any]]
    decisions: dict[str, str]
    namespace: str


def read_pools(kubeconfig: Path | None, context: str | None) -> PoolReading:
    from mooring.catalog import CATALOG

    transport, namespace = connect(kubeconfig, context)
    report = CATALOG.pool_report()
    with asyncio.Runner() as runner:
        try:
            world, decisions = runner.run(_fetch(transport, report))
        finally:
            runner.run(transport.close())
    return PoolReading(report, world, decisions, namespace)


async def _fetch(transport: HttpTransport, report: PoolReport) -> tuple[dict[str, list[Any]], dict[str, str]]:
    from mooring.cli.sources.live_source import read_kinds
    from mooring.kube.status import ApiError, NotFoundError

    world: dict[str, list[Any]] = {kind: [] for _, kind in report.views}
    gaps = await read_kinds(transport, dict(report.views), lambda kind, view: world[kind].append(view), report.views)
    if gaps:
        raise InputError(f"{transport.server}: {gaps[0].text}")
    try:
        found = await transport.get("v1", "ConfigMap", *report.decisions)
    except NotFoundError:
        return world, {}
    except ApiError as error:
        raise refusal(transport.server, f"read ConfigMap {report.decisions}", error) from None
    return world, found.get("data") or {}
