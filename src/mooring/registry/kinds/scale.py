"""The scale sub-resource: one number, under the same name for every kind that has replicas.

Built-in kinds keep it where everyone expects it; custom kinds say in their definition where. A write through it is a
write of that one field.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from mooring.api.core.decoding.decoder import decode
from mooring.kube.errors import FieldError, SelectorError, go_text, invalid
from mooring.kube.objects import Object
from mooring.kube.selectors import selector_from_dict
from mooring.kube.status import BadRequestError, ConflictError, InternalError, InvalidError
from mooring.registry.request_body import UnreadableError
from mooring.registry.resources import Resource

__all__ = ["ScalePaths", "check_scaled", "replicas_setter", "to_scale"]

# specReplicasPath, statusReplicasPath, labelSelectorPath
ScalePaths = Mapping[str, str]

_BUILTIN: Final[ScalePaths] = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
_SHAPE: Final = "autoscaling1.Scale"
_SCALE: Final = Resource("autoscaling", "v1", "Scale", "scales", True, "scale")
_MAX_REPLICAS: Final = 2**31 - 1
_META: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def _read(obj: Object, path: str) -> Any:
    value: Any = obj
    for name in path.strip(".").split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _written(obj: Object, path: list[str], value: Any) -> Object:
    head, *rest = path
    inner = obj.get(head)
    return {**obj, head: _written(inner if isinstance(inner, dict) else {}, rest, value) if rest else value}


def check_scaled(obj: Object, paths: ScalePaths, roots: tuple[str, ...]) -> list[FieldError]:
    """What the API says about the numbers of a custom object that its definition calls replicas."""
    errors: list[FieldError] = []
    for key in ("specReplicasPath", "statusReplicasPath"):
        path = paths[key]
        if path.split(".")[1] not in roots:
            continue
        value, problem = _number(obj, path)
        if problem:
            errors.append(invalid(path, value, problem))
    return errors


def _number(obj: Object, path: str) -> tuple[int, str]:
    value: Any = obj
    names = path.strip(".").split(".")
    for index, name in enumerate(names):
        if not isinstance(value, dict):
            at = f".{'.'.join(names[: index + 1])}"
            return 0, f"{at} accessor error: {_told(value)}, expected map[string]interface{{}}"
        if name not in value:
            return 0, ""
        value = value[name]
    if value.__class__ is not int:
        return 0, f"{path} accessor error: {_told(value)}, expected int64"
    if value < 0:
        return value, "should be a non-negative integer"
    return value, f"should be less than or equal to {_MAX_REPLICAS}" if value > _MAX_REPLICAS else ""


def _told(value: Any) -> str:
    kinds = {str: "string", bool: "bool", list: "[]interface {}", dict: "map[string]interface {}", float: "float64"}
    return f"{go_text(value)} is of the type {kinds.get(value.__class__, '<nil>')}"


def to_scale(resource: Resource, obj: Object, paths: ScalePaths | None) -> Object:
    """The Scale of an object; `paths` are those of a custom kind."""
    where = paths or _BUILTIN
    replicas = _read(obj, where["specReplicasPath"])
    if replicas is None and paths is not None:
        raise InternalError.of(f'the spec replicas field "{where["specReplicasPath"]}" does not exist')
    metadata = {name: obj["metadata"][name] for name in _META if name in obj["metadata"]}
    status: Object = {"replicas": _read(obj, where["statusReplicasPath"]) or 0}
    selector = _selector(obj, paths)
    if selector:
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _selector(obj: Object, paths: ScalePaths | None) -> str:
    if paths is not None:
        path = paths.get("labelSelectorPath")
        found = _read(obj, path) if path else None
        return found if isinstance(found, str) else ""
    selector = obj.get("spec", {}).get("selector")
    if obj["kind"] == "ReplicationController":
        selector = {"matchLabels": selector or {}}
    try:
        return str(selector_from_dict(selector))
    except SelectorError:
        return ""


def replicas_setter(resource: Resource, scale: Any, paths: ScalePaths | None) -> Callable[[Object], Object]:
    """The change that a new Scale asks for."""
    if not isinstance(scale, dict) or scale.get("kind") not in (None, "Scale"):
        raise BadRequestError("the body of a scale request must be a Scale object of autoscaling/v1")
    decoded = decode(_SHAPE, scale)
    if decoded is None:
        raise UnreadableError(_SCALE, _SHAPE, scale)
    replicas, metadata = decoded["spec"].get("replicas", 0), decoded["metadata"]
    name = metadata.get("name", "")
    if replicas < 0:
        error = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise InvalidError("Scale", "autoscaling", name, [error])
    path = (paths or _BUILTIN)["specReplicasPath"].strip(".").split(".")

    def change(current: Object) -> Object:
        was = current["metadata"]
        if metadata.get("uid", was["uid"]) != was["uid"]:
            why = f"Precondition failed: UID in precondition: {metadata['uid']}, UID in object meta: {was['uid']}"
            raise ConflictError.of(resource.plural, resource.group, was["name"], why)
        if metadata.get("resourceVersion", was["resourceVersion"]) not in ("", was["resourceVersion"]):
            raise ConflictError.stale(resource.plural, resource.group, was["name"])
        return _written(current, path, replicas)

    return change
