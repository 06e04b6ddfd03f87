"""Writes a pod's status to the API: the newest one, as soon as it differs, with retries until it is stored."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from mooring.client.transport import AsyncTransport, Request
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, ConflictError, NotFoundError
from mooring.nodes.process.registration import MANAGER

__all__ = ["StatusWriter"]


_RETRY_RANGE_SECONDS: Final = (0.1, 5.0)
_log = logging.getLogger("mooring.node")


class StatusWriter:
    """`status` returns the current status, `pod` the pod as last observed; `seen` is called with a newer one.

    `gone` is called when the pod is not found, or when another pod has its name.
    """

    def __init__(
        self,
        transport: AsyncTransport,
        *,
        pod: Callable[[], Object],
        status: Callable[[], Object],
        seen: Callable[[Object], None],
        gone: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._pod, self._status, self._seen, self._gone = pod, status, seen, gone
        self._news = asyncio.Event()

    def wake(self) -> None:
        self._news.set()

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            await self.flush()

    async def flush(self) -> None:
        """Return when the API has the status, or there is no pod to have one."""
        pause = _RETRY_RANGE_SECONDS[0]
        while True:
            try:
                await self._report()
                return
            except NotFoundError:
                self._gone()
                return
            except ConflictError:
                if not await self._look():
                    return
            except MooringError as error:
                _log.info("the status of pod %s waits: %s", self._pod()["metadata"]["name"], error)
                if isinstance(error, ApiError) and error.code in (400, 422):
                    # It will not be taken however often it is sent; a later one may.
                    _log.error("the status of pod %s is refused: %s", self._pod()["metadata"]["name"], error)
                    return
                await asyncio.sleep(pause)
                pause = min(pause * 2, _RETRY_RANGE_SECONDS[1])

    async def remove(self) -> None:
        """Take the pod out of the API; its end has been reported."""
        meta = self._pod()["metadata"]
        request = Request("delete", "v1", "Pod", meta["namespace"], meta["name"], {}, uid=meta["uid"], grace=0)
        pause = _RETRY_RANGE_SECONDS[0]
        while True:
            try:
                await self._transport.write(request)
                return
            except (NotFoundError, ConflictError):
                # It is gone, or another one has its name by now.
                return
            except MooringError as error:
                _log.info("pod %s cannot be removed yet: %s", meta["name"], error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _RETRY_RANGE_SECONDS[1])

    async def _report(self) -> None:
        pod, status = self._pod(), self._status()
        if _says(pod.get("status") or {}, status):
            return
        meta = pod["metadata"]
        self._seen(
            await self._transport.write(
                Request(
                    "patch",
                    "v1",
                    "Pod",
                    meta["namespace"],
                    meta["name"],
                    {"status": status},
                    "status",
                    MANAGER,
                    uid=meta["uid"],
                    resource_version=meta["resourceVersion"],
                )
            )
        )

    async def _look(self) -> bool:
        """Read the pod again after a conflict; False if it is gone or another pod has its name."""
        meta = self._pod()["metadata"]
        try:
            found = await self._transport.get("v1", "Pod", meta["namespace"], meta["name"])
        except NotFoundError:
            self._gone()
            return False
        except MooringError:
            await asyncio.sleep(_RETRY_RANGE_SECONDS[0])
            return True
        if found["metadata"]["uid"] != meta["uid"]:
            self._gone()
            return False
        self._seen(found)
        return True


def _says(current: Object, wanted: Object) -> bool:
    """Whether the current status has all wanted fields already."""
    return all(_plain(current.get(key)) == _plain(value) for key, value in wanted.items())


def _plain(value: Any) -> Any:
    """A value without null and empty fields."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if each is not None and each != {}}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value
