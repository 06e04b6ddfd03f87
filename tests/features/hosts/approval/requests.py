"""Requests for certificates as the agent and the kubelet of a host make them."""

from __future__ import annotations

from mooring.api.certificates.x509_requests import CLIENT, KUBELET_SERVING
from mooring.kube.objects import Object
from mooring.runtime.drivers.simulation import Simulation
from tests.builtin.certificates.requests import pem, signing_request

GROUPS = ("system:bootstrappers", "system:bootstrappers:byoh")


def put_agent_request(simulation: Simulation, host: str) -> None:
    """The request of a new agent, made with a bootstrap token that an administrator gave it."""
    asked = signing_request(pem(f"byoh:host:{host}", ("byoh:hosts",)), CLIENT, name=f"byoh-csr-{host}")
    _put(simulation, asked, "system:bootstrap:abcdef", GROUPS)


def put_serving_request(simulation: Simulation, host: str, address: str) -> None:
    """The request of a kubelet for the certificate that it serves with."""
    wanted = pem(f"system:node:{host}", dns=[host], ips=[address])
    asked = signing_request(wanted, KUBELET_SERVING, ("digital signature", "server auth"), name=f"serving-{host}")
    _put(simulation, asked, f"system:node:{host}", ("system:nodes",))


def _put(simulation: Simulation, asked: Object, user: str, groups: tuple[str, ...]) -> None:
    resource = simulation.registry.resource(asked["apiVersion"], asked["kind"])
    simulation.registry.create(resource, asked, now=simulation.now, user=user, groups=groups)
