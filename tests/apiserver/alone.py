"""An API server without a socket, in virtual time: what clients send it, what machines behind it say, and all it does.

Everything that goes over a connection is noted with its moment, in the order in which it happens, so that what came to
pass can be compared with a recording.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import zlib
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast
from urllib.parse import unquote

from mooring.apiserver.app import Application
from mooring.apiserver.authentication.users import User
from mooring.kube.objects import Object
from mooring.net.asgi import Header, Message
from mooring.net.byte_stream import ByteStream
from mooring.net.exchange import _Remainder
from mooring.net.waiter import Waiter
from mooring.registry import MemoryStorage, Registry
from tests.support.virtual_time import VirtualLoop, clock

START: Final = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
TOKEN: Final = "secret"
ADMIN: Final = User("admin", ("system:masters", "system:authenticated"))
# Longer bytes are told by their number and a sum of them.
LONG: Final = 3000
Line = tuple[float, "bytes | Exception | None"]
"""Seconds after the first bytes came, and what is sent then: bytes, how the connection breaks, or None for its end."""
Decode = Callable[[bytes], Iterable[str]]


def shown(data: bytes) -> str:
    return repr(data) if len(data) <= LONG else f"{len(data)} bytes, {zlib.crc32(data):08x}: {data[:60]!r}"


def plainly(data: bytes) -> Iterable[str]:
    return [shown(data)]


@dataclass
class Machine:
    """What answers at an address: `lines`, once, or what `replies` makes of everything that it gets.

    `fails` is why it cannot be dialled; it takes `slow` seconds to let anybody in.
    """

    lines: Sequence[Line] = ()
    replies: Callable[[bytes], Sequence[Line]] | None = None
    fails: Exception | None = None
    slow: float = 0.0
    decode: Callable[[], Decode] = lambda: plainly


@dataclass
class Client:
    """Who asks: until when it stays, how long it takes to read a part, whether parts can be sent to it at once (None
    where the server cannot), and what it says after it left HTTP."""

    leaves: float | None = None
    slow: float = 0.0
    pushed: bool | None = None
    lines: Sequence[Line] = ()
    decode: Callable[[], Decode] = lambda: plainly


class End(asyncio.Transport):
    """One end of a connection, that of the server: notes what is written, and plays what the other end says."""

    def __init__(self, notes: Notes, name: str, lines: Sequence[Line], decode: Decode, *, begins: bool) -> None:
        super().__init__()
        self._notes, self._name, self._lines, self._decode = notes, name, lines, decode
        self._protocol: asyncio.Protocol | None = None
        self._closing = self._gone = self._begun = False
        self._begins = begins
        self.replies: Callable[[bytes], Sequence[Line]] | None = None

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = cast(asyncio.Protocol, protocol)
        if self._begins:
            self._begin()

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._prepare(0, 0.0)

    def _prepare(self, number: int, passed: float) -> None:
        if number < len(self._lines):
            after = self._lines[number][0]
            asyncio.get_running_loop().call_later(after - passed, self._say, number)

    def _say(self, number: int) -> None:
        if self._gone or self._closing:
            return
        assert self._protocol is not None
        after, what = self._lines[number]
        if isinstance(what, bytes):
            self._protocol.data_received(what)
            self._prepare(number + 1, after)
        else:
            self._lose(what)

    def _lose(self, error: Exception | None) -> None:
        if not self._gone:
            self._gone = self._closing = True
            assert self._protocol is not None
            self._protocol.connection_lost(error)

    def write(self, data: Any) -> None:
        assert not self._closing, "written after the end"
        for each in self._decode(bytes(data)):
            self._notes(self._name, "gets", each)
        if self.replies is not None:
            self._begun, self._lines = False, self.replies(bytes(data))
        self._begin()

    def _end(self, how: str) -> None:
        if not self._closing:
            self._closing = True
            self._notes(self._name, how)
            asyncio.get_running_loop().call_soon(self._lose, None)

    def close(self) -> None:
        self._end("is closed")

    def abort(self) -> None:
        self._end("is cut off")

    def is_closing(self) -> bool:
        return self._closing

    def pause_reading(self) -> None:
        self._notes(self._name, "waits")

    def resume_reading(self) -> None:
        self._notes(self._name, "goes on")

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default


class Notes:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self._begun = 0.0

    def begin(self) -> None:
        """Moments count from now on."""
        self._begun = clock()

    def __call__(self, *what: str) -> None:
        moment = round(clock() - self._begun, 3)
        self.lines.append(" ".join((f"{moment:g}s" if moment else "", *what)).strip())

    def taken(self) -> str:
        found, self.lines = "\n".join(self.lines), []
        return found


class ScriptedLoop(VirtualLoop):
    """Connections lead to machines by their address; those of no machine are refused."""

    def __init__(self) -> None:
        super().__init__()
        self.machines: dict[tuple[str, int], Machine] = {}
        self.notes = Notes()

    def _replies(self, address: tuple[str, int], data: bytes) -> Sequence[Line]:
        replies = self.machines[address].replies
        return () if replies is None else replies(data)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        """At once: in virtual time no thread is ever ready."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    async def create_connection(self, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        tls: ssl.SSLContext | None = options.pop("ssl")
        name = options.pop("server_hostname")
        assert not options, options
        checked = "" if tls is None else f" as {name}, {tls.verify_mode.name}{' with its name' * tls.check_hostname}"
        self.notes(f"{host}:{port}", f"is dialled{checked}")
        machine = self.machines.get((host, port)) or Machine(fails=ConnectionRefusedError(111, "refused"))
        if machine.slow:
            await asyncio.sleep(machine.slow)
        if machine.fails is not None:
            raise machine.fails
        end = End(self.notes, f"{host}:{port}", machine.lines, machine.decode(), begins=False)
        protocol = protocol_factory()
        end._protocol = protocol
        if machine.replies is not None:
            # A connection that stays is answered as the machine answers by then.
            end.replies = lambda data: self._replies((host, port), data)
        protocol.connection_made(end)
        return end, protocol


