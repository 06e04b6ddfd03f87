"""Faults between controllers and the API server, drawn from a seed.

Each is one that happens to real clients: answers that never come, conflicts, throttling, servers that fail before or
after the write, watches that lag, drop events, repeat themselves or expire, and processes that die between two writes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from mooring.client.transport import EVERYTHING, Change, Listed, Request, Scope, Stream, Transport, UnknownOutcome
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, ConflictError, ExpiredError, InternalError, TooManyRequestsError


class Crash(Exception):
    """The process dies here; what it had in memory is lost."""


@dataclass(frozen=True)
class Faults:
    """How likely each fault is, per request or per poll of a watch."""

    conflict: float = 0.0
    throttle: float = 0.0
    fail_before: float = 0.0
    fail_after: float = 0.0
    lost_answer: float = 0.0
    crash: float = 0.0
    lag: float = 0.0
    drop: float = 0.0
    repeat: float = 0.0
    expire: float = 0.0
    # How many polls of a watch that has nothing to tell are faulty polls all the same. A list that tells nothing new
    # is dear and shows little, and most watches are idle most of the time.
    idle: float = 1.0

    @classmethod
    def everything(cls, rate: float) -> Faults:
        return cls(rate, rate, rate, rate, rate, rate / 2, 5 * rate, rate, rate, rate, idle=0.02)


class FaultyTransport:
    def __init__(self, inner: Transport, faults: Faults, draw: random.Random) -> None:
        self._inner = inner
        self.faults = faults
        self._draw = draw

    def _strikes(self, probability: float) -> bool:
        return probability > 0 and self._draw.random() < probability

    def get(self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False) -> Object:
        return self._inner.get(api_version, kind, namespace, name, metadata_only=metadata_only)

    def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> Listed:
        return self._inner.list(api_version, kind, scope)

    def watch(self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING) -> FaultyStream:
        return FaultyStream(self._inner.watch(api_version, kind, resource_version, scope), self)

    def write(self, request: Request) -> Object:
        faults = self.faults
        if self._strikes(faults.crash):
            raise Crash
        refusal = self._refusal(request)
        if refusal is not None:
            raise refusal
        result = self._inner.write(request)
        if self._strikes(faults.crash):
            raise Crash
        if self._strikes(faults.lost_answer):
            raise UnknownOutcome("the answer was lost")
        if self._strikes(faults.fail_after):
            raise InternalError("the server failed after the write")
        return result

    def _refusal(self, request: Request) -> ApiError | None:
        if request.verb in ("patch", "delete") and self._strikes(self.faults.conflict):
            return ConflictError.stale(request.kind.lower(), "", request.name)
        if self._strikes(self.faults.throttle):
            return TooManyRequestsError("the server asks for patience", {"retryAfterSeconds": 1})
        if self._strikes(self.faults.fail_before):
            return InternalError("the server failed before the write")
        return None


class FaultyStream:
    """A watch that lags, drops events, repeats itself and expires.

    Events are dropped by a connection that breaks, so a watch that has dropped some ends, sooner or later.
    """

    def __init__(self, inner: Stream, transport: FaultyTransport) -> None:
        self._inner = inner
        self._transport = transport
        self._late: list[Change] = []
        self._last: list[Change] = []
        self._broken = False

    @property
    def news(self) -> bool:
        return self._inner.news or self.lagging or self._transport._strikes(self._transport.faults.idle)

    def poll(self) -> list[Change]:
        strikes, faults = self._transport._strikes, self._transport.faults
        if strikes(faults.expire) or (self._broken and not strikes(faults.lag)):
            raise ExpiredError("too old resource version")
        self._late += self._inner.poll()
        if self._broken or strikes(faults.lag):
            return []
        if self._late and strikes(faults.drop):
            self._late, self._broken = [], True
            return []
        changes, self._late = self._late, []
        if self._last and strikes(faults.repeat):
            changes = [*self._last, *changes]
        self._last = changes[-3:] if changes else self._last
        return changes

    @property
    def lagging(self) -> bool:
        return bool(self._late) or self._broken

    def close(self) -> None:
        self._inner.close()


def calm(transport: Any) -> None:
    """No more faults from here on, so that what was disturbed can come to rest."""
    if isinstance(transport, FaultyTransport):
        transport.faults = Faults(idle=0.0)
