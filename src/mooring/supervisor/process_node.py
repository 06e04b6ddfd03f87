"""`python -m mooring.supervisor.process_node`: this machine as a node of `mooring up`."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from mooring.supervisor.parent_watchdog import end_with_parent, read_config


def main() -> int:
    end_with_parent()
    # What is loaded stays; the event loop switches it on again.
    gc.disable()
    # Imports come before the config is read: the parent makes certificates meanwhile.
    from mooring.kube.errors import MooringError
    from mooring.nodes.process import kubelet  # noqa: F401 - loaded while the parent makes certificates
    from mooring.runtime.drivers.eventloop import run
    from mooring.supervisor.logs import log_as_json

    config = read_config()
    log_as_json()
    _keep_to_itself()
    try:
        run(_run(config))
    except (MooringError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _keep_to_itself() -> None:
    """Have no container inherit what the parent gave to this process: the lock of the folder, signals to ignore."""
    for entry in os.scandir("/proc/self/fd"):
        if int(entry.name) > 2:
            with suppress(OSError):
                os.set_inheritable(int(entry.name), False)
    # nohup has SIGHUP ignored, and shells SIGQUIT in the background. What is handled, by nothing, is not inherited.
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


async def _run(config: dict[str, Any]) -> None:
    from mooring.client.access import Access
    from mooring.client.http import HttpTransport
    from mooring.net.tls import client_context, server_context
    from mooring.nodes.process.containers.environment.service_links import ApiAddress
    from mooring.nodes.process.kubelet import KubeletSettings, run_node
    from mooring.nodes.process.machine_info import machine_info
    from mooring.supervisor.logs import tell_parent

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    authorization = {"Authorization": f"Bearer {config['token']}"}
    tls = client_context(authority=Path(config["authority"]).read_bytes())
    serving = server_context(Path(config["certificate"]), Path(config["key"]))
    machine = machine_info()
    transport = HttpTransport(Access(config["server"], tls, headers=lambda: authorization))
    api = ApiAddress.of(config["server"])
    settings = KubeletSettings(Path(config["folder"]), Path(config["data"]), serving, config["caller"], api)
    try:
        await run_node(transport, machine, settings, stop, lambda text: tell_parent("node", text))
    finally:
        await transport.close()


if __name__ == "__main__":
    sys.exit(main())
