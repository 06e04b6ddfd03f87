"""Local PersistentVolumes of this node that are over: the folder is removed first, then the object may go.

The finalizer says that this node still has a folder. `pending_removal` decides; a `LocalVolumeDeleter` acts.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Literal

from mooring.client.transport import AsyncTransport, Change, Item, Request, plain
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.nodes.process.volumes.disk import Disk
from mooring.nodes.storage.names import LOCAL_VOLUME

__all__ = ["LocalVolumeDeleter", "pending_removal"]

_MANAGER: Final = "mooring-process-node"
_RETRY_SECONDS: Final = 5.0
_log = logging.getLogger("mooring.node")

Removal = Literal["", "files", "finalizer"]


def pending_removal(volume: Object, hostname: str) -> Removal:
    """What goes of a volume: its files and itself, or only the finalizer, because its files are to be retained."""
    metadata, spec = volume["metadata"], volume["spec"]
    if LOCAL_VOLUME not in (metadata.get("finalizers") or ()) or hostname not in _hostnames(spec):
        return ""
    phase, deletes = (volume.get("status") or {}).get("phase"), spec.get("persistentVolumeReclaimPolicy") == "Delete"
    if phase == "Released" and deletes:
        return "files"
    if "deletionTimestamp" not in metadata or phase == "Bound":
        return ""
    return "files" if deletes else "finalizer"


def _hostnames(spec: Object) -> set[str]:
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    terms = required.get("nodeSelectorTerms") or ()
    expressions = (each for term in terms for each in term.get("matchExpressions") or ())
    return {value for each in expressions for value in each.get("values") or ()}


class LocalVolumeDeleter:
    """The informer handler of PersistentVolumes, and the task that removes those that are over, one after another."""

    def __init__(self, transport: AsyncTransport, disk: Disk, hostname: str) -> None:
        self._transport, self._disk, self._hostname = transport, disk, hostname
        # The volumes that are over as they were last seen, by name.
        self._over: dict[str, Object] = {}
        self._listing: list[Object] = []
        self._news = asyncio.Event()

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            for name, volume in list(self._over.items()):
                try:
                    await self._remove(name, volume)
                except (MooringError, OSError) as error:
                    _log.warning("the local volume %s cannot be removed at the moment: %s", name, error)
                    await asyncio.sleep(_RETRY_SECONDS)
                    self._news.set()
                else:
                    self._over.pop(name, None)

    async def _remove(self, name: str, volume: Object) -> None:
        if pending_removal(volume, self._hostname) == "files":
            await asyncio.to_thread(self._remove_files, name)
        with suppress(NotFoundError):
            # Deleted before the finalizer goes, so that nobody takes a volume without its files for one that is free.
            if "deletionTimestamp" not in volume["metadata"]:
                uid = volume["metadata"]["uid"]
                await self._transport.write(self._request("delete", name, {}, uid=uid))
            found = await self._transport.get("v1", "PersistentVolume", "", name)
            kept = [each for each in found["metadata"].get("finalizers") or () if each != LOCAL_VOLUME]
            version = found["metadata"]["resourceVersion"]
            body = {"metadata": {"finalizers": kept}}
            await self._transport.write(self._request("patch", name, body, version=version))

    def _remove_files(self, name: str) -> None:
        with suppress(FileNotFoundError):
            shutil.rmtree(self._disk.local_volume(name))

    def _request(
        self,
        verb: Literal["patch", "delete"],
        name: str,
        body: Object,
        *,
        uid: str | None = None,
        version: str | None = None,
    ) -> Request:
        return Request(
            verb, "v1", "PersistentVolume", "", name, body, manager=_MANAGER, uid=uid, resource_version=version
        )

    def _take(self, volume: Object) -> None:
        name = volume["metadata"]["name"]
        if pending_removal(volume, self._hostname):
            self._over[name] = volume
            self._news.set()
        else:
            self._over.pop(name, None)

    # What the watch brings

    def begin(self) -> None:
        self._listing = []

    def page(self, items: Sequence[Item]) -> None:
        self._listing += map(plain, items)

    def listed(self, resource_version: str) -> None:
        found, self._listing = self._listing, []
        self._over.clear()
        for volume in found:
            self._take(volume)

    def changed(self, changes: Sequence[Change]) -> None:
        for kind, item in changes:
            if kind in ("ADDED", "MODIFIED"):
                self._take(plain(item))
            elif kind == "DELETED":
                self._over.pop(plain(item)["metadata"]["name"], None)

    def lost(self, why: str) -> None:
        _log.error("local volumes cannot be removed: the kind %s", why)

    def troubled(self, why: str) -> None:
        if why:
            _log.info("volumes cannot be followed at the moment: %s", why)
