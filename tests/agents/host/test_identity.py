"""The agent's certificate: asked for with a bootstrap token, renewed in time, refused with a reason."""

from __future__ import annotations

import asyncio
import base64
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509

from mooring.agents.host.identity import agent_identity
from mooring.agents.host.identity.agent_identity import AgentIdentity
from mooring.agents.host.identity.certificate_request import CertificateRefused, request_certificate
from mooring.agents.host.identity.signing_request import CertificateLife, certificate_life, new_key, signing_request
from mooring.agents.host.root_folder import RootFolder
from mooring.client.inprocess import AsyncInProcess
from mooring.client.transport import Request
from mooring.kube.objects import Object
from mooring.net.certificate_signing import sign_request
from mooring.net.certificates import Certificates, ensure_certificates
from mooring.registry import Registry

NOW = datetime.now(UTC)
CSR = ("certificates.k8s.io/v1", "CertificateSigningRequest")
DAY = 86400


class Issuing(AsyncInProcess):
    """Signs every request as soon as it is made, or denies it with a message."""

    def __init__(self, authority: Certificates, denial: str = "") -> None:
        super().__init__(Registry(now=NOW), lambda: NOW)
        self._authority, self._denial = authority, denial
        self.names: list[str] = []

    async def write(self, request: Request) -> Object:
        made = await super().write(request)
        if request.verb != "create":
            return made
        self.names.append(request.name)
        if self._denial:
            condition = {"type": "Denied", "status": "True", "reason": "No", "message": self._denial}
            return await self._patched(request.name, "approval", {"conditions": [condition]})
        pem = base64.b64decode(made["spec"]["request"])
        life = timedelta(seconds=made["spec"]["expirationSeconds"])
        signed = sign_request(self._authority, pem, usages=made["spec"]["usages"], life=life, now=NOW)
        return await self._patched(request.name, "status", {"certificate": base64.b64encode(signed).decode()})

    async def _patched(self, name: str, subresource: str, status: Object) -> Object:
        return await super().write(Request("patch", *CSR, "", name, {"status": status}, subresource))


@pytest.fixture
def authority(short_path: Path) -> Certificates:
    return ensure_certificates(short_path / "authority", ["127.0.0.1"], now=NOW)


