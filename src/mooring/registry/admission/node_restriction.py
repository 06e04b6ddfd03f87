"""NodeRestriction: a node writes its own Node, Lease and CSINode, and the pods that are bound to it.

The Node authorizer lets every node create and change objects of these kinds; whether an object is the node's own is
known only here, where its content is. Without this, a node could steer pods to itself by labels and taints, or give
itself a pod that opens any Secret.
"""

from collections.abc import Callable
from typing import Final

from mooring.api.core.pod_references import MIRROR, referred_resource
from mooring.kube.errors import go_quote
from mooring.kube.node_identity import node_of, node_user
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError, NotFoundError
from mooring.registry.admission.chain import AdmissionRequest, ClusterView

__all__ = ["node_restriction", "restrict_deletion", "restrict_token_request"]

_LEASES: Final = "kube-node-lease"
_RESTRICTION: Final = "node-restriction.kubernetes.io"
_KUBERNETES: Final = ("kubernetes.io", "k8s.io")
# What a kubelet may set of the labels of Kubernetes: these, and those in two namespaces of its own.
_KUBELET_LABELS: Final = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
    }
)
_KUBELET_NAMESPACES: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")
_KUBELET_SIGNERS: Final = ("kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet")
# What the status of a claim may change in; a node that grows a volume writes these.
_CLAIM_STATUS: Final = ("capacity", "conditions", "allocatedResources", "allocatedResourceStatuses")


