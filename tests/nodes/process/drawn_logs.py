"""Logs of containers drawn from a seed, asked for at the node's endpoint in virtual time, and a model of them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import urlencode

from mooring.kube.objects import Object
from mooring.net.asgi import Message, Scope
from mooring.nodes.process.logs import LONGEST_LINE, LogWriter, StreamName
from mooring.nodes.process.node_server import NodeServer
from mooring.nodes.process.pods.worker import NoLog
from mooring.nodes.process.streams.endpoint import StreamEndpoint
from tests.support.recordings import Draw
from tests.support.virtual_time import clock, in_virtual_time

TOKEN = "secret"
_CALLER = hashlib.sha256(TOKEN.encode()).hexdigest()
# The moment at which each story begins, in seconds.
BEGIN = 1_700_000_000
Asked = dict[str, str]


class Entry(NamedTuple):
    """A piece of a line in the log. `ends` is whether the line ends with it."""

    second: int
    text: bytes
    ends: bool


class ModelLog:
    """What a container wrote: every piece of a line with its moment, in the order in which they were complete."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._open: dict[str, bytes] = {"stdout": b"", "stderr": b""}

    def feed(self, second: int, stream: str, data: bytes) -> None:
        text = self._open[stream] + data
        while b"\n" in text or len(text) > LONGEST_LINE:
            line, ended, _ = text.partition(b"\n")
            ends = bool(ended) and len(line) <= LONGEST_LINE
            piece = line[:LONGEST_LINE]
            self.entries.append(Entry(second, piece, ends))
            text = text[len(piece) + ends :]
        self._open[stream] = text

    def close(self, second: int) -> None:
        self.entries += [Entry(second, text, False) for text in self._open.values() if text]

    def shown(self, asked: Asked, now: int, begun: int) -> bytes:
        """The answer to a request that came at a moment; of a followed log, from what there was then on."""
        wanted = self.entries if asked.get("follow") == "true" else self.entries[:begun]
        if "tailLines" in asked:
            wanted = wanted[max(begun - int(asked["tailLines"]), 0) :]
        if "sinceSeconds" in asked:
            wanted = [each for each in wanted if each.second >= now - int(asked["sinceSeconds"])]
        if "sinceTime" in asked:
            since = datetime.fromisoformat(asked["sinceTime"]).timestamp()
            wanted = [each for each in wanted if each.second >= int(since)]
        text = b"".join(_shown(each, asked.get("timestamps") == "true") for each in wanted)
        return text[: int(asked["limitBytes"])] if "limitBytes" in asked else text


def _shown(entry: Entry, with_time: bool) -> bytes:
    moment = datetime.fromtimestamp(entry.second, UTC).strftime("%Y-%m-%dT%H:%M:%S.000000000Z ") if with_time else ""
    return moment.encode() + entry.text + (b"\n" if entry.ends else b"")


def now() -> int:
    """In nanoseconds; whole seconds, so that the model needs no others."""
    return (BEGIN + int(clock())) * 10**9


class Told(NamedTuple):
    """An answer, and what the model says of it. `cut` is whether the client left before the end."""

    asked: Asked
    status: int
    body: bytes
    expected: bytes
    ended: bool
    cut: bool
    over: bool


def answers(folder: Path, count: int) -> Iterator[Told]:
    for number in range(count):
        yield in_virtual_time(_story(Draw(f"log {number}"), folder / f"{number}.log"))


async def _story(draw: Draw, path: Path) -> Told:
    writer, model = LogWriter(path, clock=now, size=1 << 30), ModelLog()
    asked = _asked(draw)

    def write(times: int) -> None:
        for _ in range(times):
            stream: StreamName = draw.one(("stdout", "stdout", "stderr"))
            data = draw.one((
                b"one\n", b"two\nthree\n", b"begun ", b"\n", b"", b"10%\r20%\r\n", b"\xff\x00\n",
                b"y" * LONGEST_LINE + b"\n", b"x" * (LONGEST_LINE + draw.below(3)), b"z" * 40_000 + b"\nafter\n",
            ))  # fmt: skip
            writer.feed(stream, data)
            model.feed(BEGIN + int(clock()), stream, data)

    def end() -> None:
        writer.close()
        model.close(BEGIN + int(clock()))

    for _ in range(draw.below(8)):
        write(draw.below(4))
        await asyncio.sleep(draw.below(4))
    if over := draw.chance(0.3):
        end()
    begun, asked_at = len(model.entries), BEGIN + int(clock())
    cut = not over and draw.chance(0.2)
    leaving = asyncio.Event()

    async def later() -> None:
        for _ in range(0 if over else draw.below(5)):
            await asyncio.sleep(1 + draw.below(4))
            write(draw.below(4))
        await asyncio.sleep(1)
        if cut:
            leaving.set()
            await asyncio.sleep(1)
        if not writer.closed:
            end()

    going_on = asyncio.create_task(later())
    target = f"/containerLogs/a/b/c?{urlencode(asked)}"
    sent = await ask(lambda *_, **__: (path, None if over else writer), target, leaving)
    await going_on
    expected = model.shown(asked, asked_at, begun)
    body = b"".join(each.get("body", b"") for each in sent)
    path.unlink()
    return Told(asked, sent[0]["status"], body, expected, not sent[-1].get("more_body", False), cut, over)


def _asked(draw: Draw) -> Asked:
    found = {"follow": draw.one(("true", "false"))} if draw.chance(0.6) else {}
    if draw.chance(0.5):
        found["tailLines"] = str(draw.one((0, 1, 2, 5, 1000)))
    if draw.chance(0.3):
        found["sinceSeconds"] = str(1 + draw.below(12))
    elif draw.chance(0.3):
        moment = datetime.fromtimestamp(BEGIN + draw.below(15), UTC).isoformat()
        found["sinceTime"] = draw.one((moment, moment.replace("+00:00", "Z")))
    if draw.chance(0.5):
        found["timestamps"] = draw.one(("true", "false"))
    if draw.chance(0.3):
        found["limitBytes"] = str(draw.one((1, 3, 100, 50_000)))
    return found


# Pages


async def ask(logs: Any, target: str, leaving: asyncio.Event | None = None, **more: Any) -> list[Message]:
    """What the endpoint sends."""
    path, _, query = target.partition("?")
    sent: list[Message] = []
    head = {"method": "GET", "headers": [(b"authorization", b"Bearer secret")], **more}
    summary = head.pop("summary", None)
    scope: Scope = {"path": path, "query_string": query.encode(), **head}

    async def receive() -> Message:
        await (leaving or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    with patch("time.time_ns", now):
        streams: StreamEndpoint = None  # type: ignore[assignment]
        await NodeServer(logs, streams, _CALLER, summary)._serve(scope, receive, send)
    return sent


def page(target: str, **more: Any) -> tuple[int, str, dict[str, str]]:
    """The status, the text and the headers of an answer; the one container has no log."""

    def logs(namespace: str, pod: str, container: str, *, previous: bool) -> Any:
        raise NoLog(f"no log of {namespace}/{pod}/{container}, {previous}")

    sent = in_virtual_time(ask(logs, target, **more))
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], b"".join(each.get("body", b"") for each in sent).decode(), headers


async def summary() -> Object:
    return {"node": {"nodeName": "here"}}
