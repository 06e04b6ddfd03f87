"""`mooring up` as the soak has it: its processes by name, killed and started again on the same address and data."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import yaml

from bench.measured_clusters import memory
from bench.wire import ApiEndpoint, endpoint_of
from mooring.testing.controlplane import answers
from mooring.testing.processes import ProgramProcess, free_port
from tests.support.small_disk import Disk

__all__ = ["SOAKED", "SoakedCluster"]

READY_SECONDS: Final = 120.0
# The processes of `mooring up`, by the modules that they run.
SOAKED: Final = ("server", "controllers", "process_node")


class SoakedCluster:
    """Its data are on a disk of its own. `outages` are the times, on the monotonic clock, in which the API was taken
    away on purpose."""

    def __init__(self, folder: Path, fleet: Path, disk: Disk) -> None:
        self.folder, self.disk = folder, disk
        self.outages: list[tuple[float, float]] = []
        # As this process reaches it.
        self._data = disk.folder / "data"
        address = f"127.0.0.1:{free_port()}"
        up = [sys.executable, "-m", "mooring", "up", "--bind", address, "--no-ui"]
        self._command = [
            *disk.prefix,
            *up,
            "--data",
            str(disk.place / "data"),
            "--fleet",
            str(fleet),
            "--audit-log",
            str(folder / "audit.log"),
        ]
        self._url = f"https://{address}"
        self._process = self._start()

    def _start(self) -> ProgramProcess:
        process = ProgramProcess(self._command, self.folder / "up.log")
        self._process = process
        process.wait_until((self._data / "kubeconfig").exists, READY_SECONDS)
        self.wait_until_ready()
        return process

    @property
    def endpoint(self) -> ApiEndpoint:
        config = yaml.safe_load((self._data / "kubeconfig").read_text(encoding="utf-8"))
        return endpoint_of(self._url, config["users"][0]["user"]["token"], self._data / "tls" / "ca.crt")

    @property
    def running(self) -> bool:
        return self._process.running()

    def tail(self) -> str:
        return self._process.tail()

    def wait_until_ready(self) -> None:
        self._process.wait_until(lambda: answers(f"{self._url}/readyz", self._data / "tls" / "ca.crt"), READY_SECONDS)

    def pids(self) -> dict[str, int]:
        """The processes that there are now."""
        listed = subprocess.run(["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
        found = {"parent": self._process.pid}
        for line in listed.stdout.splitlines():
            pid, parent, command = line.split(None, 2)
            name = command.rpartition("mooring.supervisor.")[2]
            if int(parent) == self._process.pid and name in SOAKED:
                found[name] = int(pid)
        return found

    def memory_mib(self) -> dict[str, float]:
        found = {}
        for name, pid in self.pids().items():
            try:
                found[name] = memory(pid)
            except (OSError, RuntimeError):
                # It ended a moment ago.
                continue
        return found

    # What is done to it

    def kill(self, name: str) -> None:
        """kill -9 of one process; without the parent, everything is started again."""
        began = time.monotonic()
        pid = self.pids().get(name)
        if pid is None:
            return
        if name == "parent":
            self._process.kill()
            self._start()
        else:
            os.kill(pid, signal.SIGKILL)
            # The socket is the parent's, so that requests wait in line meanwhile.
            self.wait_until_ready()
        if name in ("parent", "server"):
            self.outages.append((began, time.monotonic()))

    def stop_for(self, name: str, seconds: float) -> None:
        """SIGSTOP, and SIGCONT after a while."""
        pid = self.pids().get(name)
        if pid is None:
            return
        began = time.monotonic()
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
        self.wait_until_ready()
        if name == "server":
            self.outages.append((began, time.monotonic()))

    def end(self) -> int:
        return self._process.stop()
