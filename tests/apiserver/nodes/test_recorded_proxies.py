"""The proxies of pods, services and nodes: whom a name leads to, what goes there, and what is made of its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.net.certificates import Certificates
from tests.apiserver.alone import Alone, Client, Line
from tests.apiserver.nodes.cluster import KUBELET, NAMESPACED, NODES, PLACES, PODS, Tell, answer, pod, told
from tests.apiserver.test_logs import certificates
from tests.support.golden import same_as_recorded

__all__ = ["certificates"]

SERVICES = f"{NAMESPACED}/services"
ENDPOINTS = f"{NAMESPACED}/endpoints"
WEB = ("10.1.0.1", 8080)
RESET = ConnectionResetError(104, "reset")
GRANTED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n"
# By the name of a pod on the far node: the address that its status has.
ADDRESSES = {
    "web": "10.1.0.1",
    "web6": "2001:db8::1",
    "loopback": "127.0.0.1",
    "own-loopback": "127.0.0.1",
    "loopback6": "::1",
    "any": "0.0.0.0",
    "any6": "::",
    "many": "224.0.0.1",
    "link": "169.254.169.254",
    "link6": "fe80::1",
    "everybody": "255.255.255.255",
    "almost-everybody": "255.255.255.254",
}


def asking(
    path: str, method: str = "GET", body: bytes = b"", headers: Sequence[tuple[str, str]] = (), **how: Any
) -> Tell:
    lines: Sequence[Line] | None = how.pop("lines", None)
    there: dict[str, Any] = how.pop("there", {})

    async def tell(server: Alone) -> None:
        server.at(*WEB, *(answer(200, b"hello") if lines is None else lines), **there)
        await server.ask(method, path, body, headers, **how)
        await asyncio.sleep(10.0)

    return tell


async def pods(server: Alone) -> None:
    for name, address in ADDRESSES.items():
        made = pod(name, "loop" if name == "own-loopback" else "far")
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 8080}, {"containerPort": 9090}]
        await server.make(PODS, made)
        await server.make(f"{PODS}/{name}/status", {"status": {"podIP": address, "podIPs": [{"ip": address}]}}, "PATCH")
    for name, node in (("portless", "far"), ("shadow", "fake"), ("homeless", "")):
        await server.make(PODS, pod(name, node))
        status = {"podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}]}
        await server.make(f"{PODS}/{name}/status", {"status": status}, "PATCH")
    await server.make(PODS, pod("addressless", "far"))
    server.notes("there are pods")


def reference(name: str, **other: str) -> Object:
    return {"kind": "Pod", "name": name, "namespace": "default"} | other


def subset(*addresses: tuple[str, Object | None], ports: Sequence[tuple[str, int]] = (("http", 8080),)) -> Object:
    found = [{"ip": ip, **({"targetRef": target} if target else {})} for ip, target in addresses]
    return {
        "addresses": found,
        "ports": [{"name": name, "port": port} if name else {"port": port} for name, port in ports],
    }


HTTP = [{"name": "http", "port": 80, "targetPort": 8080}, {"name": "other", "port": 81, "targetPort": 9090}]
# By the name of a service: its ports, and its endpoints; None without any.
BEHIND: dict[str, tuple[list[Object], list[Object] | None]] = {
    "good": (HTTP, [subset(("10.1.0.1", reference("web")), ports=(("http", 8080), ("other", 9090)))]),
    "nameless": ([{"port": 80, "targetPort": 8080}], [subset(("10.1.0.1", reference("web")), ports=(("", 8080),))]),
    "second": (HTTP, [subset(("10.1.0.1", None)), {}, subset(("10.1.0.1", reference("web")))]),
    "empty": (HTTP, []),
    "none": (HTTP, None),
    "unready": (
        HTTP,
        [
            {
                "notReadyAddresses": [{"ip": "10.1.0.1", "targetRef": reference("web")}],
                "ports": [{"name": "http", "port": 8080}],
            }
        ],
    ),
    "no-pod": (HTTP, [subset(("10.1.0.1", None))]),
    "a-node": (HTTP, [subset(("10.1.0.1", reference("web", kind="Node")))]),
    "elsewhere": (HTTP, [subset(("10.1.0.1", reference("web", namespace="kube-system")))]),
    "a-gone-pod": (HTTP, [subset(("10.1.0.1", reference("gone")))]),
    "another-address": (HTTP, [subset(("10.1.0.9", reference("web")))]),
    "forbidden": (HTTP, [subset(("169.254.169.254", reference("link")))]),
    "simulated": (HTTP, [subset(("10.1.0.1", reference("shadow")))]),
    "half-simulated": (HTTP, [subset(("10.1.0.1", reference("shadow")), ("10.1.0.1", reference("web")))]),
    "several": (HTTP, [subset(("10.1.0.1", reference("web")), ("2001:db8::1", reference("web6")))]),
    "portless": ([], [subset(("10.1.0.1", reference("web")))]),
}


async def services(server: Alone) -> None:
    for name, (ports, subsets) in BEHIND.items():
        spec = {"ports": ports} if ports else {"clusterIP": "None"}
        await server.make(SERVICES, {"metadata": {"name": name}, "spec": spec})
        if subsets is not None:
            kept = [
                {**each, "ports": each.get("ports") or [{"port": 1}]}
                for each in subsets
                if each.get("addresses") or each.get("notReadyAddresses")
            ]
            for each in kept:
                # No validation of endpoints lets such addresses in; a server that is asked to trust them may hold them.
                each["ports"] = [*each["ports"]]
            await _endpoints(server, name, kept)
    server.notes("there are services")


async def _endpoints(server: Alone, name: str, subsets: list[Object]) -> None:
    made: Object = {"apiVersion": "v1", "kind": "Endpoints"}
    made["metadata"] = {"name": name, "namespace": "default", "uid": f"e-{name}", "resourceVersion": "1"}
    store = server.registry.resource("v1", "Endpoints").store
    storage = server.registry.storage
    storage.put(store, "default", name, made | {"subsets": subsets}, storage.revision + 1)


TROUBLE: dict[str, dict[str, Any]] = {
    "it lets nobody in": {"there": {"fails": ConnectionRefusedError(111, "refused")}},
    "it lets somebody in after four seconds": {"there": {"slow": 4.0}},
    "it lets nobody in within five seconds": {"there": {"slow": 6.0}},
    "it says nothing and the client leaves": {"lines": [], "client": Client(100.0)},
    "it begins after an hour": {"lines": [(3600.0, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")]},
    "it closes without a word": {"lines": [(1.0, None)]},
    "it breaks off without a word": {"lines": [(1.0, RESET)]},
    "it closes in the middle": {"lines": [(0.0, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"), (1.0, None)]},
    "it breaks off in the middle": {"lines": [*answer(200, b"one", every=1.0)[:2], (2.0, RESET)]},
    "its answer has no end but that of the connection": {
        "lines": [(0.0, b"HTTP/1.0 200 OK\r\n\r\n"), (1.0, b"one"), (2.0, None)]
    },
    "the client leaves in the middle": {"lines": answer(200, b"one", b"two", every=1.0), "client": Client(1.5)},
    "it does not speak HTTP": {"lines": [(0.0, b"220 mail\r\n\r\n")]},
    "headers of an answer": {
        "lines": answer(
            203,
            b"x",
            headers="Date: now\r\nConnection: close, X-Hop\r\nKeep-Alive: 5\r\nProxy-Authenticate: x\r\nTrailer: x\r\n"
            "TE: x\r\nUpgrade: x\r\nProxy-Authorization: x\r\nProxy-Connection: x\r\nContent-Type: text/x\r\n"
            "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nWWW-Authenticate: Basic\r\nETag: x\r\n",
        )
    },
    **{
        f"it answers {code}": {"lines": [(0.0, b"HTTP/1.1 %d Said\r\nContent-Length: 3\r\n\r\nwhy" % code)]}
        for code in (201, 301, 400, 401, 404, 500, 503)
    },
    "it answers 204": {"lines": [(0.0, b"HTTP/1.1 204 Nothing\r\n\r\n"), (1.0, None)]},
}
LOCATIONS = (
    "/",
    "/a?b#c",
    "a",
    "",
    "http://10.1.0.1:8080/a",
    "https://10.1.0.1:8080/a",
    "http://10.1.0.1/a",
    "//10.1.0.1:8080/b",
    "http://[",
    f"{PODS}/web/proxy/a",
)
SENT = [
    ("Accept", "a"),
    ("Accept", "b"),
    ("X-Own", "1"),
    ("Connection", "keep-alive, X-Hop"),
    ("Keep-Alive", "5"),
    ("TE", "trailers"),
    ("Proxy-Authorization", "x"),
    ("Proxy-Connection", "x"),
    ("Trailer", "x"),
    ("Expect", "100-continue"),
    ("Cookie", "c=d"),
    ("X-Forwarded-For", "203.0.113.5"),
    ("X-Forwarded-Uri", "/x"),
    ("X-Forwarded-Host", "h"),
    ("Host", "here"),
    ("Content-Length", "0"),
    ("Transfer-Encoding", "chunked"),
    ("Proxy-Authenticate", "x"),
]


def upgrades() -> dict[str, Tell]:
    up = (("Connection", "Upgrade"), ("Upgrade", "raw"), ("X-Own", "1"))
    client = Client(lines=[(1.0, b"in"), (3.0, None)])
    granted: list[Line] = [(0.5, GRANTED), (2.0, b"out")]
    return {
        "a pod is left for another protocol": asking(
            f"{PODS}/web/proxy/ws?x=1", headers=up, lines=granted, client=client
        ),
        "a pod is left at its root": asking(f"{PODS}/web/proxy", headers=up, lines=granted, client=client),
        "a service is left for another protocol": asking(
            f"{SERVICES}/good:80/proxy/", "POST", headers=up, lines=granted, client=client
        ),
        "a pod refuses another protocol": asking(
            f"{PODS}/web/proxy/ws", headers=up, lines=answer(426, b"no"), client=client
        ),
        "a pod answers as if nothing was asked": asking(f"{PODS}/web/proxy/ws", headers=up, client=client),
        "a node is not left for another protocol": asking(f"{NODES}/here/proxy/exec", headers=up, client=client),
    }


def test_proxies_lead_where_they_did(certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mooring.apiserver.nodes.proxy_targets.random.shuffle", lambda found: found.reverse())
    stories: dict[str, Tell] = {"pods": pods, "services": services}
    web = f"{PODS}/web/proxy"
    names: tuple[str, ...] = (
        "web",
        "web:",
        "web:8080",
        "web:http",
        "web:0",
        "web:65535",
        "web:65536",
        "web:-1",
        "web:\u00b2",
        "http:web:",
        "https:web:",
    )
    names += (
        "https:web:8443",
        "https:portless:",
        "http:portless:",
        "portless",
        "ftp:web:1",
        ":web:1",
        "a:b:c:d",
        "web:1:2",
        ":80",
        "nobody",
        "addressless",
        "homeless",
        "shadow",
        "on-lost",
        "lost",
    )
    stories |= {f"pod {name}": asking(f"{PODS}/{name}/proxy/") for name in (*names, *ADDRESSES)}
    named = (
        "good",
        "good:",
        "good:80",
        "good:81",
        "good:82",
        "good:http",
        "good:other",
        "good:x",
        "http:good:http",
        "https:good:80",
        "nameless",
        "nameless:80",
        "ftp:good:80",
        "nothing",
        "nothing:80",
        "portless:http",
        "portless:80",
    )
    stories |= {f"service {name}": asking(f"{SERVICES}/{name}/proxy/") for name in named}
    stories |= {f"service {name} by its port": asking(f"{SERVICES}/{name}:http/proxy/") for name in BEHIND}
    stories |= {
        f"node {name}": asking(f"{NODES}/{name}/proxy/stats/summary?x=1")
        for name in (*PLACES, "nobody", "here:10250", "here:22", "https:here:10250", "x:here:1", "here:")
    }
    stories |= {
        f"path {path}": asking(f"{web}{path}")
        for path in ("", "/", "?a=b", "/?a=b", "/a%20b/c", "/a//b", "/a/../b", "/%2F")
    }
    stories |= {
        f"{method} {path or 'nothing'}": asking(f"{web}{path}", method, b"body")
        for method in ("POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE")
        for path in ("", "/x")
    }
    stories |= {
        "a path with many slashes": asking("//api//v1//namespaces//default//pods//web//proxy//x"),
        **{
            f"{what} as {form}": asking(f"{path}", headers=[("Accept", form)])
            for form in (
                "text/event-stream",
                "image/png",
                "text/html,application/xml;q=0.9,*/*;q=0.8",
                "application/yaml",
            )
            for what, path in (
                ("a page", f"{web}/x"),
                ("a stream", f"{PODS}/web/exec"),
                ("a refusal", f"{PODS}/none/proxy/"),
            )
        },
        "the log as text": asking(f"{PODS}/on-here/log", headers=[("Accept", "text/plain")]),
        "headers of a request": asking(f"{web}/x", "POST", b"body", SENT),
        "headers of one who acts as another": asking(
            f"{web}/x", headers=[("Impersonate-User", "bob"), ("Impersonate-Group", "system:masters")]
        ),
        "a node with what the kubelet answers": asking(f"{NODES}/here/proxy/logs/", lines=[]),
        "redirect of a node": redirected_node,
    }
    stories |= {
        f"to {where or 'nowhere'}": asking(f"{web}/x", lines=answer(302, headers=f"Location: {where}\r\n"))
        for where in LOCATIONS
    }
    stories |= {
        "HEAD has no body": asking(f"{web}/x", "HEAD", lines=[(0.0, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")])
    }
    stories |= {name: asking(f"{web}/x", **how) for name, how in TROUBLE.items()}
    stories |= upgrades()
    same_as_recorded("server-proxies", told(certificates, stories.items()))


async def redirected_node(server: Alone) -> None:
    server.at(*KUBELET, *answer(301, headers="Location: /logs/\r\n"))
    await server.ask("GET", f"{NODES}/here/proxy/logs")
