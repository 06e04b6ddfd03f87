"""What approval asks about hosts: whose token it was, who has claimed a host with it, and whose address it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_interface
from typing import Final
from urllib.parse import urlsplit

from mooring.api.core.views import Node
from mooring.api.kinds import Indexers
from mooring.features.hosts.api.bootstrap import BootstrapKubeconfig
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BYO_HOST
from mooring.workloads.kinds import NODE


def _by_token(config: BootstrapKubeconfig) -> Iterator[str]:
    if config.status.token_id:
        yield config.status.token_id


def _by_bootstrap_secret(host: HostClaim) -> Iterator[str]:
    secret = host.spec.bootstrap_secret
    if host.status.machine_ref is not None and secret is not None:
        yield f"{secret.namespace or host.metadata.namespace}/{secret.name}"


def _by_name(host: HostClaim) -> Iterator[str]:
    yield host.metadata.name


def addresses_of(host: HostClaim) -> frozenset[str]:
    """The addresses that a host says it has, without the length of their prefix."""
    found = set()
    for network in host.status.network:
        for each in network.ip_addrs:
            with suppress(ValueError):
                found.add(str(ip_interface(each).ip))
    return frozenset(found)


def _by_address(host: HostClaim) -> Iterator[str]:
    yield from sorted(addresses_of(host))


def _by_server(config: BootstrapKubeconfig) -> Iterator[str]:
    with suppress(ValueError):
        if name := urlsplit(config.spec.apiserver).hostname:
            yield name


def _by_node_address(node: Node) -> Iterator[str]:
    """Addresses of simulated nodes lead nowhere, so nobody can answer there in their place."""
    if node.metadata.annotations.fake != "fake":
        yield from sorted({each.address for each in node.status.addresses})


INDEXES: Final = (
    Indexers(NODE, {"address": _by_node_address}),
    Indexers(BOOTSTRAP_KUBECONFIG, {"token": _by_token, "server": _by_server}),
    Indexers(BYO_HOST, {"bootstrap-secret": _by_bootstrap_secret, "name": _by_name, "address": _by_address}),
)
