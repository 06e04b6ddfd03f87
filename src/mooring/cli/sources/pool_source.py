"""What `mooring pools` and `mooring doctor` read of a cluster: pools, hosts, and what was decided about them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from mooring.cli.cluster_access import connect

if TYPE_CHECKING:
    from mooring.runway.sources.pool_reading import PoolReading

__all__ = ["fetch_pools"]


def fetch_pools(kubeconfig: Path | None, context: str | None) -> tuple[PoolReading, str]:
    """What is told of pools, and the namespace of the context."""
    from mooring.catalog import CATALOG
    from mooring.runway.sources.pool_reading import read_pools

    transport, namespace = connect(kubeconfig, context)
    with asyncio.Runner() as runner:
        try:
            return runner.run(read_pools(transport, CATALOG.pool_report())), namespace
        finally:
            runner.run(transport.close())
