"""The chosen controllers over the API of `mooring up`, until the process is told to stop."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

from mooring.agents.executors import executors_for
from mooring.catalog import CATALOG
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.net.tls import client_context
from mooring.runtime.live import Live
from mooring.supervisor.feature_gates import chosen_gates
from mooring.supervisor.fleet.apply import settle

__all__ = ["run_crew"]


async def run_crew(orders: dict[str, Any]) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    authorization = {"Authorization": f"Bearer {orders['token']}"}
    tls = client_context(authority=Path(orders["authority"]).read_bytes())
    transport = HttpTransport(Access(orders["server"], tls, headers=lambda: authorization))
    settling = None if orders["has_fleet"] else asyncio.create_task(settle(transport, orders["fleet"]))
    try:
        controllers = CATALOG.controllers(orders["controllers"])
        gates = chosen_gates(controllers, orders["gates"])
        async with executors_for(controllers, transport) as executors:
            await Live(controllers, transport, gates=gates, executors=executors).run(stop)
    finally:
        if settling is not None:
            settling.cancel()
        await transport.close()