@pytest.fixture
def bootstrap(short_path: Path, authority: Certificates) -> Path:
    """A kubeconfig with a token; the authority stands in a file beside it."""
    cluster = {"server": "https://127.0.0.1:6443", "certificate-authority": str(authority.authority)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "x",
        "clusters": [{"name": "other", "cluster": {"server": "https://192.0.2.9"}}, {"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "abcdef.0123456789abcdef"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
    path = short_path / "bootstrap.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def subject_of(certificate: bytes) -> str:
    return x509.load_pem_x509_certificate(certificate).subject.rfc4514_string()


def test_a_request_names_the_host_and_its_group() -> None:
    asked = x509.load_pem_x509_csr(signing_request(new_key(), "node10"))
    assert asked.subject.rfc4514_string() == "CN=byoh:host:node10,O=byoh:hosts"
    assert asked.is_signature_valid


def test_a_certificate_is_asked_for_by_name_and_a_second_key_gets_another_name(authority: Certificates) -> None:
    transport = Issuing(authority)
    key = new_key()
    issued = asyncio.run(request_certificate(transport, "node10", key, DAY))
    assert subject_of(issued) == "CN=byoh:host:node10,O=byoh:hosts"
    assert asyncio.run(request_certificate(transport, "node10", key, DAY)) == issued
    assert asyncio.run(request_certificate(transport, "node10", new_key(), DAY)) != issued
    assert transport.names[0] == "byoh-csr-node10"
    assert transport.names[1].startswith("byoh-csr-node10-")
    assert len(transport.names) == 2


def test_a_denied_request_is_told_and_one_that_nobody_approves_is_given_up(authority: Certificates) -> None:
    with pytest.raises(CertificateRefused, match="byoh-csr-node10 was denied: not this host"):
        asyncio.run(request_certificate(Issuing(authority, "not this host"), "node10", new_key(), DAY))
    nobody = AsyncInProcess(Registry(now=NOW), lambda: NOW)
    with pytest.raises(CertificateRefused, match="kubectl certificate approve byoh-csr-node10"):
        asyncio.run(request_certificate(nobody, "node10", new_key(), DAY, seconds=0.05))


@pytest.mark.parametrize(("passed", "due"), [(0, False), (79, False), (81, True), (101, True)])
def test_a_certificate_is_renewed_when_a_fifth_of_its_life_is_left(passed: int, due: bool) -> None:
    life = CertificateLife(NOW, NOW + timedelta(days=100))
    assert life.is_due(NOW + timedelta(days=passed)) is due


def test_an_agent_gets_a_kubeconfig_of_its_own_and_uses_it_after_a_restart(
    short_path: Path, authority: Certificates, bootstrap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = Issuing(authority)
    monkeypatch.setattr(agent_identity, "HttpTransport", lambda _: transport)
    root = RootFolder(short_path / "root")
    root.prepare()
    identity = AgentIdentity(root, "node10", DAY, lambda: NOW)
    assert identity.life() is None
    access = asyncio.run(identity.obtain(bootstrap))
    assert access.server == "https://127.0.0.1:6443"
    assert isinstance(access.tls, ssl.SSLContext)
    assert root.kubeconfig.stat().st_mode & 0o077 == 0
    # A key that is not needed any more is not kept.
    assert not root.new_key.exists()
    assert "token" not in root.kubeconfig.read_text()
    asyncio.run(AgentIdentity(root, "node10", DAY, lambda: NOW).obtain(bootstrap))
    assert transport.names == ["byoh-csr-node10"]
    # One that has run out is asked for anew.
    late = NOW + timedelta(days=2)
    asyncio.run(AgentIdentity(root, "node10", DAY, lambda: late).obtain(bootstrap))
    assert len(transport.names) == 2


def test_a_key_that_was_asked_for_before_a_crash_is_used_again(
    short_path: Path, authority: Certificates, bootstrap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = Issuing(authority)
    monkeypatch.setattr(agent_identity, "HttpTransport", lambda _: transport)
    root = RootFolder(short_path / "root")
    root.prepare()
    root.new_key.write_bytes(new_key())
    asyncio.run(request_certificate(transport, "node10", root.new_key.read_bytes(), DAY))
    asyncio.run(AgentIdentity(root, "node10", DAY, lambda: NOW).obtain(bootstrap))
    assert transport.names == ["byoh-csr-node10"]


def test_a_certificate_is_renewed_while_the_agent_runs(
    short_path: Path, authority: Certificates, bootstrap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = Issuing(authority)
    monkeypatch.setattr(agent_identity, "HttpTransport", lambda _: transport)
    root = RootFolder(short_path / "root")
    root.prepare()
    asyncio.run(AgentIdentity(root, "node10", DAY, lambda: NOW).obtain(bootstrap))
    before = root.kubeconfig.read_text()
    installed = []

    async def kept(passed: timedelta) -> None:
        identity = AgentIdentity(root, "node10", DAY, lambda: NOW + passed)
        task: asyncio.Task[Any] = asyncio.create_task(identity.keep(transport, lambda *pair: installed.append(pair)))
        for _ in range(20):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(kept(timedelta(hours=12)))
    assert root.kubeconfig.read_text() == before
    asyncio.run(kept(timedelta(hours=20)))
    assert root.kubeconfig.read_text() != before
    ((certificate, _),) = installed
    assert certificate == _own_certificate(root)
    assert certificate_life(certificate).ends > NOW
    assert len(transport.names) == 2


def _own_certificate(root: RootFolder) -> bytes:
    (user,) = yaml.safe_load(root.kubeconfig.read_text())["users"]
    return base64.b64decode(user["user"]["client-certificate-data"])
