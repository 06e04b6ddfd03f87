"""What may change in a pod that exists: almost nothing, because it may be running.

Images, a shorter deadline, more tolerations, fewer scheduling gates; and, while it is gated, a narrower choice of
nodes. Expects decoded and defaulted pods.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mooring.api.core.validation.affinity import check_tolerations
from mooring.api.core.validation.annotations import check_annotation_updates
from mooring.kube.errors import FieldError, forbidden, invalid, required

__all__ = ["validate_pod_update"]

Object = Mapping[str, Any]
Errors = list[FieldError]

_MAX_DEADLINE_SECONDS: Final = 2**31 - 1
_UPDATABLE: Final = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def validate_pod_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    spec, was = new["spec"], old["spec"]
    check_annotation_updates(errors, new["metadata"].get("annotations", {}), old["metadata"].get("annotations", {}))
    for name in ("containers", "initContainers"):
        if not _check_containers(errors, spec.get(name) or (), was.get(name) or (), f"spec.{name}"):
            return errors
    if not _check_deadline(errors, spec, was, "spec.activeDeadlineSeconds"):
        return errors
    _check_tolerations(errors, spec.get("tolerations", ()), was.get("tolerations", ()), "spec.tolerations")
    _check_gates(errors, spec.get("schedulingGates", ()), was.get("schedulingGates", ()), "spec.schedulingGates")
    rest = _without_mutable(errors, spec, was)
    if rest != was:
        changed = sorted(name for name in rest.keys() | was.keys() if rest.get(name) != was.get(name))
        detail = f"pod updates may not change fields other than {_UPDATABLE}\nchanged: {', '.join(changed)}"
        errors.append(forbidden("spec", detail))
    return errors


def _check_containers(errors: Errors, new: Sequence[Object], old: Sequence[Object], path: str) -> bool:
    if len(new) != len(old):
        errors.append(forbidden(path, "pod updates may not add or remove containers"))
        return False
    for index, container in enumerate(new):
        image = container.get("image", "")
        if not image:
            errors.append(required(f"{path}[{index}].image", ""))
        if image.strip() != image:
            detail = "must not have leading or trailing whitespace"
            errors.append(invalid(f"{path}[{index}].image", image, detail))
    return True


def _check_deadline(errors: Errors, spec: Object, was: Object, path: str) -> bool:
    new, old = spec.get("activeDeadlineSeconds"), was.get("activeDeadlineSeconds")
    if new is None:
        if old is not None:
            errors.append(invalid(path, None, "must not update from a positive integer to nil value"))
        return True
    if not 0 <= new <= _MAX_DEADLINE_SECONDS:
        errors.append(invalid(path, new, f"must be between 0 and {_MAX_DEADLINE_SECONDS}, inclusive"))
        return False
    if old is not None and old < new:
        errors.append(invalid(path, new, "must be less than or equal to previous value"))
        return False
    return True


def _check_tolerations(errors: Errors, new: Sequence[Object], old: Sequence[Object], path: str) -> None:
    kept = [_timeless(toleration) for toleration in new]
    if any(_timeless(toleration) not in kept for toleration in old):
        errors.append(forbidden(path, "existing toleration can not be modified except its tolerationSeconds"))
        return
    check_tolerations(errors, new, path)


def _timeless(toleration: Object) -> dict[str, Any]:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _check_gates(errors: Errors, new: Sequence[Object], old: Sequence[Object], path: str) -> None:
    known = {gate["name"] for gate in old}
    for index, gate in enumerate(new):
        if gate["name"] not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate['name']}'"
            errors.append(forbidden(f"{path}[{index}].name", detail))


def _without_mutable(errors: Errors, spec: Object, was: Object) -> dict[str, Any]:
    """The new spec with everything that may change put back."""
    rest = dict(spec)
    for name in ("containers", "initContainers"):
        if name in rest:
            pairs = zip(rest[name] or (), was.get(name) or (), strict=True)
            rest[name] = [_with_image(container, old) for container, old in pairs]
    names = ["activeDeadlineSeconds", "schedulingGates", "tolerations"]
    if was.get("schedulingGates"):
        names += ["nodeSelector", "affinity"]
        _check_narrower(errors, spec, was)
    for name in names:
        if name == "affinity":
            rest[name] = _with_node_affinity(rest.get(name), was.get(name))
            if rest[name] is None:
                del rest[name]
        elif name in was:
            rest[name] = was[name]
        else:
            rest.pop(name, None)
    return rest


def _with_image(container: Object, old: Object) -> dict[str, Any]:
    put_back = dict(container)
    put_back.pop("image", None)
    return put_back | ({"image": old["image"]} if "image" in old else {})


def _with_node_affinity(new: Object | None, old: Object | None) -> dict[str, Any] | None:
    put_back = {name: value for name, value in (new or {}).items() if name != "nodeAffinity"}
    if old and "nodeAffinity" in old:
        put_back["nodeAffinity"] = old["nodeAffinity"]
    return put_back if put_back or old is not None else None


def _check_narrower(errors: Errors, spec: Object, was: Object) -> None:
    new, old = spec.get("nodeSelector", {}), was.get("nodeSelector", {})
    if any(new.get(key) != value for key, value in old.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        errors.append(invalid("spec.nodeSelector", new, detail))
    terms, were = (_required_terms(each) for each in (spec, was))
    path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    if not were:
        return
    if len(terms) != len(were):
        detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        errors.append(invalid(path, terms, detail))
        return
    for index, (term, before) in enumerate(zip(terms, were, strict=True)):
        for name in ("matchExpressions", "matchFields"):
            earlier = before.get(name, [])
            if term.get(name, [])[: len(earlier)] != earlier:
                detail = "only additions are allowed (no mutations or deletions)"
                errors.append(invalid(f"{path}[{index}]", term, detail))
                break


def _required_terms(spec: Object) -> list[dict[str, Any]]:
    node = spec.get("affinity", {}).get("nodeAffinity", {})
    return node.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms") or []
