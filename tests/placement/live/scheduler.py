"""A real API server and a real scheduler that looks at one node after another and tells every score in its log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import yaml

from mooring.testing.controlplane import ControlPlane, answers
from mooring.testing.http import Api
from mooring.testing.processes import ProgramProcess, free_port
from mooring.testing.tools import tool

SECONDS: Final = 90.0
# Nobody makes service accounts here, and nobody takes a finalizer away.
FLAGS: Final = ("--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection",)
_SCORE: Final = re.compile(r'"Plugin scored node for pod" pod="([^"]+)" plugin="([^"]+)" node="([^"]+)" score=(-?\d+)')

_BINDING: Final = re.compile(r'"BindPodVolumes" pod="([^"]+)" node="([^"]+)"')

Scores = dict[str, dict[str, int]]


class Scheduler:
    def __init__(self, api: Api, log: Path) -> None:
        self.api = api
        self._log = log
        self._read = 0

    def skip(self) -> None:
        """Forget what the log said up to now."""
        self._read = self._log.stat().st_size

    def scores(self, pod: str) -> Scores:
        """What the plugins gave each node for a pod in its last attempt, weighted."""
        found: Scores = {}
        for key, plugin, node, score in _SCORE.findall(self._text()):
            if key == pod:
                found.setdefault(node, {})[plugin] = int(score)
        return found

    def binding(self, pod: str) -> str:
        """The node for which volumes of a pod are being bound; empty where none are."""
        return next((node for key, node in _BINDING.findall(self._text()) if key == pod), "")

    def _text(self) -> str:
        with self._log.open("rb") as log:
            log.seek(self._read)
            return log.read().decode(errors="replace")


@contextmanager
def real_scheduler(folder: Path) -> Iterator[Scheduler]:
    with ControlPlane(folder, flags=FLAGS) as plane:
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "parallelism": 1,
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": str(plane.kubeconfig), "qps": 2000, "burst": 2000},
        }
        path = folder / "scheduler.yaml"
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        port, log = free_port(), folder / "kube-scheduler.log"
        flags = [f"--config={path}", f"--secure-port={port}", "--bind-address=127.0.0.1"]
        flags += [f"--tls-cert-file={folder / 'server.crt'}", f"--tls-private-key-file={folder / 'server.key'}"]
        process = ProgramProcess([tool("kube-scheduler"), *flags, "--vmodule=schedule_one=10,binder=10"], log)
        try:
            process.wait_until(lambda: answers(f"https://127.0.0.1:{port}/healthz", plane.ca), SECONDS)
            with Api(plane.url, plane.token, plane.ca) as api:
                yield Scheduler(api, log)
        finally:
            process.stop()
