"""Which objects a quota is about: scopes narrow it to some pods, or to claims of some class of attributes."""

from collections.abc import Iterator

from mooring.api.core.resources import qos_class
from mooring.kube.objects import Object
from mooring.kube.selectors import selector_from_dict

__all__ = ["is_terminating", "matches_scopes"]


def matches_scopes(quota: Object, store: str, obj: Object) -> bool:
    """Whether an object is in every scope of a quota. What is neither pod nor claim is in none."""
    return all(_is_in(store, obj, scope, term) for scope, term in _terms(quota["spec"]))


def _terms(spec: Object) -> Iterator[tuple[str, Object]]:
    for scope in spec.get("scopes") or ():
        yield scope, {"operator": "Exists"}
    for term in (spec.get("scopeSelector") or {}).get("matchExpressions") or ():
        yield term["scopeName"], term


def _is_in(store: str, obj: Object, scope: str, term: Object) -> bool:
    spec = obj["spec"] if store in ("pods", "persistentvolumeclaims") else {}
    if store == "persistentvolumeclaims" and scope == "VolumeAttributesClass":
        status = obj.get("status", {})
        modifying = (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName")
        names = {spec.get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"), modifying}
        return _names_match(scope, term, {name for name in names if name})
    if store != "pods":
        return False
    match scope:
        case "Terminating":
            return is_terminating(obj)
        case "NotTerminating":
            return not is_terminating(obj)
        case "BestEffort":
            return qos_class(spec) == "BestEffort"
        case "NotBestEffort":
            return qos_class(spec) != "BestEffort"
        case "PriorityClass":
            name = spec.get("priorityClassName")
            return _names_match(scope, term, {name} if name else set())
        case "CrossNamespacePodAffinity":
            return _looks_into_namespaces(spec)
        case _:
            return False


def is_terminating(pod: Object) -> bool:
    """Whether a pod has a deadline, in a quota's words."""
    return pod["spec"].get("activeDeadlineSeconds") is not None


def _names_match(scope: str, term: Object, names: set[str]) -> bool:
    if term["operator"] == "Exists":
        return bool(names)
    requirement = {"key": scope, "operator": term["operator"], "values": term.get("values") or []}
    selector = selector_from_dict({"matchExpressions": [requirement]})
    return any(selector.matches({scope: name}) for name in names) if names else selector.matches({})


def _looks_into_namespaces(spec: Object) -> bool:
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        preferred = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms = [
            *(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()),
            *(each["podAffinityTerm"] for each in preferred),
        ]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False
