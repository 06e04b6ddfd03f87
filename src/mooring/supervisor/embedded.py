"""The embedded cluster of `mooring up`: the config of its processes, and what the console shows.

Whatever is not needed to start them is imported while they load.
"""

from __future__ import annotations

import shlex
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mooring.kube.objects import Object
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runway.settings import DEFAULT_SETTINGS, RunwaySettings
from mooring.supervisor.address import Address
from mooring.supervisor.children import Program
from mooring.supervisor.console import Console
from mooring.supervisor.data_folder import BACKUP_FILES, DataFolder
from mooring.supervisor.fleet.news import FLEET_IS_IN, FLEET_IS_REFUSED
from mooring.supervisor.page_address import ServedPage
from mooring.supervisor.selection import PROCESS_NODE
from mooring.supervisor.supervisor import Signals, Supervisor

if TYPE_CHECKING:
    from mooring.supervisor.credentials import Credentials

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
    accept_data_loss: bool = False
    runway_settings: RunwaySettings = DEFAULT_SETTINGS
    audit_log: Path | None = None
    console: Console = field(default_factory=Console)
    _issued: Credentials | None = field(default=None, init=False)
    _has_fleet: bool = False
    # Whether the API answers and only the fleet is still awaited.
    _awaits_fleet: bool = False

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
        return supervisor.run(prepare=self._prepare, meanwhile=self._write_kubeconfig)

    def _prepare(self) -> None:
        from mooring.supervisor.credentials import issue_credentials

        with_node = PROCESS_NODE in self.controllers
        self._issued = issue_credentials(self.folder, self.address.names(), node=with_node, now=datetime.now(UTC))

    def _write_kubeconfig(self) -> None:
        from mooring.supervisor.access import write_kubeconfig

        write_kubeconfig(self.folder, self.address.url)

    @property
    def _credentials(self) -> Credentials:
        assert self._issued is not None, "programs get their config after it was prepared"
        return self._issued

    # Config of the processes

    def _server(self) -> Program:
        def config() -> dict[str, Any]:
            # An ephemeral server starts empty.
            self._has_fleet = self._has_fleet and not self.ephemeral
            # A loss is accepted once: data that go missing later are another one.
            accepted, self.accept_data_loss = self.accept_data_loss, False
            return {
                "socket": self.listening.fileno(),
                "tokens": str(self.folder.tokens),
                "data": None if self.ephemeral else str(self.folder.database),
                "accept_data_loss": accepted,
                "backup_files": {path: str(self.folder.path / path) for path in BACKUP_FILES},
                "certificate": str(self._credentials.certificates.certificate),
                "key": str(self._credentials.certificates.key),
                "authority": str(self._credentials.certificates.authority),
                "signing_key": str(self.folder.signing_key),
                "node_token": self._credentials.logs,
                "node": self._credentials.node_name,
                "controllers": self.controllers,
                "fleet_rules": self.fleet_rules,
                "configuration": self.configuration,
                "audit_log": None if self.audit_log is None else str(self.audit_log),
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
                "authority": str(self._credentials.certificates.authority),
                "token": self._credentials.controllers,
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
                "authority": str(self._credentials.certificates.authority),
                "token": self._credentials.node,
                "certificate": str(self._credentials.certificates.node_certificate),
                "key": str(self._credentials.certificates.node_key),
                "caller": self._credentials.logs_digest,
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
                "authority": str(self._credentials.certificates.authority),
                "kubeconfig": str(self.folder.kubeconfig),
                "configuration": self.configuration,
                "settings": msgspec.structs.astuple(self.runway_settings),
            }

        log = self.folder.logs / "rest.log"
        descriptors = (page.listening.fileno(), self.lock)
        return (Program(REST, "mooring.supervisor.rest", log, config, descriptors, after_ready=True),)

    # Console

    def _is_ready(self) -> bool:
        from mooring.supervisor.readiness import is_ready

        return is_ready(self.address.url, self._credentials.certificates.authority)

    def _is_alive(self) -> bool:
        from mooring.supervisor.readiness import is_alive

        return is_alive(self.address.url, self._credentials.certificates.authority)

    def _welcome(self) -> None:
        """Say that the cluster is ready. Who names a fleet looks at its nodes first, so they are there by then."""
        self._awaits_fleet = self.fleet is not None and not self._has_fleet
        if self._awaits_fleet:
            self.console.say(f"The API answers at {self.address.url}; {self.fleet} is being brought in.")
        else:
            self._say_ready()

    def _say_ready(self) -> None:
        from mooring.supervisor.access import legacy_users

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
        self._has_fleet = self._has_fleet or entry["news"] == FLEET_IS_IN
        if self._awaits_fleet and entry["news"] in (FLEET_IS_IN, FLEET_IS_REFUSED):
            self._awaits_fleet = False
            self._say_ready()
        show = self.console.warn if entry["news"] == FLEET_IS_REFUSED else self.console.say
        show(str(entry.get("message", "")))
