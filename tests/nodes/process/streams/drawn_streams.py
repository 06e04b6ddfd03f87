"""Requests for streams drawn from a seed, with what the client and the pod do then, and everything that is said."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

from mooring.kube.objects import Object
from mooring.net.asgi import Message, Scope
from mooring.net.spdy_frames import OpenStream, Ping, ResetStream, SpdyEncoder, SpdyReader, StreamData
from mooring.net.websocket_frames import FrameReader, Opcode, frame_bytes
from mooring.nodes.process.containers.streams.exec import ExecFailed
from mooring.nodes.process.node_server import NodeServer
from mooring.nodes.process.streams.endpoint import NotRunning, StreamEndpoint
from tests.nodes.process.streams.ends import Command, Pipe, Trace, dial, spdy_frames, websocket_frames
from tests.support.recordings import Draw
from tests.support.virtual_time import in_virtual_time

TOKEN = "secret"
_CALLER = hashlib.sha256(TOKEN.encode()).hexdigest()
_PORTS = (80, 81, 82, 83, 84, 90, 91)
_MASK = b"\x01\x02\x03\x04"
Step = tuple[float, bytes]


class _Pods:
    def running(self, namespace: str, pod: str, container: str) -> tuple[Object, Any]:
        if (namespace, pod) != ("shop", "web"):
            raise NotRunning(f'pod not found ("{pod}_{namespace}")')
        if container not in ("main", "once"):
            raise NotRunning(f'container not found ("{container}")')
        return {"name": container, "stdinOnce": container == "once"}, container

    def uid_of(self, namespace: str, pod: str) -> str:
        if (namespace, pod) != ("shop", "web"):
            raise NotRunning(f'pod not found ("{pod}_{namespace}")')
        return "u-1"


def stories(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield in_virtual_time(_story(Draw(f"stream {number}")))


async def _story(draw: Draw) -> dict[str, Any]:
    trace = Trace()
    root = draw.one(("exec", "attach", "portForward"))
    query = _query(draw, root)
    newer = root != "portForward" and draw.chance(0.5)
    protocol = "v5.channel.k8s.io" if newer else "v4.channel.k8s.io"
    spdy, headers = _headers(draw, root, protocol)
    path = _path(draw, root)
    method = draw.one(("GET", "POST")) if draw.chance(0.97) else "PUT"
    tunnel = root == "portForward" and not spdy and draw.chance(0.5)
    if tunnel:
        headers["sec-websocket-protocol"] = draw.one(("SPDY/3.1+portforward.k8s.io", "x, SPDY/3.1+portforward.k8s.io"))
    steps = _spdy_steps(draw, root, query) if spdy or tunnel else _websocket_steps(draw)
    if tunnel:
        steps = [(wait, _frame(data)) for wait, data in steps]
    inner = spdy_frames(SpdyReader()) if spdy or tunnel else None
    decode = inner if spdy and inner else websocket_frames(inner)
    pipe = Pipe(trace, draw.one((0.0, 0.0, 0.0, 0.05, 1.5)), decode)
    leaves, silently = draw.chance(0.4), draw.chance(0.5)

    def upgrade(given: list[tuple[bytes, bytes]]) -> Any:
        trace("upgrade", {name.decode(): value.decode() for name, value in given})
        return pipe

    def run(kind: str) -> Any:
        def begin(process: Any, *words: Any, **options: Any) -> Command:
            trace(kind, process, *words, options)
            if words and words[0][0] == "absent":
                raise ExecFailed('exec: "absent": executable file not found in $PATH')
            return Command(draw, trace, stdin=options["stdin"], tty=options.get("tty", False))

        return begin

    async def send(message: Message) -> None:
        body = message.get("body", b"").decode()
        trace("http", message.get("status", ""), body, {n.decode(): v.decode() for n, v in message.get("headers", ())})

    async def client() -> None:
        for wait, data in steps:
            await asyncio.sleep(wait)
            pipe.incoming.put_nowait(data)
        if leaves:
            await asyncio.sleep(0.5)
            pipe.leave(silently=silently)
        # Whoever is silent for long is found out by the kernel.
        await asyncio.sleep(200)
        pipe.leave(silently=False)

    scope: Scope = {
        "method": method,
        "path": path,
        "query_string": urlencode(query, doseq=True).encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    if draw.chance(0.97):
        scope["upgrade"] = upgrade
    where = "mooring.nodes.process.streams.endpoint"
    with (
        patch(f"{where}.ExecProcess", run("exec")),
        patch(f"{where}.Attachment", run("attach")),
        patch("asyncio.open_connection", lambda host, port: dial(trace, host, port)),
    ):
        server = NodeServer(_no_logs, StreamEndpoint(_Pods()), _CALLER)
        doing = asyncio.create_task(client())
        await server._serve(scope, _never, send)
        trace("served")
        doing.cancel()
        await asyncio.gather(doing, return_exceptions=True)
    said = [] if spdy else FrameReader(masked=True).feed(b"".join(data for _, data in steps))
    closes = any(frame.opcode is Opcode.CLOSE for frame in said)
    return {"asked": [method, path, query, headers], "client closes": closes, "trace": trace.rows}


async def _never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError("nothing comes")


def _no_logs(namespace: str, pod: str, container: str, *, previous: bool) -> Any:
    raise AssertionError("nobody asks for logs")


# The request


def _query(draw: Draw, root: str) -> dict[str, list[str]]:
    if root == "portForward":
        ports = [str(draw.one(_PORTS)) for _ in range(1 + draw.below(3))]
        odd: tuple[list[str], ...] = ([], ["http"], ["0"], ["65535"], ["65536"], ["80"] * 128, ["90"] * 127)
        given = draw.one((ports, [",".join(ports)])) if draw.chance(0.9) else draw.one(odd)
        return {"port": given} if given else {}
    found = {name: [draw.one(("1", "1", "true", "0"))] for name in draw.some(("input", "output", "error"), 0.8)}
    if draw.chance(0.3):
        found["tty"] = [draw.one(("1", "true", "false"))]
    if root == "exec" and draw.chance(0.95):
        found["command"] = draw.one((["sh"], ["sh", "-c", "echo 1"], ["absent"]))
    return found


def _path(draw: Draw, root: str) -> str:
    pod = "web" if draw.chance(0.96) else "none"
    parts = [root, "shop", pod, *(["u-1"] if draw.chance(0.2) else [])]
    if root != "portForward":
        parts.append(draw.one(("main", "once")) if draw.chance(0.97) else "other")
    if draw.chance(0.06):
        parts = draw.one((parts[:2], [*parts, "a", "b"]))
    return "/" + "/".join(parts)


def _headers(draw: Draw, root: str, protocol: str) -> tuple[bool, dict[str, str]]:
    headers = {"authorization": f"Bearer {TOKEN}" if draw.chance(0.97) else "Bearer other"}
    if draw.chance(0.5):
        right = "portforward.k8s.io" if root == "portForward" else "v4.channel.k8s.io"
        offered = draw.one((right, f"v1.x, {right}")) if draw.chance(0.93) else "v1.x,v2.x"
        return True, {**headers, "upgrade": draw.one(("SPDY/3.1", "spdy/3.1")), "x-stream-protocol-version": offered}
    offered = draw.one((protocol, protocol, f"{protocol}, channel.k8s.io", f"x.y, {protocol}"))
    offered = offered if draw.chance(0.95) else "channel.k8s.io"
    return False, {
        **headers,
        "upgrade": "websocket",
        "sec-websocket-version": "13" if draw.chance(0.97) else "8",
        "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "sec-websocket-protocol": offered,
    }


# What the client says


def _frame(data: bytes, opcode: Opcode = Opcode.BINARY) -> bytes:
    return frame_bytes(opcode, data, _MASK)


def _websocket_steps(draw: Draw) -> list[Step]:
    whole: list[bytes] = []
    for number in range(draw.below(7)):
        size = b'{"Width":%d,"Height":%d}' % (80 + number, 24)
        said = draw.one((
            b"\x00in%d" % number, b"\x00in%d" % number, b"\x00" + b"long " * 60, b"\x02two%d" % number, b"\x04" + size,
            b"\x04{}", b"\x04not a size", b"\xff\x00", b"\xff\x01", b"\x01no", b"\x09no", b"", b"\x00", b"\x04",
        ))  # fmt: skip
        whole.append(_frame(said, draw.one((Opcode.BINARY, Opcode.BINARY, Opcode.TEXT))))
        if draw.chance(0.1):
            whole.append(_frame(b"", draw.one((Opcode.PING, Opcode.PONG, Opcode.CLOSE))))
    return _split(draw, whole)


def _spdy_steps(draw: Draw, root: str, query: dict[str, list[str]]) -> list[Step]:
    encoder, frames = SpdyEncoder(), list[OpenStream | StreamData | Ping | ResetStream]()
    numbers = iter(range(1, 99, 2))
    opened: list[int] = []
    if root == "portForward":
        for _ in range(1 + draw.below(3)):
            port, kinds = str(draw.one((*_PORTS, "x"))), ["error", "data"]
            kinds += ["other"] if draw.chance(0.1) else []
            request = {"requestID": f"r{len(opened)}"} if draw.chance(0.6) else {}
            for kind in kinds:
                opened.append(next(numbers))
                frames.append(OpenStream(opened[-1], {"streamType": kind, "port": port, **request}))
    else:
        kinds = [name for name, on in (("stdin", "input"), ("stdout", "output"), ("stderr", "error")) if on in query]
        kinds = draw.some(("error", *kinds, "resize"), 0.93) + (["odd"] if draw.chance(0.1) else [])
        kinds += ["stdout"] if draw.chance(0.1) else []
        for kind in kinds:
            opened.append(next(numbers))
            frames.append(OpenStream(opened[-1], {"streamType": kind}))
    for number in range(draw.below(6)):
        stream = draw.one(opened) if opened else 1
        said = draw.one((b"in%d" % number, b"long " * 60, b'{"Width":9,"Height":%d}' % number, b""))
        frames.append(StreamData(stream, said, draw.one((False, False, True))))
        if draw.chance(0.1):
            frames.append(Ping(1) if draw.chance(0.5) else ResetStream(stream, 5))
    return _split(draw, [encoder.encode(frame) for frame in frames])


def _split(draw: Draw, whole: list[bytes]) -> list[Step]:
    """The same bytes in other pieces, with time between them; what each piece completes does not depend on lengths."""
    if draw.chance(0.5):
        return [(draw.one((0.0, 0.2, 1.0, 12.0)), each) for each in whole]
    found, rest = list[Step](), b""
    for each in whole:
        cuts = [0, *sorted(int(draw.below(100) * len(each) / 100) for _ in range(draw.below(4))), len(each)]
        pieces = [each[start:end] for start, end in pairwise(cuts) if end > start]
        pieces[0] = rest + pieces[0]
        # The end of a frame and the beginning of the next may come together.
        rest = pieces.pop() if draw.chance(0.4) else b""
        found += [(draw.one((0.0, 0.2, 1.0)), piece) for piece in pieces]
    return [*found, (0.0, rest)] if rest else found
