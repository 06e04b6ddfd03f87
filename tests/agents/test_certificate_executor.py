"""Certificates: approved if the API server says that somebody may have one, and signed with the cluster's key."""

from __future__ import annotations

import asyncio
import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from mooring.agents.certificate_executor import CertificateExecutor
from mooring.agents.executors import executors_for
from mooring.api.certificates.x509_requests import KUBELET_SERVING
from mooring.api.kinds import Key
from mooring.builtin.certificates import approver, signer
from mooring.client.inprocess import AsyncInProcess
from mooring.client.transport import Request
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.net.certificates import ensure_certificates
from mooring.registry import Registry
from mooring.runtime.effects import Run
from mooring.workloads.kinds import CERTIFICATE_SIGNING_REQUEST
from tests.builtin.certificates.requests import pem, signing_request
from tests.client.stories import awaited

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Reviewing(AsyncInProcess):
    """Answers reviews with what is allowed; everything else is the registry's."""

    def __init__(self, registry: Registry, *allowed: str) -> None:
        super().__init__(registry, lambda: NOW)
        self.allowed, self.asked = allowed, list[Object]()

    async def log(self, *asked: object) -> str:
        raise AssertionError("nobody reads logs here")

    async def write(self, request: Request) -> Object:
        if request.kind != "SubjectAccessReview":
            return await super().write(request)
        self.asked.append(request.body["spec"])
        allowed = request.body["spec"]["resourceAttributes"]["subresource"] in self.allowed
        return {**request.body, "status": {"allowed": allowed}}


def stored(request: Object, user: str = "system:node:a") -> tuple[Registry, Object]:
    registry = Registry(now=NOW)
    resource = registry.resource("certificates.k8s.io/v1", "CertificateSigningRequest")
    return registry, registry.create(resource, request, now=NOW, user=user, groups=("system:nodes",))


async def carried_out(transport: Reviewing, folder: Path, effect: Any, arguments: Any, obj: Object) -> Object:
    """The request after its effect."""
    executor = CertificateExecutor(transport, ensure_certificates(folder, ["127.0.0.1"], now=NOW), clock=lambda: NOW)
    key = Key("", obj["metadata"]["name"])
    executor.start(Run(effect, CERTIFICATE_SIGNING_REQUEST, key, "1", arguments, obj["metadata"]["uid"]))
    await asyncio.gather(*executor._runs.values())
    return await transport.get("certificates.k8s.io/v1", "CertificateSigningRequest", *key)


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        (("selfnodeclient",), "Auto approving self kubelet client certificate after SubjectAccessReview."),
        (("nodeclient",), "Auto approving kubelet client certificate after SubjectAccessReview."),
        ((), None),
    ],
)
@awaited
async def test_a_request_is_approved_by_the_first_right_that_its_user_has(
    allowed: tuple[str, ...], message: str | None, tmp_path: Path
) -> None:
    registry, obj = stored(signing_request())
    transport = Reviewing(registry, *allowed)
    review = approver.Review("system:node:a", "7", ("system:nodes",), {}, ("selfnodeclient", "nodeclient"))
    found = await carried_out(transport, tmp_path, approver.APPROVE, review, obj)
    told = [(each["type"], each["reason"], each["message"]) for each in found["status"].get("conditions", ())]
    assert told == ([] if message is None else [("Approved", "AutoApproved", message)])
    assert (transport.asked[0]["user"], transport.asked[0]["groups"]) == ("system:node:a", ["system:nodes"])


@awaited
async def test_a_certificate_has_the_names_of_the_request_and_the_rest_from_its_signer(tmp_path: Path) -> None:
    asked = pem(dns=["node-a"], ips=["10.0.0.1"])
    registry, obj = stored(signing_request(asked, KUBELET_SERVING, ("digital signature", "server auth")))
    arguments = signer.SigningArguments(obj["spec"]["request"], ("digital signature", "server auth"), 3600)
    found = await carried_out(Reviewing(registry), tmp_path, signer.SIGN, arguments, obj)
    made = x509.load_pem_x509_certificate(base64.b64decode(found["status"]["certificate"]))
    made.verify_directly_issued_by(x509.load_pem_x509_certificate((tmp_path / "ca.crt").read_bytes()))
    assert made.subject.rfc4514_string() == "CN=system:node:a,O=system:nodes"
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["node-a"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["10.0.0.1"]
    usage = made.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert not made.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert (made.not_valid_before_utc, made.not_valid_after_utc) == (
        NOW - timedelta(minutes=5),
        NOW + timedelta(hours=1),
    )


@awaited
async def test_a_certificate_that_is_there_is_not_signed_again(tmp_path: Path) -> None:
    registry, obj = stored(signing_request())
    arguments = signer.SigningArguments(obj["spec"]["request"], ("client auth",), 3600)
    first = await carried_out(Reviewing(registry), tmp_path, signer.SIGN, arguments, obj)
    assert await carried_out(Reviewing(registry), tmp_path, signer.SIGN, arguments, obj) == first


@awaited
async def test_without_the_key_of_an_authority_nothing_can_be_signed() -> None:
    with pytest.raises(MooringError, match=r"effect sign needs the key .* leave csr-approver and csr-signer out"):
        async with executors_for([signer.CONTROLLER], Reviewing(Registry(now=NOW))):
            pass
