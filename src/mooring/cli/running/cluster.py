"""An embedded cluster as its parent sees it: what the two processes are told, and what people are."""

from __future__ import annotations

import shlex
import socket
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mooring.apiserver.certificates import Certificates, ensure_certificates
from mooring.cli.running.access import issue_controllers_token, write_kubeconfig
from mooring.cli.running.address import Address
from mooring.cli.running.children import Program
from mooring.cli.running.folder import DataFolder
from mooring.cli.running.supervisor import Signals, Supervisor
from mooring.cli.running.voice import Voice

__all__ = ["Cluster"]

SERVER: Final = "API server"
CREW: Final = "controllers process"


@dataclass
class Cluster:
    """The folder is claimed and the address bound; `run` starts the rest and stays until it ends.

    `fleet` is None for the default one.
    """

    folder: DataFolder
    address: Address
    listening: socket.socket
    lock: int
    controllers: tuple[str, ...]
    fleet: Path | None = None
    ephemeral: bool = False
    voice: Voice = field(default_factory=Voice)
    _token: str = ""
    _has_fleet: bool = False

    def run(self, signals: Signals) -> int:
        supervisor = Supervisor(
            (self._server(), self._crew()),
            signals,
            self.voice,
            ready=self._wait,
            welcome=self._welcome,
            news=self._hear,
        )
        return supervisor.run(prepare=self._prepare, meanwhile=lambda: write_kubeconfig(self.folder, self.address.url))

    @property
    def _certificates(self) -> Certificates:
        return Certificates(self.folder.tls)

    def _prepare(self) -> None:
        ensure_certificates(self.folder.tls, self.address.names(), now=datetime.now(UTC))
        self._token = issue_controllers_token(self.folder)

    # What the processes are told

    def _server(self) -> Program:
        def orders() -> dict[str, Any]:
            # A server that keeps nothing starts empty.
            self._has_fleet = self._has_fleet and not self.ephemeral
            return {
                "socket": self.listening.fileno(),
                "tokens": str(self.folder.tokens),
                "data": None if self.ephemeral else str(self.folder.database),
                "certificate": str(self._certificates.certificate),
                "key": str(self._certificates.key),
            }

        return Program(
            SERVER,
            "mooring.cli.running.server",
            self.folder.logs / "apiserver.log",
            orders,
            (self.listening.fileno(), self.lock),
            # One that keeps nothing comes back empty, and whoever made the fleet must do it again.
            takes_along=(CREW,) if self.ephemeral else (),
        )

    def _crew(self) -> Program:
        def orders() -> dict[str, Any]:
            return {
                "server": self.address.url,
                "authority": str(self._certificates.authority),
                "token": self._token,
                "controllers": self.controllers,
                "fleet": None if self.fleet is None else str(self.fleet),
                "has_fleet": self._has_fleet,
            }

        log = self.folder.logs / "controllers.log"
        return Program(CREW, "mooring.cli.running.controllers", log, orders, (self.lock,))

    # What people are told

    def _wait(self) -> None:
        from mooring.cli.running.probe import wait_until_ready

        wait_until_ready(self.address.url, self._certificates.authority)

    def _welcome(self) -> None:
        say = self.voice.say
        say(f"Mooring is ready. The API is at {self.address.url}", bold=True)
        if not self.address.is_local:
            say(f"It is served on {self.address}: other machines can reach it, and whoever has a token may use it.")
        data = "only in memory, because of --ephemeral" if self.ephemeral else f"in {self.folder.path}"
        say(f"Data are kept {data}, logs in {self.folder.logs}. Ctrl-C stops it.")
        say("To use it with kubectl, type this in another terminal:")
        say("")
        say(f"  export KUBECONFIG={shlex.quote(str(self.folder.kubeconfig.absolute()))}", fg="green")
        say("")

    def _hear(self, entry: dict[str, Any]) -> None:
        if entry["news"] == "fleet":
            self._has_fleet = True
        self.voice.say(str(entry.get("message", "")))
