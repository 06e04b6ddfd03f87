"""The stream of changes: a list and all that follows, resumed where it was cut, for hundreds of clients at once."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from mooring.runway.rest import stream
from mooring.runway.rest.callers import Callers
from mooring.runway.rest.stream import EventStream
from mooring.testing.http import Api
from tests.runway.rest.serving import Rest

CLIENTS = 200
CHANGES_PER_SECOND = 100
SECONDS = 3


def event(name: str, message: str = "hello") -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"},
        "reason": "Tested",
        "message": message,
        "type": "Normal",
    }


EVENTS = "/api/v1/namespaces/default/events"


def put_event(api: Api, name: str, message: str = "hello") -> None:
    answer = api.post(EVENTS, event(name, message))
    assert answer.code == 201, answer.body


def told(name: str) -> Any:
    """Whether an event of the stream is about this message."""
    return lambda topic, data: data.get("object", {}).get("message") == name


def test_a_stream_begins_with_the_whole_list_and_goes_on_with_changes(either: Rest) -> None:
    with either.home.api() as api:
        put_event(api, "before.1", "before")
        with either.admin.stream("events,pools") as events:
            first = events.until(told("before"))
            assert {(topic, data["type"]) for topic, data in first} >= {("events", "RESET"), ("events", "ADDED")}
            put_event(api, "after.1", "after")
            assert events.until(told("after"))[-1][1]["type"] == "ADDED"
            assert api.delete(f"{EVENTS}/after.1").code == 200
            assert events.until(told("after"))[-1][1]["type"] == "DELETED"


def test_a_stream_that_was_cut_goes_on_where_it_was(either: Rest) -> None:
    """What happened meanwhile is told once, in order, and nothing else is."""
    admin = either.admin
    with either.home.api() as api:
        with admin.stream("events") as events:
            put_event(api, "cut.0", "cut-0")
            events.until(told("cut-0"))
            last_id = events.last_id
        for number in range(1, 20):
            put_event(api, f"cut.{number}", f"cut-{number}")
        with admin.stream("events", last_id) as events:
            found = events.until(told("cut-19"))
    assert [data["type"] for _, data in found] == ["ADDED"] * 19
    assert [data["object"]["message"] for _, data in found] == [f"cut-{number}" for number in range(1, 20)]


def test_an_id_that_is_too_old_begins_with_the_whole_list(embedded: Rest) -> None:
    with embedded.home.api() as api:
        put_event(api, "old.1", "old")
    for last_id in ("nonsense", "0123456789ab-1", "", "x-99999999999999999999"):
        with embedded.admin.stream("events", last_id) as events:
            assert events.next()[1] == {"type": "RESET"}
            events.until(told("old"))


def test_two_hundred_clients_lose_nothing(embedded: Rest) -> None:
    """A hundred changes in a second, for three seconds."""
    count = CHANGES_PER_SECOND * SECONDS
    names = [f"flood.{number}" for number in range(count)]
    started = threading.Event()

    def flood() -> None:
        assert started.wait(20)
        with embedded.home.api() as api:
            begun = time.monotonic()
            for number, name in enumerate(names):
                put_event(api, name, name)
                time.sleep(max(begun + number / CHANGES_PER_SECOND - time.monotonic(), 0))

    writer = threading.Thread(target=flood)
    writer.start()
    received = asyncio.run(_listen(embedded, started, names[-1]))
    writer.join()
    assert len(received) == CLIENTS
    for text in received:
        added = re.findall(rb'"type":"ADDED","object":\{[^}]*"message":"(flood\.\d+)"', text)
        assert [name.decode() for name in added] == names


async def _listen(rest: Rest, started: threading.Event, last: str) -> list[bytes]:
    """What each of the clients got, up to the last change."""
    place = urlsplit(rest.url)
    request = (
        f"GET /api/stream?topics=events HTTP/1.1\r\nHost: {place.netloc}\r\n"
        f"Authorization: Bearer {rest.home.token}\r\n\r\n"
    )
    connected = 0

    async def client() -> bytes:
        nonlocal connected
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(request.encode())
        received = bytearray()
        try:
            while last.encode() not in received[-65536:]:
                if b"RESET" in received and not received.startswith(b"!"):
                    received[:0] = b"!"
                    connected += 1
                    if connected == CLIENTS:
                        started.set()
                part = await reader.read(65536)
                assert part, "the stream has ended"
                received += part
        finally:
            writer.close()
        return bytes(received)

    async with asyncio.timeout(60):
        return await asyncio.gather(*(client() for _ in range(CLIENTS)))


def test_a_client_that_does_not_read_is_dropped(embedded: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept for it, and others are told as before."""
    monkeypatch.setattr(stream, "DEAF_SECONDS", 0.05)

    async def story() -> None:
        callers = embedded.service.callers
        known = Callers(callers._server)
        caller = await known.get(embedded.home.token)
        await caller.topic("events")
        never = asyncio.Event()
        sent: list[str] = []

        async def receive() -> Any:
            await never.wait()

        async def send(message: Any) -> None:
            sent.append(message["type"])
            if len(sent) > 2:
                await never.wait()

        async with asyncio.timeout(5):
            await EventStream(caller, frozenset({"events"}), "")({"type": "http"}, receive, send)
        assert sent == ["http.response.start", "http.response.body", "http.response.body"]
        assert (caller.uses, caller.mirror.listeners) == (0, set())
        await known.close()

    asyncio.run(story())
