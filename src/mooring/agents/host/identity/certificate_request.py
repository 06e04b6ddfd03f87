"""Asks the cluster for the agent's certificate, by a CertificateSigningRequest, and waits until it is issued."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import random
from typing import Final

from mooring.agents.host.identity.signing_request import signing_request
from mooring.client.backoff import Backoff
from mooring.client.transport import AsyncTransport, Request, UnknownOutcome, Unreachable
from mooring.features.hosts.api.names import AGENT_REQUEST_PREFIX
from mooring.kube.conditions import conditions_of
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, ApiError, NotFoundError

__all__ = ["CertificateRefused", "request_certificate"]

SIGNER: Final = "kubernetes.io/kube-apiserver-client"
ISSUE_SECONDS: Final = 3600.0
_API_VERSION: Final = "certificates.k8s.io/v1"
_KIND: Final = "CertificateSigningRequest"
_LONGEST_POLL_SECONDS: Final = 5.0
_log = logging.getLogger("mooring.agent")


class CertificateRefused(MooringError):
    """The cluster does not give the agent a certificate; the sentence says why."""


async def request_certificate(
    transport: AsyncTransport, host: str, key: bytes, life_seconds: int, *, seconds: float = ISSUE_SECONDS
) -> bytes:
    """The certificate in PEM for this key."""
    name, delay = f"{AGENT_REQUEST_PREFIX}{host}", Backoff(random.Random(), longest=_LONGEST_POLL_SECONDS)
    try:
        async with asyncio.timeout(seconds):
            while True:
                try:
                    found = await _request(transport, name, host, key, life_seconds)
                    if found is None:
                        # A request of an earlier key has the name: the hash of this one makes another.
                        name = f"{AGENT_REQUEST_PREFIX}{host}-{hashlib.sha256(key).hexdigest()[:8]}"
                        continue
                    if issued := (found.get("status") or {}).get("certificate"):
                        return base64.b64decode(issued)
                    _refuse_if_denied(found, name)
                except (Unreachable, UnknownOutcome, ApiError) as error:
                    _log.warning("the request %s for a certificate cannot be made: %s", name, error)
                await asyncio.sleep(delay.next())
    except TimeoutError:
        raise CertificateRefused(
            f"CertificateSigningRequest {name} was not issued in {seconds:.0f} s; "
            f"kubectl certificate approve {name} approves it where no controller does"
        ) from None


async def _request(transport: AsyncTransport, name: str, host: str, key: bytes, life_seconds: int) -> Object | None:
    """The request of this name, made where it is missing; None where it is one for another key."""
    try:
        found = await transport.get(_API_VERSION, _KIND, "", name)
    except NotFoundError:
        spec = {
            "request": base64.b64encode(signing_request(key, host)).decode(),
            "signerName": SIGNER,
            "usages": ["client auth"],
            "expirationSeconds": life_seconds,
        }
        body = {"apiVersion": _API_VERSION, "kind": _KIND, "metadata": {"name": name}, "spec": spec}
        try:
            return await transport.write(Request("create", _API_VERSION, _KIND, "", name, body))
        except AlreadyExistsError:
            found = await transport.get(_API_VERSION, _KIND, "", name)
    return found if _is_for(found, key) else None


def _is_for(request: Object, key: bytes) -> bool:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        asked = x509.load_pem_x509_csr(base64.b64decode(request["spec"]["request"]))
    except (ValueError, KeyError):
        return False
    return asked.public_key() == load_pem_private_key(key, None).public_key()


def _refuse_if_denied(request: Object, name: str) -> None:
    for condition in conditions_of(request):
        if condition["type"] in ("Denied", "Failed"):
            raise CertificateRefused(
                f"CertificateSigningRequest {name} was {condition['type'].lower()}: "
                f"{condition.get('message') or condition.get('reason') or 'no reason is given'}; "
                "delete it and start the agent again"
            )
