"""Logs through the API server: whose they are, what may be asked, and what comes from the node."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from mooring.apiserver.authentication.token_upkeep import TokenUpkeep
from mooring.apiserver.nodes.kubelets import Kubelets, NodeAccess
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.kube.objects import Object
from mooring.net.certificates import (
    Certificates,
    ensure_certificates,
    ensure_kubelet_client_certificate,
    ensure_node_certificate,
)
from mooring.net.destination import Destination
from mooring.net.tls import server_context
from mooring.registry import Registry
from tests.apiserver.test_group_commit import Disk
from tests.apiserver.world import PODS, TOKEN, Api, failed

SECRET = "only the server knows"
NODES = "/api/v1/nodes"


class Node:
    """A node that answers with what it was told, and remembers what it was asked."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self.asked: list[str] = []
        self.tokens: list[str] = []
        self.answer: tuple[int, list[bytes]] = (200, [b"line\n"])
        # Set when the rest of an answer may follow its first part.
        self.go_on = threading.Event()
        self.left = threading.Event()
        node = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                node.asked.append(self.path)
                node.tokens.append(self.headers.get("Authorization", ""))
                status, parts = node.answer
                self.send_response(status)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                try:
                    for number, part in enumerate(parts):
                        if number:
                            node.go_on.wait(10)
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                    self.wfile.write(b"0\r\n\r\n")
                except OSError:
                    node.left.set()

            def log_message(self, *args: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def port(self) -> int:
        return self._server.server_port

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    now = datetime.now(UTC)
    files = ensure_certificates(tmp_path_factory.mktemp("cluster") / "tls", ["localhost"], now=now)
    ensure_node_certificate(files, now=now)
    ensure_kubelet_client_certificate(files, now=now)
    return files


@pytest.fixture
def node(certificates: Certificates) -> Iterator[Node]:
    found = Node(certificates.node_certificate, certificates.node_key)
    yield found
    found.close()


@pytest.fixture
def api(make_api: Callable[..., Api], node: Node, certificates: Certificates) -> Api:
    """A server that has the node, and a pod of two containers on it."""
    found = make_api(nodes=NodeAccess(certificates, SECRET))
    register(found, "real", node.port)
    found.made(PODS, pod("web", "real", "main"))
    found.made(PODS, pod("two", "real", "a", "b"))
    return found


def register(api: Api, name: str, port: int, **metadata: Any) -> None:
    api.made(NODES, {"metadata": {"name": name, **metadata}})
    addresses = [{"type": "InternalIP", "address": "192.0.2.1"}, {"type": "InternalDNS", "address": "localhost"}]
    status = {"addresses": addresses, "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}
    answer = api.send(
        "PATCH", f"{NODES}/{name}/status", {"status": status}, content_type="application/merge-patch+json"
    )
    assert answer.code == 200


def pod(name: str, node: str, *containers: str) -> Object:
    spec: Object = {"containers": [{"name": each, "image": "x"} for each in containers]}
    return {"metadata": {"name": name}, "spec": spec | ({"nodeName": node} if node else {})}


def test_the_token_of_the_process_node_goes_to_no_other_machine(certificates: Certificates) -> None:
    kubelets = Kubelets(Registry(), NodeAccess(certificates, SECRET))
    assert kubelets.credentials(Destination("localhost", 10250)) == {"Authorization": f"Bearer {SECRET}"}
    assert kubelets.credentials(Destination("10.0.0.5", 10250)) == {}


def test_a_kubelet_sees_the_certificate_of_the_server(certificates: Certificates) -> None:
    kubelets = Kubelets(Registry(), NodeAccess(certificates, SECRET))
    context = server_context(certificates.node_certificate, certificates.node_key, certificates.authority)
    context.verify_mode = ssl.CERT_REQUIRED
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    kubelet = context.wrap_bio(there, back, server_side=True)
    server = kubelets._tls.wrap_bio(back, there, server_hostname="localhost")
    for _ in range(4):
        for end in (server, kubelet):
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
    shown = kubelet.getpeercert()
    assert shown is not None
    assert (("commonName", "kube-apiserver-kubelet-client"),) in shown["subject"]


def test_a_log_is_fetched_from_the_node_with_what_was_asked(api: Api, node: Node) -> None:
    answer = api.get(f"{PODS}/web/log?follow=true&tailLines=5&timestamps=true&sinceSeconds=60&previous=false")
    assert (answer.code, answer.body) == (200, "line\n")
    assert answer.headers["content-type"] == "text/plain"
    assert node.asked == [
        "/containerLogs/default/web/main?follow=true&timestamps=true&tailLines=5&sinceSeconds=60",
    ]
    assert node.tokens == [f"Bearer {SECRET}"]


def test_the_executor_of_effects_reads_the_end_of_a_log(api: Api, node: Node) -> None:
    node.answer = (200, [b"first \xff\nsecond\n"])

    async def read() -> str:
        token = {"Authorization": str(api.client.headers["Authorization"])}
        transport = HttpTransport(Access(str(api.client.base_url), headers=lambda: token))
        try:
            return await transport.log("default", "two", {"container": "b", "tailLines": "5", "limitBytes": "100"})
        finally:
            await transport.close()

    assert asyncio.run(read()) == "first \N{REPLACEMENT CHARACTER}\nsecond\n"
    assert node.asked == ["/containerLogs/default/two/b?tailLines=5&limitBytes=100"]


def test_a_log_comes_while_it_is_written(api: Api, node: Node) -> None:
    node.answer = (200, [b"first\n", b"second\n"])
    with api.client.stream("GET", f"{PODS}/web/log?follow=true") as answer:
        parts = answer.iter_text()
        assert next(parts) == "first\n"
        node.go_on.set()
        assert "".join(parts) == "second\n"


def test_a_client_that_leaves_is_no_longer_served(api: Api, node: Node) -> None:
    node.answer = (200, [b"first\n", *([b"x" * 65536] * 500)])
    place = urlsplit(api.server.url)
    with socket.create_connection((place.hostname or "", place.port or 0), 10) as client:
        head = f"GET {PODS}/web/log?follow=true HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        client.sendall(head.encode())
        received = b""
        while b"first" not in received:
            received += client.recv(4096)
    node.go_on.set()
    assert node.left.wait(10)


def test_a_log_that_is_followed_ends_with_its_token(api: Api, node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    node.answer = (200, [b"first\n", *([b"x" * 65536] * 500)])
    upkeep = TokenUpkeep(api.server.http, api.app)
    with api.client.stream("GET", f"{PODS}/web/log?follow=true") as answer:
        parts = answer.iter_bytes()
        assert next(parts) == b"first\n"
        api.server.call(upkeep.round)
        monkeypatch.setattr(api.app, "counts", lambda token: token != TOKEN)
        api.server.call(upkeep.round)
        with pytest.raises(httpx2.TransportError):
            next(parts)
    node.go_on.set()
    assert node.left.wait(10)


def test_of_several_containers_one_must_be_named(api: Api, node: Node) -> None:
    answer = api.get(f"{PODS}/two/log")
    assert answer.code == 400
    assert answer.body["message"] == "a container name must be specified for pod two, choose one of: [a b]"
    assert api.get(f"{PODS}/two/log?container=b").code == 200
    assert node.asked == ["/containerLogs/default/two/b?"]
    answer = api.get(f"{PODS}/two/log?container=c")
    assert (answer.code, answer.body["message"]) == (400, "container c is not valid for pod two")


def test_what_the_node_refuses_is_refused_in_its_words(api: Api, node: Node) -> None:
    text = 'container "main" in pod "web" is waiting to start: ContainerCreating'
    node.answer = (400, [text.encode()])
    answer = api.get(f"{PODS}/web/log")
    assert (answer.code, answer.body["reason"], answer.body["message"]) == (400, "BadRequest", text)


def test_a_node_that_is_not_there_is_named(api: Api, node: Node) -> None:
    node.close()
    answer = api.get(f"{PODS}/web/log")
    assert answer.code == 500
    assert "connection refused" in answer.body["message"]
    api.made(PODS, pod("lost", "never-was", "main"))
    assert "node never-was is not there any more" in api.get(f"{PODS}/lost/log").body["message"]


def test_a_node_with_another_certificate_is_not_talked_to(api: Api, tmp_path: Path) -> None:
    other = ensure_certificates(tmp_path / "tls", ["localhost"], now=datetime.now(UTC))
    liar = Node(other.certificate, other.key)
    try:
        register(api, "liar", liar.port)
        api.made(PODS, pod("told", "liar", "main"))
        answer = api.get(f"{PODS}/told/log")
        assert answer.code == 500
        assert "certificate signed by unknown authority" in answer.body["message"]
        assert liar.asked == []
    finally:
        liar.close()


def test_a_pod_on_a_simulated_node_has_no_logs_and_it_is_said(api: Api) -> None:
    register(api, "fake", 0, annotations={"kwok.x-k8s.io/node": "fake"})
    api.made(PODS, pod("shadow", "fake", "main"))
    answer = api.get(f"{PODS}/shadow/log")
    message = "pod shadow has no logs: node fake is simulated, and nothing is really run there"
    assert (answer.code, answer.body["message"]) == (400, message)


def test_the_log_of_a_simulated_pod_may_stand_in_a_config_map(api: Api) -> None:
    register(api, "stage", 0, annotations={"kwok.x-k8s.io/node": "fake"})
    actor = pod("actor", "stage", "main")
    actor["metadata"]["annotations"] = {"mooring.dev/log": "script/act-1"}
    api.made(PODS, actor)
    assert api.get(f"{PODS}/actor/log").code == 200
    script = {"metadata": {"name": "script"}, "data": {"act-1": "enter\nspeak\nleave\n"}}
    api.made("/api/v1/namespaces/default/configmaps", {"apiVersion": "v1", "kind": "ConfigMap", **script})
    texts = {query: api.get(f"{PODS}/actor/log?{query}").body for query in ("", "tailLines=2", "limitBytes=5")}
    assert texts == {"": "enter\nspeak\nleave\n", "tailLines=2": "speak\nleave\n", "limitBytes=5": "enter"}


def test_a_pod_without_a_node_has_an_empty_log(api: Api) -> None:
    api.made(PODS, pod("waiting", "", "main"))
    assert api.get(f"{PODS}/waiting/log").code == 204
    assert api.get(f"{PODS}/nobody/log").code == 404


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("tailLines=-1", "tailLines: Invalid value: -1: must be greater than or equal to 0"),
        ("limitBytes=0", "limitBytes: Invalid value: 0: must be greater than 0"),
        ("sinceSeconds=0", "sinceSeconds: Invalid value: 0: must be greater than 0"),
        ("sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z", "at most one of `sinceTime` or `sinceSeconds`"),
    ],
)
def test_options_that_make_no_sense_are_refused(api: Api, query: str, message: str) -> None:
    answer = api.get(f"{PODS}/web/log?{query}")
    assert answer.code == 422
    assert message in answer.body["message"]
    assert answer.body["message"].startswith('PodLogOptions "web" is invalid')


def test_a_log_can_only_be_read(api: Api) -> None:
    assert api.post(f"{PODS}/web/log", {}).code == 405


def test_the_certificate_of_the_node_is_made_once_and_renewed_in_time(tmp_path: Path) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    files = ensure_certificates(tmp_path / "tls", ["localhost"], now=start)
    ensure_node_certificate(files, now=start)
    first = files.node_certificate.read_bytes()
    ensure_node_certificate(files, now=start.replace(month=6))
    assert files.node_certificate.read_bytes() == first
    ensure_node_certificate(files, now=start.replace(month=12, day=20))
    assert files.node_certificate.read_bytes() != first
    assert files.node_key.stat().st_mode & 0o077 == 0


def test_a_server_that_can_store_no_more_asks_no_node(
    make_api: Callable[..., Api], node: Node, certificates: Certificates, caplog: pytest.LogCaptureFixture
) -> None:
    disk = Disk()
    found = make_api(storage=disk, nodes=NodeAccess(certificates, SECRET))
    register(found, "real", node.port)
    found.made(PODS, pod("web", "real", "main"))
    assert found.get(f"{PODS}/web/log").code == 200
    disk.broken = True
    with caplog.at_level(logging.CRITICAL):
        assert failed(found.delete(f"{PODS}/web")) == (500, "InternalError")
    # It cannot be known what is true after that: the pod may be another's by now.
    assert failed(found.get(f"{PODS}/web/log")) == (500, "InternalError")
    assert len(node.asked) == 1
