"""LimitRanges: what a namespace gives to containers that say nothing, and what it lets them ask for.

Defaults are filled in before a pod is checked; the bounds are held against what came out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mooring.api.core.resources import aggregate_containers
from mooring.kube.objects import Object
from mooring.kube.quantities import Quantity, canonical, parse_quantity
from mooring.kube.status import ForbiddenError
from mooring.registry.admission.chain import AdmissionRequest, ClusterView

__all__ = ["check_limits", "default_limits"]


_ANNOTATION: Final = "kubernetes.io/limit-ranger"
_POD_LEVEL: Final = ("cpu", "memory")


def _ranges(request: AdmissionRequest, view: ClusterView) -> list[Object]:
    return [each for found in view.all("v1", "LimitRange", request.namespace) for each in found["spec"]["limits"] or ()]


def _concerns(request: AdmissionRequest) -> bool:
    if request.object is None or "deletionTimestamp" in (request.old_object or {}).get("metadata", {}):
        return False
    if request.resource.store == "pods":
        return (request.operation == "CREATE" and not request.subresource) or request.subresource == "resize"
    return request.resource.store == "persistentvolumeclaims" and not request.subresource


def default_limits(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Give containers the namespace's requests and limits where they have none."""
    if request.resource.store != "pods" or not _concerns(request):
        return None
    limits: Object = {}
    requests: Object = {}
    for each in _ranges(request, view):
        if each["type"] == "Container":
            limits |= each.get("default", {})
            requests |= each.get("defaultRequest", {})
    if not limits and not requests:
        return None
    pod: Object = request.object or {}
    spec = dict(pod["spec"])
    told: list[str] = []
    for name, shown in (("containers", "container"), ("initContainers", "init container")):
        if name in spec:
            spec[name] = [_completed(each, requests, limits, shown, told) for each in spec[name] or ()]
    if not told:
        return None
    annotations = {**pod["metadata"].get("annotations", {}), _ANNOTATION: f"LimitRanger plugin set: {'; '.join(told)}"}
    return {**pod, "metadata": {**pod["metadata"], "annotations": annotations}, "spec": spec}


def _completed(container: Object, requests: Object, limits: Object, shown: str, told: list[str]) -> Object:
    resources = dict(container["resources"])
    for name, usual, word in (("requests", requests, "request"), ("limits", limits, "limit")):
        given = resources.get(name, {})
        added = sorted(key for key in usual if key not in given)
        if added:
            told.append(f"{', '.join(added)} {word} for {shown} {container['name']}")
            resources[name] = given | {key: usual[key] for key in added}
    return {**container, "resources": resources}


def check_limits(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Hold what is asked for against the bounds of the namespace."""
    obj = request.object
    if obj is None or not _concerns(request):
        return None
    errors = [text for each in _ranges(request, view) for text in _breaches(each, request.resource.store, obj["spec"])]
    if errors:
        texts = list(dict.fromkeys(errors))
        why = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        raise ForbiddenError.of(request.resource.plural, request.resource.group, request.name, why)
    return None


def _breaches(bounds: Object, store: str, spec: Object) -> Iterator[str]:
    kind = bounds["type"]
    if store == "persistentvolumeclaims":
        if kind == "PersistentVolumeClaim":
            requests = spec["resources"].get("requests", {})
            yield from _below(bounds.get("min", {}), kind, requests, {})
            yield from _above_requests(bounds.get("max", {}), kind, requests)
        return
    if kind == "Container":
        for name in ("containers", "initContainers"):
            for container in spec.get(name) or ():
                resources = container["resources"]
                yield from _all(bounds, kind, resources.get("requests", {}), resources.get("limits", {}))
    elif kind == "Pod":
        yield from _all(bounds, kind, _of_pod(spec, "requests"), _of_pod(spec, "limits"))


def _of_pod(spec: Object, name: str) -> Mapping[str, Any]:
    own = {key: value for key, value in spec.get("resources", {}).get(name, {}).items() if key in _POD_LEVEL}
    return dict(aggregate_containers(spec, name)) | own


def _all(bounds: Object, kind: str, requests: Mapping[str, Any], limits: Mapping[str, Any]) -> Iterator[str]:
    yield from _below(bounds.get("min", {}), kind, requests, limits)
    yield from _above(bounds.get("max", {}), kind, requests, limits)
    yield from _too_far_apart(bounds.get("maxLimitRequestRatio", {}), kind, requests, limits)


def _read(amounts: Mapping[str, Any], name: str) -> Quantity | None:
    found = amounts.get(name)
    return found if found is None or isinstance(found, Quantity) else parse_quantity(found)


def _below(bounds: Object, kind: str, requests: Mapping[str, Any], limits: Mapping[str, Any]) -> Iterator[str]:
    for name, text in bounds.items():
        bound, request, limit = parse_quantity(text), _read(requests, name), _read(limits, name)
        head = f"minimum {name} usage per {kind} is {canonical(text)}"
        if request is None:
            yield f"{head}.  No request is specified"
        elif request < bound:
            yield f"{head}, but request is {request}"
        elif limit is not None and limit < bound:
            yield f"{head}, but limit is {limit}"


def _above(bounds: Object, kind: str, requests: Mapping[str, Any], limits: Mapping[str, Any]) -> Iterator[str]:
    for name, text in bounds.items():
        bound, request, limit = parse_quantity(text), _read(requests, name), _read(limits, name)
        head = f"maximum {name} usage per {kind} is {canonical(text)}"
        if limit is None:
            yield f"{head}.  No limit is specified"
        elif limit > bound:
            yield f"{head}, but limit is {limit}"
        elif request is not None and request > bound:
            yield f"{head}, but request is {request}"


def _above_requests(bounds: Object, kind: str, requests: Mapping[str, Any]) -> Iterator[str]:
    for name, text in bounds.items():
        bound, request = parse_quantity(text), _read(requests, name)
        head = f"maximum {name} usage per {kind} is {canonical(text)}"
        if request is None:
            yield f"{head}.  No request is specified"
        elif request > bound:
            yield f"{head}, but request is {request}"


def _too_far_apart(bounds: Object, kind: str, requests: Mapping[str, Any], limits: Mapping[str, Any]) -> Iterator[str]:
    for name, text in bounds.items():
        bound, request, limit = parse_quantity(text), _read(requests, name), _read(limits, name)
        head = f"{name} max limit to request ratio per {kind} is {canonical(text)}"
        if request is None or not request.milli_value:
            yield f"{head}, but no request is specified or request is 0"
        elif limit is None or not limit.milli_value:
            yield f"{head}, but no limit is specified or limit is 0"
        elif limit.milli_value / request.milli_value * 1000 > bound.milli_value:
            yield f"{head}, but provided ratio is {limit.milli_value / request.milli_value:f}"
