"""What the API knows about the shape of a value: its type, its rules, and how two writers of it are brought together.

One class serves built-in kinds and custom ones, because pruning, defaulting, validation, strategic merge and
server-side apply walk both in the same way. Walking must be cheap, so everything that can be worked out once is an
attribute here, and nothing is looked up by name while walking. Schemas are shared and may contain themselves
(a JSON schema does), so they compare by identity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Final, Literal

from mooring.kube.schemas.patterns import Pattern

__all__ = ["ABSENT", "ANYTHING", "ListType", "Schema"]

ListType = Literal["atomic", "set", "map"]
PlainClass = type[str] | type[bool] | type[int] | None


class _Absent:
    """The default of a field that has none; None is a default like any other."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"

    def __reduce__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()

_NO_PROPERTIES: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Schema:
    """The schema of one value. Every attribute left out puts no condition on the value.

    `type` is empty where any type will do. `name` is the name of a built-in type ("core.v1.PodSpec"), else empty;
    `builtin` marks all parts of built-in types, named or not.
    `additional_properties` is the schema of the values of a map.
    """

    type: str = ""
    name: str = ""
    builtin: bool = False
    properties: Mapping[str, "Schema"] = field(default_factory=lambda: _NO_PROPERTIES)
    items: "Schema | None" = None
    additional_properties: "Schema | None" = None
    required: tuple[str, ...] = ()
    nullable: bool = False
    default: Any = ABSENT

    enum: tuple[Any, ...] = ()
    format: str = ""
    pattern: str = ""
    matches: Pattern | None = None
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique_items: bool = False
    min_properties: int | None = None
    max_properties: int | None = None
    all_of: tuple["Schema", ...] = ()
    any_of: tuple["Schema", ...] = ()
    one_of: tuple["Schema", ...] = ()
    negated: "Schema | None" = None

    int_or_string: bool = False
    preserve_unknown_fields: bool = False
    embedded_resource: bool = False

    list_type: ListType = "atomic"
    list_map_keys: tuple[str, ...] = ()
    # What stands for a missing key when items are told apart, ABSENT where nothing does.
    key_defaults: tuple[Any, ...] = ()
    # A map or object that is replaced as a whole and has one owner.
    atomic: bool = False
    patch_strategy: tuple[str, ...] = ()
    patch_merge_key: str = ""

    # Rules in CEL, as the definition has them, and whether there are any here or below.
    validations: tuple[Mapping[str, Any], ...] = ()
    ruled: bool = False

    # Whether defaulting has anything to do here or below; most of the built-in types have no defaults.
    fills: bool = False
    # The fields that have defaults.
    defaulted: tuple[str, ...] = ()
    # The class of values that need no look beyond their class; for integers, only up to 32 bits.
    plain: PlainClass = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", _plain(self))

    @property
    def struct_type(self) -> Literal["atomic", "granular"]:
        """How writers share this object: as a whole, or field by field."""
        return "atomic" if self.atomic else "granular"

    map_type = struct_type

    def with_attributes(self, **changes: Any) -> "Schema":
        """A copy in which some attributes differ; the children are shared."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        return Schema(**(values | changes))

    def __repr__(self) -> str:
        return f"Schema({self.name or self.type or 'anything'})"


_CLASSES: Final[Mapping[str, PlainClass]] = {"string": str, "boolean": bool, "integer": int}


def _plain(schema: Schema) -> PlainClass:
    ruled = schema.enum or schema.pattern or schema.all_of or schema.any_of or schema.one_of
    bounds = (schema.minimum, schema.maximum, schema.multiple_of, schema.min_length, schema.max_length, schema.negated)
    formatted = schema.format not in ("", "int32", "int64")
    if ruled or formatted or any(bound is not None for bound in bounds):
        return None
    return _CLASSES.get(schema.type)


# Whatever it is, it is kept.
ANYTHING: Final = Schema(preserve_unknown_fields=True, nullable=True)
