"""What a RuntimeClass does to a new pod: overhead is added, and the pod goes where the class is.

The API server admits pods by this, and so does who asks where a pod would land before it is created.
"""

from typing import Final

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity

__all__ = ["check_overhead", "merge_tolerations", "not_found", "with_runtime_class"]

_MISMATCH: Final = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_STRAY: Final = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


def not_found(name: str) -> str:
    return f'pod rejected: RuntimeClass "{name}" not found'


def with_runtime_class(spec: Object, found: Object) -> Object:
    """The spec of a new pod of a class. Raises MooringError where they contradict each other."""
    spec = dict(spec)
    overhead = (found.get("overhead") or {}).get("podFixed")
    if overhead:
        if spec.get("overhead") and not _is_equal(spec["overhead"], overhead):
            raise MooringError(_MISMATCH)
        spec["overhead"] = overhead
    scheduling = found.get("scheduling")
    if scheduling is None:
        return spec
    selector, wanted = spec.get("nodeSelector") or {}, scheduling.get("nodeSelector") or {}
    for key, value in sorted(wanted.items()):
        if selector.get(key, value) != value:
            why = f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
            raise MooringError(f"{why}pod.spec.nodeSelector[{key}] = {selector[key]}")
    if selector or wanted:
        spec["nodeSelector"] = {**selector, **wanted}
    tolerations = merge_tolerations(spec.get("tolerations") or [], scheduling.get("tolerations") or [])
    if tolerations:
        spec["tolerations"] = tolerations
    return spec


def check_overhead(spec: Object, found: Object | None) -> None:
    """Only a runtime class gives a pod overhead. Raises MooringError."""
    overhead = ((found or {}).get("overhead") or {}).get("podFixed")
    if overhead:
        if not _is_equal(spec.get("overhead") or {}, overhead):
            raise MooringError(_MISMATCH)
    elif spec.get("overhead") is not None:
        raise MooringError(_STRAY)


def _is_equal(first: Object, second: Object) -> bool:
    return first.keys() == second.keys() and all(
        parse_quantity(first[name]) == parse_quantity(second[name]) for name in first
    )


def merge_tolerations(first: list[Object], second: list[Object]) -> list[Object]:
    """Both lists, without what another toleration covers."""
    both = [*first, *second]
    merged: list[Object] = []
    for i, each in enumerate(both):
        later = (other for other in both[i + 1 :] if other != each)
        if not any(_covers(other, each) for other in (*merged, *later)):
            merged.append(each)
    return merged


def _covers(wide: Object, narrow: Object) -> bool:
    """Whether one toleration tolerates all that another does."""
    if wide == narrow:
        return True
    exists = wide.get("operator") == "Exists"
    if wide.get("key", "") != narrow.get("key", "") and (wide.get("key") or not exists):
        return False
    effect = wide.get("effect", "")
    if effect and effect != narrow.get("effect", ""):
        return False
    if effect == "NoExecute" and (limit := wide.get("tolerationSeconds")) is not None:
        seconds = narrow.get("tolerationSeconds")
        if seconds is None or seconds > limit:
            return False
    # An operator that is left out means Equal in the wide one only: so it is in the API server.
    return exists or (narrow.get("operator") == "Equal" and narrow.get("value", "") == wide.get("value", ""))
