"""Values as errors of the real server show them: by the names of its own types, with every field there is."""

from typing import Any, Final

from mooring.api.core.shapes import fields_of, is_shape

__all__ = ["shown"]

# Names that are more than the field's own with a capital letter.
_NAMES: Final = {
    "apiGroup": "APIGroup",
    "bool": "BoolValue",
    "cel": "CEL",
    "int": "IntValue",
    "string": "StringValue",
    "uid": "UID",
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
    return {
        _NAMES.get(field.name, field.name[0].upper() + field.name[1:]): shown(field.type, known.get(field.name))
        for field in fields_of(shape)
    }
