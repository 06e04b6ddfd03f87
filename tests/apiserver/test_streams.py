"""exec, attach and port-forward through the API server: whom it asks, in which words, and what it passes on."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from mooring.apiserver.nodes.kubelets import NodeAccess
from mooring.net.certificates import Certificates
from mooring.net.tls import server_context
from tests.apiserver.test_logs import SECRET, certificates, pod, register
from tests.apiserver.world import PODS, TOKEN, Api

__all__ = ["certificates"]

UPGRADE = "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n"
GRANTED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n"


class EchoNode:
    """A node that grants every upgrade and then says everything twice; it remembers the heads of requests."""

    def __init__(self, files: Certificates) -> None:
        self.heads: list[str] = []
        self.refusal = b""
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
            with plain, self._context.wrap_socket(plain, server_side=True) as client:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += client.recv(4096)
                self.heads.append(head.decode())
                if self.refusal:
                    client.sendall(self.refusal)
                    continue
                # What follows the head at once must not be lost.
                client.sendall(
                    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nfirst "
                )
                while data := client.recv(4096):
                    client.sendall(data * 2)

    def close(self) -> None:
        # Closing alone would leave the thread waiting for one more client.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def node(certificates: Certificates) -> Iterator[EchoNode]:
    found = EchoNode(certificates)
    yield found
    found.close()


@pytest.fixture
def api(make_api: Callable[..., Api], node: EchoNode, certificates: Certificates) -> Api:
    found = make_api(nodes=NodeAccess(certificates, SECRET))
    register(found, "real", node.port)
    register(found, "fake", 1, annotations={"kwok.x-k8s.io/node": "fake"})
    found.made(PODS, pod("web", "real", "main"))
    found.made(PODS, pod("two", "real", "a", "b"))
    found.made(PODS, pod("shadow", "fake", "main"))
    found.made(PODS, pod("waiting", "", "main"))
    return found


def upgraded(api: Api, target: str, method: str = "POST") -> socket.socket:
    place = urlsplit(api.server.url)
    client = socket.create_connection((place.hostname or "", place.port or 0), 10)
    length = "Content-Length: 0\r\n" if method == "POST" else ""
    client.sendall(
        f"{method} {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n{length}{UPGRADE}\r\n".encode()
    )
    return client


def read_until(client: socket.socket, end: bytes) -> bytes:
    found = b""
    while not found.endswith(end):
        data = client.recv(4096)
        assert data, found
        found += data
    return found


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        (
            "exec?command=sh&command=-c&command=a%20b&stdin=true&stdout=true&stderr=true&tty=false",
            "/exec/default/web/main?input=1&output=1&error=1&command=sh&command=-c&command=a+b",
        ),
        ("attach?container=main&stdin=true", "/attach/default/web/main?input=1&output=1&error=1"),
        ("portforward?ports=80&ports=443", "/portForward/default/web?port=80&port=443"),
    ],
)
def test_bytes_go_both_ways_in_whatever_protocol_two_ends_speak(
    api: Api, node: EchoNode, path: str, asked: str
) -> None:
    with upgraded(api, f"{PODS}/web/{path}") as client:
        head = read_until(client, b"first ")
        assert head.startswith(b"HTTP/1.1 101 Switching Protocols\r\n")
        assert b"upgrade: SPDY/3.1\r\n" in head
        client.sendall(b"hello ")
        assert read_until(client, b"hello hello ") == b"hello hello "
    request = node.heads[0]
    assert request.startswith(f"POST {asked} HTTP/1.1\r\n")
    assert f"Authorization: Bearer {SECRET}\r\n" in request
    assert "x-stream-protocol-version: v4.channel.k8s.io\r\n" in request
    assert TOKEN not in request


def test_what_the_node_refuses_is_passed_on(api: Api, node: EchoNode) -> None:
    node.refusal = b'HTTP/1.1 404 Not Found\r\nContent-Length: 26\r\n\r\ncontainer not found ("web")'[:-1]
    with upgraded(api, f"{PODS}/web/exec?command=ls&stdout=true", "GET") as client:
        answer = read_until(client, b'container not found ("web"')
        assert answer.startswith(b"HTTP/1.1 404 Not Found\r\n")


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("web/exec?command=ls", 400, "Upgrade request required"),
        ("two/exec?command=ls", 400, "a container name must be specified for pod two, choose one of: [a b]"),
        ("two/attach?container=c", 400, "container c is not valid for pod two"),
        ("waiting/exec", 400, "pod waiting does not have a host assigned"),
        ("waiting/portforward", 400, "pod waiting does not have a host assigned"),
        (
            "shadow/exec?command=ls",
            400,
            "pod shadow cannot be entered: node fake is simulated, and nothing is really run there",
        ),
        (
            "shadow/portforward",
            400,
            "pod shadow cannot be entered: node fake is simulated, and nothing is really run there",
        ),
        ("nobody/exec", 404, 'pods "nobody" not found'),
    ],
)
def test_what_cannot_be_entered_is_said_at_once(api: Api, path: str, code: int, message: str) -> None:
    answer = api.get(f"{PODS}/{path}")
    assert (answer.code, answer.body["message"]) == (code, message)
    assert api.delete(f"{PODS}/{path}").code == 405


def test_a_node_that_does_not_answer_is_named(api: Api, node: EchoNode) -> None:
    node.close()
    with upgraded(api, f"{PODS}/web/exec?command=ls", "GET") as client:
        answer = read_until(client, b'"code":500}')
        assert b"error dialing backend: dial tcp localhost:" in answer
        assert b"connect: connection refused" in answer


def test_a_container_is_added_to_debug_a_pod_on_any_node_and_is_entered_on_none_that_is_simulated(api: Api) -> None:
    added = {"spec": {"ephemeralContainers": [{"name": "debugger", "image": "x"}]}}
    assert api.merge(f"{PODS}/web/ephemeralcontainers", added).code == 200
    assert api.merge(f"{PODS}/shadow/ephemeralcontainers", added).code == 200
    found = api.get(f"{PODS}/shadow/ephemeralcontainers")
    assert found.body["spec"]["ephemeralContainers"][0]["name"] == "debugger"
    refused = api.get(f"{PODS}/shadow/log?container=debugger")
    assert (refused.code, "node fake is simulated" in refused.body["message"]) == (400, True)
