"""What is said to a request for a certificate, by who asks for whom.

A kubelet gets the certificate of the node that its bootstrap token was minted for, and no other. With it, it gets one
to serve with, for its own name and for addresses that are its host's alone: whoever could serve under another name
would be sent the logs and commands of others' pods. An agent gets the identity of the host that it runs on. What is
neither is left to others.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final, NamedTuple

from mooring.api.certificates.views import CertificateSigningRequest, CertificateSigningRequestSpec
from mooring.api.certificates.x509_requests import (
    KUBELET_CLIENT,
    KUBELET_SERVING,
    SIGNERS,
    X509Request,
    problem_of,
    read_request,
)
from mooring.api.conditions import is_true
from mooring.api.meta import OwnerRef
from mooring.features.hosts.api.conditions import HOST_HEALTHY
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BYO_HOST
from mooring.features.hosts.api.names import (
    AGENT,
    AGENT_GROUP,
    AGENT_REQUEST_PREFIX,
    AGENT_USER_PREFIX,
    BOOTSTRAP_GROUP,
)
from mooring.features.hosts.approval.indexes import addresses_of
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE

_TOKEN_USER: Final = "system:bootstrap:"
_NODE_USER: Final = "system:node:"
_NODES: Final = "system:nodes"


class Verdict(NamedTuple):
    """A condition of the request: Approved or Denied."""

    type: str
    reason: str
    message: str


def judge(request: CertificateSigningRequest, view: View) -> Verdict | None:
    """The verdict on a request that has none yet; None where it is not ours, or not yet."""
    spec = request.spec
    asked = read_request(spec.request) if spec.signer_name in SIGNERS else None
    if asked is None or problem_of(spec.signer_name, asked, spec.usages):
        return None
    if spec.signer_name == KUBELET_CLIENT:
        return _kubelet_client(spec, asked, view)
    if spec.signer_name == KUBELET_SERVING:
        return _kubelet_serving(spec, asked, view)
    return _agent(request, asked, view)


# Kubelets


def _kubelet_client(spec: CertificateSigningRequestSpec, asked: X509Request, view: View) -> Verdict | None:
    node = asked.common_name.removeprefix(_NODE_USER)
    if spec.username == asked.common_name and _NODES in spec.groups:
        if _claimed(node, view) is None:
            return None
        return _approved(f"Node {node} renews its own certificate.")
    token = _token_of(spec)
    if not token:
        return None
    for config in view.list(BOOTSTRAP_KUBECONFIG, "token", token):
        secret = f"{config.metadata.namespace}/{config.status.data_secret_name}"
        hosts = {host.metadata.name for host in view.list(BYO_HOST, "bootstrap-secret", secret)}
        if node in hosts:
            return _approved(f"Bootstrap token {token} was minted for the machine that has claimed host {node}.")
        if hosts:
            name = ", ".join(sorted(hosts))
            return _denied(
                "ForeignNode", f"Bootstrap token {token} was minted for host {name}, and not for node {node}."
            )
    return None


def _kubelet_serving(spec: CertificateSigningRequestSpec, asked: X509Request, view: View) -> Verdict | None:
    node = asked.common_name.removeprefix(_NODE_USER)
    if spec.username != asked.common_name or _NODES not in spec.groups:
        return None
    host = _claimed(node, view)
    if host is None:
        return None
    if others := [name for name in asked.dns if name != node or name == "localhost"]:
        return _denied("ForeignName", f"Node {node} may serve under its own name only, and not as {', '.join(others)}.")
    known = addresses_of(host)
    if unknown := [address for address in asked.ips if address not in known]:
        message = f"Addresses {', '.join(unknown)} are not in status.network of ByoHost {node}."
        return _denied("ForeignAddress", message)
    if shared := [address for address in asked.ips if _is_shared(address, host, view)]:
        message = f"Addresses {', '.join(shared)} are not those of ByoHost {node} alone."
        return _denied("ForeignAddress", message)
    if any(view.list(BOOTSTRAP_KUBECONFIG, "server", address) for address in asked.ips):
        # The API server may run on the host. Whether it does, a person knows; whoever lies would be taken for it.
        return None
    return _approved(f"The names and addresses are those of ByoHost {node}.")


def _is_shared(address: str, host: HostClaim, view: View) -> bool:
    """Whether others answer there too: another host, another node, or on a loopback address any machine."""
    if ip_address(address).is_loopback:
        return True
    if any(each.metadata.uid != host.metadata.uid for each in view.list(BYO_HOST, "address", address)):
        return True
    return any(each.metadata.name != host.metadata.name for each in view.list(NODE, "address", address))


def _claimed(node: str, view: View) -> HostClaim | None:
    """The claimed host of that name. Where namespaces have one each, nobody knows which of them the node is."""
    hosts = [host for host in view.list(BYO_HOST, "name", node) if host.status.machine_ref is not None]
    return hosts[0] if len(hosts) == 1 else None


# Agents


def _agent(request: CertificateSigningRequest, asked: X509Request, view: View) -> Verdict | None:
    spec, name = request.spec, request.metadata.name
    if not name.startswith(AGENT_REQUEST_PREFIX) or not asked.common_name.startswith(AGENT_USER_PREFIX):
        return None
    host = asked.common_name.removeprefix(AGENT_USER_PREFIX)
    by_token, by_agent = BOOTSTRAP_GROUP in spec.groups, AGENT_GROUP in spec.groups
    if not (by_token or by_agent):
        return None
    wanted = f"{AGENT_REQUEST_PREFIX}{host}"
    if name != wanted and not name.startswith(f"{wanted}-"):
        return _denied("ForeignHost", f"A request for {asked.common_name} is named {wanted}, and not {name}.")
    if asked.organizations != (AGENT_GROUP,) or asked.dns or asked.ips or asked.emails or asked.uris:
        return _denied("NotAnAgent", f"An agent is {asked.common_name} in {AGENT_GROUP}, and has no other name.")
    if by_agent:
        if spec.username != asked.common_name:
            return _denied("ForeignHost", f"{spec.username} may not have the certificate of {asked.common_name}.")
        return _approved(f"The agent of host {host} renews its own certificate.")
    token = _token_of(spec)
    if any(_is_of_machine(each.metadata.owner_references) for each in view.list(BOOTSTRAP_KUBECONFIG, "token", token)):
        return _denied("NotAnAgent", f"Bootstrap token {token} was minted for the kubelet of a machine.")
    if any(_has_agent(each) for each in view.list(BYO_HOST, "name", host)):
        # Whoever holds a token could take the place of any host. One that has fallen silent may be set up anew.
        return None
    return _approved(f"Host {host} registers with a bootstrap token of {BOOTSTRAP_GROUP}.")


def _has_agent(host: HostClaim) -> bool:
    return AGENT in host.metadata.annotations and is_true(host.status.conditions, HOST_HEALTHY)


def _is_of_machine(owners: tuple[OwnerRef, ...]) -> bool:
    return any(owner.kind == "Machine" for owner in owners)


# Both


def _token_of(spec: CertificateSigningRequestSpec) -> str:
    """The identity of the bootstrap token that a request was made with; empty where there was none of hosts."""
    if BOOTSTRAP_GROUP not in spec.groups or not spec.username.startswith(_TOKEN_USER):
        return ""
    return spec.username.removeprefix(_TOKEN_USER)


def _approved(message: str) -> Verdict:
    return Verdict("Approved", "HostRecognized", message)


def _denied(reason: str, message: str) -> Verdict:
    return Verdict("Denied", reason, message)
