"""Clients that speak WebSocket only, and a kubelet that speaks SPDY only: the server between them translates."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import pytest

from mooring.apiserver.nodes.kubelets import NodeAccess
from mooring.net.certificates import Certificates
from mooring.net.destination import Destination
from mooring.net.spdy_frames import OpenStream, SpdyEncoder, SpdyReader, StreamData, StreamReply
from mooring.net.tls import server_context
from mooring.net.websocket import HandshakeRefused, WebSocket, open_websocket
from tests.apiserver.test_logs import SECRET, certificates, pod, register
from tests.apiserver.world import PODS, TOKEN, Api

__all__ = ["certificates"]

V5 = "v5.channel.k8s.io"
TUNNEL = "SPDY/3.1+portforward.k8s.io"
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\n\r\nno v5.\n"
GRANTED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n"
ENDED = b'{"status":"Success"}'


class OldKubelet:
    """Refuses WebSockets. Its command repeats its input in capitals, and ends with it; sizes go to stderr."""

    def __init__(self, files: Certificates) -> None:
        self.heads: list[str] = []
        self.types: list[str] = []
        self.refuses_all = False
        self._context = server_context(files.node_certificate, files.node_key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            with suppress(OSError), plain, self._context.wrap_socket(plain, server_side=True) as client:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += client.recv(4096)
                self.heads.append(head.decode().lower())
                if self.refuses_all or "upgrade: websocket" in self.heads[-1]:
                    client.sendall(REFUSED)
                    continue
                client.sendall(GRANTED)
                if "/portforward/" in self.heads[-1]:
                    client.sendall(client.recv(4096).upper())
                else:
                    self._command(client)

    def _command(self, client: socket.socket) -> None:
        reader, encoder = SpdyReader(), SpdyEncoder()
        streams: dict[str, int] = {}
        while data := client.recv(4096):
            for frame in reader.feed(data):
                if isinstance(frame, OpenStream):
                    streams[frame.headers["streamtype"]] = frame.stream
                    self.types.append(frame.headers["streamtype"])
                    client.sendall(encoder.encode(StreamReply(frame.stream, {})))
                elif isinstance(frame, StreamData) and frame.data:
                    name = "stdout" if frame.stream == streams.get("stdin") else "stderr"
                    client.sendall(encoder.encode(StreamData(streams.get(name, streams["stdout"]), frame.data.upper())))
                if isinstance(frame, StreamData) and frame.final:
                    for name in ("stdout", "stderr"):
                        if name in streams:
                            client.sendall(encoder.encode(StreamData(streams[name], b"", final=True)))
                    client.sendall(encoder.encode(StreamData(streams["error"], ENDED, final=True)))

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def kubelet(certificates: Certificates) -> Iterator[OldKubelet]:
    found = OldKubelet(certificates)
    yield found
    found.close()


@pytest.fixture
def api(make_api: Callable[..., Api], kubelet: OldKubelet, certificates: Certificates) -> Api:
    found = make_api(nodes=NodeAccess(certificates, SECRET))
    register(found, "real", kubelet.port)
    found.made(PODS, pod("web", "real", "main"))
    return found


@asynccontextmanager
async def entered(api: Api, path: str, protocol: str = V5) -> AsyncIterator[WebSocket]:
    place = urlsplit(api.server.url)
    connection = await Destination(place.hostname or "", place.port or 0).dial(seconds=5)
    headers = {"Host": "x", "Authorization": f"Bearer {TOKEN}"}
    try:
        client = await open_websocket(connection, f"{PODS}/web/{path}", (protocol,), headers, 5)
        try:
            yield client
        finally:
            client.abandon()
    finally:
        connection.close()
        # The event loop closes sockets in its next turns.
        await asyncio.sleep(0.01)


def test_a_command_is_entered_by_channels_and_run_by_streams(api: Api, kubelet: OldKubelet) -> None:
    async def talk() -> list[bytes | None]:
        async with entered(api, "exec?command=cat&stdin=true&stdout=true&stderr=true") as client:
            await client.send(b"\x00hello ")
            first = await client.receive()
            await client.send(b"\x00world")
            second = await client.receive()
            await client.send(b"\xff\x00")
            return [first, second, await client.receive(), await client.receive()]

    assert asyncio.run(talk()) == [b"\x01HELLO ", b"\x01WORLD", b"\x03" + ENDED, None]
    assert kubelet.types == ["error", "stdin", "stdout", "stderr"]
    assert "x-stream-protocol-version: v4.channel.k8s.io" in kubelet.heads[1]
    assert kubelet.heads[1].startswith("post /exec/default/web/main?input=1&output=1&error=1&command=cat ")


def test_a_terminal_has_a_size_and_one_output(api: Api, kubelet: OldKubelet) -> None:
    async def talk() -> bytes | None:
        async with entered(api, "attach?stdin=true&stdout=true&stderr=true&tty=true") as client:
            await client.send(b'\x04{"width":80}')
            return await client.receive()

    assert asyncio.run(talk()) == b'\x01{"WIDTH":80}'
    assert kubelet.types == ["error", "stdin", "stdout", "resize"]


def test_the_tunnel_of_port_forward_is_spdy_already(api: Api, kubelet: OldKubelet) -> None:
    async def talk() -> bytes | None:
        async with entered(api, "portforward", TUNNEL) as client:
            await client.send(b"frames")
            return await client.receive()

    assert asyncio.run(talk()) == b"FRAMES"
    assert "x-stream-protocol-version: portforward.k8s.io" in kubelet.heads[1]


def test_what_is_refused_in_both_protocols_is_refused(api: Api, kubelet: OldKubelet) -> None:
    async def talk() -> None:
        async with entered(api, "exec?command=cat&stdout=true"):
            raise AssertionError("it was let in")

    kubelet.refuses_all = True
    with pytest.raises(HandshakeRefused) as refused:
        asyncio.run(talk())
    assert refused.value.response is not None
    assert (refused.value.response.status, refused.value.response.body) == (403, b"no v5.\n")
