"""exec, attach and port-forward: what goes to a kubelet, what comes back, and how both ends are left, byte by byte."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mooring.net.certificates import Certificates
from mooring.net.spdy_frames import (
    GoAway,
    OpenStream,
    ResetStream,
    SpdyEncoder,
    SpdyFrame,
    SpdyReader,
    StreamData,
    StreamReply,
)
from mooring.net.websocket_frames import FrameReader, Opcode, close_payload, frame_bytes
from tests.apiserver.alone import Alone, Client, Decode, Line, Machine, plainly, shown
from tests.apiserver.authorization.roles import ROLES, binding, role, rule, user
from tests.apiserver.nodes.cluster import KUBELET, PLACES, PODS, Tell, answer, told
from tests.apiserver.test_logs import certificates
from tests.support.golden import same_as_recorded

__all__ = ["certificates"]

SPDY = (("Connection", "Upgrade"), ("Upgrade", "SPDY/3.1"), ("X-Stream-Protocol-Version", "v4.channel.k8s.io"))
GRANTED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Own: 1\r\n\r\n"
RESET = ConnectionResetError(104, "reset")


def websocket(*protocols: str, **other: str) -> list[tuple[str, str]]:
    sent = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
    sent += [("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="), ("Origin", "http://x"), ("Cookie", "a=b")]
    sent += [("Sec-WebSocket-Protocol", each) for each in protocols]
    return [(name, other.get(name.replace("-", "_"), value)) for name, value in sent]


def asking(path: str, headers: Sequence[tuple[str, str]] = SPDY, method: str = "POST", **how: Any) -> Tell:
    """Ask for a stream. `node` is what the kubelet does instead of granting it and repeating itself."""
    node: Machine | None = how.pop("node", None)
    client = how.pop("client", None) or Client(lines=[(2.0, b"from the client"), (4.0, None)])

    async def tell(server: Alone) -> None:
        lines: list[Line] = [(0.0, GRANTED + b"first "), (1.0, b"second"), (3.0, b"third")]
        server.loop.machines[KUBELET] = node or Machine(lines)
        await server.ask(method, path, headers=headers, client=client, **how)
        await asyncio.sleep(10.0)

    return tell


def machine(*lines: Line, **how: Any) -> Machine:
    return Machine(lines, **how)


TROUBLE: dict[str, Machine] = {
    "it lets nobody in": machine(fails=ConnectionRefusedError(111, "refused")),
    "it lets somebody in after four seconds": machine((0.0, GRANTED), slow=4.0),
    "it lets nobody in within five seconds": machine((0.0, GRANTED), slow=6.0),
    "it says nothing": machine(),
    "it grants after 29 seconds": machine((29.0, GRANTED), (29.5, b"late")),
    "it closes without a word": machine((1.0, None)),
    "it breaks off without a word": machine((1.0, RESET)),
    "it closes when it has granted": machine((0.0, GRANTED), (1.0, None)),
    "it breaks off in the middle": machine((0.0, GRANTED), (1.0, b"some"), (2.5, RESET)),
    "it closes together with the grant": machine((0.0, GRANTED + b"all"), (0.0, None)),
    "it refuses without a type": machine(*answer(404, b"no such container")),
    "it refuses with a type": machine(*answer(500, b"{}", headers="Content-Type: application/json\r\n")),
    "its refusal is slow": machine(*answer(400, b"no", b" way", every=9.0)),
    "its refusal is too slow": machine(*answer(400, b"no", b" way", every=29.0)),
    "its refusal is cut": machine((0.0, b"HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\nno"), (1.0, None)),
    **{f"it answers {code}": machine(*answer(code, b"told why")) for code in (200, 302, 399, 400, 403, 499, 500, 503)},
}


def spdy_told() -> Decode:
    """What a kubelet gets: a head, and then frames."""
    reader, begun = SpdyReader(), [False]

    def decode(data: bytes) -> Iterable[str]:
        if not begun[0]:
            begun[0] = True
            return plainly(data)
        return [_frame(each) for each in reader.feed(data)]

    return decode


def _frame(frame: SpdyFrame) -> str:
    if isinstance(frame, OpenStream):
        return f"stream {frame.stream} opened with {dict(frame.headers)}{' and finished' * frame.final}"
    if isinstance(frame, StreamData):
        return f"stream {frame.stream} data {shown(frame.data)}{' and its end' * frame.final}"
    return repr(frame)


def messages_told() -> Decode:
    reader = FrameReader(masked=False)
    return lambda data: [f"{each.opcode.name} {shown(each.payload)}" for each in reader.feed(data)]


def said(after: float, *frames: SpdyFrame | bytes, encoder: SpdyEncoder | None = None) -> Line:
    encoder = encoder or SpdyEncoder()
    return after, b"".join(each if isinstance(each, bytes) else encoder.encode(each) for each in frames)


def sent(after: float, *messages: bytes, opcode: Opcode = Opcode.BINARY) -> Line:
    return after, b"".join(frame_bytes(opcode, each, b"mask") for each in messages)


def old_kubelet(*lines: Line, decode: Callable[[], Decode]) -> Any:
    """Refuses WebSockets, and then grants SPDY: the second connection plays these lines."""

    class Old(Machine):
        asked = 0

        @property
        def lines(self) -> Sequence[Line]:
            self.asked += 1
            return answer(403, b"no v5.\n") if self.asked == 1 else [(0.0, GRANTED), *lines]

        @lines.setter
        def lines(self, value: Sequence[Line]) -> None:
            pass

    return Old(decode=decode)


def replies(*numbers: int) -> Line:
    return said(0.5, *(StreamReply(number, {}) for number in numbers))


ENDED = b'{"status":"Success"}'
# Streams: 1 is for errors, and then those that were asked for.
ALL = "stdin=true&stdout=true&stderr=true"


def translations() -> dict[str, Tell]:
    def story(query: str, lines: Sequence[Line], said_by: Sequence[Line], *, to: str = "exec", **how: Any) -> Tell:
        client = Client(lines=said_by, decode=messages_told)
        headers = how.pop("headers", websocket("v5.channel.k8s.io"))
        kubelet = old_kubelet(*lines, decode=(lambda: plainly) if to == "portforward" else spdy_told)
        return asking(f"{PODS}/on-here/{to}?{query}", headers, "GET", node=kubelet, client=client, **how)

    whole = [
        said(0.5, StreamReply(1, {}), StreamReply(3, {}), StreamReply(5, {}), StreamReply(7, {})),
        said(2.0, StreamData(5, b"out"), StreamData(7, b"err"), StreamData(1, b"")),
        said(3.0, StreamData(5, b"more"), StreamData(5, b"", final=True)),
        said(4.0, StreamData(1, ENDED[:5])),
        said(5.0, StreamData(7, b"", final=True), StreamData(1, ENDED[5:], final=True)),
    ]
    goodbye = sent(9.0, close_payload(1000, ""), opcode=Opcode.CLOSE)
    typed = [
        sent(1.0, b"\x00in", b"\x00", b"", b"\x00x", b"\x07nothing", b"\x01no"),
        sent(1.5, b"\xff\x00", b"\xff\x01", b"\xff"),
    ]
    return {
        "a command with all of its streams": story(f"command=cat&{ALL}", whole, [*typed, goodbye]),
        "a command that only speaks": story(
            "command=ls&stdout=true",
            [replies(1, 3), said(1.0, StreamData(3, b"out", final=True)), said(2.0, StreamData(1, b"", final=True))],
            [sent(0.7, b"\x00ignored", b"\x04ignored")],
        ),
        "a command without streams": story("command=ls", [replies(1), said(1.0, StreamData(1, ENDED, final=True))], []),
        "a terminal": story(
            f"{ALL}&tty=true",
            [
                replies(1, 3, 5, 7),
                said(2.0, StreamData(5, b"$ ")),
                said(3.0, StreamData(5, b"", final=True), StreamData(1, ENDED, final=True)),
            ],
            [sent(1.0, b'\x04{"Width":80}'), sent(1.2, b"\xff\x04"), sent(1.4, b"\x00exit\n")],
            to="attach",
        ),
        "the client says goodbye": story(
            f"{ALL}&command=cat", [replies(1, 3, 5, 7)], [sent(1.0, close_payload(1001, "bye"), opcode=Opcode.CLOSE)]
        ),
        "the client goes without a word": story(f"{ALL}&command=cat", [replies(1, 3, 5, 7)], [(1.0, None)]),
        "the kubelet goes without a word": story(
            f"{ALL}&command=cat", [replies(1, 3, 5, 7), (1.0, None)], [sent(2.0, b"\x00late")]
        ),
        "the kubelet breaks off": story(
            f"{ALL}&command=cat", [replies(1, 3, 5, 7), (1.0, RESET)], [sent(2.0, b"\x00late")]
        ),
        "the kubelet says goodbye": story(
            f"{ALL}&command=cat", [replies(1, 3, 5, 7), said(1.0, GoAway(7)), (3.0, None)], []
        ),
        "the kubelet goes before the streams are open": story(f"{ALL}&command=cat", [(0.0, None)], []),
        "the kubelet resets a stream": story(
            f"{ALL}&command=cat",
            [
                replies(1, 3, 5, 7),
                said(1.0, ResetStream(3, 5)),
                said(3.0, StreamData(5, b"goes on", final=True), StreamData(7, b"", final=True)),
                said(4.0, StreamData(1, ENDED, final=True)),
            ],
            [sent(2.0, b"\x00late")],
        ),
        "the kubelet goes in the middle of the status": story(
            "command=ls", [replies(1), said(1.0, StreamData(1, ENDED[:5])), (2.0, None)], []
        ),
        "the kubelet goes after the status": story(
            "command=ls&stdout=true",
            [replies(1, 3), said(1.0, StreamData(1, ENDED, final=True)), (2.0, None)],
            [],
        ),
        "a tunnel is asked for by a command": story(
            "command=ls", [(1.0, None)], [], headers=websocket("SPDY/3.1+portforward.k8s.io")
        ),
        "a port is forwarded": story(
            "ports=80",
            [(1.0, b"frames"), (2.0, None)],
            [sent(0.5, b"one", b"", b"two")],
            to="portforward",
            headers=websocket("SPDY/3.1+portforward.k8s.io"),
        ),
        "the older protocol is not translated": story("command=ls", [], [], headers=websocket("v4.channel.k8s.io")),
        "one of several protocols is translated": story(
            "command=ls", [(1.0, None)], [], headers=websocket("v4.channel.k8s.io, v5.channel.k8s.io")
        ),
        "several lines of protocols": story(
            "command=ls", [(1.0, None)], [], headers=websocket("v5.channel.k8s.io", "v4.channel.k8s.io")
        ),
        "another version of WebSocket": story(
            "command=ls", [(1.0, None)], [], headers=websocket("v5.channel.k8s.io", Sec_WebSocket_Version="8")
        ),
    }


def rights() -> dict[str, Tell]:
    """Who may get a pod and its sub-resources, or create something there, and asks for them by both methods."""

    def story(verbs: list[str], method: str) -> Tell:
        async def tell(server: Alone) -> None:
            name = f"{'-'.join(verbs)}-{method.lower()}"
            server.users[name] = user(name)
            base = f"{ROLES}/namespaces/default"
            await server.make(f"{base}/roles", role(name, rule(",".join(verbs), "pods/exec,pods/portforward")))
            await server.make(f"{base}/rolebindings", binding(name, f"Role {name}", f"User {name}"))
            for path in ("exec?command=ls", "portforward", "attach"):
                await asking(f"{PODS}/on-here/{path}", method=method, token=name)(server)

        return tell

    return {
        f"{method} by who may {' and '.join(verbs)}": story(verbs, method)
        for verbs in (["get"], ["create"], ["get", "create"])
        for method in ("GET", "POST")
    }


def test_streams_are_asked_for_and_joined_as_recorded(certificates: Certificates) -> None:
    web = f"{PODS}/on-here"
    stories: dict[str, Tell] = {}
    flags = (
        "",
        "stdin=true",
        "stdin=false",
        "stdout=true",
        "stdout=0",
        "stderr=1",
        "stderr=false",
        "tty=true",
        f"{ALL}&tty=1",
    )
    for what in ("exec", "attach"):
        stories |= {f"{what} with {flag}": asking(f"{web}/{what}?{flag}") for flag in flags}
    stories |= {
        f"exec {query}": asking(f"{web}/exec?{query}", method="GET")
        for query in ("command=sh&command=-c&command=a%20%26b", "container=main&command=ls", "container=x", "command=")
    }
    stories |= {
        f"forward {query}": asking(f"{web}/portforward?{query}")
        for query in ("", "ports=80", "ports=80&ports=81,82", "container=x")
    }
    stories |= {f"a pod on node {name}": asking(f"{PODS}/on-{name}/exec?command=ls") for name in PLACES}
    stories |= {
        f"{what} of {name}": asking(f"{PODS}/{name}/{what}")
        for name in ("two", "waiting", "lost", "nobody")
        for what in ("exec", "attach", "portforward")
    }
    stories |= {f"two, its {name}": asking(f"{PODS}/two/attach?container={name}") for name in ("a", "b", "first", "c")}
    stories |= {
        f"{method} of a stream": asking(f"{web}/exec?command=ls", method=method)
        for method in ("GET", "PUT", "PATCH", "DELETE", "HEAD")
    }
    stories |= {
        f"{what} without leaving HTTP": asking(f"{web}/{what}", ()) for what in ("exec", "attach", "portforward")
    }
    stories |= {
        "headers of WebSockets are passed on": asking(f"{web}/exec?command=ls", websocket("a", "b, c"), "GET"),
        "headers in several lines are passed on": asking(
            f"{web}/exec?command=ls", (*SPDY, ("X-Stream-Protocol-Version", "v3"), ("X-Other", "1"))
        ),
        "the client goes first": asking(f"{web}/exec?command=ls", client=Client(lines=[(0.5, b"one"), (1.5, RESET)])),
        "the client speaks at once": asking(
            f"{web}/exec?command=ls", client=Client(lines=[(0.0, b"x" * 700), (0.0, None)])
        ),
    }
    stories |= {name: asking(f"{web}/exec?command=ls", node=node) for name, node in TROUBLE.items()}
    stories |= {
        f"{name}, and a WebSocket was asked for": asking(
            f"{web}/exec?command=ls", websocket("v5.channel.k8s.io"), "GET", node=node
        )
        for name, node in TROUBLE.items()
    }
    stories |= translations() | rights()
    same_as_recorded("server-streams", told(certificates, stories.items()))
