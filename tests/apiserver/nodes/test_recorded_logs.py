"""Requests for logs: whom the server asks in which words, and what it makes of all that may come back."""

from __future__ import annotations

import asyncio
from itertools import product
from typing import Any

from mooring.net.certificates import Certificates
from tests.apiserver.alone import Alone, Client, Line
from tests.apiserver.nodes.cluster import KUBELET, NAMESPACED, PLACES, PODS, Tell, answer, pod, told
from tests.apiserver.test_logs import certificates
from tests.support.golden import same_as_recorded

__all__ = ["certificates"]

FLAGS = ("follow", "previous", "timestamps")
# By the option: what is asked for.
VALUES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(FLAGS, ("true", "false", "", "0", "1", "no")),
    "tailLines": ("-1", "0", "1", "2", "x", ""),
    "limitBytes": ("-1", "0", "1", "2", "1.5"),
    "sinceSeconds": ("-1", "0", "1", "2", "9223372036854775808"),
    "sinceTime": ("2026-01-01T00:00:00Z", "", "2026-01-01T00:00:00+01:00"),
    "container": ("main", "", "other"),
    "insecureSkipTLSVerifyBackend": ("true",),
    "stream": ("All",),
}
TOGETHER = (
    "follow=true&previous=true&timestamps=true&tailLines=3&limitBytes=10&sinceSeconds=5",
    "sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z",
    "sinceSeconds=0&sinceTime=2026-01-01T00:00:00Z&tailLines=-1&limitBytes=0",
    "tailLines=-5&limitBytes=-5&sinceSeconds=-5",
    "timestamps=true&sinceTime=2026-01-01T00:00:00Z&tailLines=0",
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
# What comes of a node that does not answer as it should, by what it does.
TROUBLE: dict[str, dict[str, Any]] = {
    "it lets nobody in": {"fails": ConnectionRefusedError(111, "refused")},
    "it is not found": {"fails": OSError(113, "No route to host")},
    "it takes four seconds to let somebody in": {"lines": answer(200, b"late\n"), "slow": 4.0},
    "it takes six seconds to let somebody in": {"lines": answer(200, b"late\n"), "slow": 6.0},
    "it says nothing": {},
    "it begins after 29 seconds": {"lines": [(29.0, HEAD), (29.0, b"0123456789")]},
    "it begins after 31 seconds": {"lines": [(31.0, HEAD), (31.0, b"0123456789")]},
    "it closes without a word": {"lines": [(1.0, None)]},
    "it breaks off without a word": {"lines": [(1.0, ConnectionResetError(104, "reset"))]},
    "it closes in the middle": {"lines": [(0.0, HEAD), (1.0, b"01234"), (2.0, None)]},
    "it breaks off in the middle": {"lines": [(0.0, HEAD), (1.0, b"01234"), (2.0, ConnectionResetError(104, "reset"))]},
    "it closes after the head": {"lines": [(0.0, HEAD), (1.0, None)]},
    "it does not speak HTTP": {"lines": [(0.0, b"SSH-2.0-OpenSSH_9\r\n\r\n")]},
    "it is quiet for an hour in the middle": {"lines": [(0.0, HEAD), (1.0, b"01234"), (3601.0, b"56789")]},
    "its log has no end but that of the connection": {
        "lines": [(0.0, b"HTTP/1.1 200 OK\r\n\r\n"), (1.0, b"one\n"), (2.0, b"two\n"), (3.0, None)]
    },
    "its log is empty": {"lines": [(0.0, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]},
    "its log comes in parts": {"lines": answer(200, b"one\n", b"two\n", b"three", every=0.5)},
    "it answers 199 first": {"lines": [(0.0, b"HTTP/1.1 102 Wait\r\n\r\n"), *answer(200, b"then\n", every=1.0)]},
    "its refusal comes slowly": {"lines": answer(503, b"  not ", b"now\n ", every=10.0)},
    "its refusal comes too slowly": {"lines": answer(503, b"not ", b"now", every=29.0)},
    "its refusal is cut": {
        "lines": [(0.0, b"HTTP/1.1 500 No\r\nContent-Length: 10\r\n\r\n"), (0.0, b"no"), (1.0, None)]
    },
    "its refusal is not text": {"lines": answer(400, b"\xff\xfe")},
    **{
        f"it answers {code}": {"lines": answer(code, b"told why\n")}
        for code in (201, 204, 302, 399, 400, 401, 404, 500)
    },
}


def asking(path: str, method: str = "GET", client: Client | None = None) -> Tell:
    async def tell(server: Alone) -> None:
        await server.ask(method, path, client=client)

    return tell


def troubled(how: dict[str, Any], client: Client | None = None) -> Tell:
    async def tell(server: Alone) -> None:
        server.at(*KUBELET, *how.get("lines", ()), **{key: value for key, value in how.items() if key != "lines"})
        await server.ask("GET", f"{PODS}/on-here/log?follow=true", client=client)

    return tell


async def stopped(server: Alone) -> None:
    """The server stops while two logs are followed."""
    lines: list[Line] = [(0.0, HEAD), (1.0, b"01234"), (100.0, b"56789")]
    server.at(*KUBELET, *lines)
    following = [
        asyncio.create_task(server.ask("GET", f"{PODS}/{name}/log?follow=true")) for name in ("on-here", "on-here")
    ]
    await asyncio.sleep(5.0)
    server.app._connectors.stop()  # type: ignore[union-attr]
    await asyncio.gather(*following)
    server.notes("both logs have ended")


async def played_logs(server: Alone) -> None:
    """Logs of a pod of a simulated node, in a ConfigMap."""
    config = {
        "metadata": {"name": "script"},
        "data": {"a": "one\ntwo\nthree", "b": "", "c": "\u00e4\n", "d": "one\r\ntwo\n"},
    }
    await server.make(f"{NAMESPACED}/configmaps", config)
    await server.make(f"{NAMESPACED}/configmaps", {"metadata": {"name": "bare"}})
    for number, place in enumerate(
        ("script/a", "script/b", "script/c", "script/d", "script/x", "none/a", "bare/a", "")
    ):
        actor = pod(f"actor-{number}", "fake", metadata={"annotations": {"mooring.dev/log": place}})
        await server.make(PODS, actor)
    lines: list[str] = []
    queries = ("", *(f"tailLines={n}" for n in range(5)), *(f"limitBytes={n}" for n in (1, 3, 4, 13, 14)))
    for number, query in product(range(8), (*queries, "tailLines=1&limitBytes=2", "follow=true")):
        await server.ask("GET", f"{PODS}/actor-{number}/log?{query}")
        lines.append(f"{number} {query}: {server.notes.taken()}")
    for name, node in (("real-actor", "here"), ("nearly", "nearly-fake")):
        await server.make(PODS, pod(name, node, metadata={"annotations": {"mooring.dev/log": "script/a"}}))
        await server.ask("GET", f"{PODS}/{name}/log")
        lines.append(f"{name}: {server.notes.taken()}")
    server.notes("\n".join(lines))


def test_logs_are_asked_for_and_passed_on_as_recorded(certificates: Certificates) -> None:
    web = f"{PODS}/on-here/log"
    stories: list[tuple[str, Tell]] = [("nothing is asked of it", asking(web))]
    for name, values in VALUES.items():
        stories += [(f"{name}={value}", asking(f"{web}?{name}={value}")) for value in values]
    stories += [(query, asking(f"{web}?{query}")) for query in TOGETHER]
    stories += [(f"a pod on node {name}", asking(f"{PODS}/on-{name}/log")) for name in PLACES]
    stories += [
        (f"of {query or 'no container'}", asking(f"{PODS}/two/log?{query}"))
        for query in ("", "container=a", "container=b", "container=first", "container=debugger", "container=c")
    ]
    stories += [
        (f"the log of {name}", asking(f"{PODS}/{name}/log?tailLines=1")) for name in ("waiting", "lost", "nobody")
    ]
    stories += [(f"{method} of a log", asking(web, method)) for method in ("POST", "PUT", "DELETE", "HEAD", "PATCH")]
    stories += [(f"below a log: {path}", asking(f"{web}{path}")) for path in ("/", "/x")]
    stories += [(name, troubled(how)) for name, how in TROUBLE.items()]
    slowly = {"lines": answer(200, b"one\n", b"two\n", b"three\n", every=2.0)}
    stories += [
        (f"the client leaves after {seconds:g} seconds", troubled(slowly, Client(seconds)))
        for seconds in (0.0, 1.0, 3.0, 7.0)
    ]
    stories += [
        ("the client leaves before the node answers", troubled({}, Client(2.0))),
        ("the client leaves before the node lets it in", troubled({"slow": 3.0}, Client(2.0))),
        ("the server stops", stopped),
        ("logs in config maps", played_logs),
    ]
    same_as_recorded("server-logs", told(certificates, stories))
