"""Tokens of pods on this node: asked for once, renewed in time, and kept while the API cannot be asked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mooring.client.transport import Request, Unreachable
from mooring.kube.times import timestamp
from mooring.nodes.process.volumes.tokens import TokenManager, TokenProjection

START = datetime(2026, 1, 1, tzinfo=UTC)
POD = {
    "metadata": {"name": "web", "namespace": "prod", "uid": "u1"},
    "spec": {"serviceAccountName": "robot"},
}
HOUR = TokenProjection("", 3607)


class Server:
    """Answers TokenRequests with numbered tokens, unless it is away."""

    def __init__(self) -> None:
        self.now, self.away = START, False
        self.asked: list[Request] = []
        self.manager = TokenManager(self, lambda: self.now)  # type: ignore[arg-type]

    async def write(self, request: Request) -> Any:
        if self.away:
            raise Unreachable("away")
        self.asked.append(request)
        expires = self.now + timedelta(seconds=request.body["spec"]["expirationSeconds"])
        return {"status": {"token": f"t{len(self.asked)}", "expirationTimestamp": timestamp(expires)}}

    def token(self, projection: TokenProjection = HOUR) -> str:
        return asyncio.run(self.manager.token(POD, projection))


def test_a_token_is_asked_for_in_the_name_of_the_pod() -> None:
    server = Server()
    assert server.token(TokenProjection("vault", 600)) == "t1"
    (request,) = server.asked
    assert (request.kind, request.namespace, request.name, request.subresource) == (
        "ServiceAccount",
        "prod",
        "robot",
        "token",
    )
    assert request.body["spec"] == {
        "audiences": ["vault"],
        "expirationSeconds": 600,
        "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "u1"},
    }


def test_a_token_is_renewed_when_four_fifths_of_its_life_have_passed() -> None:
    server = Server()
    assert [server.token(), server.token()] == ["t1", "t1"]
    server.now += timedelta(seconds=2885)
    assert server.token() == "t1"
    server.now += timedelta(seconds=1)
    assert server.token() == "t2"


def test_a_token_that_lasts_for_months_is_renewed_every_day() -> None:
    server, months = Server(), TokenProjection("", 90 * 24 * 3600)
    assert server.token(months) == "t1"
    server.now += timedelta(hours=25)
    assert server.token(months) == "t2"


def test_while_the_server_is_away_a_token_that_still_counts_is_kept() -> None:
    server = Server()
    server.token()
    server.away = True
    server.now += timedelta(seconds=3600)
    assert server.token() == "t1"
    server.now += timedelta(seconds=8)
    with pytest.raises(Unreachable):
        server.token()


def test_a_pod_that_is_gone_leaves_no_token() -> None:
    server = Server()
    server.token()
    server.manager.forget("u1")
    assert server.token() == "t2"
