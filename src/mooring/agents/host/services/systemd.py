"""Services as transient units of systemd: no unit file is written, so none is left.

A transient unit is gone after a reboot; the agent, which is a unit of its own, starts it again.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from mooring.agents.host.services.service import NodeService
from mooring.kube.errors import MooringError

__all__ = ["POD_SLICE", "SystemdServices", "start_command", "systemd_runs"]

RESTART_SECONDS: Final = 5
# Where a kubelet has systemd put its pods.
POD_SLICE: Final = "kubepods.slice"
_RUNTIME: Final = Path("/run/systemd/system")


def systemd_runs() -> bool:
    return _RUNTIME.is_dir()


def start_command(unit: str, service: NodeService) -> list[str]:
    """The command that starts a service as a unit. Containers of containerd outlive its restart, hence KillMode."""
    properties = {
        "Restart": "always",
        "RestartSec": str(RESTART_SECONDS),
        "KillMode": "process",
        "Delegate": "yes",
        "LimitNOFILE": "1048576",
        "TasksMax": "infinity",
        "StandardOutput": f"append:{service.log}",
        "StandardError": f"append:{service.log}",
    }
    words = ["systemd-run", "--quiet", "--collect", f"--unit={unit}"]
    words += [f"--property={name}={value}" for name, value in properties.items()]
    words += [f"--setenv={name}={value}" for name, value in service.environment.items()]
    return [*words, "--", *service.argv]


class SystemdServices:
    """`prefix` tells the units of one agent from those of another on the same machine."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def unit(self, name: str) -> str:
        return f"{self._prefix}-{name}.service"

    async def ensure(self, service: NodeService) -> None:
        if await self.is_running(service.name):
            return
        service.log.parent.mkdir(parents=True, exist_ok=True)
        await _call("systemctl", "reset-failed", self.unit(service.name))
        code, output = await _call(*start_command(self.unit(service.name), service))
        if code:
            raise MooringError(f"systemd does not start {self.unit(service.name)}: {output}")

    async def is_running(self, name: str) -> bool:
        # A unit between two starts is activating, and systemd's to start.
        _, output = await _call("systemctl", "is-active", self.unit(name))
        return output in ("active", "activating", "reloading")

    async def stop(self, name: str) -> None:
        await _call("systemctl", "stop", self.unit(name))
        await _call("systemctl", "reset-failed", self.unit(name))

    async def stop_pods(self) -> None:
        await _call("systemctl", "stop", POD_SLICE)

    async def close(self) -> None:
        return


async def _call(*words: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode(errors="replace").strip()
