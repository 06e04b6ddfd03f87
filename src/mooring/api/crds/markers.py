"""What a CustomResourceDefinition says about a field beyond its type, as kubebuilder's markers say it in Go.

    class GadgetSpec(View, frozen=True):
        replicas: Annotated[Int32, Markers("How many there are.", minimum=0, defaulted=True)] = 1

Markers are not msgspec.Meta on purpose: msgspec would hold objects against them while it reads. A rule is for the API
server, which applies it to writes; a controller must still be able to read what was stored before the rule was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec

from mooring.kube.objects import Object

__all__ = ["Int32", "Int64", "Markers", "Quantity", "Time", "ValidationRule"]


class ValidationRule(msgspec.Struct, frozen=True, eq=False, rename="camel", omit_defaults=True):
    """A rule in CEL over `self`, and what is said of an object that breaks it."""

    rule: str
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool | None = None


class _Described(msgspec.Struct, frozen=True, eq=False):
    description: str | None = None


class Markers(_Described, frozen=True, eq=False, kw_only=True):
    """Markers of a field (in Annotated) or of a type (as the class variable `markers`). What is not given is not said.

    `of` names the type that the schema is of, where the field is read as less than that: a struct of ours, a built-in
    type ("core.v1.PodTemplateSpec"), or a schema that is written out. `defaulted` lets the API server fill in the
    default that the struct has. A field without a default in the struct is required. `extra` holds what has no marker
    of its own, like oneOf.
    """

    of: str | type[msgspec.Struct] | Mapping[str, Any] | None = None
    required: bool | None = None
    defaulted: bool | None = None
    enum: Sequence[Any] | None = None
    format: str | None = None
    pattern: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool | None = None
    exclusive_maximum: bool | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None
    nullable: bool | None = None
    list_type: Literal["atomic", "set", "map"] | None = None
    list_map_keys: Sequence[str] | None = None
    map_type: Literal["atomic", "granular"] | None = None
    preserve_unknown_fields: Literal[True] | None = None
    embedded_resource: Literal[True] | None = None
    validations: Sequence[ValidationRule] | None = None
    extra: Mapping[str, Any] | None = None

    def overridden(self, by: Markers) -> Markers:
        """These markers, with those of another one put over them. Rules do not replace each other: all of them hold."""
        rules = (*(self.validations or ()), *(by.validations or ())) or None
        return msgspec.structs.replace(self, **{**by._given(), "validations": rules})

    def applied(self, schema: Object) -> Object:
        """A schema with what these markers say put over it, in the same way."""
        made = schema | self.keywords()
        if self.validations and _RULES in schema:
            made[_RULES] = [*schema[_RULES], *made[_RULES]]
        return made

    def keywords(self) -> Object:
        """What they say in the words of a schema, description and default apart."""
        made: Object = {}
        for name, value in self._given().items():
            if name == "validations":
                made[_RULES] = [msgspec.to_builtins(each) for each in value]
            elif name not in _NO_KEYWORDS:
                made[_keyword(name)] = list(value) if isinstance(value, Sequence) and name in _LISTS else value
        return made | dict(self.extra or {})

    def _given(self) -> Object:
        values = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {name: value for name, value in values if value is not None}


_RULES: Final = "x-kubernetes-validations"
_NO_KEYWORDS: Final = frozenset({"description", "of", "required", "defaulted", "extra"})
_LISTS: Final = frozenset({"enum", "list_map_keys"})
_EXTENSIONS: Final = frozenset(
    {"list_type", "list_map_keys", "map_type", "preserve_unknown_fields", "embedded_resource"}
)


def _keyword(name: str) -> str:
    if name in _EXTENSIONS:
        return f"x-kubernetes-{name.replace('_', '-')}"
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


Int32 = Annotated[int, Markers(format="int32")]
Int64 = Annotated[int, Markers(format="int64")]
# A moment as the API writes it; views keep the text.
Time = Annotated[str, Markers(format="date-time")]
Quantity = Annotated[int | str, Markers(of="quantity")]
