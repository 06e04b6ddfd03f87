"""The kubeconfig that a host joins with, as text, and where it takes the API server's address from."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import msgspec

from mooring.api.kinds import Key
from mooring.runtime.reads import named
from mooring.workloads.kinds import CONFIG_MAP

__all__ = ["CLUSTER_INFO", "CONFIG_MAP_BY_NAME", "ServerAddress", "address_in", "kubeconfig_text"]

# Where a cluster says how it is reached.
CLUSTER_INFO: Final = Key("kube-public", "cluster-info")
CONFIG_MAP_BY_NAME: Final = named(CONFIG_MAP)
# A kubeconfig without a user, as `cluster-info` has it: YAML that kubeadm and API servers write by machine.
_SERVER: Final = re.compile(r"^\s*server:\s*(\S+)\s*$", re.MULTILINE)
_AUTHORITY: Final = re.compile(r"^\s*certificate-authority-data:\s*(\S+)\s*$", re.MULTILINE)


class ServerAddress(NamedTuple):
    server: str
    authority: str = ""
    insecure: bool = False


def address_in(kubeconfig: str) -> ServerAddress | None:
    """The address in a kubeconfig of one cluster."""
    server, authority = _SERVER.search(kubeconfig), _AUTHORITY.search(kubeconfig)
    return None if server is None else ServerAddress(server[1].strip('"'), "" if authority is None else authority[1])


def kubeconfig_text(address: ServerAddress, token: str) -> str:
    """JSON, which every reader of YAML takes, so that nothing need be quoted."""
    cluster: dict[str, object] = {"server": address.server}
    if address.authority:
        cluster["certificate-authority-data"] = address.authority
    if address.insecure:
        cluster["insecure-skip-tls-verify"] = True
    context = {"cluster": "default-cluster", "user": "default-auth", "namespace": "default"}
    whole = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "default-cluster", "cluster": cluster}],
        "users": [{"name": "default-auth", "user": {"token": token}}],
        "contexts": [{"name": "default-context", "context": context}],
        "current-context": "default-context",
    }
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()
