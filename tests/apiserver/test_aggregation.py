"""Aggregated APIs: another server answers for a group, is told who asks, and shows in discovery."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.net.certificates import (
    FRONT_PROXY_USER,
    Certificates,
    ensure_certificates,
    ensure_front_proxy_certificate,
)
from mooring.nodes.process.machine_info import machine_info
from tests.apiserver.world import START, Answer, Api

GROUP = "/apis/fish.example.com/v1"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
SCALE = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
RESOURCES = [
    {"name": "trouts", "singularName": "trout", "namespaced": True, "kind": "Trout", "verbs": ["get", "list"]},
    {"name": "trouts/scale", "singularName": "", "namespaced": True, "verbs": ["get"], **SCALE},
]
# Endpoints have no loopback addresses.
HERE = machine_info().address


class Pond:
    """A server behind: it wants a certificate of the front proxy, and tells what it was asked."""

    def __init__(self, files: Certificates) -> None:
        self.asked: list[tuple[str, str]] = []
        self.refuses = False
        pond = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                pond.asked.append((self.command, self.path))
                subject = dict(pair for part in self.connection.getpeercert()["subject"] for pair in part)
                told = {name.lower(): self.headers.get_all(name) for name in self.headers}
                body: Object = {"sent": sent, "headers": told, "certificate": subject["commonName"]}
                if self.path == GROUP:
                    body = {"kind": "APIResourceList", "groupVersion": "fish.example.com/v1", "resources": RESOURCES}
                data = json.dumps(body).encode()
                self.send_response(503 if pond.refuses else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = do

            def log_message(self, *args: Any) -> None:
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(files.certificate, files.key)
        context.load_verify_locations(files.front_proxy.authority)
        context.verify_mode = ssl.CERT_REQUIRED
        self._server = ThreadingHTTPServer((HERE, 0), Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder: Path = tmp_path_factory.mktemp("tls")
    found = ensure_certificates(folder, ["pond.lake.svc"], now=START)
    ensure_front_proxy_certificate(found, now=START)
    return found


@pytest.fixture
def pond(files: Certificates) -> Iterator[Pond]:
    found = Pond(files)
    yield found
    found.close()


@pytest.fixture
def lake(make_api: Callable[..., Api], files: Certificates, pond: Pond) -> Api:
    """A server with the Service of the pond."""
    api = make_api(front_proxy=files)
    api.made("/api/v1/namespaces", {"metadata": {"name": "lake"}})
    api.made("/api/v1/namespaces/lake/services", {"metadata": {"name": "pond"}, "spec": {"ports": [{"port": 443}]}})
    subset = {"addresses": [{"ip": HERE}], "ports": [{"port": pond.port}]}
    api.made("/api/v1/namespaces/lake/endpoints", {"metadata": {"name": "pond"}, "subsets": [subset]})
    return api


def register(api: Api, files: Certificates, **spec: Any) -> None:
    bundle = b64encode(files.authority.read_bytes()).decode()
    own = {"group": "fish.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10}
    behind = {"service": {"namespace": "lake", "name": "pond"}, "caBundle": bundle}
    api.made(SERVICES, {"metadata": {"name": "v1.fish.example.com"}, "spec": {**own, **behind, **spec}})


def check(api: Api) -> Object:
    """The condition of the APIService after its server was asked."""
    asyncio.run_coroutine_threadsafe(api.app.aggregator.check(), api.server.loop).result(10)
    (found,) = api.get(f"{SERVICES}/v1.fish.example.com").body["status"]["conditions"]
    made: Object = found
    return made


def groups(answer: Answer) -> list[str]:
    return [each["name"] for each in answer.body["groups"]]


def test_a_request_is_passed_on_with_who_sent_it(lake: Api, files: Certificates, pond: Pond) -> None:
    register(lake, files)
    told = lake.post(f"{GROUP}/namespaces/a/trouts?x=1", {"a": 1}, x_remote_user="somebody", x_remote_group="else")
    assert told.code == 200
    assert pond.asked == [("POST", f"{GROUP}/namespaces/a/trouts?x=1")]
    assert json.loads(told.body["sent"]) == {"a": 1}
    assert told.body["certificate"] == FRONT_PROXY_USER
    headers = told.body["headers"]
    assert headers["x-remote-user"] == ["admin"]
    assert "system:masters" in headers["x-remote-group"]
    assert "else" not in headers["x-remote-group"]
    assert "authorization" not in headers


def test_who_may_not_ask_here_is_not_passed_on(lake: Api, files: Certificates, pond: Pond) -> None:
    register(lake, files)
    assert lake.get(f"{GROUP}/namespaces/a/trouts", **lake.user("eve")).code == 403
    assert pond.asked == []


def test_discovery_names_what_the_server_behind_has(lake: Api, files: Certificates) -> None:
    assert lake.get("/apis/fish.example.com").code == 404
    register(lake, files)
    assert "fish.example.com" in groups(lake.get("/apis"))
    shown = {"groupVersion": "fish.example.com/v1", "version": "v1"}
    assert lake.get("/apis/fish.example.com").body == {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": "fish.example.com",
        "versions": [shown],
        "preferredVersion": shown,
    }
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    check(lake)
    items = lake.get("/apis", accept=accept).body["items"]
    (found,) = [each for each in items if each["metadata"]["name"] == "fish.example.com"]
    (version,) = found["versions"]
    assert version["freshness"] == "Current"
    (trouts,) = version["resources"]
    assert (trouts["resource"], trouts["verbs"], trouts["scope"]) == ("trouts", ["get", "list"], "Namespaced")
    assert trouts["subresources"][0]["responseKind"] == SCALE
    assert "apis/fish.example.com/v1" in lake.get("/openapi/v3").body["paths"]


def test_an_api_service_tells_whether_its_server_is_there(lake: Api, files: Certificates, pond: Pond) -> None:
    register(lake, files)
    first = check(lake)
    assert (first["status"], first["reason"]) == ("True", "Passed")
    lake.wait(60)
    assert check(lake) == first
    pond.refuses = True
    refused = check(lake)
    assert (refused["status"], refused["reason"]) == ("False", "FailedDiscoveryCheck")
    assert "bad status: 503" in refused["message"]
    assert refused["lastTransitionTime"] != first["lastTransitionTime"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({"service": {"namespace": "lake", "name": "puddle"}}, "ServiceNotFound", id="no service"),
        pytest.param({"service": {"namespace": "lake", "name": "pond", "port": 8443}}, "ServicePortError", id="port"),
    ],
)
def test_it_says_what_is_missing(lake: Api, files: Certificates, change: Object, reason: str) -> None:
    register(lake, files, **change)
    assert (check(lake)["status"], check(lake)["reason"]) == ("False", reason)


def test_a_service_that_leads_nowhere_is_an_unavailable_server(lake: Api, files: Certificates) -> None:
    lake.delete("/api/v1/namespaces/lake/endpoints/pond")
    register(lake, files)
    answer = lake.get(f"{GROUP}/namespaces/a/trouts")
    assert answer.code == 503
    assert 'no endpoints available for service "pond"' in answer.body["message"]
    assert check(lake)["reason"] == "MissingEndpoints"


def test_a_server_that_is_not_the_one_is_not_asked(lake: Api, files: Certificates, pond: Pond) -> None:
    other = b64encode(files.front_proxy.authority.read_bytes()).decode()
    register(lake, files, caBundle=other)
    answer = lake.get(f"{GROUP}/namespaces/a/trouts")
    assert answer.code == 503
    assert "certificate signed by unknown authority" in answer.body["message"]
    assert pond.asked == []


def test_a_group_goes_with_its_api_service(lake: Api, files: Certificates) -> None:
    register(lake, files)
    lake.delete(f"{SERVICES}/v1.fish.example.com")
    assert "fish.example.com" not in groups(lake.get("/apis"))
    assert lake.get(f"{GROUP}/namespaces/a/trouts").code == 404
