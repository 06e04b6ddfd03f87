"""Certificates as people and kubelets get them: asked for, approved with kubectl or by right, signed by the cluster."""

from __future__ import annotations

import base64
import subprocess
from datetime import timedelta
from functools import partial
from pathlib import Path

from cryptography import x509

from mooring.api.certificates.x509_requests import CLIENT, KUBELET_CLIENT, KUBELET_SERVING
from mooring.testing.homes import Home
from tests.builtin.certificates.requests import NODE_CLIENT, pem, signing_request
from tests.cli.embedded import eventually
from tests.external.kubectl import Kubectl

SERVING = ("digital signature", "server auth")


def certificate(kubectl: Kubectl, name: str) -> bytes | None:
    found = kubectl.get("csr", name).get("status", {}).get("certificate")
    return base64.b64decode(found) if found else None


def test_requests_are_approved_and_signed(newest: Kubectl, home: Home, tmp_path: Path) -> None:
    client, node, serving = (f"{newest.namespace}-{each}" for each in ("client", "node", "serving"))
    newest.apply(
        signing_request(pem("ada", ("ml",)), CLIENT, ("client auth",), name=client, expirationSeconds=3600),
        signing_request(pem(), KUBELET_CLIENT, NODE_CLIENT, name=node),
        signing_request(pem(dns=["node-a"]), KUBELET_SERVING, SERVING, name=serving),
    )
    # A kubelet's own is approved by right; what it serves with and what people use is for somebody to decide.
    signed = {node: eventually(lambda: certificate(newest, node), "a certificate for the node")}
    assert "Approved,Issued" in newest("get", "csr", node)
    for name in (client, serving):
        assert "conditions" not in newest.get("csr", name).get("status", {})
        newest("certificate", "approve", name)
        signed[name] = eventually(partial(certificate, newest, name), f"a certificate for {name}")
    for name, made in signed.items():
        file = tmp_path / f"{name}.crt"
        file.write_bytes(made)
        command = ["openssl", "verify", "-CAfile", str(home.ca), str(file)]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"{file}: OK\n"
    found = x509.load_pem_x509_certificate(signed[client])
    assert found.not_valid_after_utc - found.not_valid_before_utc == timedelta(minutes=65)
    assert found.subject.rfc4514_string() == "CN=ada,O=ml"


def test_a_denied_or_wrong_request_gets_nothing(newest: Kubectl) -> None:
    denied, wrong = (f"{newest.namespace}-{each}" for each in ("denied", "wrong"))
    newest.apply(
        signing_request(pem("ada"), CLIENT, ("client auth",), name=denied),
        signing_request(pem("ada"), KUBELET_CLIENT, NODE_CLIENT, name=wrong),
    )
    newest("certificate", "deny", denied)
    newest("certificate", "approve", wrong)
    told = eventually(
        lambda: [each for each in newest.get("csr", wrong)["status"]["conditions"] if each["type"] == "Failed"],
        "the reason why it is not signed",
    )
    assert told[0]["message"] == "subject common name does not begin with system:node:"
    assert "Approved,Failed" in newest("get", "csr", wrong)
    assert "Denied" in newest("get", "csr", denied)
    assert certificate(newest, denied) is None
