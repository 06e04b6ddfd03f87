"""The interface between server and application: bodies in parts, whole answers, and budgets of bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar, cast

import pytest

from mooring.net.asgi import Disconnected, Message, TooLarge, read_body, send_whole
from mooring.net.byte_budget import ByteBudget
from mooring.net.destination import Destination
from mooring.net.server import HttpServer
from mooring.net.server_connection import ServerConnection

T = TypeVar("T")


def done(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


def body_of(*messages: Message, too_large: bool = False) -> bytes:
    told = iter(messages)

    async def receive() -> Message:
        return next(told)

    found = done(read_body({"too_large": too_large}, receive))
    assert list(told) == []
    return found


def part(body: bytes | None, *, more: bool | None = None) -> Message:
    found: Message = {"type": "http.request"}
    if body is not None:
        found["body"] = body
    if more is not None:
        found["more_body"] = more
    return found


def test_a_body_is_all_of_its_parts() -> None:
    assert body_of(part(b"a")) == b"a"
    assert body_of(part(None)) == b""
    assert body_of(part(b"a", more=False)) == b"a"
    assert body_of(part(b"a", more=True), part(b"b", more=True), part(None, more=True), part(b"c")) == b"abc"


def test_a_body_that_does_not_come_to_its_end_is_none() -> None:
    with pytest.raises(Disconnected):
        body_of({"type": "http.disconnect"})
    with pytest.raises(Disconnected):
        body_of(part(b"a", more=True), {"type": "http.disconnect"})
    with pytest.raises(TooLarge):
        body_of(too_large=True)


def test_a_whole_answer_is_measured() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    done(send_whole(send, 201, b"text/plain", b"abc", (b"x-a", b"1")))
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"3"), (b"x-a", b"1")]
    assert sent == [
        {"type": "http.response.start", "status": 201, "headers": headers},
        {"type": "http.response.body", "body": b"abc"},
    ]


def test_who_has_held_bytes_for_longest_is_given_up_when_all_hold_too_many() -> None:
    given_up: list[str] = []
    budget = ByteBudget(10, cast(Any, given_up.append))

    def hold(name: str, size: int) -> tuple[int, str]:
        given_up.clear()
        budget.hold(cast(ServerConnection, name), size)
        return budget.held_bytes, "".join(given_up)

    assert [hold("a", 4), hold("b", 4), hold("a", 6), hold("c", 0)] == [(4, ""), (8, ""), (10, ""), (10, "")]
    assert hold("c", 1) == (5, "a")
    assert hold("b", 2) == (3, "")
    budget.release(cast(ServerConnection, "b"))
    budget.release(cast(ServerConnection, "b"))
    assert budget.held_bytes == 1
    assert hold("d", 12) == (0, "cd")
    assert hold("e", 10) == (10, "")


def test_addresses_are_written_as_urls_have_them() -> None:
    assert Destination("example.com", 443).authority == "example.com:443"
    assert Destination("::1", 80).authority == "[::1]:80"


# How often it looks again; once it lets what was accepted become a connection.
ROUNDS = {"nothing": 1, "a connection": 3, "a task": 4, "both": 4}


class _Busy:
    """What a server asks of a connection while it waits for its end."""

    def __init__(self, server: HttpServer, *, busy: bool) -> None:
        self.server, self.busy, self.transport = server, busy, self
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True
        self.server.connections.discard(cast(ServerConnection, self))


@pytest.mark.parametrize("waits_for", [*ROUNDS])
def test_a_server_waits_for_what_is_being_answered_and_no_longer(
    waits_for: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either keeps it: a task that writes the answer, or a connection whose request is still coming."""

    async def application(scope: Any, receive: Any, send: Any) -> None: ...

    async def story() -> tuple[int, bool, bool]:
        server = HttpServer(application)
        connection = _Busy(server, busy=waits_for in ("a connection", "both"))
        server.connections.add(cast(ServerConnection, connection))
        answered = asyncio.Event()

        async def answer() -> None:
            await answered.wait()

        task = asyncio.get_running_loop().create_task(answer())
        if waits_for in ("a task", "both"):
            server.tasks.add(cast(Any, task))
            task.add_done_callback(cast(Any, server.tasks.discard))
        slept, still = 0, asyncio.sleep

        async def sleep(seconds: float) -> None:
            nonlocal slept
            slept += seconds == 0.01
            assert slept < 50, "waits without end"
            if slept == 3:
                connection.busy = False
                answered.set()
            await still(0)

        monkeypatch.setattr("mooring.net.server.asyncio.sleep", sleep)
        await server.finish(1000)
        cancelled = task.cancelled()
        task.cancel()
        return slept, connection.aborted, cancelled

    assert done(story()) == (ROUNDS[waits_for], True, False)
