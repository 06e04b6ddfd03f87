"""A request for a certificate as the agent of a host makes it."""

from __future__ import annotations

from mooring.api.certificates.x509_requests import CLIENT
from mooring.runtime.drivers.simulation import Simulation
from tests.builtin.certificates.requests import pem, signing_request

GROUPS = ("system:bootstrappers", "system:bootstrappers:byoh")


def put_agent_request(simulation: Simulation, host: str) -> None:
    """The request of a new agent, made with a bootstrap token that an administrator gave it."""
    asked = signing_request(pem(f"byoh:host:{host}", ("byoh:hosts",)), CLIENT, name=f"byoh-csr-{host}")
    resource = simulation.registry.resource(asked["apiVersion"], asked["kind"])
    simulation.registry.create(resource, asked, now=simulation.now, user="system:bootstrap:abcdef", groups=GROUPS)
