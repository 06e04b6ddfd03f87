"""Credentials that change while a client runs: tokens in files, and those that a command of the user's hands out.

Each gives the headers of a request, and a new try after the server has refused the old ones.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from mooring.client.kubeconfig_files import KubeconfigError
from mooring.kube.objects import Object

__all__ = ["Clock", "ExecPlugin", "FileToken", "IssuedCredential", "system_clock"]

Clock = Callable[[], datetime]

API_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
# A service account's token is replaced long before it ends; looking once a minute is what other clients do.
TOKEN_REREAD_INTERVAL: Final = timedelta(minutes=1)
# A plug-in that may not ask the user and takes longer than this hangs.
PLUGIN_TIMEOUT: Final = timedelta(minutes=1)


def system_clock() -> datetime:
    return datetime.now(UTC)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


class FileToken:
    """A token in a file that is replaced from outside. While the file cannot be read, the last token is used."""

    def __init__(self, path: Path, clock: Clock = system_clock) -> None:
        self._path = path
        self._clock = clock
        self._token = self._read()
        self._looked = clock()

    def _read(self) -> str:
        return self._path.read_text(encoding="utf-8").strip()

    def headers(self) -> Mapping[str, str]:
        if self._clock() - self._looked >= TOKEN_REREAD_INTERVAL:
            self._reread()
        return bearer(self._token)

    def _reread(self) -> bool:
        self._looked = self._clock()
        try:
            token = self._read()
        except (OSError, UnicodeDecodeError):
            return False
        changed = bool(token) and token != self._token
        self._token = token or self._token
        return changed

    async def refresh(self) -> bool:
        return self._reread()


class IssuedCredential(NamedTuple):
    """What a plug-in handed out."""

    token: str
    certificate: str
    key: str
    expires: datetime | None


@dataclass(slots=True)
class ExecPlugin:
    """Runs the command that a kubeconfig names, and keeps what it hands out until that ends.

    `where` starts every complaint. `install` takes a client certificate into use. A request that finds its credentials
    ended waits for the command, and with it whatever else the event loop has to do; that happens once in their life.
    """

    where: str
    command: str
    arguments: list[str]
    environment: Mapping[str, str]
    api_version: str
    interactive_mode: str = "IfAvailable"
    cluster: Object | None = None
    install_hint: str = ""
    install: Callable[[str, str], None] = lambda certificate, key: None
    clock: Clock = system_clock
    _issued: IssuedCredential | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def current(self) -> IssuedCredential:
        with self._lock:
            issued = self._issued
            if issued is None or (issued.expires is not None and self.clock() > issued.expires):
                issued = self._renew()
            return issued

    def headers(self) -> Mapping[str, str]:
        return bearer(self.current().token)

    async def refresh(self) -> bool:
        return await asyncio.to_thread(self._again, self._issued)

    def _again(self, refused: IssuedCredential | None) -> bool:
        with self._lock:
            if self._issued is refused:
                self._renew()
            return self._issued != refused

    def _renew(self) -> IssuedCredential:
        before, issued = self._issued, self._read(self._run())
        if issued.certificate and (before is None or issued.certificate != before.certificate):
            self.install(issued.certificate, issued.key)
        self._issued = issued
        return issued

    def _run(self) -> str:
        interactive = self._is_interactive()
        spec: Object = {"interactive": interactive}
        if self.cluster is not None:
            spec["cluster"] = self.cluster
        info = {"kind": "ExecCredential", "apiVersion": self.api_version, "spec": spec}
        try:
            done = subprocess.run(
                [self.command, *self.arguments],
                env={**self.environment, "KUBERNETES_EXEC_INFO": json.dumps(info)},
                stdin=None if interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                timeout=None if interactive else PLUGIN_TIMEOUT.total_seconds(),
                check=False,
            )
        except FileNotFoundError:
            hint = f" {self.install_hint}" if self.install_hint else ""
            raise self._error("command", f'there is no executable "{self.command}".{hint}') from None
        except OSError as error:
            raise self._error("command", f'"{self.command}" cannot be run: {error.strerror}') from None
        except subprocess.TimeoutExpired:
            seconds = int(PLUGIN_TIMEOUT.total_seconds())
            raise self._error("command", f'"{self.command}" gave no credentials within {seconds} seconds') from None
        if done.returncode:
            raise self._error("command", f'"{self.command}" failed with exit code {done.returncode}')
        return done.stdout.decode(errors="replace")

    def _is_interactive(self) -> bool:
        at_terminal = sys.stdin is not None and sys.stdin.isatty()
        if self.interactive_mode == "Always" and not at_terminal:
            raise self._error("interactiveMode", "is Always, but standard input is not a terminal")
        return at_terminal and self.interactive_mode != "Never"

    def _read(self, text: str) -> IssuedCredential:
        """The answer of the command. What it says is never shown: it may hold the secret."""
        try:
            answer = json.loads(text)
        except ValueError:
            raise self._error("command", f'"{self.command}" did not answer with JSON') from None
        version = answer.get("apiVersion") if isinstance(answer, dict) else None
        if version != self.api_version:
            said = f"{self.api_version} is asked for, and it answers with {json.dumps(version)}"
            raise self._error("apiVersion", f"{said}; change one of the two")
        status = answer.get("status")
        if not isinstance(status, dict):
            raise self._error("command", f'"{self.command}" answered without a status')
        token, certificate, key = (
            status.get(name) or "" for name in ("token", "clientCertificateData", "clientKeyData")
        )
        if not all(isinstance(value, str) for value in (token, certificate, key)):
            raise self._error("command", f'"{self.command}" answered with credentials that are not strings')
        if not token and not certificate and not key:
            raise self._error("command", f'"{self.command}" answered with neither a token nor a certificate and key')
        if bool(certificate) != bool(key):
            raise self._error("command", f'"{self.command}" answered with only one of certificate and key')
        return IssuedCredential(token, certificate, key, self._expiry(status.get("expirationTimestamp")))

    def _expiry(self, value: Any) -> datetime | None:
        if not value:
            return None
        try:
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        except (TypeError, ValueError):
            said = json.dumps(value)
            raise self._error("command", f'"{self.command}" answered with expirationTimestamp {said}') from None

    def _error(self, name: str, problem: str) -> KubeconfigError:
        return KubeconfigError(f"{self.where}.{name}: {problem}")
