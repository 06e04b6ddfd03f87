"""`python -m mooring.supervisor.rest`: the process of `mooring up` that serves the REST API for people."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

from mooring.supervisor.parent_watchdog import end_with_parent, read_config


def main() -> int:
    end_with_parent()
    from mooring.kube.errors import MooringError
    from mooring.runtime.drivers.eventloop import run
    from mooring.runway.rest.server import serve  # noqa: F401 - loaded before the config is read
    from mooring.supervisor.logs import log_as_json

    config = read_config()
    log_as_json()
    try:
        run(_run(config))
    except (MooringError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


async def _run(config: dict[str, Any]) -> None:
    from dataclasses import replace

    from mooring.client.access import Access
    from mooring.client.credentials import bearer
    from mooring.client.kubeconfig_files import read_plain
    from mooring.client.own_kubeconfig import admin_token
    from mooring.net.tls import client_context
    from mooring.runtime.settings import Configuration
    from mooring.runway.rest.server import serve
    from mooring.runway.settings import RunwaySettings

    server = Access(config["server"], client_context(authority=Path(config["authority"]).read_bytes()))
    token = admin_token(read_plain(Path(config["kubeconfig"]))) or ""
    await serve(
        socket.socket(fileno=config["socket"]),
        server,
        session_token=config["session_token"],
        own=replace(server, headers=lambda: bearer(token)),
        embedded=True,
        configuration=Configuration(*config["configuration"]),
        settings=RunwaySettings(*config["settings"]),
    )


if __name__ == "__main__":
    sys.exit(main())
