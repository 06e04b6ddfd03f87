"""Tokens of ServiceAccounts for projected volumes: asked for on behalf of a pod, renewed while they count."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from mooring.client.transport import AsyncTransport, Request
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.times import moment

__all__ = ["TokenManager", "TokenProjection"]

_DEFAULT_SECONDS: Final = 3600
_MAX_AGE: Final = timedelta(hours=24)
# The part of its life after which a token is renewed.
_RENEWED_AFTER: Final = 0.8


class TokenProjection(NamedTuple):
    """A token as a volume asks for it. Without an audience it is for the API."""

    audience: str = ""
    seconds: int = _DEFAULT_SECONDS

    @classmethod
    def of(cls, source: Object) -> TokenProjection:
        return cls(source.get("audience") or "", source.get("expirationSeconds") or _DEFAULT_SECONDS)


class _Token(NamedTuple):
    text: str
    asked: datetime
    expires: datetime

    def is_due(self, now: datetime) -> bool:
        life = self.expires - self.asked
        return now >= self.asked + life * _RENEWED_AFTER or now - self.asked > _MAX_AGE


class TokenManager:
    """The tokens of the pods on this node, by pod and projection."""

    def __init__(self, transport: AsyncTransport, clock: Callable[[], datetime]) -> None:
        self._transport, self._clock = transport, clock
        self._tokens: dict[tuple[str, TokenProjection], _Token] = {}

    async def token(self, pod: Object, projection: TokenProjection) -> str:
        """A token that counts for a while yet. While none can be had, one that still counts is kept."""
        key = pod["metadata"]["uid"], projection
        known, now = self._tokens.get(key), self._clock()
        if known is not None and not known.is_due(now):
            return known.text
        try:
            made = self._tokens[key] = await self._ask(pod, projection, now)
        except MooringError:
            if known is None or known.expires <= now:
                raise
            return known.text
        return made.text

    def forget(self, uid: str) -> None:
        """The pod is gone, and its tokens count no longer."""
        for key in [key for key in self._tokens if key[0] == uid]:
            del self._tokens[key]

    async def _ask(self, pod: Object, projection: TokenProjection, now: datetime) -> _Token:
        metadata, account = pod["metadata"], pod["spec"].get("serviceAccountName") or "default"
        reference = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        spec = {
            "audiences": [projection.audience] if projection.audience else [],
            "expirationSeconds": projection.seconds,
            "boundObjectRef": reference,
        }
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        request = Request("create", "v1", "ServiceAccount", metadata["namespace"], account, body, "token")
        status = (await self._transport.write(request))["status"]
        return _Token(status["token"], now, moment(status["expirationTimestamp"]))