def node_restriction(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Refuse what a node writes and is not its own. Other users are not looked at."""
    node = node_of(request.user, request.groups)
    if node is None:
        return None
    if not node:
        raise _refused(request, f"could not determine node from user {go_quote(request.user)}")
    match request.resource.store, request.subresource:
        case "pods", "":
            _check_pod(request, view, node)
        case "pods", "status":
            _check_pod_status(request, node)
        case "pods", "eviction":
            _check_eviction(request, view, node)
        case "pods", other:
            why = f"unexpected pod subresource {go_quote(other)}, only 'status' and 'eviction' are allowed"
            raise _refused(request, why)
        case "nodes", _:
            _check_node(request, node)
        case "persistentvolumeclaims", "status":
            _check_claim_status(request, node)
        case "persistentvolumeclaims", _:
            raise _refused(request, "may only update PVC status")
        case "leases.coordination.k8s.io", _:
            if request.namespace != _LEASES:
                raise _refused(request, f'can only access leases in the "{_LEASES}" system namespace')
            if request.name != node:
                raise _refused(request, "can only access node lease with the same name as the requesting node")
        case "csinodes.storage.k8s.io", _:
            if request.name != node:
                raise _refused(request, "can only access CSINode with the same name as the requesting node")
        case "resourceslices.resource.k8s.io", _ if request.operation == "CREATE":
            if (request.object or {}).get("spec", {}).get("nodeName") != node:
                why = "can only create ResourceSlice with the same NodeName as the requesting node"
                raise _refused(request, why)
        case "certificatesigningrequests.certificates.k8s.io", _:
            _check_signing_request(request, node)
    return None


def restrict_deletion(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """The same for deletions, which pass no mutating admission."""
    return node_restriction(request, view) if request.operation == "DELETE" else None


def restrict_token_request(request: AdmissionRequest, view: ClusterView, may_request: Callable[[str], bool]) -> None:
    """A node asks for tokens of its pods only, for audiences that these name or that `may_request` lets it ask for."""
    node = node_of(request.user, request.groups)
    if node is not None:
        _check_token_request(request, view, node, may_request)


def _refused(request: AdmissionRequest, why: str) -> ForbiddenError:
    return ForbiddenError.of(request.resource.plural, request.resource.group, request.name, why)


# Pods


def _check_pod(request: AdmissionRequest, view: ClusterView, node: str) -> None:
    quoted = go_quote(node)
    if request.operation == "CREATE":
        _check_mirror_pod(request, view, node)
    elif request.operation == "DELETE":
        if _node_name(request.old_object) != node:
            raise _refused(request, f"node {quoted} can only delete pods with spec.nodeName set to itself")
    else:
        operation = go_quote(request.operation)
        why = f"unexpected operation {operation}, node {quoted} can only create and delete mirror pods"
        raise _refused(request, why)


def _check_mirror_pod(request: AdmissionRequest, view: ClusterView, node: str) -> None:
    pod, quoted = request.object or {}, go_quote(node)
    metadata = pod["metadata"]
    if MIRROR not in metadata.get("annotations", ()):
        why = f"pod does not have {go_quote(MIRROR)} annotation, node {quoted} can only create mirror pods"
        raise _refused(request, why)
    if _node_name(pod) != node:
        raise _refused(request, f"node {quoted} can only create pods with spec.nodeName set to itself")
    owners = metadata.get("ownerReferences", ())
    if len(owners) > 1:
        raise _refused(request, f"node {quoted} can only create pods with a single owner reference set to itself")
    owner = owners[0] if owners else {}
    if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
        raise _refused(request, f"node {quoted} can only create pods with an owner reference set to itself")
    if not owner.get("controller"):
        raise _refused(request, f"node {quoted} can only create pods with a controller owner reference set to itself")
    if owner.get("blockOwnerDeletion"):
        raise _refused(request, f"node {quoted} must not set blockOwnerDeletion on an owner reference")
    found = view.find("v1", "Node", "", node)
    if found is None:
        raise NotFoundError.of("node", "", node)
    if owner.get("uid") != found["metadata"]["uid"]:
        why = f"node {node} UID mismatch: expected {owner.get('uid', '')} got {found['metadata']['uid']}"
        raise _refused(request, why)
    if referred := referred_resource(pod):
        raise _refused(request, f"node {quoted} can not create pods that reference {referred}")


def _check_pod_status(request: AdmissionRequest, node: str) -> None:
    new, old, quoted = request.object or {}, request.old_object or {}, go_quote(node)
    if request.operation != "UPDATE":
        raise _refused(request, f"unexpected operation {go_quote(request.operation)}")
    if _node_name(old) != node:
        raise _refused(request, f"node {quoted} can only update pod status for pods with spec.nodeName set to itself")
    if (new["metadata"].get("labels") or {}) != (old["metadata"].get("labels") or {}):
        raise _refused(request, f"node {quoted} cannot update labels through pod status")
    status, before = new.get("status") or {}, old.get("status") or {}
    if (status.get("resourceClaimStatuses") or []) != (before.get("resourceClaimStatuses") or []):
        # The word is the real server's.
        raise _refused(request, f"node {quoted} cannot update resource claim statues")
    if status.get("extendedResourceClaimStatus") != before.get("extendedResourceClaimStatus"):
        raise _refused(request, f"node {quoted} cannot update extended resource claim status")


def _check_eviction(request: AdmissionRequest, view: ClusterView, node: str) -> None:
    pod = view.find("v1", "Pod", request.namespace, request.name)
    if pod is None:
        raise NotFoundError.of("pod", "", request.name)
    if _node_name(pod) != node:
        raise _refused(request, f"node {node} can only evict pods with spec.nodeName set to itself")


def _node_name(pod: Object | None) -> str:
    name: str = (pod or {}).get("spec", {}).get("nodeName", "")
    return name


# Nodes


def _check_node(request: AdmissionRequest, node: str) -> None:
    quoted = go_quote(node)
    if request.name != node:
        raise _refused(request, f"node {quoted} is not allowed to modify node {go_quote(request.name)}")
    if request.operation == "CREATE":
        _check_new_node(request, node)
    elif request.operation == "UPDATE":
        _check_changed_node(request, node)


def _check_new_node(request: AdmissionRequest, node: str) -> None:
    made, quoted = request.object or {}, go_quote(node)
    if made.get("spec", {}).get("configSource") is not None:
        # The words are the real server's.
        raise _refused(request, f"node {quoted} is not allowed to create pods with a non-nil configSource")
    if labels := _forbidden_labels(made, {}):
        raise _refused(request, f"node {quoted} is not allowed to set the following labels: {', '.join(labels)}")


def _check_changed_node(request: AdmissionRequest, node: str) -> None:
    new, old, quoted = request.object or {}, request.old_object or {}, go_quote(node)
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    if spec.get("configSource") not in (None, before.get("configSource")):
        raise _refused(request, f"node {quoted} is not allowed to update configSource to a new non-nil configSource")
    if (spec.get("taints") or []) != (before.get("taints") or []):
        raise _refused(request, f"node {quoted} is not allowed to modify taints")
    if (new["metadata"].get("ownerReferences") or []) != (old["metadata"].get("ownerReferences") or []):
        raise _refused(request, f"node {quoted} is not allowed to modify ownerReferences")
    if labels := _forbidden_labels(new, old):
        raise _refused(request, f"is not allowed to modify labels: {', '.join(labels)}")


def _forbidden_labels(new: Object, old: Object) -> list[str]:
    """The labels that differ and are not a kubelet's to set: they say where pods may land."""
    after, before = ((each.get("metadata") or {}).get("labels") or {} for each in (new, old))
    changed = {label for label in after.keys() | before.keys() if after.get(label) != before.get(label)}
    return sorted(label for label in changed if _is_forbidden(label))


def _is_forbidden(label: str) -> bool:
    prefix = label.partition("/")[0] if "/" in label else ""
    if _is_within(prefix, (_RESTRICTION,)):
        return True
    known = label in _KUBELET_LABELS or _is_within(prefix, _KUBELET_NAMESPACES)
    return _is_within(prefix, _KUBERNETES) and not known


def _is_within(prefix: str, domains: tuple[str, ...]) -> bool:
    return any(prefix == domain or prefix.endswith(f".{domain}") for domain in domains)


# Claims, tokens, certificates


def _check_claim_status(request: AdmissionRequest, node: str) -> None:
    if request.operation != "UPDATE":
        raise _refused(request, f"unexpected operation {go_quote(request.operation)}")
    if _without_growth(request.object or {}) != _without_growth(request.old_object or {}):
        quoted = go_quote(node)
        why = f"node {quoted} is not allowed to update fields other than status.quantity and status.conditions"
        raise _refused(request, why)


def _without_growth(claim: Object) -> Object:
    metadata = {
        key: value for key, value in claim["metadata"].items() if key not in ("resourceVersion", "managedFields")
    }
    status = {key: value for key, value in (claim.get("status") or {}).items() if key not in _CLAIM_STATUS}
    return {**claim, "metadata": metadata, "status": status}


def _check_token_request(
    request: AdmissionRequest, view: ClusterView, node: str, may_request: Callable[[str], bool]
) -> None:
    spec = (request.object or {}).get("spec") or {}
    bound = spec.get("boundObjectRef") or {}
    if bound.get("apiVersion") != "v1" or bound.get("kind") != "Pod" or not bound.get("name"):
        raise _refused(request, "node requested token not bound to a pod")
    if not bound.get("uid"):
        raise _refused(request, "node requested token with a pod binding without a uid")
    pod = view.find("v1", "Pod", request.namespace, bound["name"])
    if pod is None:
        raise NotFoundError.of("pod", "", bound["name"])
    if bound["uid"] != pod["metadata"]["uid"]:
        why = (
            f"the UID in the bound object reference ({bound['uid']}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
        raise _refused(request, why)
    if _node_name(pod) != node:
        raise _refused(request, "node requested token bound to a pod scheduled on a different node")
    audiences = spec.get("audiences") or [""]
    if len(audiences) > 1:
        raise _refused(request, "node may only request 0 or 1 audiences")
    if audiences[0] not in _audiences(pod) and not may_request(audiences[0]):
        why = (
            f"audience {go_quote(audiences[0])} not found in pod spec volume, "
            f"{request.user} is not authorized to request tokens for this audience"
        )
        raise _refused(request, why)


def _audiences(pod: Object) -> set[str]:
    return {
        source["serviceAccountToken"].get("audience", "")
        for volume in pod["spec"].get("volumes", ())
        for source in volume.get("projected", {}).get("sources", ())
        if "serviceAccountToken" in source
    }


def _check_signing_request(request: AdmissionRequest, node: str) -> None:
    spec = (request.object or {}).get("spec") or {}
    if request.operation != "CREATE" or spec.get("signerName") not in _KUBELET_SIGNERS:
        return
    if _common_name(request, spec.get("request", "")) != node_user(node):
        raise _refused(request, f"can only create a node CSR with CN={node_user(node)}")


def _common_name(request: AdmissionRequest, encoded: str) -> str:
    # Slow to load, and seldom needed.
    from base64 import b64decode

    from cryptography.x509 import NameOID, load_pem_x509_csr

    try:
        subject = load_pem_x509_csr(b64decode(encoded)).subject
    except ValueError as error:
        raise _refused(request, f"unable to parse csr: {error}") from None
    names = subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[-1].value) if names else ""
