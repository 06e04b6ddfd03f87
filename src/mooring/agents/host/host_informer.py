"""The agent's own ByoHost as the API has it: followed by a watch of its name, never older than what was written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import msgspec

from mooring.client.transport import Change, Item, plain
from mooring.features.hosts.api.hosts import ByoHost
from mooring.kube.objects import Object

__all__ = ["HostInformer", "typed_host"]

_log = logging.getLogger("mooring.agent")


class HostInformer:
    """`host` is None where there is none; `synced` says whether the API was asked at all. `news` is set by changes."""

    def __init__(self) -> None:
        self.host: ByoHost | None = None
        self.synced = False
        self.news = asyncio.Event()
        self.trouble = ""
        self._object: Object | None = None
        self._listed: list[Object] = []

    def observe(self, found: Object) -> None:
        """Take over what a write answered, or a watch brought; an older version of the same object is passed over."""
        known = self._object
        if known is not None and _uid(known) == _uid(found) and _version(found) < _version(known):
            return
        self._object, self.host = found, typed_host(found)
        self.news.set()

    # The reflector's side

    def begin(self) -> None:
        self._listed = []

    def page(self, items: Sequence[Item]) -> None:
        self._listed += map(plain, items)

    def listed(self, resource_version: str) -> None:
        self.synced = True
        if self._listed:
            self.observe(self._listed[0])
        else:
            self._object = self.host = None
        self.news.set()

    def changed(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.type in ("ADDED", "MODIFIED"):
                self.observe(plain(change.object))
            elif change.type == "DELETED":
                self._forget(plain(change.object))

    def _forget(self, gone: Object) -> None:
        if self._object is not None and _uid(gone) == _uid(self._object):
            self._object = self.host = None
            self.news.set()

    def lost(self, why: str) -> None:
        self.troubled(f"its ByoHost {why}")

    def troubled(self, why: str) -> None:
        if why and why != self.trouble:
            _log.warning("the API server cannot be followed: %s", why)
        elif self.trouble and not why:
            _log.info("the API server can be followed again")
        self.trouble = why


def typed_host(found: Object) -> ByoHost:
    return msgspec.convert(found, ByoHost)


def _uid(found: Object) -> str:
    return str(found["metadata"].get("uid", ""))


def _version(found: Object) -> int:
    text = str(found["metadata"].get("resourceVersion", ""))
    return int(text) if text.isdecimal() else 0
