"""What keeps the certificates of webhooks, for one server or for all replicas: a folder, or a Secret.

A write says what it was decided on, so of several servers that renew at once one does, and the others take its result.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from mooring.client.transport import AsyncTransport, Request
from mooring.kube.errors import InputError, MooringError
from mooring.kube.status import ConflictError, NotFoundError
from mooring.net.private_files import write_private

__all__ = ["CertificateFolder", "CertificateSecret", "CertificateStore", "Kept"]

_FILE: Final = "webhooks.json"
_LOCK: Final = ".webhooks.lock"
_MANAGER: Final = "mooring-webhooks"


class Kept(NamedTuple):
    """Files by name, and the state of the store that they are from."""

    files: Mapping[str, bytes]
    version: str


class CertificateStore(Protocol):
    async def read(self) -> Kept: ...

    async def write(self, files: Mapping[str, bytes], version: str) -> bool:
        """Whether it was still in the state of `version` and is now as it was told."""
        ...


class CertificateFolder:
    """One file, which is replaced as a whole. A folder that cannot be written to is refused at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / _LOCK).touch(mode=0o600)
        except OSError as error:
            raise InputError(f"{folder} cannot keep certificates: {error.strerror}") from None

    async def read(self) -> Kept:
        return self._kept()

    async def write(self, files: Mapping[str, bytes], version: str) -> bool:
        text = json.dumps({name: data.decode() for name, data in files.items()}, indent=2) + "\n"
        try:
            with self._locked():
                if self._kept().version != version:
                    return False
                write_private(self._folder / _FILE, text.encode())
        except OSError as error:
            raise self._error("written", error) from None
        return True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._folder / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _kept(self) -> Kept:
        try:
            data = (self._folder / _FILE).read_bytes()
        except FileNotFoundError:
            return Kept({}, "")
        except OSError as error:
            raise self._error("read", error) from None
        try:
            files = {str(name): str(text).encode() for name, text in json.loads(data).items()}
        except (ValueError, AttributeError):
            files = {}
        return Kept(files, hashlib.sha256(data).hexdigest())

    def _error(self, done: str, error: OSError) -> MooringError:
        return MooringError(f"{self._folder / _FILE} cannot be {done}: {error.strerror}")


class CertificateSecret:
    """A Secret that is there already: to make one, an account would need the right to make any."""

    def __init__(self, transport: AsyncTransport, namespace: str, name: str) -> None:
        self._transport = transport
        self._namespace, self._name = namespace, name

    async def read(self) -> Kept:
        try:
            found = await self._transport.get("v1", "Secret", self._namespace, self._name)
        except NotFoundError:
            raise MooringError(
                f"there is no Secret {self._namespace}/{self._name} to keep certificates in; "
                f"kubectl -n {self._namespace} create secret generic {self._name} makes it"
            ) from None
        files = {name: b64decode(text) for name, text in (found.get("data") or {}).items()}
        return Kept(files, found["metadata"]["resourceVersion"])

    async def write(self, files: Mapping[str, bytes], version: str) -> bool:
        body = {"data": {name: b64encode(data).decode() for name, data in files.items()}}
        where = ("v1", "Secret", self._namespace, self._name)
        try:
            await self._transport.write(
                Request("patch", *where, body, manager=_MANAGER, resource_version=version, metadata_only=True)
            )
        except ConflictError:
            return False
        return True
