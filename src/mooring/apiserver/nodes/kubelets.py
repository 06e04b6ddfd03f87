"""How the API server reaches what runs in pods: the kubelets of their nodes.

The address of a kubelet is in the status of its node. The kubelet proves itself with a certificate of the cluster's
authority, and one that it signed itself is not believed: whoever can write the status of a node could have the logs and
commands of its pods sent elsewhere. This server proves itself with a certificate of its own. The process node of this
machine knows it by a token as well, which goes to no other machine.
"""

import ssl
from dataclasses import dataclass
from typing import Any, Final

from mooring.kube.objects import Object
from mooring.kube.status import ApiError, BadRequestError, InternalError, NotFoundError
from mooring.net.certificates import Certificates
from mooring.net.destination import Destination, dial_failure
from mooring.net.tls import client_context
from mooring.registry import Registry

__all__ = ["DIAL_SECONDS", "Kubelets", "NodeAccess", "container_of", "is_simulated", "kubelet_failure"]

DIAL_SECONDS: Final = 5.0
_SIMULATED: Final = "kwok.x-k8s.io/node"
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
# The node of this machine names its loopback address so; others are reached by what they have.
_ADDRESSES: Final = ("InternalDNS", "InternalIP", "Hostname", "ExternalDNS", "ExternalIP")


@dataclass(frozen=True, slots=True)
class NodeAccess:
    """How nodes are talked to: what they are trusted by and are shown, and the token that the process node knows."""

    files: Certificates
    token: str


class Kubelets:
    def __init__(self, registry: Registry, access: NodeAccess) -> None:
        self._registry = registry
        self._token = access.token
        files = access.files
        self._tls = client_context(authority=files.authority.read_bytes())
        self._tls.load_cert_chain(files.kubelet_client_certificate, files.kubelet_client_key)

    def credentials(self, kubelet: Destination) -> dict[str, str]:
        """What a kubelet is told in a header: one on this machine alone the token."""
        return {"Authorization": f"Bearer {self._token}"} if kubelet.host in _LOOPBACK else {}

    def node(self, name: str) -> Object:
        """Raises InternalError for a node that is gone."""
        try:
            found: Object = self._registry.get(self._registry.resource("v1", "Node"), "", name)
        except NotFoundError:
            raise InternalError.of(f"node {name} is not there any more, and what ran on it went with it") from None
        return found

    def of(self, name: str, simulated: str, refusal: type[ApiError] = BadRequestError) -> Destination:
        """Where the kubelet of a node answers. `simulated` is what is said when there is none, because nothing runs."""
        node = self.node(name)
        if is_simulated(node):
            raise refusal(simulated)
        status = node.get("status") or {}
        port = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port")
        host = _address(status.get("addresses") or ())
        if not port or not host:
            raise InternalError.of(f"node {name} does not say in its status where its kubelet answers")
        return Destination(host, int(port), self._tls)


def kubelet_failure(error: Exception, kubelet: Destination) -> str:
    """Why a kubelet is not talked to, and what to do where it has no certificate yet, or one that is not believed."""
    why = dial_failure(error, kubelet)
    if not isinstance(error, ssl.SSLError):
        return why
    return (
        f"{why}; the kubelet must serve with a certificate of this cluster: set serverTLSBootstrap in its "
        "configuration and approve the request of signer kubernetes.io/kubelet-serving that it makes then"
    )


def is_simulated(node: Object) -> bool:
    return (node["metadata"].get("annotations") or {}).get(_SIMULATED) == "fake"


def container_of(pod: Object, named: str) -> str:
    """The container that a request is about. Raises BadRequestError in the words of kube-apiserver."""
    spec, name = pod["spec"], pod["metadata"]["name"]
    lists = ("initContainers", "containers", "ephemeralContainers")
    known = [each["name"] for place in lists for each in spec.get(place) or ()]
    if named:
        if named not in known:
            raise BadRequestError(f"container {named} is not valid for pod {name}")
        return named
    if len(spec["containers"]) == 1:
        return str(spec["containers"][0]["name"])
    raise BadRequestError(f"a container name must be specified for pod {name}, choose one of: [{' '.join(known)}]")


def _address(addresses: Any) -> str:
    known = {each.get("type"): each.get("address") for each in addresses}
    return next((str(known[kind]) for kind in _ADDRESSES if known.get(kind)), "")
