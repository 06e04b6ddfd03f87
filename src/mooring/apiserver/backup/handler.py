"""`GET /backup`: everything that a server has, as it is at one revision, while writes go on.

Stored objects are never mutated, so a list of them is a consistent snapshot for as long as it is kept: it is taken at
once and sent bit by bit. Keys of the cluster are part of a backup. So it is for system:masters alone, whatever roles
say: a right that was given and taken back must not leave a key behind.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

import mooring
from mooring.apiserver.authentication.users import MASTERS
from mooring.apiserver.backup.lines import Header, StoredObject, backup_lines
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.messages.responses import Response
from mooring.kube.status import ForbiddenError, InternalError
from mooring.kube.times import timestamp
from mooring.registry import Registry

__all__ = ["BackupHandler"]

_TYPE: Final = b"application/x-ndjson"


class BackupHandler:
    """`files` are those of the cluster that belong to a backup, by their paths in its folder."""

    def __init__(self, registry: Registry, clock: Callable[[], datetime], files: Mapping[str, Path]) -> None:
        self._registry, self._clock, self._files = registry, clock, files

    def answer(self, request: HttpRequest) -> Response:
        from mooring.apiserver.sqlite.folder import SCHEMA_VERSION

        user = request.user
        if MASTERS not in user.groups:
            raise ForbiddenError(
                f'forbidden: User "{user.name}" cannot get path "/backup": a backup holds the keys of the cluster, so '
                f"only members of the group {MASTERS} may make one"
            )
        storage = self._registry.storage
        header = Header(
            revision=storage.revision,
            data_version=SCHEMA_VERSION,
            created=timestamp(self._clock()),
            mooring=mooring.__version__,
            files=self._read_files(),
        )
        objects = [StoredObject(*each) for each in storage.everything()]
        return Response(200, backup_lines(header, objects), _TYPE, revision=header.revision)

    def _read_files(self) -> dict[str, bytes]:
        try:
            return {path: place.read_bytes() for path, place in self._files.items()}
        except OSError as error:
            raise InternalError.of(f"{error.filename} cannot be read: {error.strerror}") from None
