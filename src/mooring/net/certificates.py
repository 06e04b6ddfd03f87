"""The embedded server's own certificate authority and certificate, made when they are missing or about to run out.

A start must not pay for a cryptographic library that it does not need. So what the certificate says is noted in a
record beside it, with hashes of all four files; while record and files agree, nothing else is read. The authority is
made once and kept for ten years, because clients hold it; the server's certificate follows the names it is reached by.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mooring.kube.errors import MooringError
from mooring.net.private_files import write_private

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate

__all__ = [
    "FRONT_PROXY_USER",
    "KUBELET_CLIENT_USER",
    "CertificateError",
    "Certificates",
    "ensure_certificates",
    "ensure_front_proxy_certificate",
    "ensure_kubelet_client_certificate",
    "ensure_node_certificate",
    "load_authority",
]

# Whom kubelets know the API server as; the name is kubeadm's.
KUBELET_CLIENT_USER: Final = "kube-apiserver-kubelet-client"

# Whom servers behind it know the API server as; the name is kubeadm's.
FRONT_PROXY_USER: Final = "front-proxy-client"

AUTHORITY_LIFE: Final = timedelta(days=3650)
SERVER_LIFE: Final = timedelta(days=365)
RENEW_BEFORE: Final = timedelta(days=30)
_RECORD: Final = "record.json"
_NODE_RECORD: Final = "node.json"
_KUBELET_CLIENT_RECORD: Final = "apiserver-kubelet-client.json"
_FRONT_PROXY_RECORD: Final = "front-proxy-client.json"
_NODE_NAMES: Final = ("localhost", "127.0.0.1")


class CertificateError(MooringError):
    """Files of an authority are there and cannot be used."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """Where the files are: the authority that clients trust, and what the server shows them."""

    folder: Path

    @property
    def authority(self) -> Path:
        return self.folder / "ca.crt"

    @property
    def authority_key(self) -> Path:
        return self.folder / "ca.key"

    @property
    def certificate(self) -> Path:
        return self.folder / "server.crt"

    @property
    def key(self) -> Path:
        return self.folder / "server.key"

    @property
    def node_certificate(self) -> Path:
        """What this machine's node shows to the server."""
        return self.folder / "node.crt"

    @property
    def node_key(self) -> Path:
        return self.folder / "node.key"

    @property
    def kubelet_client_certificate(self) -> Path:
        """What the server shows to kubelets."""
        return self.folder / "apiserver-kubelet-client.crt"

    @property
    def kubelet_client_key(self) -> Path:
        return self.folder / "apiserver-kubelet-client.key"

    @property
    def front_proxy(self) -> Certificates:
        """An authority of its own for what the server shows to servers behind it, who believe whom it speaks for."""
        return Certificates(self.folder / "front-proxy")

    @property
    def front_proxy_certificate(self) -> Path:
        return self.folder / "front-proxy-client.crt"

    @property
    def front_proxy_key(self) -> Path:
        return self.folder / "front-proxy-client.key"

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.authority, self.authority_key, self.certificate, self.key)


def ensure_certificates(folder: Path, names: Sequence[str], *, now: datetime) -> Certificates:
    """Certificates for a server that is reached by these host names and addresses, good for thirty days at least."""
    found = Certificates(folder)
    if not _is_current(found, names, now):
        folder.mkdir(mode=0o700, exist_ok=True)
        _make(found, names, now)
    return found


def ensure_node_certificate(files: Certificates, *, now: datetime) -> None:
    """A certificate for the node on this machine, which the server reaches on the loopback address."""
    paths = files.node_certificate, files.node_key
    _ensure(files, *paths, files.folder / _NODE_RECORD, "Mooring process node", _NODE_NAMES, now)


def ensure_kubelet_client_certificate(files: Certificates, *, now: datetime) -> None:
    """A certificate that real kubelets know the server by."""
    paths = files.kubelet_client_certificate, files.kubelet_client_key
    _ensure(files, *paths, files.folder / _KUBELET_CLIENT_RECORD, KUBELET_CLIENT_USER, (), now)


