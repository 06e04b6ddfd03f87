"""Streams of a mirror: what a client is sent, from where, in which parts, and what it leaves behind when it goes."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mooring.kube.status import ForbiddenError
from mooring.runway.rest import stream as streams
from mooring.runway.rest.mirror.mirror import NOWHERE, Mirror
from mooring.runway.rest.stream import EventStream
from tests.runway.rest.mirror.things import (
    ONE,
    THING,
    Server,
    mirror,
    play,
    settle,
    thing,
)


class Client:
    """A caller with a mirror, and what a client of its stream was sent. `deaf` is after how many messages it stops."""

    def __init__(self, found: Mirror, deaf: int = 999) -> None:
        self.caller = cast(Any, SimpleNamespace(mirror=found, uses=3, last_used=0.0))
        self.sent: list[Any] = []
        self.deaf = deaf
        self.gone = asyncio.Event()

    async def receive(self) -> Any:
        if not self.gone.is_set():
            await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if len(self.sent) >= self.deaf:
            await asyncio.Event().wait()
        self.sent.append(message)

    def begin(self, last_id: str = "") -> asyncio.Task[None]:
        return asyncio.create_task(EventStream(self.caller, ONE, last_id)({"type": "http"}, self.receive, self.send))

    @property
    def bodies(self) -> list[bytes]:
        return [each["body"] for each in self.sent[1:]]


def test_a_stream_is_told_at_once_and_whole_and_ends_when_the_mirror_does() -> None:
    async def story() -> None:
        server = Server(thing("a", 1))
        found = mirror(server, THING)
        await found.topic("things")
        client = Client(found)
        running = client.begin()
        await settle()
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
        ]
        assert client.sent[0] == {"type": "http.response.start", "status": 200, "headers": headers}
        assert client.bodies == [b": \n\n", found.after(ONE, NOWHERE)[0]]
        assert all(each["more_body"] for each in client.sent[1:])
        assert (client.caller.uses, len(found.listeners)) == (4, 1)
        client.sent[1:] = []
        found.beat()
        await settle()
        found._wake()
        await settle()
        assert client.bodies == [b": \n\n"], "a heartbeat is sent once"
        await server.tell(("ADDED", thing("b", 2)))
        found.beat()
        await found.topic("things")
        await settle()
        assert client.bodies[-1].startswith(b"event: things\nid: ")
        found.end(ForbiddenError("no"))
        await running
        assert client.sent[-1] == {"type": "http.response.body", "body": b""}
        assert (client.caller.uses, found.listeners) == (3, set())
        assert client.caller.last_used > 0
        await found.close()

    play(story)


def test_a_stream_goes_on_after_its_last_id_and_ends_with_its_client() -> None:
    async def story() -> None:
        server = Server(thing("a", 1))
        found = mirror(server, THING)
        await found.topic("things")
        client = Client(found)
        running = client.begin(f"{found._epoch}-0")
        await settle()
        assert client.bodies == [b": \n\n"], "nothing has changed"
        client.gone.set()
        await running
        assert client.sent[-1] == {"type": "http.response.body", "body": b""}
        assert (client.caller.uses, found.listeners) == (3, set())
        await found.close()

    play(story)


def test_a_whole_list_is_sent_in_parts_and_a_deaf_client_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "PART_BYTES", 16)

    async def story() -> None:
        found = mirror(Server(thing("a", 1)), THING)
        await found.topic("things")
        whole = found.after(ONE, NOWHERE)[0]
        client = Client(found)
        running = client.begin()
        await settle()
        assert b"".join(client.bodies) == b": \n\n" + whole
        assert {len(each) for each in client.bodies[1:-1]} == {16}
        client.gone.set()
        await running
        monkeypatch.setattr(streams, "DEAF_SECONDS", 0.0)
        deaf = Client(found, deaf=2)
        await deaf.begin()
        assert len(deaf.sent) == 2, "the answer is not completed"
        assert (deaf.caller.uses, found.listeners) == (3, set())
        await found.close()

    play(story)
