"""Parts of built-in kinds in one spelling each: `cpu: "1000m"` is `cpu: "1"`, and `env: []` is nothing at all.

It is the spelling of a Go client that reads a value into its types and writes it again. Fields that the table of types
does not know stay as they are, for they may be of a newer Kubernetes.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from mooring.api.core.decoding.decoder import decode
from mooring.api.core.shapes import fields_of, is_shape
from mooring.kube.quantities import canonical

__all__ = ["canonical_form"]

_AMOUNT: Final = "amount"


def canonical_form(kind: str, value: Any) -> Any:
    """A copy of a value of a type (see `shapes`); the value itself where some part of it has the wrong type."""
    typed = decode(kind, value)
    return value if typed is None else _completed(kind, typed, value)


def _completed(kind: str, typed: Any, written: Any) -> Any:
    """What typing loses or leaves alone: unknown fields are taken over, and amounts get their one spelling."""
    if typed is None:
        return None
    match kind[0]:
        case "*":
            return _completed(kind[1:], typed, written)
        case "[":
            return [_completed(kind[1:-1], item, old) for item, old in zip(typed, written, strict=True)]
        case "{":
            return {name: _completed(kind[1:-1], item, written[name]) for name, item in typed.items()}
    if kind == _AMOUNT:
        return canonical(typed)
    return _completed_struct(kind, typed, written or {}) if is_shape(kind) else typed


def _completed_struct(kind: str, typed: dict[str, Any], written: dict[str, Any]) -> dict[str, Any]:
    types = _types(kind)
    known = {name: _completed(types[name], item, written.get(name)) for name, item in typed.items()}
    return known | {name: item for name, item in written.items() if name not in types and item is not None}


@cache
def _types(kind: str) -> dict[str, str]:
    return {field.name: field.type for field in fields_of(kind)}
