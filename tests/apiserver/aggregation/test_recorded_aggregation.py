"""Aggregated APIs: where requests go and with whose name, what is made of the answers, and what discovery shows."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from mooring.apiserver.authentication.users import User
from mooring.kube.objects import Object
from mooring.net.certificates import Certificates, ensure_certificates, ensure_front_proxy_certificate
from tests.apiserver.alone import Alone, Client, Line, play
from tests.support.golden import same_as_recorded

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/pond/endpointslices"
FISH = "/apis/fish.example.com/v1"
POND = ("10.2.0.1", 6443)
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
RESOURCES: list[Object] = [
    {"name": "trouts/early", "kind": "Trout", "verbs": ["get"]},
    {
        "name": "trouts",
        "singularName": "trout",
        "namespaced": True,
        "kind": "Trout",
        "verbs": ["get", "list"],
        "shortNames": ["t"],
    },
    {
        "name": "trouts/scale",
        "namespaced": True,
        "kind": "Scale",
        "group": "autoscaling",
        "version": "v1",
        "verbs": ["get"],
    },
    {"name": "lakes", "kind": "Lake", "categories": ["all"], "group": "water.example.com", "version": "v2"},
    {"name": "", "kind": "Nameless"},
]
RESET = ConnectionResetError(104, "reset")
Tell = Callable[[Alone], Awaitable[None]]


def said(status: int, body: bytes, headers: str = "") -> list[Line]:
    return [(0.0, f"HTTP/1.1 {status} Said\r\n{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body)]


DISCOVERED = said(200, json.dumps({"kind": "APIResourceList", "resources": RESOURCES}).encode())


def api_service(group: str, version: str = "v1", **spec: Any) -> Object:
    service = {"namespace": "pond", "name": "fish"} | spec.pop("service", {})
    made: Object = {"group": group, "version": version, "groupPriorityMinimum": 100, "versionPriority": 10}
    return {"metadata": {"name": f"{version}.{group}"}, "spec": made | {"service": service} | spec}


async def furnish(server: Alone, authority: bytes) -> None:
    await server.make("/api/v1/namespaces", {"metadata": {"name": "pond"}})
    ports: list[Object] = [{"name": "https", "port": 443, "targetPort": 6443}, {"name": "other", "port": 8443}]
    for name, more in (("fish", {}), ("dry", {}), ("far", {"type": "ExternalName", "externalName": "far.example.com"})):
        spec = {"ports": ports, **more}
        await server.make("/api/v1/namespaces/pond/services", {"metadata": {"name": name}, "spec": spec})
    endpoints: list[Object] = [
        {"addresses": ["10.2.0.9"], "conditions": {"ready": False}},
        {"addresses": ["10.2.0.1"], "conditions": {"ready": True}},
    ]
    made: Object = {"addressType": "IPv4", "endpoints": endpoints, "ports": [{"name": "https", "port": 6443}]}
    labels = {"kubernetes.io/service-name": "fish"}
    await server.make(SLICES, {"metadata": {"name": "fish-1", "labels": labels}, **made})
    bundle = b64encode(authority).decode()
    services = [
        api_service("fish.example.com", caBundle=bundle),
        api_service("fish.example.com", "v1beta1", insecureSkipTLSVerify=True),
        api_service("dry.example.com", service={"name": "dry"}, caBundle=bundle),
        api_service("far.example.com", service={"name": "far"}, caBundle=bundle),
        api_service("gone.example.com", service={"name": "gone"}, caBundle=bundle),
        api_service("closed.example.com", service={"port": 80}, caBundle=bundle),
        api_service("other.example.com", service={"port": 8443}, caBundle=bundle),
        api_service("broken.example.com", caBundle=b64encode(b"no certificate").decode()),
        api_service("apps", "v9", caBundle=bundle),
    ]
    for each in services:
        await server.make(SERVICES, each)
    server.at(*POND, *said(200, b'{"kind":"Trout"}', "Content-Type: application/json\r\n"))


def asking(path: str, method: str = "GET", body: bytes = b"", headers: Any = (), **how: Any) -> Tell:
    there: dict[str, Any] | None = how.pop("there", None)
    lines: list[Line] | None = how.pop("lines", None)

    async def tell(server: Alone) -> None:
        if there is not None or lines is not None:
            server.at(*POND, *(lines or ()), **(there or {}))
        await server.ask(method, path, body, headers, **how)

    return tell


def discovering(lines: list[Line], **there: Any) -> Tell:
    """The server behind is asked for what it has, and then discovery for what there is."""

    async def tell(server: Alone) -> None:
        server.at(*POND, *lines, **there)
        await server.app.aggregator.check()
        for each in server.registry.all("apiregistration.k8s.io/v1", "APIService"):
            metadata = each["metadata"]
            managers = sorted({entry["manager"] for entry in metadata.get("managedFields") or ()})
            server.notes(metadata["name"], metadata["resourceVersion"], *managers, json.dumps(each.get("status")))
        server.loop.notes.lines = [line for line in server.notes.lines if "gets b'GET" not in line or "v1beta1" in line]
        for path, accept in (("/apis", ""), ("/apis", AGGREGATED), ("/apis/fish.example.com", ""), ("/openapi/v3", "")):
            shown = await server.ask("GET", path, headers={"accept": accept} if accept else {})
            server.notes.lines = server.notes.lines[:-2]
            parts = re.sub(r'(\{"name":|\{"metadata":|,"apis/)', r"\n\1", shown.decode()).split("\n")
            server.notes(path, accept, *(each for each in parts if "example.com" in each or '"apps"' in each))

    return tell


async def watching(server: Alone) -> None:
    """The check goes on by itself: every five seconds, and at once when something changes."""
    server.at(*POND, *DISCOVERED)
    checking = asyncio.create_task(server.app.aggregator.run())
    await asyncio.sleep(1.0)
    server.at(*POND, fails=ConnectionRefusedError(111, "refused"))
    await asyncio.sleep(5.0)
    server.at(*POND, *DISCOVERED)
    await server.ask("DELETE", f"{SERVICES}/v9.apps")
    await asyncio.sleep(1.0)
    for name in ("v1.fish.example.com", "v1beta1.fish.example.com", "v1.dry.example.com", "v1.far.example.com"):
        await server.ask("DELETE", f"{SERVICES}/{name}")
    await asyncio.sleep(1.0)
    checking.cancel()
    await asyncio.gather(checking, return_exceptions=True)
    lines = [line for line in server.notes.lines if "is dialled" in line or "client" in line]
    server.notes.lines = lines


UP = (("Connection", "Upgrade"), ("Upgrade", "raw"))
GRANTED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n"
TROUT = f"{FISH}/namespaces/pond/trouts/bob"
TROUBLE: dict[str, dict[str, Any]] = {
    "it lets nobody in": {"there": {"fails": ConnectionRefusedError(111, "refused")}},
    "it is slow to let somebody in": {"there": {"slow": 6.0}},
    "it closes without a word": {"lines": [(1.0, None)]},
    "it breaks off": {"lines": [(1.0, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"), (2.0, RESET)]},
    "it refuses": {"lines": said(403, b"no", "X-Own: 1\r\nDate: x\r\n")},
    "it redirects": {"lines": said(302, b"", "Location: /elsewhere\r\n")},
    "it watches": {
        "lines": [(0.0, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n")],
        "client": Client(3.0),
    },
    "another protocol": {"headers": UP, "lines": [(0.5, GRANTED), (1.0, b"x")], "client": Client(lines=[(2.0, None)])},
    "another protocol that it refuses": {"headers": UP, "lines": said(400, b"no"), "client": Client()},
}
SENT = [("X-Remote-User", "liar"), ("X-Remote-Extra-A", "b"), ("X-Own", "1"), ("Authorization", "x"), ("Host", "h")]
CHECKS: dict[str, tuple[list[Line], dict[str, Any]]] = {
    "it has resources": (DISCOVERED, {}),
    "it lets nobody in": ([], {"fails": ConnectionRefusedError(111, "refused")}),
    "it says nothing": ([], {}),
    "it takes seven seconds to let somebody in": (DISCOVERED, {"slow": 7.0}),
    "it closes": ([(1.0, None)], {}),
    "it answers 201": (said(201, b'{"resources":[]}'), {}),
    "it answers 500": (said(500, b"no"), {}),
    "it has no resources": (said(200, b'{"resources":[]}'), {}),
    "its answer is no JSON": (said(200, b"x"), {}),
    "its answer is no object": (said(200, b"[]"), {}),
    "its answer has no list": (said(200, b'{"resources":1}'), {}),
    "its answer has no kinds": (said(200, b'{"resources":[{"name":"x"}]}'), {}),
    "its answer is too large": (said(200, b" " * (4 * 1024 * 1024 + 1)), {}),
    "it has resources again": (DISCOVERED, {}),
}


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    now = datetime.now(UTC)
    files = ensure_certificates(tmp_path_factory.mktemp("front") / "tls", ["localhost"], now=now)
    ensure_front_proxy_certificate(files, now=now)
    return files


def test_requests_for_other_servers_go_where_they_went(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mooring.apiserver.webhooks.endpoints.random.choice", lambda found: found[-1])
    stories: dict[str, Tell] = {
        f"{method} {path}": asking(path, method, b"{}" if method in ("POST", "PUT") else b"")
        for method, path in (
            *((method, TROUT) for method in ("GET", "POST", "PUT", "DELETE")),
            ("GET", f"{FISH}"),
            ("GET", f"{FISH}/"),
            ("GET", f"{TROUT}/a%2Fb?x=1&watch=true"),
            ("GET", "/apis/fish.example.com"),
            ("GET", "/apis/fish.example.com/v2/trouts"),
            ("GET", "/apis/fish.example.com/v1beta1/trouts"),
            ("GET", "/openapi/v3/apis/fish.example.com/v1"),
            ("GET", "/openapi/v3/apis/fish.example.com/v2"),
            *(
                ("GET", f"/apis/{name}.example.com/v1/x")
                for name in ("dry", "far", "gone", "closed", "other", "broken")
            ),
            ("GET", "/apis/apps/v9/deployments"),
            ("GET", "/apis/apps/v1/namespaces/pond/deployments"),
        )
    }
    stories |= {f"with headers of {name}": asking(TROUT, headers=SENT, token=name) for name in ("secret", "ann", "bob")}
    stories |= {name: asking(TROUT, **how) for name, how in TROUBLE.items()}
    stories |= {f"a check: {name}": discovering(lines, **there) for name, (lines, there) in CHECKS.items()}
    stories["checks go on"] = watching

    async def all_of_them(server: Alone) -> dict[str, str]:
        await furnish(server, certificates.authority.read_bytes())
        extra = (("Scopes/A", ("one", "two")), ("plain", ("x",)))
        server.users["ann"] = User("ann", ("system:masters", "a", "system:authenticated"), uid="u-1", extra=extra)
        server.users["bob"] = User("bob", ("system:authenticated",))
        found: dict[str, str] = {}
        for name, tell in stories.items():
            server.at(*POND, *said(200, b'{"kind":"Trout"}', "Content-Type: application/json\r\n"))
            server.notes.begin()
            await tell(server)
            # What OpenSSL says is its own, and differs from one version to the next.
            told = re.sub(r"cannot be used: [^\"]*", "cannot be used: ...", server.notes.taken())
            found[name] = re.sub(r"content-length: \d+", "", told) if "cannot be used" in told else told
            await asyncio.sleep(10.0)
            server.notes.taken()
        return found

    same_as_recorded("server-aggregation", play(all_of_them, front_proxy=certificates))
