"""The admission that a real API server has built in: namespaces, priorities, tolerations, service accounts, taints.

These give complete objects and build new ones around what they change. What is left out of the real chain: accounts
are not looked up and tokens not mounted, because nothing here issues them.
"""

from typing import Final

from mooring.api.core.defaults.tolerations import NOT_READY, with_default_tolerations
from mooring.api.core.pod_references import MIRROR, secret_names
from mooring.api.scheduling.priority_classes import SYSTEM_PRIORITIES
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError, NotFoundError
from mooring.registry.admission.certificate_subjects import restrict_certificate_subject
from mooring.registry.admission.chain import Admission, AdmissionRequest, ClusterView
from mooring.registry.admission.classes import (
    check_growth,
    check_overhead,
    default_ingress_class,
    default_storage_class,
    protect_storage,
    runtime_class,
)
from mooring.registry.admission.device_access import check_admin_access
from mooring.registry.admission.limit_ranges import check_limits, default_limits
from mooring.registry.admission.node_restriction import node_restriction, restrict_deletion
from mooring.registry.admission.pod_security import pod_security
from mooring.registry.admission.stored_only import warn_of_no_effect
from mooring.registry.admission.usage_warning import warn_of_unread_usage
from mooring.registry.kinds.definitions import accept_definition, refuse_objects_of_deleted
from mooring.registry.kinds.pods import topology
from mooring.registry.kinds.services import allocate_addresses

__all__ = ["BUILTIN_ADMISSION", "BUILTIN_VALIDATION", "LATE_ADMISSION"]

# What admission sets at creation; a change that leaves them out does not mean to change them.
_PRIORITY: Final = ("priority", "preemptionPolicy")
_PRIORITY_CLASS: Final = ("scheduling.k8s.io/v1", "PriorityClass")


