"""Admin access to devices, which are then taken from nobody: only where the namespace says so."""

from collections.abc import Sequence
from typing import Final

from mooring.kube.errors import forbidden
from mooring.kube.objects import Object
from mooring.kube.status import InvalidError
from mooring.registry.admission.chain import AdmissionRequest, ClusterView

__all__ = ["check_admin_access"]

_LABEL: Final = "resource.kubernetes.io/admin-access"
_STORES: Final = ("resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io")


def check_admin_access(request: AdmissionRequest, view: ClusterView) -> None:
    """Claims and templates are looked at when they are made, results when they are first written."""
    if request.object is None or request.resource.store not in _STORES:
        return
    path = _asked(request.object) if request.operation == "CREATE" else _granted(request.object)
    if path is None or (request.old_object is not None and _granted(request.old_object) is not None):
        return
    namespace = view.find("v1", "Namespace", "", request.namespace)
    if namespace is None or namespace["metadata"].get("labels", {}).get(_LABEL) == "true":
        return
    where = f"the `{_LABEL}: true` label on the containing namespace"
    error = forbidden(path, f"admin access to devices requires {where}")
    raise InvalidError(request.resource.kind, request.resource.group, request.name, [error])


def _asked(obj: Object) -> str | None:
    spec = obj["spec"]
    devices = spec.get("spec", spec).get("devices") or {}
    requests: Sequence[Object] = devices.get("requests") or ()
    return next(
        (
            f"spec.devices.requests[{index}].adminAccess"
            for index, request in enumerate(requests)
            if request.get("exactly", {}).get("adminAccess")
        ),
        None,
    )


def _granted(obj: Object) -> str | None:
    allocation = obj.get("status", {}).get("allocation") or {}
    results: Sequence[Object] = allocation.get("devices", {}).get("results") or ()
    return next(
        (
            f"status.allocation.devices.results[{index}].adminAccess"
            for index, result in enumerate(results)
            if result.get("adminAccess")
        ),
        None,
    )
