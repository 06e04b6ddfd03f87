"""Trouble between a client and a server, on real sockets: a proxy that cuts and mutes, an application that refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from mooring.kube.objects import Object


class Proxy:
    """Passes bytes on to a port, until it is told otherwise."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        # After so many bytes of answers the connection that carries them is cut; None never.
        self.budget: int | None = None
        self.muted = False
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._handle, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Refuse new connections and cut the old ones."""
        if self._server is not None:
            self._server.close()
            self.cut()
            await asyncio.gather(*self._passing, return_exceptions=True)
            await self._server.wait_closed()
            self._server = None

    def cut(self) -> None:
        for writer in tuple(self._open):
            writer.transport.abort()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, there_writer}
        for source, sink, answers in ((reader, there_writer, False), (there_reader, writer, True)):
            task = asyncio.create_task(self._pass_on(source, sink, answers))
            self._passing.add(task)
            task.add_done_callback(self._passing.discard)

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, answers: bool) -> None:
        try:
            while data := await source.read(65536):
                while self.muted and not sink.transport.is_closing():
                    await asyncio.sleep(0.01)
                if answers and self.budget is not None:
                    data, over = data[: self.budget], len(data) >= self.budget
                    self.budget -= len(data)
                    if over:
                        self.budget = None
                        sink.write(data)
                        await sink.drain()
                        break
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            self._open.discard(sink)
            sink.close()


class Refusing:
    """An application that answers some requests itself, and leaves the others to the one it is put in front of."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.queue = app.queue
        self._rules: list[tuple[Callable[[str, str], bool], int, Object, dict[str, str]]] = []
        self._times: list[int] = []
        self.delay: Callable[[str, str], float] = lambda method, path: 0.0
        self.seen: list[tuple[str, str, dict[str, str]]] = []

    def refuse(self, method: str, part: str, status: int, *, times: int = 1_000_000, **headers: str) -> None:
        """Answer requests with this method, and this in their path or query, with a Status."""
        body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "message": f"told so {part}"}
        body["reason"] = {403: "Forbidden", 429: "TooManyRequests", 410: "Expired", 401: "Unauthorized"}.get(
            status, "InternalError"
        )
        self._rules.append((lambda m, p: m == method and part in p, status, body, headers))
        self._times.append(times)

    def relent(self) -> None:
        self._rules.clear()
        self._times.clear()

    def stop(self) -> None:
        self._app.stop()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            method, path = scope["method"], f"{scope['path']}?{scope['query_string'].decode()}"
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            self.seen.append((method, path, headers))
            if seconds := self.delay(method, path):
                await asyncio.sleep(seconds)
            for number, (matches, status, body, extra) in enumerate(self._rules):
                if matches(method, path) and self._times[number] > 0:
                    self._times[number] -= 1
                    await _answer(send, status, body, extra)
                    return
        await self._app(scope, receive, send)


async def _answer(send: Any, status: int, body: Object, headers: dict[str, str]) -> None:
    found = [(b"content-type", b"application/json")]
    found += [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": found})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