def namespace_lifecycle(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Nothing is created where there is no namespace, or in one that is going away."""
    resource = request.resource
    if request.operation != "CREATE" or not resource.namespaced:
        return None
    namespace = view.find("v1", "Namespace", "", request.namespace)
    if namespace is None:
        raise NotFoundError.of("namespaces", "", request.namespace)
    if "deletionTimestamp" in namespace["metadata"]:
        why = f"unable to create new content in namespace {request.namespace} because it is being terminated"
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {request.namespace} is being terminated",
            "field": "metadata.namespace",
        }
        raise ForbiddenError.of(resource.plural, resource.group, request.name, why, [cause])
    return None


def service_account(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """A pod that names no account runs as the namespace's default one."""
    pod = request.object
    if pod is None or request.resource.store != "pods" or request.operation != "CREATE" or request.subresource:
        return None
    spec = pod["spec"]
    if MIRROR in pod["metadata"].get("annotations", {}):
        _check_mirror(request, pod)
        return None
    if spec.get("serviceAccountName"):
        return None
    return {**pod, "spec": {**spec, "serviceAccountName": "default", "serviceAccount": "default"}}


def _check_mirror(request: AdmissionRequest, pod: Object) -> None:
    """A mirror pod is made by a node, which must not get at an account or a Secret that way."""
    spec = pod["spec"]
    sources = [each for volume in spec.get("volumes", ()) for each in volume.get("projected", {}).get("sources", ())]
    if spec.get("serviceAccountName"):
        why = "a mirror pod may not reference service accounts"
    elif any(secret_names(pod)):
        why = "a mirror pod may not reference secrets"
    elif any("serviceAccountToken" in source for source in sources):
        why = "a mirror pod may not use ServiceAccountToken volume projections"
    else:
        return
    raise ForbiddenError.of("pods", "", request.name, why)


def topology_labels(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """A pod that is created on a node says where the node stands."""
    pod = request.object
    if pod is None or request.resource.store != "pods" or request.operation != "CREATE" or request.subresource:
        return None
    name = pod["spec"].get("nodeName")
    labels = topology(view.find("v1", "Node", "", name)) if name else {}
    if not labels:
        return None
    metadata = pod["metadata"]
    return {**pod, "metadata": {**metadata, "labels": metadata.get("labels", {}) | labels}}


def default_tolerations(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """A node that is not ready keeps its pods for five minutes unless they say otherwise."""
    pod = request.object
    if pod is None or request.resource.store != "pods" or request.subresource:
        return None
    spec = with_default_tolerations(pod["spec"])
    return None if spec is pod["spec"] else {**pod, "spec": spec}


def priority(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """The priority of a pod is that of its class; of two default classes, the lower one counts."""
    pod = request.object
    if pod is None or request.resource.store != "pods" or request.subresource:
        return None
    spec = pod["spec"]
    if request.operation == "UPDATE":
        old = request.old_object
        assert old is not None, "an update has something to change"
        kept = {key: old["spec"][key] for key in _PRIORITY if key in old["spec"] and key not in spec}
        return {**pod, "spec": {**spec, **kept}} if kept else None
    if request.operation != "CREATE":
        return None
    name = spec.get("priorityClassName", "")
    value, policy = 0, "PreemptLowerPriority"
    if name:
        found = view.find(*_PRIORITY_CLASS, "", name)
        if found is None:
            why = f"no PriorityClass with name {name} was found"
            raise ForbiddenError.of("pods", "", request.name, why)
    else:
        defaults = [each for each in view.all(*_PRIORITY_CLASS) if each.get("globalDefault")]
        found = min(defaults, key=lambda each: each["value"]) if defaults else None
    if found is not None:
        name, value = found["metadata"]["name"], found["value"]
        policy = found.get("preemptionPolicy", policy)
    if spec.get("priority", value) != value:
        why = (
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; "
            f"priority admission controller computed {value} from the given PriorityClass name"
        )
        raise ForbiddenError.of("pods", "", request.name, why)
    if spec.get("preemptionPolicy", policy) != policy:
        why = (
            f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name"
        )
        raise ForbiddenError.of("pods", "", request.name, why)
    spec = {**spec, "priority": value, "preemptionPolicy": policy}
    if name:
        spec["priorityClassName"] = name
    return {**pod, "spec": spec}


def one_default_priority(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """At most one class may be the default one."""
    made = request.object
    if made is None or request.resource.store != "priorityclasses.scheduling.k8s.io" or not made.get("globalDefault"):
        return None
    for other in view.all(*_PRIORITY_CLASS):
        if other.get("globalDefault") and other["metadata"]["name"] != request.name:
            why = f"PriorityClass {other['metadata']['name']} is already marked as default. Only one default can exist"
            raise ForbiddenError.of(request.resource.plural, request.resource.group, request.name, why)
    return None


def keep_system_priorities(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """The classes of the system's own pods cannot be deleted."""
    if request.operation != "DELETE" or request.resource.store != "priorityclasses.scheduling.k8s.io":
        return None
    if request.name in SYSTEM_PRIORITIES:
        why = "this is a system priority class and cannot be deleted"
        raise ForbiddenError.of(request.resource.plural, request.resource.group, request.name, why)
    return None


def taint_new_nodes(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Taint a new node not-ready, until the node lifecycle controller has seen it ready."""
    node = request.object
    if node is None or request.resource.store != "nodes" or request.operation != "CREATE":
        return None
    spec = node.get("spec", {})
    taints = spec.get("taints", [])
    if any(taint.get("key") == NOT_READY and taint.get("effect") == "NoSchedule" for taint in taints):
        return None
    return {**node, "spec": {**spec, "taints": [*taints, {"key": NOT_READY, "effect": "NoSchedule"}]}}


def name_requester(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """A CertificateSigningRequest says who asked for it, whatever the author wrote there."""
    obj = request.object
    if obj is None or request.resource.store != "certificatesigningrequests.certificates.k8s.io":
        return None
    if request.operation != "CREATE" or not request.user:
        return None
    extra = {key: list(values) for key, values in request.user_extra}
    asked_by = {"uid": request.user_uid, "groups": list(request.groups), "extra": extra}
    spec = {**obj["spec"], "username": request.user, **{name: value for name, value in asked_by.items() if value}}
    return {**obj, "spec": spec}


# In the order of a real server.
BUILTIN_ADMISSION: Final[tuple[Admission, ...]] = (
    namespace_lifecycle,
    refuse_objects_of_deleted,
    default_limits,
    service_account,
    node_restriction,
    taint_new_nodes,
    priority,
    one_default_priority,
    default_tolerations,
    default_storage_class,
    protect_storage,
    runtime_class,
    default_ingress_class,
    topology_labels,
)
BUILTIN_VALIDATION: Final[tuple[Admission, ...]] = (
    restrict_deletion,
    restrict_certificate_subject,
    keep_system_priorities,
    check_limits,
    pod_security,
    check_growth,
    check_overhead,
    warn_of_no_effect,
    warn_of_unread_usage,
)
LATE_ADMISSION: Final[tuple[Admission, ...]] = (
    accept_definition,
    allocate_addresses,
    name_requester,
    check_admin_access,
)
