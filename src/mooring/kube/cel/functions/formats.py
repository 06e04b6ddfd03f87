"""Formats in expressions: `!format.dns1123Label().validate(name).hasValue()`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any, Final

from mooring.kube.cel.functions.model import PATTERN_FACTOR, STRING_FACTOR, Function, size
from mooring.kube.cel.functions.urls import parse_url
from mooring.kube.cel.values import CelOptional, NamedFormat
from mooring.kube.names import (
    is_dns1035_label,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_label_value,
    is_qualified_name,
)
from mooring.kube.schemas.formats import matches_format

FORMAT: Final = "kubernetes.NamedFormat"


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """The same for the beginning of a name, which may end in a dash."""
    return lambda text: check(f"{text[:-1]}a" if len(text) > 1 and text.endswith("-") else text)


def _uri(text: str) -> list[str]:
    try:
        parse_url(text)
    except ValueError as error:
        return [str(error)]
    return []


def _known(name: str, complaint: str) -> Callable[[str], list[str]]:
    return lambda text: [] if matches_format(name, text) else [complaint]


_FORMATS: Final = {
    "dns1123Label": NamedFormat("DNS1123Label", is_dns1123_label, 30),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", is_dns1123_subdomain, 60),
    "dns1035Label": NamedFormat("DNS1035Label", is_dns1035_label, 30),
    "qualifiedName": NamedFormat("QualifiedName", is_qualified_name, 60),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", _prefix(is_dns1123_label), 30),
    "dns1123SubdomainPrefix": NamedFormat("DNS1123SubdomainPrefix", _prefix(is_dns1123_subdomain), 60),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", _prefix(is_dns1035_label), 30),
    "labelValue": NamedFormat("LabelValue", is_label_value, 40),
    "uri": NamedFormat("URI", _uri, 2000),
    "uuid": NamedFormat("uuid", _known("uuid", "does not match the UUID format"), 80),
    "byte": NamedFormat("byte", _known("byte", "invalid base64"), 80),
    "date": NamedFormat("date", _known("date", "invalid date"), 120),
    "datetime": NamedFormat("datetime", _known("datetime", "invalid datetime"), 120),
}


def _named(name: str) -> CelOptional:
    found = _FORMATS.get(name)
    return CelOptional() if found is None else CelOptional(found, present=True)


def _validate(form: NamedFormat, text: str) -> CelOptional:
    texts = form.check(text)
    return CelOptional(list(texts), present=True) if texts else CelOptional()


def _cost(arguments: Sequence[Any], _: Any) -> int:
    form, text = arguments
    pattern: int = form.pattern_size
    return ceil((1 + size(text)) * STRING_FACTOR) * ceil(pattern * PATTERN_FACTOR)


def _constant(form: NamedFormat) -> Callable[[], NamedFormat]:
    return lambda: form


FORMATS: Final = (
    Function("format.named", ("string",), f"optional<{FORMAT}>", _named),
    Function("validate", (FORMAT, "string"), "optional<list<string>>", _validate, member=True, cost=_cost),
    *(Function(f"format.{name}", (), FORMAT, _constant(form)) for name, form in _FORMATS.items()),
)
