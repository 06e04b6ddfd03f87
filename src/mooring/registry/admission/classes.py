"""Admission that looks up classes of storage, ingress and runtime, and the protection of storage that is in use."""

from collections.abc import Sequence
from typing import Final

from mooring.api.node import admission
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity
from mooring.kube.status import ForbiddenError
from mooring.registry.admission.chain import AdmissionRequest, ClusterView

__all__ = [
    "PROTECTION",
    "check_growth",
    "check_overhead",
    "default_ingress_class",
    "default_storage_class",
    "protect_storage",
    "runtime_class",
]


# The finalizers that keep storage while something uses it.
PROTECTION: Final = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
    "volumeattributesclasses.storage.k8s.io": "kubernetes.io/vac-protection",
}
_BETA_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_STORAGE: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_DEFAULT_INGRESS: Final = ("ingressclass.kubernetes.io/is-default-class",)
_INGRESS_ANNOTATION: Final = "kubernetes.io/ingress.class"


def protect_storage(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Volumes, claims and classes of attributes stay while something uses them."""
    finalizer, obj = PROTECTION.get(request.resource.store), request.object
    if finalizer is None or obj is None or request.operation != "CREATE" or request.subresource:
        return None
    finalizers = obj["metadata"].get("finalizers", [])
    if finalizer in finalizers:
        return None
    return {**obj, "metadata": {**obj["metadata"], "finalizers": [*finalizers, finalizer]}}


def _default_class(classes: Sequence[Object], annotations: tuple[str, ...]) -> str | None:
    """The name of the class that is the default; of several, the newest."""
    marked = [
        each["metadata"]
        for each in classes
        if any(each["metadata"].get("annotations", {}).get(key) == "true" for key in annotations)
    ]
    newest = max((each["creationTimestamp"] for each in marked), default="")
    return min((each["name"] for each in marked if each["creationTimestamp"] == newest), default=None)


def default_storage_class(request: AdmissionRequest, view: ClusterView) -> Object | None:
    claim = request.object
    if claim is None or request.resource.store != "persistentvolumeclaims" or request.operation != "CREATE":
        return None
    if "storageClassName" in claim["spec"] or _BETA_CLASS in claim["metadata"].get("annotations", {}):
        return None
    name = _default_class(view.all("storage.k8s.io/v1", "StorageClass"), _DEFAULT_STORAGE)
    return None if name is None else {**claim, "spec": {**claim["spec"], "storageClassName": name}}


def default_ingress_class(request: AdmissionRequest, view: ClusterView) -> Object | None:
    ingress = request.object
    if ingress is None or request.resource.store != "ingresses.networking.k8s.io" or request.operation != "CREATE":
        return None
    if "ingressClassName" in ingress["spec"] or _INGRESS_ANNOTATION in ingress["metadata"].get("annotations", {}):
        return None
    name = _default_class(view.all("networking.k8s.io/v1", "IngressClass"), _DEFAULT_INGRESS)
    return None if name is None else {**ingress, "spec": {**ingress["spec"], "ingressClassName": name}}


# Runtime classes


def _runtime_class(request: AdmissionRequest, view: ClusterView) -> Object | None:
    pod = request.object
    name = None if pod is None else pod["spec"].get("runtimeClassName")
    if name is None:
        return None
    found = view.find("node.k8s.io/v1", "RuntimeClass", "", name)
    if found is None:
        raise _refusal(request, admission.not_found(name))
    return found


def _refusal(request: AdmissionRequest, why: str) -> ForbiddenError:
    return ForbiddenError.of(request.resource.plural, request.resource.group, request.name, why)


def _is_new_pod(request: AdmissionRequest) -> bool:
    return request.resource.store == "pods" and request.operation == "CREATE" and not request.subresource


def runtime_class(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """A pod has the overhead of its runtime class, and goes where that class is."""
    if not _is_new_pod(request):
        return None
    found, pod = _runtime_class(request, view), request.object
    if found is None or pod is None:
        return None
    try:
        spec = admission.with_runtime_class(pod["spec"], found)
    except MooringError as error:
        raise _refusal(request, error.message) from None
    return None if spec == pod["spec"] else {**pod, "spec": spec}


def check_overhead(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Only a runtime class gives a pod overhead."""
    pod = request.object
    if pod is None or not _is_new_pod(request):
        return None
    try:
        admission.check_overhead(pod["spec"], _runtime_class(request, view))
    except MooringError as error:
        raise _refusal(request, error.message) from None
    return None


# Growing claims


def check_growth(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """A claim may grow only where its class can make volumes grow."""
    new, old = request.object, request.old_object
    if new is None or old is None or request.resource.store != "persistentvolumeclaims" or request.subresource:
        return None
    sizes = [parse_quantity(each["spec"]["resources"].get("requests", {}).get("storage", "0")) for each in (old, new)]
    if sizes[1] <= sizes[0]:
        return None
    name = new["spec"].get("storageClassName") or new["metadata"].get("annotations", {}).get(_BETA_CLASS, "")
    found = view.find("storage.k8s.io/v1", "StorageClass", "", name) if name else None
    if found is None or not found.get("allowVolumeExpansion"):
        why = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
            "support resize"
        )
        raise _refusal(request, why)
    return None
