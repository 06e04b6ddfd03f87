"""Client certificates: who they stand for, and what becomes of those that are expired, foreign or not for clients."""

from __future__ import annotations

import base64
import json
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from mooring.apiserver.authentication.client_certificates import certificate_user
from mooring.net.certificates import Certificates, ensure_certificates
from mooring.net.tls import ClientCertificate, client_context, show_certificate
from mooring.testing.homes import EMBEDDED, Home, api_only
from tests.external.conftest import required
from tests.external.kubectl import Kubectl

WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


class Shown(NamedTuple):
    certificate: bytes
    key: bytes


def issue(
    authority: Certificates,
    name: str = "ada",
    groups: tuple[str, ...] = ("system:masters", "ml"),
    ends: timedelta = timedelta(hours=1),
    usage: x509.ObjectIdentifier = ExtendedKeyUsageOID.CLIENT_AUTH,
) -> Shown:
    """A certificate of an authority for a client."""
    issuer = x509.load_pem_x509_certificate(authority.authority.read_bytes())
    issuer_key = load_pem_private_key(authority.authority_key.read_bytes(), None)
    assert isinstance(issuer_key, ec.EllipticCurvePrivateKey)
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    if name:
        subject.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(subject))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + ends)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .sign(issuer_key, SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return Shown(made.public_bytes(Encoding.PEM), secret)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with api_only(EMBEDDED, tmp_path_factory.mktemp("certificates")) as found:
        yield found


def ask(home: Home, shown: Shown | None, token: str = "") -> httpx2.Response:
    tls = client_context(authority=home.ca.read_bytes())
    if shown is not None:
        show_certificate(tls, *shown)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx2.Client(base_url=home.url, verify=tls, headers=headers) as client:
        return client.post(WHO_AM_I, json=REVIEW)


def test_a_certificate_is_a_user_and_its_groups(home: Home) -> None:
    answer = ask(home, issue(Certificates(home.folder)))
    info = answer.json()["status"]["userInfo"]
    assert (info["username"], info["groups"]) == ("ada", ["system:masters", "ml", "system:authenticated"])
    (credential,) = info["extra"]["authentication.kubernetes.io/credential-id"]
    assert credential.startswith("X509SHA256=")


def test_a_certificate_counts_before_a_token(home: Home) -> None:
    answer = ask(home, issue(Certificates(home.folder)), home.token)
    assert answer.json()["status"]["userInfo"]["username"] == "ada"


def test_a_client_without_a_certificate_uses_its_token(home: Home) -> None:
    assert ask(home, None, home.token).json()["status"]["userInfo"]["username"] == "kubernetes-admin"
    assert ask(home, None).status_code == 403


@pytest.mark.parametrize("wrong", ["expired", "for servers", "foreign"])
def test_a_wrong_certificate_ends_the_handshake(home: Home, tmp_path: Path, wrong: str) -> None:
    authority = Certificates(home.folder)
    if wrong == "foreign":
        authority = ensure_certificates(tmp_path / "other", ["localhost"], now=datetime.now(UTC))
    usage = ExtendedKeyUsageOID.SERVER_AUTH if wrong == "for servers" else ExtendedKeyUsageOID.CLIENT_AUTH
    shown = issue(authority, ends=timedelta(hours=-1 if wrong == "expired" else 1), usage=usage)
    with pytest.raises((httpx2.TransportError, ssl.SSLError)):
        ask(home, shown)


def test_a_certificate_without_a_name_is_nobody(home: Home) -> None:
    assert ask(home, issue(Certificates(home.folder), name="", groups=("system:masters",))).status_code == 403


def test_a_connection_may_outlive_its_certificate() -> None:
    certificate = ClientCertificate((("commonName", "ada"), ("1.3.6.1.4.1.57683.2", "7")), 1000.0, "d")
    user = certificate_user(certificate, datetime.fromtimestamp(1000, UTC))
    assert user is not None
    assert user.uid == "7"
    assert certificate_user(certificate, datetime.fromtimestamp(1001, UTC)) is None


def _kubeconfig(home: Home, shown: Shown, path: Path) -> Path:
    def data(raw: bytes) -> str:
        return base64.b64encode(raw).decode()

    cluster = {"server": home.url, "certificate-authority-data": data(home.ca.read_bytes())}
    user = {"client-certificate-data": data(shown.certificate), "client-key-data": data(shown.key)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "x",
        "clusters": [{"name": "x", "cluster": cluster}],
        "users": [{"name": "x", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
    }
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def test_kubectl_comes_in_with_a_certificate(home: Home, tmp_path: Path) -> None:
    mine = _kubeconfig(home, issue(Certificates(home.folder)), tmp_path / "kubeconfig")
    kubectl = Kubectl(required("kubectl"), mine, tmp_path / "cache")
    said = kubectl("auth", "whoami", "-o", "json")
    assert json.loads(said)["status"]["userInfo"]["username"] == "ada"


def test_kubectl_says_at_once_what_is_wrong_with_a_certificate(home: Home, tmp_path: Path) -> None:
    elsewhere = ensure_certificates(tmp_path / "other", ["localhost"], now=datetime.now(UTC))
    foreign, expired = issue(elsewhere), issue(Certificates(home.folder), ends=timedelta(hours=-1))
    for shown, why in ((foreign, "unknown certificate authority"), (expired, "expired certificate")):
        config = _kubeconfig(home, shown, tmp_path / "kubeconfig")
        started = time.monotonic()
        said = Kubectl(required("kubectl"), config, tmp_path / "cache").fails("get", "namespaces")
        assert f"remote error: tls: {why}" in said
        assert time.monotonic() - started < 10
    log = (home.folder / "apiserver.log").read_text(encoding="utf-8")
    assert "The certificate of a client was refused: certificate has expired" in log
