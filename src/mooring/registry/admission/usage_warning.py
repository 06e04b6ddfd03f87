"""Warns of a `mooring.dev/usage` that cannot be read: it would be ignored, and the pod or node have no metrics."""

from typing import Final

from mooring.api.metrics.said_usage import USAGE, parse_usage
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.registry.admission.chain import AdmissionRequest, ClusterView

__all__ = ["warn_of_unread_usage"]

_SAYING: Final = frozenset({"pods", "nodes"})


def warn_of_unread_usage(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Of pods and nodes, and of whatever has a template of pods."""
    obj = request.object
    if obj is None or request.subresource:
        return None
    path = "metadata.annotations"
    if request.resource.store not in _SAYING:
        template = (obj.get("spec") or {}).get("template")
        if not isinstance(template, dict):
            return None
        obj, path = template, "spec.template.metadata.annotations"
    metadata = obj.get("metadata")
    text = (metadata.get("annotations") or {}).get(USAGE) if isinstance(metadata, dict) else None
    if text is None:
        return None
    try:
        parse_usage(text)
    except MooringError as error:
        warning = f"{path}[{USAGE}]: {error}; nothing is reported of it"
        if warning not in request.warnings:
            request.warnings.append(warning)
    return None
