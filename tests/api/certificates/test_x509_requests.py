"""What signers have against requests, in kube-controller-manager's words."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from mooring.api.certificates.x509_requests import (
    CLIENT,
    KUBELET_CLIENT,
    KUBELET_SERVING,
    X509Request,
    problem_of,
    read_request,
)
from tests.builtin.certificates.requests import pem

SERVING = ("digital signature", "server auth")
NODE_CLIENT = ("digital signature", "client auth")
NODES = "subject organization is not system:nodes"


def read(*arguments: Any, **names: Any) -> X509Request:
    found = read_request(base64.b64encode(pem(*arguments, **names)).decode())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("signer", "request_", "usages", "problem"),
    [
        (KUBELET_CLIENT, read(), NODE_CLIENT, ""),
        (KUBELET_CLIENT, read(), (*NODE_CLIENT, "key encipherment"), ""),
        (
            KUBELET_CLIENT,
            read(),
            (*NODE_CLIENT, "server auth"),
            "usages did not match [client auth digital signature key encipherment]",
        ),
        (KUBELET_CLIENT, read("system:node:a", ()), NODE_CLIENT, NODES),
        (KUBELET_CLIENT, read("system:node:a", ("system:nodes", "system:masters")), NODE_CLIENT, NODES),
        (KUBELET_CLIENT, read("ada"), NODE_CLIENT, "subject common name does not begin with system:node:"),
        (KUBELET_CLIENT, read(dns=["a"]), NODE_CLIENT, "DNS subjectAltNames are not allowed"),
        (KUBELET_CLIENT, read(ips=["10.0.0.1"]), NODE_CLIENT, "IP subjectAltNames are not allowed"),
        (KUBELET_CLIENT, read(emails=["a@b.c"]), NODE_CLIENT, "Email subjectAltNames are not allowed"),
        (KUBELET_CLIENT, read(uris=["spiffe://a"]), NODE_CLIENT, "URI subjectAltNames are not allowed"),
        (KUBELET_SERVING, read(dns=["a"]), SERVING, ""),
        (KUBELET_SERVING, read(ips=["10.0.0.1"]), (*SERVING, "key encipherment"), ""),
        (KUBELET_SERVING, read(), SERVING, "DNS or IP subjectAltName is required"),
        (KUBELET_SERVING, read(dns=["a"], uris=["spiffe://a"]), SERVING, "URI subjectAltNames are not allowed"),
        (
            KUBELET_SERVING,
            read(dns=["a"]),
            NODE_CLIENT,
            "usages did not match [digital signature key encipherment server auth]",
        ),
        (KUBELET_SERVING, read("a", dns=["a"]), SERVING, "subject common name does not begin with system:node:"),
        (CLIENT, read("ada", ("ml",), dns=["a"]), ("client auth",), ""),
        (CLIENT, read("ada", ("ml",)), ("server auth",), "invalid usage for client certificate: server auth"),
        (
            CLIENT,
            read("ada", ("ml",)),
            ("digital signature",),
            "missing required usage for client certificate: client auth",
        ),
        (
            CLIENT,
            X509Request("ada", is_signed=False),
            ("client auth",),
            "unable to verify certificate request signature",
        ),
    ],
)
def test_a_signer_says_what_it_has_against_a_request(
    signer: str, request_: X509Request, usages: tuple[str, ...], problem: str
) -> None:
    assert problem_of(signer, request_, usages) == problem


@pytest.mark.parametrize("text", ["", "x", "????", base64.b64encode(b"-----BEGIN CERTIFICATE REQUEST-----\n").decode()])
def test_what_is_no_request_is_none(text: str) -> None:
    assert read_request(text) is None


def test_a_request_that_another_key_signed_is_noticed() -> None:
    body = bytearray(base64.b64decode(b"".join(pem().splitlines()[1:-1])))
    body[-1] ^= 1
    altered = (
        b"-----BEGIN CERTIFICATE REQUEST-----\n" + base64.b64encode(body) + b"\n-----END CERTIFICATE REQUEST-----\n"
    )
    found = read_request(base64.b64encode(altered).decode())
    assert found is None or not found.is_signed
