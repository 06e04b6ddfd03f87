"""What approval asks about hosts: whose token it was, who has claimed a host with it, and whose address it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mooring.api.kinds import Indexers
from mooring.features.hosts.api.bootstrap import BootstrapKubeconfig
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BYO_HOST


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
    return frozenset(each.partition("/")[0] for network in host.status.network for each in network.ip_addrs)


def _by_address(host: HostClaim) -> Iterator[str]:
    yield from sorted(addresses_of(host))


INDEXES: Final = (
    Indexers(BOOTSTRAP_KUBECONFIG, {"token": _by_token}),
    Indexers(BYO_HOST, {"bootstrap-secret": _by_bootstrap_secret, "name": _by_name, "address": _by_address}),
)
