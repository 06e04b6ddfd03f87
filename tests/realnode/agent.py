"""`mooring agent` on one host, as a person starts it, and the ways in which it can be killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import yaml

from mooring.testing.homes import Home
from mooring.testing.processes import ProgramProcess
from tests.realnode.images import PAUSE, write_archive
from tests.realnode.network import HostNetwork

__all__ = ["RealAgent"]


class RealAgent:
    """One host: its network, its folder, and the agent, which can be started again."""

    def __init__(self, name: str, folder: Path, network: HostNetwork, kubelet: Path) -> None:
        self.name, self.root, self.network = name, folder / name, network
        self._folder = folder
        self.download = folder / "bundles"
        self._bootstrap = folder / f"{name}.bootstrap"
        self._process: ProgramProcess | None = None
        if not self.download.exists():
            (self.download / "bin").mkdir(parents=True)
            (self.download / "images").mkdir()
            (self.download / "bin" / "kubelet").symlink_to(kubelet)
            write_archive(self.download / "images" / "test.tar")

    def start(self, home: Home, token: str, *more: str) -> None:
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": home.url, "certificate-authority": str(home.ca)}}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
        self._bootstrap.write_text(yaml.safe_dump(config), encoding="utf-8")
        self._more = more
        self.restart()

    def restart(self) -> None:
        command = [
            *(sys.executable, "-m", "mooring", "agent", "--hostname-override", self.name),
            *("--bootstrap-kubeconfig", self._bootstrap, "--root", self.root, "--downloadpath", self.download),
            *("--skip-installation", "--pod-cidr", self.network.pods, "--sandbox-image", PAUSE),
            *("--heartbeat-interval", "1s", "--join-timeout", "60s", "--metricsbindaddress", "0", *self._more),
        ]
        self._process = ProgramProcess(self.network.inside(*command), self._folder / f"{self.name}.log")

    def kill(self) -> None:
        """kill -9 of the agent alone."""
        assert self._process is not None
        self._process.kill()

    def kill_kubelet(self) -> int:
        """kill -9 of the host's kubelet; its pid."""
        marker = f"--root-dir={self.root}".encode()
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and marker in command_line(entry):
                os.kill(int(entry.name), signal.SIGKILL)
                return int(entry.name)
        raise AssertionError(f"no kubelet runs on {self.name}")

    def log(self) -> str:
        return (self._folder / f"{self.name}.log").read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        if self._process is not None and self._process.running():
            self._process.stop()
        reset = self.network.inside(sys.executable, "-m", "mooring", "agent", "--reset", "--root", self.root)
        with (self._folder / f"{self.name}.log").open("ab") as log:
            subprocess.run(reset, stdout=log, stderr=log, timeout=60, check=True)
        shutil.rmtree(self.root, ignore_errors=True)


def command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""
