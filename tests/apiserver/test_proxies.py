"""The proxies of pods, services and nodes: whom a name leads to, and what goes through."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from mooring.apiserver.nodes.kubelets import NodeAccess
from mooring.apiserver.nodes.proxies import rewritten_location
from mooring.apiserver.nodes.proxy_targets import SchemeNamePort, split_name
from mooring.kube.objects import Object
from mooring.net.certificates import Certificates
from mooring.nodes.process.machine_info import machine_info
from tests.apiserver.test_logs import SECRET, certificates, pod, register
from tests.apiserver.world import PODS, TOKEN, Api

__all__ = ["certificates"]

SERVICES = "/api/v1/namespaces/default/services"
ENDPOINTS = "/api/v1/namespaces/default/endpoints"
# Endpoints have no loopback addresses.
HERE = machine_info().address


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("web", ("", "web", "")),
        ("web:80", ("", "web", "80")),
        ("https:web:443", ("https", "web", "443")),
        ("https:web:", ("https", "web", "")),
        ("ftp:web:21", None),
        (":80", None),
        ("a:b:c:d", None),
    ],
)
def test_a_name_has_the_forms_of_kube_apiserver(given: str, expected: tuple[str, str, str] | None) -> None:
    assert split_name(given) == (None if expected is None else SchemeNamePort(*expected))


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/login", "/api/proxy/login"),
        ("http://10.0.0.1:80/login?x=1#y", "/api/proxy/login?x=1#y"),
        ("http://other/login", "http://other/login"),
        ("next", "next"),
        ("/api/proxy/there", "/api/proxy/there"),
    ],
)
def test_a_redirect_within_a_pod_leads_through_the_proxy(location: str, expected: str) -> None:
    assert rewritten_location(location.encode(), "/api/proxy", "10.0.0.1:80").decode() == expected


class Site:
    """A server in a pod that tells what it was asked; `/slow` sends its second part when it is told to."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.path == "/redirect":
                    self.send_response(302)
                    self.send_header("Location", "/elsewhere")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                elif self.path == "/slow":
                    self.send_response(200)
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    self.wfile.write(b"5\r\nfirst\r\n")
                    site.go_on.wait(10)
                    self.wfile.write(b"6\r\nsecond\r\n0\r\n\r\n")
                else:
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    told = {"method": self.command, "path": self.path, "headers": headers, "body": body.decode()}
                    text = json.dumps(told).encode()
                    self.send_response(418 if self.path == "/teapot" else 200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Set-Cookie", "a=1")
                    self.send_header("Set-Cookie", "b=2")
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(text)

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = do

            def log_message(self, *args: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def port(self) -> int:
        return self._server.server_port

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    found = Site()
    yield found
    found.close()


@pytest.fixture
def api(make_api: Callable[..., Api], site: Site, certificates: Certificates) -> Api:
    """A server with a pod of this machine, one of a simulated node, and a service for each."""
    found = make_api(nodes=NodeAccess(certificates, SECRET))
    register(found, "real", 1)
    found.merge(
        "/api/v1/nodes/real/status", {"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}}
    )
    register(found, "fake", 1, annotations={"kwok.x-k8s.io/node": "fake"})
    for name, node, address in (("web", "real", HERE), ("shadow", "fake", "10.0.0.1"), ("none", "", "")):
        made = pod(name, node, "main")
        made["spec"]["containers"][0]["ports"] = [{"containerPort": site.port}]
        found.made(PODS, made)
        if address:
            status = {"podIP": address, "podIPs": [{"ip": address}]}
            assert found.merge(f"{PODS}/{name}/status", {"status": status}).code == 200
            service(found, name, address, site.port)
    return found


def service(api: Api, name: str, address: str, port: int) -> None:
    api.made(SERVICES, {"metadata": {"name": name}, "spec": {"ports": [{"name": "http", "port": 80}]}})
    target = {"kind": "Pod", "name": name, "namespace": "default"}
    subset = {"addresses": [{"ip": address, "targetRef": target}], "ports": [{"name": "http", "port": port}]}
    api.made(ENDPOINTS, {"metadata": {"name": name}, "subsets": [subset]})


@pytest.mark.parametrize("name", ["pods/web", "services/web:80", "services/http:web:http"])
def test_a_request_goes_through_as_it_is(api: Api, name: str) -> None:
    base = f"/api/v1/namespaces/default/{name}/proxy"
    answer = api.send("POST", f"{base}/a%20b/c/?x=1&y=a%2Fb", b"text", content_type="text/plain", x_own="yes")
    told: Object = answer.body
    assert (answer.code, told["method"], told["path"], told["body"]) == (200, "POST", "/a%20b/c/?x=1&y=a%2Fb", "text")
    assert told["headers"]["x-own"] == "yes"
    assert told["headers"]["x-forwarded-for"] == "127.0.0.1"
    assert told["headers"]["x-forwarded-uri"] == f"{base}/a%20b/c/"
    # The caller's token is for this server only.
    assert "authorization" not in told["headers"]
    assert TOKEN not in json.dumps(told)
    assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]


def test_every_answer_comes_back_as_it_is(api: Api) -> None:
    assert api.get(f"{PODS}/web/proxy/teapot").code == 418
    head = api.send("HEAD", f"{PODS}/web/proxy/")
    assert (head.code, head.body) == (200, "")
    answer = api.get(f"{PODS}/web/proxy/redirect")
    assert (answer.code, answer.headers["location"]) == (302, f"{PODS}/web/proxy/elsewhere")
    answer = api.get(f"{PODS}/web/proxy?x=1")
    assert (answer.code, answer.headers["location"]) == (301, f"{PODS}/web/proxy/?x=1")


def test_a_body_comes_while_it_is_written(api: Api, site: Site) -> None:
    with api.client.stream("GET", f"{PODS}/web/proxy/slow") as answer:
        parts = answer.iter_text()
        assert next(parts) == "first"
        site.go_on.set()
        assert "".join(parts) == "second"


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("pods/nobody/proxy/", 404, 'pods "nobody" not found'),
        ("pods/web:1/proxy/", 503, f"error trying to reach service: dial tcp {HERE}:1: connect: connection refused"),
        ("pods/web:http/proxy/", 503, "error trying to reach service: dial tcp: lookup tcp/http: unknown port"),
        ("pods/ftp:web:1/proxy/", 400, 'invalid pod request "ftp:web:1"'),
        ("pods/none/proxy/", 400, "address not allowed"),
        (
            "pods/shadow/proxy/",
            503,
            "pod shadow cannot be reached: node fake is simulated, and nothing is really run there",
        ),
        (
            "services/shadow:http/proxy/",
            503,
            "service shadow cannot be reached: its pods are on simulated nodes, and nothing is really run there",
        ),
        ("services/web:81/proxy/", 503, 'no service port 81 found for service "web"'),
        ("services/web/proxy/", 503, 'no endpoints available for service "web"'),
    ],
)
def test_what_cannot_be_reached_is_said_at_once(api: Api, path: str, code: int, message: str) -> None:
    answer = api.get(f"/api/v1/namespaces/default/{path}")
    assert (answer.code, answer.body["message"]) == (code, message)


def test_a_pod_that_claims_the_loopback_address_of_another_node_is_not_reached(api: Api, site: Site) -> None:
    register(api, "other", 1)
    api.made(PODS, pod("liar", "other", "main"))
    status = {"podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}
    assert api.merge(f"{PODS}/liar/status", {"status": status}).code == 200
    answer = api.get(f"{PODS}/liar:{site.port}/proxy/")
    assert (answer.code, answer.body["message"]) == (400, "address not allowed")


def test_of_a_node_only_its_kubelet_is_reached(api: Api) -> None:
    answer = api.get("/api/v1/nodes/fake/proxy/healthz")
    assert answer.body["message"] == "node fake cannot be reached: it is simulated, and nothing answers there"
    answer = api.get("/api/v1/nodes/real/proxy/exec/default/web/main", connection="Upgrade", upgrade="websocket")
    assert answer.body["message"].startswith("pods are entered by their own sub-resources")
    answer = api.get("/api/v1/nodes/real:22/proxy/")
    assert (answer.code, answer.body["message"].split(":")[0]) == (400, "address not allowed")
