"""Checks a value against its schema, worded as the API words it.

The order is the API's: what a value says about itself, then what is inside it. Paths are kept as links and only
written out for an error, because almost every value is valid and almost all of the time would go into their text.

Built-in types are checked for types and formats alone. The API decodes them into structures in which nothing is
missing, and what they demand beyond that is written in code for each kind, not in the schema.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from mooring.kube.errors import (
    FieldError,
    QuantityError,
    duplicate,
    go_json,
    go_quote,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
    type_invalid,
)
from mooring.kube.quantities import canonical
from mooring.kube.schemas.formats import matches_format
from mooring.kube.schemas.model import Schema

__all__ = ["validate"]

# The way to a value: the way to its parent, and its own name, position or key in a map.
Path = tuple[Any, Any, bool] | str

_TYPE_NAMES: Final[dict[type, str]] = {
    bool: "boolean",
    dict: "object",
    float: "number",
    int: "integer",
    list: "array",
    str: "string",
    type(None): "null",
}
_FORMAT_NAMES: Final[dict[type, str]] = {float: "float64", int: "int64"}
# Integers within these need no look at their format.
_SMALLEST: Final = -(2**31)
_LARGEST: Final = 2**31 - 1
_RANGES: Final = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def validate(schema: Schema, value: Any, path: str = "") -> list[FieldError]:
    """Everything that is wrong with the value."""
    errors: list[FieldError] = []
    _check(schema, value, path, errors)
    # Alternatives find the same error again.
    return list({str(error): error for error in errors}.values()) if len(errors) > 1 else errors


def _check(schema: Schema, value: Any, path: Path, errors: list[FieldError]) -> None:
    kind = value.__class__
    if kind is schema.plain and (kind is not int or _SMALLEST <= value <= _LARGEST):
        return
    if value is None:
        if not schema.nullable and (schema.type or schema.int_or_string):
            errors.append(_must_be(path, "null", _wanted(schema), "null"))
        if schema.enum:
            errors.append(_not_in_enum(schema, value, path))
        return
    wanted = schema.type
    if wanted:
        if _TYPE_NAMES.get(kind, "") != wanted and not _same_number(wanted, value):
            errors += _wrong_types(schema, value, path)
    elif schema.int_or_string and kind is not int and kind is not str and not _same_number("integer", value):
        errors += _wrong_types(schema, value, path)
    if schema.all_of or schema.any_of or schema.one_of or schema.negated is not None:
        _check_junctors(schema, value, path, errors)
    if kind is dict:
        _check_object(schema, value, path, errors)
    elif kind is list:
        _check_list(schema, value, path, errors)
    elif kind is str:
        errors += _string_errors(schema, value, path)
    elif kind is int or kind is float:
        errors += _number_errors(schema, value, path)
    if schema.enum and not any(_equal(value, allowed) for allowed in schema.enum):
        errors.append(_not_in_enum(schema, value, path))


def _check_object(schema: Schema, value: dict[str, Any], path: Path, errors: list[FieldError]) -> None:
    properties = schema.properties
    others = schema.additional_properties
    if schema.min_properties is not None and len(value) < schema.min_properties:
        errors.append(_should(path, len(value), f"have at least {schema.min_properties} properties"))
    if schema.max_properties is not None and len(value) > schema.max_properties:
        errors.append(too_many(_field(path), len(value), schema.max_properties))
    for key, item in value.items():
        child = properties.get(key, others)
        if child is None:
            continue
        if item.__class__ is child.plain and (item.__class__ is not int or _SMALLEST <= item <= _LARGEST):
            continue
        _check(child, item, (path, key, key not in properties), errors)
    if schema.required and not schema.builtin:
        errors += [required(_text((path, key, False)), "") for key in schema.required if key not in value]


def _check_list(schema: Schema, value: list[Any], path: Path, errors: list[FieldError]) -> None:
    items = schema.items
    if items is not None:
        for index, item in enumerate(value):
            if item.__class__ is not str or items.plain is not str:
                _check(items, item, (path, index, False), errors)
    if schema.min_items is not None and len(value) < schema.min_items:
        errors.append(_should(path, len(value), f"have at least {schema.min_items} items"))
    if schema.max_items is not None and len(value) > schema.max_items:
        errors.append(too_many(_field(path), len(value), schema.max_items))
    if schema.unique_items and len(set(map(go_json, value))) < len(value):
        errors.append(invalid(_field(path), "", f"{_text(path)} in body shouldn't contain duplicates"))
    # Lists of built-in types are told apart by the code of their kind, which lets some repeat.
    if schema.list_type != "atomic" and not schema.builtin:
        errors += _repetitions(schema, value, path)


def _repetitions(schema: Schema, value: list[Any], path: Path) -> Iterator[FieldError]:
    if schema.list_type == "map":
        for index, item in enumerate(value):
            if item is not None and item.__class__ is not dict:
                detail = "must be an object for an array of list-type map"
                yield invalid(_text((path, index, False), keyed=True), _shown(item), detail)
                return
        keys = schema.list_map_keys
        # Several keys are compared as they are printed, one key as the value it is.
        plain = _shown if len(keys) > 1 else _itself
        identities: Iterable[Any] = [{key: plain(item[key]) for key in keys if key in (item or ())} for item in value]
    else:
        identities = value
    seen: dict[str, int] = {}
    for index, identity in enumerate(identities):
        text = go_json(identity)
        times = seen[text] = seen.get(text, 0) + 1
        if times == 2:
            yield duplicate(_text((path, index, False), keyed=True), identity)


def _string_errors(schema: Schema, value: str, path: Path) -> Iterator[FieldError]:
    if schema.max_length is not None and len(value) > schema.max_length:
        yield too_long(_field(path), schema.max_length)
    elif schema.min_length is not None and len(value) < schema.min_length:
        yield _should(path, value, f"be at least {schema.min_length} chars long")
    elif schema.matches is not None and not schema.matches.search(value):
        yield _should(path, value, f"match '{schema.pattern}'")
    if schema.format == "quantity":
        try:
            canonical(value)
        except QuantityError as error:
            yield invalid(_field(path), value, error.message)
    elif schema.format and not matches_format(schema.format, value):
        yield _must_be(path, value, schema.format, value)


def _number_errors(schema: Schema, value: float, path: Path) -> Iterator[FieldError]:
    low, high, factor = schema.minimum, schema.maximum, schema.multiple_of
    if factor is not None and factor <= 0:
        yield invalid(_field(path), value, f"factor MultipleOf declared for {_field(path)} must be positive: {factor}")
    elif factor is not None and (value % factor if isinstance(value, int) else (value / factor) % 1):
        yield _out_of_bounds(value, path, "be a multiple of", factor)
    if low is not None:
        low = _bound(low, value)
        if value < low or (value == low and schema.exclusive_minimum):
            words = "be greater than" if schema.exclusive_minimum else "be greater than or equal to"
            yield _out_of_bounds(value, path, words, low)
    if high is not None:
        high = _bound(high, value)
        if value > high or (value == high and schema.exclusive_maximum):
            words = "be less than" if schema.exclusive_maximum else "be less than or equal to"
            yield _out_of_bounds(value, path, words, high)
    limits = _RANGES.get(schema.format)
    if limits is not None and not limits[0] <= value <= limits[1]:
        yield _must_be(path, value, schema.format, str(value))


def _bound(bound: float, value: float) -> float:
    # The API compares integers with the whole part of a bound.
    return int(bound) if isinstance(value, int) else bound


def _out_of_bounds(value: float, path: Path, words: str, bound: float) -> FieldError:
    shown = int(bound) if float(bound).is_integer() and abs(bound) < 1e21 else bound
    return _should(path, value, f"{words} {shown}")


def _check_junctors(schema: Schema, value: Any, path: Path, errors: list[FieldError]) -> None:
    if schema.any_of:
        failures = _alternatives(schema.any_of, value, path)
        if all(failures):
            errors.append(_unplaced(path, "must validate at least one schema (anyOf)"))
            errors += failures[0]
    if schema.one_of:
        failures = _alternatives(schema.one_of, value, path)
        valid = failures.count([])
        if valid != 1:
            found = f"Found {valid} valid alternatives" if valid else "Found none valid"
            errors.append(_unplaced(path, f"must validate one and only one schema (oneOf). {found}"))
            errors += [] if valid else failures[0]
    if schema.all_of:
        failures = _alternatives(schema.all_of, value, path)
        errors += [error for failure in failures for error in failure]
        if any(failures):
            none = ". None validated" if all(failures) else ""
            errors.append(_unplaced(path, f"must validate all the schemas (allOf){none}"))
    if schema.negated is not None and not _alternatives((schema.negated,), value, path)[0]:
        errors.append(_unplaced(path, "must not validate the schema (not)"))


def _alternatives(schemas: Iterable[Schema], value: Any, path: Path) -> list[list[FieldError]]:
    results = []
    for schema in schemas:
        errors: list[FieldError] = []
        _check(schema, value, path, errors)
        results.append(errors)
    return results


def _unplaced(path: Path, words: str) -> FieldError:
    # The API has no path for these; it says the path in the words.
    return invalid("<nil>", "", f"{go_quote(_text(path))} {words}")


def _same_number(wanted: str, value: Any) -> bool:
    """JSON has one kind of number: 1 is a number and 1.0 an integer."""
    if value.__class__ is int:
        return wanted == "number"
    whole = value.__class__ is float and value.is_integer() and abs(value) < 2**63
    return value.__class__ is float and (wanted == "number" or (wanted == "integer" and whole))


def _equal(value: Any, allowed: Any) -> bool:
    """Whether a value is the one that an enum allows. The API first turns a number into the allowed kind of number."""
    if value.__class__ is float and allowed.__class__ is int:
        return int(value) == allowed
    # In Python True equals 1.
    return bool(value == allowed) and (value.__class__ is bool) == (allowed.__class__ is bool)


def _wrong_types(schema: Schema, value: Any, path: Path) -> Iterator[FieldError]:
    if schema.format and schema.type == "string" and not schema.builtin:
        # The API asks for the format where there is one, and forgets about lists.
        if value.__class__ is not list:
            found = _FORMAT_NAMES.get(value.__class__, "")
            yield _must_be(path, found, schema.format, found)
        return
    found = _TYPE_NAMES.get(value.__class__, "")
    yield _must_be(path, found, _wanted(schema), found)


def _wanted(schema: Schema) -> str:
    return "integer,string" if schema.int_or_string else schema.type


def _should(path: Path, value: Any, words: str) -> FieldError:
    return invalid(_field(path), _shown(value), f"{_text(path)} in body should {words}")


def _shown(value: Any) -> Any:
    # The API prints 1.0 as it prints 1.
    return int(value) if value.__class__ is float and value.is_integer() else value


def _itself(value: Any) -> Any:
    return value


def _must_be(path: Path, value: Any, wanted: str, found: str) -> FieldError:
    return type_invalid(_field(path), value, f"{_text(path)} in body must be of type {wanted}: {go_quote(found)}")


def _not_in_enum(schema: Schema, value: Any, path: Path) -> FieldError:
    allowed = [each if isinstance(each, str) else go_json(each) for each in schema.enum]
    return not_supported(_field(path), _shown(value), allowed)


def _field(path: Path) -> str:
    # The root has no path, which the API writes so.
    return _text(path) or "<nil>"


def _text(path: Path, *, keyed: bool = False) -> str:
    """The path as the API writes it. Keys of maps stand after a dot, or, when `keyed`, in brackets."""
    parts: list[str] = []
    while not isinstance(path, str):
        path, name, is_key = path
        if name.__class__ is int or (is_key and keyed):
            parts.append(f"[{name}]")
        else:
            parts.append(f".{name}")
    parts.append(path)
    return "".join(reversed(parts)).removeprefix(".")
