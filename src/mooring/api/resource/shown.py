"""Values as errors of the real server show them: by the names of its own types, with every field there is."""

from typing import Any, Final

from mooring.api.core.shapes import fields_of, is_shape
from mooring.kube.objects import Object

__all__ = ["shown"]

# Names that are more than the field's own with a capital letter.
_NAMES: Final = {
    "bool": "BoolValue",
    "cel": "CEL",
    "int": "IntValue",
    "string": "StringValue",
    "version": "VersionValue",
}
_ZERO: Final = {"str": "", "bool": False, "long": 0, "int": 0}


def shown(shape: str, value: Any) -> Any:
    """A value of a type of `shapes.py`; None is one that is not set."""
    if shape.startswith("*"):
        return None if value is None else shown(shape[1:], value)
    if shape.startswith("["):
        return None if value is None else [shown(shape[1:-1], item) for item in value]
    if shape.startswith("{"):
        return None if value is None else {key: shown(shape[1:-1], item) for key, item in value.items()}
    if not is_shape(shape):
        return _ZERO.get(shape) if value is None else value
    known = value or {}
    found: Object = {}
    for field in fields_of(shape):
        if field.type == "ObjectMeta":
            # It has no field of its own there, and the names that clients know.
            found |= known.get(field.name) or {}
        else:
            name = _NAMES.get(field.name, field.name[0].upper() + field.name[1:])
            found[name] = shown(field.type, known.get(field.name))
    return found
