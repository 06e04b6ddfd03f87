"""Leader election by a Lease, so that of several replicas one is at work and the others stand by.

It saves work and is never what safety rests on: every write says what it was decided on, and two leaders for a moment
do no harm. How long a lease is good for is measured on a clock that nobody can set, from when a change of it was last
seen; what its holder wrote down about the time of day is for people. A leader that was stopped for longer than its
lease does not know that another one leads: `may_write` tells it before each write, by the time.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from mooring.client.transport import AsyncTransport, Request, UnknownOutcome, Unreachable
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, ApiError, ConflictError, NotFoundError
from mooring.runtime.drivers.live import wall_clock
from mooring.runtime.logs import say

API_VERSION, KIND = "coordination.k8s.io/v1", "Lease"
# By how much of itself the time between two tries varies, so that candidates do not come all at once.
JITTER = 0.2


def steady_clock() -> float:
    """Seconds on a clock that nobody can set, and which goes on while the machine sleeps."""
    boot: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


@dataclass(frozen=True, slots=True)
class LeaseConfig:
    """In seconds: how long a lease is good for, when a leader that cannot renew it steps down, and between tries."""

    duration: float = 15.0
    deadline: float = 10.0
    retry: float = 2.0


class LeaseRecord(NamedTuple):
    """A lease as it was last seen to change, and when that was on the steady clock."""

    holder: str
    duration: float
    transitions: int
    version: str
    at: float


Step = Literal["create", "take", "renew", "wait"]


def next_step(record: LeaseRecord | None, me: str, now: float) -> Step:
    """What a candidate does about a lease as it knows it; None if there is none."""
    if record is None:
        return "create"
    if record.holder == me:
        return "renew"
    if not record.holder or now >= record.at + record.duration:
        return "take"
    return "wait"


def seen(lease: Object, before: LeaseRecord | None, now: float) -> LeaseRecord:
    """A lease that was just read. One that has not changed is as old as it was."""
    spec: dict[str, Any] = lease.get("spec") or {}
    version = lease["metadata"]["resourceVersion"]
    at = before.at if before is not None and before.version == version else now
    return LeaseRecord(
        spec.get("holderIdentity") or "",
        float(spec.get("leaseDurationSeconds") or 0),
        int(spec.get("leaseTransitions") or 0),
        version,
        at,
    )


class Election:
    """One candidate for one lease. Give it a transport of its own, so that it never waits behind other writes."""

    def __init__(
        self,
        transport: AsyncTransport,
        namespace: str,
        name: str,
        me: str,
        *,
        config: LeaseConfig | None = None,
        clock: Callable[[], datetime] = wall_clock,
        monotonic: Callable[[], float] = steady_clock,
        draw: random.Random | None = None,
    ) -> None:
        self._transport = transport
        self._namespace, self._name, self._me = namespace, name, me
        self._config = config or LeaseConfig()
        self._clock, self._monotonic = clock, monotonic
        self._draw = draw or random.Random()
        self._record: LeaseRecord | None = None
        # When the request was sent by which the lease was last held: nobody counts from an earlier moment.
        self._renewed = 0.0
        self.leading = False

    def may_write(self) -> bool:
        """Whether no other candidate can have taken the lease yet."""
        return self.leading and self._monotonic() - self._renewed < self._config.deadline

    async def run(self, work: Callable[[asyncio.Event], Awaitable[None]], stop: asyncio.Event) -> None:
        """Do `work` whenever this candidate leads, until `stop`. Its own event is set when it must end."""
        while not stop.is_set():
            if not await self._acquire(stop):
                return
            self.leading = True
            say(logging.INFO, f"{self._me} leads", lease=f"{self._namespace}/{self._name}")
            try:
                done = await self._lead(work, stop)
            finally:
                self.leading = False
            await self._release()
            if done:
                return

    async def _acquire(self, stop: asyncio.Event) -> bool:
        while not stop.is_set():
            if await self._try():
                return True
            await _pause(stop, self._config.retry * (1 + self._draw.random() * JITTER))
        return False

    async def _lead(self, work: Callable[[asyncio.Event], Awaitable[None]], stop: asyncio.Event) -> bool:
        """Work and renew until one of them ends; whether that was the work, by itself."""
        end = asyncio.Event()
        working = asyncio.ensure_future(work(end))
        renewing = asyncio.create_task(self._renew())
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((working, renewing, stopping), return_when=asyncio.FIRST_COMPLETED)
            done = working.done()
            if renewing.done():
                say(logging.ERROR, f"{self._me} no longer leads", lease=f"{self._namespace}/{self._name}")
        finally:
            end.set()
            # Renewed to the last: no other replica may begin while this one is still finishing.
            try:
                await working
            finally:
                for task in (renewing, stopping):
                    task.cancel()
                await asyncio.gather(renewing, stopping, return_exceptions=True)
        return done

    async def _renew(self) -> None:
        """Returns when the lease has been lost, or could not be renewed in time."""
        while self._monotonic() - self._renewed < self._config.deadline:
            await asyncio.sleep(self._config.retry)
            if not await self._try() and self._record is not None and self._record.holder != self._me:
                return

    async def _try(self) -> bool:
        """One step; whether this candidate holds the lease after it."""
        asked = self._monotonic()
        try:
            async with asyncio.timeout(self._config.deadline):
                held = await self._step()
                if held:
                    self._renewed = asked
                return held
        except (ConflictError, AlreadyExistsError, NotFoundError):
            # Another replica was faster; the next read of the Lease tells which.
            return False
        except (ApiError, Unreachable, UnknownOutcome, TimeoutError) as error:
            say(logging.WARNING, f"the lease cannot be held: {error}", lease=f"{self._namespace}/{self._name}")
            return False

    async def _step(self) -> bool:
        try:
            lease = await self._transport.get(API_VERSION, KIND, self._namespace, self._name)
            self._record = seen(lease, self._record, self._monotonic())
        except NotFoundError:
            self._record = None
        step = next_step(self._record, self._me, self._monotonic())
        if step == "wait":
            return False
        lease = await self._transport.write(self._claim(step))
        self._record = seen(lease, None, self._monotonic())
        return True

    def _claim(self, step: Step) -> Request:
        moment = self._clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec: Object = {"renewTime": moment, "leaseDurationSeconds": math.ceil(self._config.duration)}
        if step != "renew":
            transitions = 0 if self._record is None else self._record.transitions + 1
            spec |= {"holderIdentity": self._me, "acquireTime": moment, "leaseTransitions": transitions}
        if self._record is None:
            meta = {"namespace": self._namespace, "name": self._name}
            body = {"apiVersion": API_VERSION, "kind": KIND, "metadata": meta, "spec": spec}
            return self._request("create", body)
        return self._request("patch", {"spec": spec})

    def _request(self, verb: Literal["create", "patch"], body: Object) -> Request:
        version = None if self._record is None else self._record.version
        return Request(
            verb,
            API_VERSION,
            KIND,
            self._namespace,
            self._name,
            body,
            manager="mooring-election",
            resource_version=version,
        )

    async def _release(self) -> None:
        """Let go of a lease that is still held, so that the next candidate need not wait for it to run out."""
        if self._record is None or self._record.holder != self._me:
            return
        try:
            async with asyncio.timeout(self._config.retry):
                body = {"spec": {"holderIdentity": "", "leaseDurationSeconds": 1}}
                await self._transport.write(self._request("patch", body))
                self._record = None
        except (ApiError, Unreachable, UnknownOutcome, TimeoutError) as error:
            say(logging.INFO, f"the lease was not released and runs out by itself: {error}")


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return
