"""Our webhooks, served over HTTPS and called by both API servers: the embedded one and the real one."""

from __future__ import annotations

import asyncio
import base64
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.kube.errors import MooringError
from mooring.net.tls import client_context
from mooring.runtime.webhooks import Conversion, Webhook, WebhookServer
from mooring.runtime.webhooks.keys import Keys, host_of
from mooring.testing.builders import pod
from mooring.testing.fixtures import api_server as api_server
from mooring.testing.homes import Home
from mooring.testing.http import Answer, Api
from mooring.testing.processes import free_port
from tests.runtime.hooks import GADGETS, GUARD, SIDECAR, gadget_definition

SECONDS = 30.0
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"


@contextmanager
def serving(home: Home, folder: Path, *webhooks: Webhook, conversions: tuple[Conversion, ...] = ()) -> Iterator[str]:
    """Webhooks at work beside a home, in a thread with an event loop of its own; their URL."""
    port = free_port()
    url = f"https://127.0.0.1:{port}"
    failed: list[BaseException] = []
    started = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def main() -> None:
        tls = client_context(authority=home.ca.read_bytes())
        headers = {"Authorization": f"Bearer {home.token}"}
        transport = HttpTransport(Access(home.url, tls, headers=lambda: headers))
        server = WebhookServer(
            webhooks, transport, listen=("127.0.0.1", port), url=url, folder=folder, conversions=conversions
        )
        await server.start()
        started.set()
        try:
            await server.run(stop)
        finally:
            await server.close()
            await transport.close()

    def run() -> None:
        try:
            loop.run_until_complete(main())
        except BaseException as error:
            failed.append(error)
            started.set()
        finally:
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert started.wait(SECONDS)
        yield url
    finally:
        if not failed:
            loop.call_soon_threadsafe(stop.set)
        thread.join(SECONDS)
        with home.api() as api:
            for kind in ("mutating", "validating"):
                api.delete(f"{CONFIGURATIONS}/{kind}webhookconfigurations/mooring")
    assert not failed, failed


def eventually(what: Callable[[], bool]) -> None:
    """Real API servers hear of configurations by watches."""
    give_up = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < give_up
        time.sleep(0.05)


class Story:
    def __init__(self, api: Api) -> None:
        self.api = api
        self.number = 0

    def name(self) -> str:
        self.number += 1
        return f"h{self.number}-{time.monotonic_ns()}"

    def config(self, **data: str) -> Answer:
        body = {"metadata": {"name": self.name(), "labels": {"guarded": "yes"}}, "data": data}
        return self.api.post(CONFIGMAPS, body)

    def pod(self, namespace: str = "default", **labels: str) -> list[str]:
        made = pod(self.name(), namespace=namespace, labels=labels)
        answer = self.api.post(f"/api/v1/namespaces/{namespace}/pods", made, dryRun="All")
        assert answer.code == 201, answer.body
        return [each["name"] for each in answer.body["spec"]["containers"]]


@pytest.fixture
def story(api_server: Home, tmp_path: Path) -> Iterator[Story]:
    with api_server.api() as api, serving(api_server, tmp_path / "tls", SIDECAR, GUARD):
        for namespace in ("default", "kube-system"):
            account = {"metadata": {"name": "default"}, "automountServiceAccountToken": False}
            api.post(f"/api/v1/namespaces/{namespace}/serviceaccounts", account)
        told = Story(api)
        eventually(lambda: told.pod(sidecar="yes") == ["side", "main"])
        eventually(lambda: told.config(size="big").code == 422)
        yield told


def test_our_webhooks_change_refuse_and_warn(story: Story) -> None:
    assert story.pod(sidecar="yes") == ["side", "main"]
    assert story.pod() == ["main"]
    assert story.pod("kube-system", sidecar="yes") == ["main"]
    refused = story.config(size="big")
    assert (refused.code, refused.body["reason"]) == (422, "Invalid")
    assert refused.body["message"].startswith(
        'admission webhook "guard.hooks.example.com" denied the request: ConfigMap'
    )
    assert refused.body["details"]["causes"] == [
        {"reason": "FieldValueInvalid", "message": 'Invalid value: "big": must be a number', "field": "data.size"}
    ]
    assert story.config(colour="blue").warnings == ["a colour is of no use"]