@dataclass
class Alone:
    """The server and its world. Only within its story, which `play` runs."""

    loop: ScriptedLoop
    app: Application
    registry: Registry
    now: datetime = START
    users: dict[str, User] = field(default_factory=lambda: {TOKEN: ADMIN})

    @property
    def notes(self) -> Notes:
        return self.loop.notes

    def at(self, host: str, port: int, *lines: Line, **how: Any) -> None:
        """Let a machine answer at an address, in place of the one that did."""
        self.loop.machines[host, port] = Machine(lines, **how)

    async def make(self, path: str, body: Object, method: str = "POST") -> None:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        await self.ask(method, path, json.dumps(body).encode(), {"content-type": kind})
        told = self.notes.taken()
        assert re.match(r"(\S+s )?client gets 20[01] ", told), told

    async def ask(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        client: Client | None = None,
        token: str = TOKEN,
    ) -> bytes:
        """Send a request and see it through to its end; the body of its answer."""
        answered: list[bytes] = []
        who = client or Client()
        path, _, query = target.partition("?")
        pairs = [*headers.items()] if isinstance(headers, Mapping) else [*headers]
        sent: list[Header] = [(b"host", b"api"), (b"authorization", b"Bearer " + token.encode())]
        sent += [(key.lower().encode(), value.encode()) for key, value in pairs]
        scope: dict[str, Any] = {"type": "http", "method": method, "path": unquote(path), "headers": sent}
        scope |= {"raw_path": path.encode(), "query_string": query.encode(), "client": ("192.0.2.7", 4711)}
        if any(key == b"upgrade" for key, _ in sent):
            scope["upgrade"] = lambda given: self._upgrade(given, who)
        if who.pushed is not None:
            scope["push"] = lambda make: who.pushed and self._push(make())
            scope["turn"] = self._turn
        begun = clock()
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if waiting:
                return waiting.pop()
            if who.leaves is None:
                await asyncio.Event().wait()
            else:
                await asyncio.sleep(max(0.0, begun + who.leaves - clock()))
                self.notes("client", "has gone")
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                shown_headers = ", ".join(f"{key.decode()}: {value.decode()}" for key, value in message["headers"])
                self.notes("client", f"gets {message['status']}", shown_headers)
            else:
                assert message["type"] == "http.response.body", message
                answered.append(message["body"])
                more = " and more will come" if message.get("more_body") else ""
                self.notes("client", "gets", shown(message["body"]) + more)
            if who.slow:
                await asyncio.sleep(who.slow)

        over: asyncio.Future[None] = self.loop.create_future()
        self.loop.call_soon(_step, self.app(scope, receive, send), over)
        await over
        # What ends with the request ends in the next turns.
        for _ in range(5):
            await asyncio.sleep(0)
        return b"".join(answered)

    def _push(self, data: bytes) -> bool:
        self.notes("client", "gets at once", shown(data))
        return True

    async def _turn(self) -> None:
        self.notes("others have their turn")
        await asyncio.sleep(0)

    def _upgrade(self, headers: list[Header], who: Client) -> ByteStream:
        told = ", ".join(f"{key.decode()}: {value.decode()}" for key, value in headers)
        self.notes("client", "leaves HTTP with", told)
        return ByteStream(End(self.notes, "client", who.lines, who.decode(), begins=True))


def _step(coroutine: Coroutine[Any, Any, None], over: asyncio.Future[None]) -> None:
    """Begin a request as the HTTP server does: outside of a task, until it waits for something else than the disk."""
    try:
        waits_for = coroutine.send(None)
    except StopIteration:
        over.set_result(None)
    except Exception as error:
        over.set_exception(error)
    else:
        if isinstance(waits_for, Waiter):
            waits_for.then = lambda: _step(coroutine, over)
            return

        async def rest() -> None:
            await _Remainder(coroutine, waits_for)

        asyncio.ensure_future(rest()).add_done_callback(lambda task: _tell(task, over))


def _tell(task: asyncio.Future[None], over: asyncio.Future[None]) -> None:
    if (error := task.exception()) is not None:
        over.set_exception(error)
    else:
        over.set_result(None)


def play(story: Callable[[Alone], Any], *, history_limit: int = 20_000, **options: Any) -> Any:
    """Run a story with a server of its own; `options` are the application's."""

    async def told() -> Any:
        loop = cast(ScriptedLoop, asyncio.get_running_loop())
        registry = Registry(MemoryStorage(), now=START, seed=1, history_limit=history_limit)
        users = {TOKEN: ADMIN}

        def now() -> datetime:
            return START + timedelta(seconds=int(loop.time()))

        app = Application(registry, clock=now, authenticate=lambda token: users.get(token or ""), **options)
        failed: list[str] = []
        loop.set_exception_handler(lambda _, what: failed.append(f"{what['message']}: {what.get('exception')!r}"))
        try:
            return await story(Alone(loop, app, registry, users=users))
        finally:
            app.stop()
            assert not failed, failed

    with asyncio.Runner(loop_factory=ScriptedLoop) as runner:
        return runner.run(told())
