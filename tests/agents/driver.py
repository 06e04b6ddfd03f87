"""A driver in a process of its own, to be killed by tests: `python -m tests.agents.driver URL`."""

from __future__ import annotations

import asyncio
import sys

from mooring.agents.process_executor import EffectCommand, ProcessExecutor
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.runtime.drivers.live import Live
from tests.runtime.releases import INSTALLING, Install


def command(arguments: Install) -> EffectCommand:
    return EffectCommand(("sh", "-c", arguments.script))


async def main(url: str) -> None:
    transport = HttpTransport(Access(url))
    executor = ProcessExecutor(transport, {"install": command})
    await Live([INSTALLING], transport, executors={"process": executor}).run(asyncio.Event())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
