"""The embedded cluster of `mooring up`: the config of its processes, and what the console shows."""

from __future__ import annotations

import secrets
import shlex
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from mooring.apiserver.authentication.signing_key import ensure_signing_key
from mooring.apiserver.authentication.token_file import digest
from mooring.kube.objects import Object
from mooring.net.certificates import (
    Certificates,
    ensure_certificates,
    ensure_kubelet_client_certificate,
    ensure_node_certificate,
)
from mooring.nodes.process.machine_info import node_name
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runway.settings import DEFAULT_SETTINGS, RunwaySettings
from mooring.supervisor.access import issue_controllers_token, issue_node_token, legacy_users, write_kubeconfig
from mooring.supervisor.address import Address
from mooring.supervisor.children import Program
from mooring.supervisor.console import Console
from mooring.supervisor.data_folder import DataFolder
from mooring.supervisor.page_address import ServedPage
from mooring.supervisor.selection import PROCESS_NODE
from mooring.supervisor.supervisor import Signals, Supervisor

__all__ = ["EmbeddedCluster"]

SERVER: Final = "API server"
CONTROLLERS: Final = "controllers process"
NODE: Final = "process node"
REST: Final = "REST process"


@dataclass
class EmbeddedCluster:
    """The folder is claimed and the address bound before; `run` starts the processes and returns when they have ended.

    `fleet` is None for the default one; `fleet_rules` are the rights that it takes to bring it in. `page` is None where
    no REST API for people is served.
    """

    folder: DataFolder
    address: Address
    listening: socket.socket
    lock: int
    controllers: tuple[str, ...]
    fleet: Path | None = None
    ephemeral: bool = False
    configuration: Configuration = DEFAULTS
    fleet_rules: Sequence[Object] = ()
    page: ServedPage | None = None
    runway_settings: RunwaySettings = DEFAULT_SETTINGS
    console: Console = field(default_factory=Console)
    _token: str = ""
    _node_token: str = ""
    # The token by which the API server reads logs; the node gets its hash only.
    _fetching: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    _has_fleet: bool = False

    def run(self, signals: Signals) -> int:
        supervisor = Supervisor(
            (self._server(), self._controller_manager(), *self._nodes(), *self._rest()),
            signals,
            self.console,
            ready=self._is_ready,
            welcome=self._welcome,
            news=self._show_news,
            alive=self._is_alive,
        )
        return supervisor.run(prepare=self._prepare, meanwhile=lambda: write_kubeconfig(self.folder, self.address.url))

    @property
    def _certificates(self) -> Certificates:
        return Certificates(self.folder.tls)

    def _prepare(self) -> None:
        ensure_certificates(self.folder.tls, self.address.names(), now=datetime.now(UTC))
        ensure_kubelet_client_certificate(self._certificates, now=datetime.now(UTC))
        ensure_signing_key(self.folder.signing_key)
        self._token = issue_controllers_token(self.folder)
        if PROCESS_NODE in self.controllers:
            ensure_node_certificate(self._certificates, now=datetime.now(UTC))
            self._node_token = issue_node_token(self.folder, node_name(socket.gethostname()))

    # Config of the processes

    def _server(self) -> Program:
        def config() -> dict[str, Any]:
            # An ephemeral server starts empty.
            self._has_fleet = self._has_fleet and not self.ephemeral
            return {
                "socket": self.listening.fileno(),
                "tokens": str(self.folder.tokens),
                "data": None if self.ephemeral else str(self.folder.database),
                "certificate": str(self._certificates.certificate),
                "key": str(self._certificates.key),
                "authority": str(self._certificates.authority),
                "signing_key": str(self.folder.signing_key),
                "node_token": self._fetching,
                "controllers": self.controllers,
                "fleet_rules": self.fleet_rules,
                "configuration": self.configuration,
            }

        return Program(
            SERVER,
            "mooring.supervisor.server",
            self.folder.logs / "apiserver.log",
            config,
            (self.listening.fileno(), self.lock),
            # An ephemeral server restarts empty, so the controllers process must create the fleet again.
            restarts_with_it=(CONTROLLERS, NODE) if self.ephemeral else (),
        )

    def _controller_manager(self) -> Program:
        def config() -> dict[str, Any]:
            return {
                "server": self.address.url,
                "authority": str(self._certificates.authority),
                "token": self._token,
                "controllers": self.controllers,
                "configuration": self.configuration,
                "fleet": None if self.fleet is None else str(self.fleet),
                "has_fleet": self._has_fleet,
            }

        log = self.folder.logs / "controllers.log"
        return Program(CONTROLLERS, "mooring.supervisor.controllers", log, config, (self.lock,))

    def _nodes(self) -> tuple[Program, ...]:
        """The process node, if it was chosen and this is Linux."""
        if PROCESS_NODE not in self.controllers or not sys.platform.startswith("linux"):
            return ()

        def config() -> dict[str, Any]:
            return {
                "server": self.address.url,
                "authority": str(self._certificates.authority),
                "token": self._node_token,
                "certificate": str(self._certificates.node_certificate),
                "key": str(self._certificates.node_key),
                "caller": digest(self._fetching),
                "folder": str(self.folder.node),
                "data": str(self.folder.path),
            }

        log = self.folder.logs / "node.log"
        return (Program(NODE, "mooring.supervisor.process_node", log, config, (self.lock,), after_ready=True),)

    def _rest(self) -> tuple[Program, ...]:
        """It starts when the API server answers, so that it delays nobody."""
        page = self.page
        if page is None:
            return ()

        def config() -> dict[str, Any]:
            return {
                "socket": page.listening.fileno(),
                "session_token": page.token,
                "server": self.address.url,
                "authority": str(self._certificates.authority),
                "kubeconfig": str(self.folder.kubeconfig),
                "configuration": self.configuration,
                "settings": (self.runway_settings.kaito_version, self.runway_settings.kaito_repository),
            }

        log = self.folder.logs / "rest.log"
        descriptors = (page.listening.fileno(), self.lock)
        return (Program(REST, "mooring.supervisor.rest", log, config, descriptors, after_ready=True),)

    # Console

    def _is_ready(self) -> bool:
        from mooring.supervisor.readiness import is_ready

        return is_ready(self.address.url, self._certificates.authority)

    def _is_alive(self) -> bool:
        from mooring.supervisor.readiness import is_alive

        return is_alive(self.address.url, self._certificates.authority)

    def _welcome(self) -> None:
        say = self.console.say
        say(f"Mooring is ready. The API is at {self.address.url}", bold=True)
        if not self.address.is_local:
            say(f"It is served on {self.address}: other machines can reach it, and every holder of a token may use it.")
        data = "only in memory, because of --ephemeral" if self.ephemeral else f"in {self.folder.path}"
        say(f"Data are kept {data}, logs in {self.folder.logs}. Ctrl-C stops it.")
        if legacy := legacy_users(self.folder):
            data = "" if str(self.folder.path) == ".mooring" else f" --data {shlex.quote(str(self.folder.path))}"
            say(
                f"Tokens made by an older version may do everything: {', '.join(legacy)}. "
                f"To end one: mooring token revoke {legacy[0]}{data}",
                fg="yellow",
            )
        say("To use it with kubectl, type this in another terminal:")
        say("")
        say(f"  export KUBECONFIG={shlex.quote(str(self.folder.kubeconfig.absolute()))}", fg="green")
        say("")
        if self.page is not None:
            say(f"page  {self.page.url}")

    def _show_news(self, entry: dict[str, Any]) -> None:
        if entry["news"] == "fleet":
            self._has_fleet = True
        self.console.say(str(entry.get("message", "")))