def test_what_was_written_a_moment_ago_is_no_reason_to_refuse(story: Story) -> None:
    for _ in range(10):
        name = story.name()
        assert story.config(node=name).code == 403
        assert story.api.post("/api/v1/nodes", {"metadata": {"name": name, "labels": {"zone": name}}}).code == 201
        assert story.config(node=name).code == 201
        assert story.config(zone=name).code == 201
        assert story.api.delete(f"/api/v1/nodes/{name}").code == 200


def test_a_conversion_is_registered_and_served(api_server: Home, tmp_path: Path) -> None:
    with api_server.api() as api:
        assert api.post(DEFINITIONS, gadget_definition()).code == 201
        gadgets = "/apis/hooks.example.com/{}/namespaces/default/gadgets"
        body = {"metadata": {"name": "g"}, "spec": {"size": "2x3"}}
        typed = {"apiVersion": "hooks.example.com/v1", "kind": "Gadget"} | body
        try:
            with serving(api_server, tmp_path / "tls", conversions=(GADGETS,)):
                eventually(lambda: api.post(gadgets.format("v1"), typed).code == 201)
                found = api.get(f"{gadgets.format('v2')}/g").body
                assert found["spec"] == {"width": 2, "height": 3}
                assert api.get(f"{gadgets.format('v1')}/g").body["spec"] == {"size": "2x3"}
        finally:
            api.delete(f"{DEFINITIONS}/{GADGETS.definition}")


# Certificates


def test_certificates_are_renewed_without_a_new_socket(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    moments = [now]
    announced: list[str] = []
    keys = Keys(tmp_path, "https://127.0.0.1:1", lambda: moments[0])
    trusted = keys.bundle

    async def announce() -> None:
        announced.append(keys.bundle)

    def shown() -> bytes:
        """What a client is shown at this moment."""
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        near = client.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        far = keys.tls.wrap_bio(outgoing, incoming, server_side=True)
        for side in (near, far, near, far):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
        found = near.getpeercert(binary_form=True)
        assert found is not None
        return found

    def on_disk() -> bytes:
        return ssl.PEM_cert_to_DER_cert((tmp_path / "server.crt").read_text())

    first = shown()
    assert first == on_disk()
    assert asyncio.run(keys.renew(announce)) is False
    moments[0] = now + timedelta(days=340)
    # The certificate is new and the authority is not: nothing has to be announced.
    assert asyncio.run(keys.renew(announce)) is True
    assert (announced, keys.bundle) == ([], trusted)
    assert first != shown() == on_disk()
    assert asyncio.run(keys.renew(announce)) is False
    moments[0] = now + timedelta(days=3640)
    assert asyncio.run(keys.renew(announce)) is True
    # Both authorities are trusted before the new one is shown.
    (bundle,) = announced
    assert base64.b64decode(bundle).count(b"BEGIN CERTIFICATE") == 2
    assert base64.b64decode(trusted) in base64.b64decode(bundle)


@pytest.mark.parametrize(
    "url", ["http://host:1", "host:1", "https://", "https://host:port", "https://host:1/?a=b", "https://[::1"]
)
def test_a_url_that_cannot_be_called_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(MooringError, match="URL") as refused:
        host_of(url)
    assert "\n" not in str(refused.value)


# Bad input over HTTP


def test_whoever_sends_something_else_is_told_what_is_served(story: Story, api_server: Home) -> None:
    configuration = story.api.get(f"{CONFIGURATIONS}/mutatingwebhookconfigurations/mooring").body
    client = configuration["webhooks"][0]["clientConfig"]
    trust = ssl.create_default_context(cadata=base64.b64decode(client["caBundle"]).decode())
    base, _, path = client["url"].partition("/admit/")
    with httpx2.Client(base_url=base, verify=trust) as raw:
        for method, where, body, code in (
            ("GET", f"/admit/{path}", None, 405),
            ("POST", "/admit/other", b"{}", 404),
            ("POST", f"/admit/{path}", b"{}", 400),
            ("POST", f"/admit/{path}", b"\x00" * 9_000_000, 413),
            ("POST", "/convert", b"[]", 400),
        ):
            answer = raw.request(method, where, content=body)
            assert (answer.status_code, answer.text.count("\n")) == (code, 1), where
