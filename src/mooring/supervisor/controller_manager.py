"""The controllers process of `mooring up`: runs the chosen controllers until SIGTERM."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

from mooring.agents.executors import executors_for
from mooring.catalog import CATALOG
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.net.certificates import Certificates
from mooring.net.tls import client_context
from mooring.runtime.drivers.live import Live
from mooring.runtime.settings import Configuration
from mooring.supervisor.fleet.apply import settle

__all__ = ["run_controller_manager"]


async def run_controller_manager(config: dict[str, Any]) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    authorization = {"Authorization": f"Bearer {config['token']}"}
    tls = client_context(authority=Path(config["authority"]).read_bytes())
    access = Access(
        config["server"],
        tls,
        headers=lambda: authorization,
        cluster={"server": config["server"], "certificate-authority": config["authority"]},
        user={"token": config["token"]},
    )
    transport = HttpTransport(access)
    settling = None if config["has_fleet"] else asyncio.create_task(settle(transport, config["fleet"]))
    try:
        controllers = CATALOG.embedded_controllers(config["controllers"])
        configuration = Configuration(*config["configuration"])
        authority = Certificates(Path(config["authority"]).parent)
        async with executors_for(controllers, transport, authority, access) as executors:
            await Live(controllers, transport, configuration=configuration, executors=executors).run(stop)
    finally:
        if settling is not None:
            settling.cancel()
        await transport.close()
