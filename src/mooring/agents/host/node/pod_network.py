"""The network of a host's pods where the cluster brings none: a bridge, with addresses of the host's own range."""

from __future__ import annotations

import hashlib
from ipaddress import IPv4Network, ip_network

from mooring.agents.host.root_folder import RootFolder
from mooring.kube.errors import InputError
from mooring.kube.objects import Object

__all__ = ["default_pod_cidr", "network_configuration", "parse_pod_cidr"]


def default_pod_cidr(host: str) -> str:
    """A range of 10.244.0.0/16 that follows from the name of the host."""
    number = int.from_bytes(hashlib.sha256(host.encode()).digest()[:4]) % 254 + 1
    return f"10.244.{number}.0/24"


def parse_pod_cidr(text: str) -> str:
    """The range; empty for `none`, with which the cluster brings a network of its own."""
    if text == "none":
        return ""
    try:
        found = ip_network(text)
    except ValueError as error:
        raise InputError(f"--pod-cidr {text}: {error}; give a range such as 10.244.1.0/24, or none") from None
    if found.num_addresses < 8:
        raise InputError(f"--pod-cidr {text} has too few addresses; a /24 does for the 110 pods of a node")
    return str(found)


def network_configuration(root: RootFolder, pod_cidr: str) -> Object:
    anywhere = "0.0.0.0/0" if isinstance(ip_network(pod_cidr), IPv4Network) else "::/0"
    bridge = {
        "type": "bridge",
        "bridge": root.bridge,
        "isGateway": True,
        "ipMasq": True,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "dataDir": str(root.node / "addresses"),
            "ranges": [[{"subnet": pod_cidr}]],
            "routes": [{"dst": anywhere}],
        },
    }
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "0.4.0", "name": root.network_name, "plugins": [bridge, ports]}
