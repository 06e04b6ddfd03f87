"""Events about pods and the node, for people: the same thing said again is counted, not written anew."""

from __future__ import annotations

import hashlib
import logging
from datetime import datetime
from typing import Final

from mooring.client.transport import AsyncTransport, Request
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.nodes.process.model import Tell
from mooring.nodes.process.specs import init_containers

__all__ = ["Announcer"]


COMPONENT: Final = "process-node"
# Beyond this many about one object, only every hundredth is written.
_BURST: Final = 25
_REMEMBERED: Final = 5_000
_log = logging.getLogger("mooring.node")


class Announcer:
    def __init__(self, transport: AsyncTransport, node: str) -> None:
        self._transport = transport
        self._node = node
        self._told: dict[str, tuple[int, str]] = {}

    async def tell(self, about: Object, kind: str, told: Tell, now: datetime) -> None:
        """Write the event. That one is lost never matters to anything else."""
        request = self._request(about, kind, told, now)
        if request is None:
            return
        try:
            await self._transport.write(request)
        except MooringError as error:
            _log.info("an event about %s %s is lost: %s", kind, about["metadata"]["name"], error)

    def _request(self, about: Object, kind: str, told: Tell, now: datetime) -> Request | None:
        meta = about["metadata"]
        namespace = meta.get("namespace", "")
        reference = {"apiVersion": "v1", "kind": kind, "name": meta["name"], "uid": meta.get("uid", "")}
        if namespace:
            reference["namespace"] = namespace
        if told.container:
            field = "containers"
            if any(each["name"] == told.container for each in init_containers(about)):
                field = "initContainers"
            reference["fieldPath"] = f"spec.{field}{{{told.container}}}"
        said = "\0".join((kind, meta.get("uid", ""), told.container, told.type, told.reason, told.message))
        name = f"{meta['name']}.{hashlib.sha256(said.encode()).hexdigest()[:16]}"
        times, first = self._told.pop(name, (0, timestamp(now)))
        if len(self._told) >= _REMEMBERED:
            del self._told[next(iter(self._told))]
        self._told[name] = (times + 1, first)
        if times + 1 > _BURST and (times + 1) % 100:
            return None
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"namespace": namespace or "default", "name": name},
            "involvedObject": reference,
            "type": told.type,
            "reason": told.reason,
            "message": told.message[:1024],
            "source": {"component": COMPONENT, "host": self._node},
            "count": times + 1,
            "firstTimestamp": first,
            "lastTimestamp": timestamp(now),
        }
        manager = f"mooring-{COMPONENT}"
        return Request("apply", "v1", "Event", namespace or "default", name, body, manager=manager)
