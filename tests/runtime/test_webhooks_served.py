"""Our webhooks, served over HTTPS and called by both API servers: the embedded one and the real one."""

from __future__ import annotations

import asyncio
import base64
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature

from mooring.client.inprocess import AsyncInProcess
from mooring.client.transport import Request
from mooring.kube.errors import MooringError
from mooring.registry.registry import Registry
from mooring.runtime.webhooks.certificate_stores import CertificateFolder, CertificateSecret, CertificateStore
from mooring.runtime.webhooks.keys import Keys
from mooring.runtime.webhooks.target import host_of
from mooring.testing.builders import pod
from mooring.testing.fixtures import api_server as api_server
from mooring.testing.homes import Home
from mooring.testing.http import Answer, Api
from tests.runtime.hooks import GADGETS, GUARD, SIDECAR, gadget_definition
from tests.runtime.serving import CONFIGURATIONS, DEFINITIONS, eventually, serving

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"


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


NAMES = ("127.0.0.1",)


def shown(keys: Keys) -> bytes:
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


def kept_by_secret(tmp_path: Path) -> CertificateStore:
    registry = Registry(now=datetime.now(UTC))
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "tls", "namespace": "default"}}
    transport = AsyncInProcess(registry, lambda: datetime.now(UTC))
    asyncio.run(transport.write(Request("create", "v1", "Secret", "default", "tls", secret)))
    return CertificateSecret(transport, "default", "tls")


KEPT: list[Callable[[Path], CertificateStore]] = [CertificateFolder, kept_by_secret]


@pytest.mark.parametrize("keep", KEPT)
def test_certificates_are_renewed_without_a_new_socket(
    keep: Callable[[Path], CertificateStore], tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    moments = [now]
    keys = Keys(keep(tmp_path), NAMES, lambda: moments[0])
    asyncio.run(keys.look())
    trusted, first = keys.bundle, shown(keys)
    asyncio.run(keys.look())
    assert shown(keys) == first
    moments[0] = now + timedelta(days=340)
    asyncio.run(keys.look())
    # The certificate is new and the authority is not.
    second = shown(keys)
    assert (second != first, keys.bundle) == (True, trusted)
    moments[0] = now + timedelta(days=3000)
    asyncio.run(keys.look())
    # Both authorities are trusted before the new one signs anything.
    bundle = base64.b64decode(keys.bundle)
    assert bundle.count(b"BEGIN CERTIFICATE") == 2
    assert base64.b64decode(trusted) in bundle


def trusts(bundle: str, certificate: x509.Certificate) -> bool:
    """Whether an API server whose configurations have this caBundle accepts the certificate."""
    for authority in x509.load_pem_x509_certificates(base64.b64decode(bundle)):
        with suppress(ValueError, InvalidSignature):
            certificate.verify_directly_issued_by(authority)
            return True
    return False


def test_replicas_renew_for_years_and_show_nothing_that_the_registered_bundle_does_not_trust(
    tmp_path: Path,
) -> None:
    """The API server hears of a new authority long before a replica shows a certificate that it has signed."""
    life, moments = timedelta(days=365), [datetime.now(UTC)]
    replicas = [Keys(CertificateFolder(tmp_path), NAMES, lambda: moments[0], life) for _ in range(2)]
    for keys in replicas:
        asyncio.run(keys.look())
    registered = replicas[0].bundle
    certificates, bundles = {shown(replicas[0])}, {registered}
    for turn in range(84):
        moments[0] += life / 6
        # They look one after the other; the second one shows meanwhile what it had.
        asyncio.run(replicas[turn % 2].look())
        for keys in replicas:
            certificate = x509.load_der_x509_certificate(shown(keys))
            assert certificate.not_valid_after_utc > moments[0]
            assert trusts(registered, certificate)
            certificates.add(shown(keys))
        registered = replicas[turn % 2].bundle
        bundles.add(registered)
    assert len(certificates) > 10
    assert len(bundles) >= 3


@pytest.mark.parametrize("keep", KEPT)
def test_replicas_that_start_at_once_show_the_same(keep: Callable[[Path], CertificateStore], tmp_path: Path) -> None:
    store = keep(tmp_path)
    replicas = [Keys(store, NAMES, lambda: datetime.now(UTC)) for _ in range(5)]

    async def start() -> None:
        await asyncio.gather(*(each.look() for each in replicas))

    asyncio.run(start())
    assert len({shown(each) for each in replicas}) == 1
    assert len({each.bundle for each in replicas}) == 1


@pytest.mark.parametrize("keep", KEPT)
def test_certificates_that_were_lost_are_put_back(keep: Callable[[Path], CertificateStore], tmp_path: Path) -> None:
    """Clients trust them: nothing would be won by new ones."""
    store = keep(tmp_path)
    keys = Keys(store, NAMES, lambda: datetime.now(UTC))

    async def lose_and_look() -> None:
        await keys.look()
        before, kept = keys.bundle, await store.read()
        await store.write(dict.fromkeys(kept.files, b"?"), kept.version)
        await keys.look()
        assert keys.bundle == before
        assert (await store.read()).files == kept.files

    asyncio.run(lose_and_look())


def test_a_secret_that_is_not_there_is_named_with_the_command_that_makes_it() -> None:
    transport = AsyncInProcess(Registry(now=datetime.now(UTC)), lambda: datetime.now(UTC))
    keys = Keys(CertificateSecret(transport, "apps", "tls"), NAMES, lambda: datetime.now(UTC))
    with pytest.raises(MooringError, match=r"no Secret apps/tls .*; kubectl -n apps create secret generic tls"):
        asyncio.run(keys.look())
    assert not keys.are_there


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