def ensure_front_proxy_certificate(files: Certificates, *, now: datetime) -> None:
    """A certificate that servers behind this one know it by. Whoever else had one of its authority could be anybody."""
    signer = files.front_proxy
    if not signer.authority.exists():
        signer.folder.mkdir(mode=0o700, exist_ok=True)
        _authority(signer, now)
    paths = files.front_proxy_certificate, files.front_proxy_key
    _ensure(signer, *paths, files.folder / _FRONT_PROXY_RECORD, FRONT_PROXY_USER, (), now)


def _ensure(
    files: Certificates,
    certificate: Path,
    key: Path,
    record: Path,
    common_name: str,
    names: Sequence[str],
    now: datetime,
) -> None:
    paths = (files.authority, certificate, key)
    try:
        known = json.loads(record.read_bytes())
        if known["digests"] == _digests_of(paths) and datetime.fromisoformat(known["renew"]) > now:
            return
    except (OSError, ValueError, KeyError, TypeError):
        pass
    from mooring.net.issuance import Leaf, issue_leaf, pem

    authority, authority_key = load_authority(files)
    made, made_key = issue_leaf(authority, authority_key, Leaf(common_name, names), now, now + SERVER_LIFE)
    write_private(key, pem(made_key))
    write_private(certificate, pem(made))
    renew = min(made.not_valid_after_utc, authority.not_valid_after_utc) - RENEW_BEFORE
    text = json.dumps({"digests": _digests_of(paths), "renew": renew.isoformat()}, indent=2)
    write_private(record, text.encode() + b"\n")


# What the record says


def _digests(files: Certificates) -> dict[str, str]:
    return _digests_of(files.files)


def _digests_of(paths: Sequence[Path]) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _is_current(files: Certificates, names: Sequence[str], now: datetime) -> bool:
    try:
        record = json.loads((files.folder / _RECORD).read_bytes())
        good = record["digests"] == _digests(files) and record["names"] == sorted(set(names))
        return good and datetime.fromisoformat(record["renew"]) > now
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _note(files: Certificates, names: Sequence[str], renew: datetime) -> None:
    record = {"digests": _digests(files), "names": sorted(set(names)), "renew": renew.isoformat()}
    write_private(files.folder / _RECORD, json.dumps(record, indent=2).encode() + b"\n")


# Making them


def _make(files: Certificates, names: Sequence[str], now: datetime) -> None:
    from mooring.net.issuance import Leaf, issue_leaf, pem

    authority, authority_key = _authority(files, now)
    leaf = Leaf("Mooring API server", names)
    certificate, key = issue_leaf(authority, authority_key, leaf, now, now + SERVER_LIFE)
    write_private(files.key, pem(key))
    write_private(files.certificate, pem(certificate))
    ends = min(certificate.not_valid_after_utc, authority.not_valid_after_utc)
    # The record is written last, so a start that was cut short is done over.
    _note(files, names, ends - RENEW_BEFORE)


def _authority(files: Certificates, now: datetime) -> tuple[Certificate, EllipticCurvePrivateKey]:
    from mooring.net.issuance import issue_authority, pem

    if files.authority.exists() or files.authority_key.exists():
        known, key = load_authority(files)
        if known.not_valid_after_utc - RENEW_BEFORE > now:
            return known, key
    made, key = issue_authority(now, AUTHORITY_LIFE)
    # Without its key a certificate is of no use, so the key comes first.
    write_private(files.authority_key, pem(key))
    write_private(files.authority, pem(made))
    return made, key


def load_authority(files: Certificates) -> tuple[Certificate, EllipticCurvePrivateKey]:
    """The authority with its key; CertificateError says what is wrong with the files."""
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificate

    way_out = f"put it back, or remove {files.folder} to have a new authority made"
    path = files.authority
    try:
        certificate = load_pem_x509_certificate(path.read_bytes())
        path = files.authority_key
        key = load_pem_private_key(path.read_bytes(), None)
    except FileNotFoundError:
        raise CertificateError(f"{path} is missing; {way_out}") from None
    except (ValueError, TypeError):
        raise CertificateError(f"{path} is not PEM as Mooring writes it; {way_out}") from None
    if not isinstance(key, EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise CertificateError(f"{path} is not the key of {files.authority}; {way_out}")
    return certificate, key
