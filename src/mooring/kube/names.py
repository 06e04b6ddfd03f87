"""Which strings may be names, label keys, label values, ports and the like.

Every check returns the API's own sentences, in its order; an empty list means the string is fine. Lengths are in
bytes of UTF-8, as the API counts them, and patterns always match the whole string.
"""

import re
from functools import lru_cache
from typing import Final

__all__ = [
    "byte_length",
    "is_c_identifier",
    "is_condition_reason",
    "is_config_map_key",
    "is_decimal_integer",
    "is_dns1035_label",
    "is_dns1123_label",
    "is_dns1123_subdomain",
    "is_dns1123_subdomain_with_underscore",
    "is_env_var_name",
    "is_group_id",
    "is_http_header_name",
    "is_in_range",
    "is_label_value",
    "is_long_name",
    "is_port_name",
    "is_port_number",
    "is_qualified_name",
    "is_user_id",
    "is_valid_name",
    "path_segment_texts",
]

_LABEL_FMT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_FMT: Final = rf"{_LABEL_FMT}(\.{_LABEL_FMT})*"
_UNDERSCORE_LABEL_FMT: Final = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORE_SUBDOMAIN_FMT: Final = rf"{_UNDERSCORE_LABEL_FMT}(\.{_UNDERSCORE_LABEL_FMT})*"
_DNS1035_FMT: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY_FMT: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_FMT: Final = f"({_KEY_FMT})?"
_C_IDENTIFIER_FMT: Final = "[A-Za-z_][A-Za-z0-9_]*"
_CONFIG_KEY_FMT: Final = "[-._a-zA-Z0-9]+"
_HEADER_FMT: Final = "[-A-Za-z0-9]+"

_REASON_FMT: Final = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_label = re.compile(_LABEL_FMT).fullmatch
_subdomain = re.compile(_SUBDOMAIN_FMT).fullmatch
_underscore_subdomain = re.compile(_UNDERSCORE_SUBDOMAIN_FMT).fullmatch
_dns1035 = re.compile(_DNS1035_FMT).fullmatch
_key = re.compile(_KEY_FMT).fullmatch
_value = re.compile(_VALUE_FMT).fullmatch
_c_identifier = re.compile(_C_IDENTIFIER_FMT).fullmatch
_reason = re.compile(_REASON_FMT).fullmatch
_config_key = re.compile(_CONFIG_KEY_FMT).fullmatch
_header = re.compile(_HEADER_FMT).fullmatch
_port_charset = re.compile("[-a-z0-9]+").fullmatch
_port_letter = re.compile("[a-z]").search
_decimal = re.compile("0|-?[1-9][0-9]*").fullmatch
_relaxed_env = re.compile("[ -<>-~]+").fullmatch

_LABEL_TEXT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_UNDERSCORE_SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_DNS1035_TEXT: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character"
)
_KEY_TEXT: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_REASONS: Final = ("my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")
_REASON_TEXT: Final = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'"
)
_VALUE_TEXT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)


def byte_length(text: str) -> int:
    """The length of a string as the API counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _pattern_text(text: str, pattern: str, *examples: str) -> str:
    if not examples:
        return f"{text} (regex used for validation is '{pattern}')"
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {shown}regex used for validation is '{pattern}')"


def is_dns1123_label(value: str) -> list[str]:
    matched = _label(value)
    if matched and len(value) <= 63:
        return []
    errors = ["must be no more than 63 characters"] if byte_length(value) > 63 else []
    if not matched:
        if _subdomain(value):
            errors.append("must not contain dots")
        else:
            errors.append(_pattern_text(_LABEL_TEXT, _LABEL_FMT, "my-name", "123-abc"))
    return errors


def is_dns1123_subdomain(value: str) -> list[str]:
    return _subdomain_errors(value, "characters")


def is_condition_reason(value: str) -> list[str]:
    if _reason(value):
        return []
    return [_pattern_text(_REASON_TEXT, _REASON_FMT, *_REASONS)]


def is_long_name(value: str, *, prefix: bool = False) -> list[str]:
    """The rule for names of the kinds whose rules upstream declares: the same, told in bytes."""
    return _subdomain_errors(_mask_trailing_dash(value) if prefix else value, "bytes")


def _subdomain_errors(value: str, unit: str) -> list[str]:
    matched = _subdomain(value)
    if matched and len(value) <= 253:
        return []
    errors = [f"must be no more than 253 {unit}"] if byte_length(value) > 253 else []
    if not matched:
        errors.append(_pattern_text(_SUBDOMAIN_TEXT, _SUBDOMAIN_FMT, "example.com"))
    return errors


def is_dns1123_subdomain_with_underscore(value: str) -> list[str]:
    errors = ["must be no more than 253 characters"] if byte_length(value) > 253 else []
    if not _underscore_subdomain(value):
        errors.append(_pattern_text(_UNDERSCORE_SUBDOMAIN_TEXT, _UNDERSCORE_SUBDOMAIN_FMT, "example.com"))
    return errors


def is_dns1035_label(value: str) -> list[str]:
    errors = ["must be no more than 63 characters"] if byte_length(value) > 63 else []
    if not _dns1035(value):
        errors.append(_pattern_text(_DNS1035_TEXT, _DNS1035_FMT, "my-name", "abc-123"))
    return errors


def is_valid_name(value: str, *, prefix: bool = False) -> list[str]:
    """The rule for names of most objects; `prefix` is for generateName, which may end in a dash."""
    return is_dns1123_subdomain(_mask_trailing_dash(value) if prefix else value)


def _mask_trailing_dash(name: str) -> str:
    # Two characters go and one comes: the API does it so, and "a--" therefore passes as a prefix.
    return f"{name[:-2]}a" if len(name) > 1 and name.endswith("-") else name


def is_qualified_name(value: str) -> list[str]:
    """The rule for label keys, taint keys, finalizers, resource names and other qualified names."""
    if _is_qualified(value):
        return []
    prefix, slash, name = value.partition("/")
    return _qualified_name_errors(prefix, name if slash else value, bool(slash))


@lru_cache(maxsize=1024)
def _is_qualified(value: str) -> bool:
    """Clusters have many objects and few keys of labels."""
    prefix, slash, name = value.partition("/")
    if not slash:
        name = value
    return bool(_key(name) and len(name) <= 63 and (not slash or (_subdomain(prefix) and len(prefix) <= 253)))


def _qualified_name_errors(prefix: str, name: str, prefixed: bool) -> list[str]:
    if "/" in name:
        text = _pattern_text(_KEY_TEXT, _KEY_FMT, "MyName", "my.name", "123-abc")
        return [f"a valid label key {text} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    errors = []
    if prefixed:
        if prefix:
            errors += [f"prefix part {text}" for text in _subdomain_errors(prefix, "bytes")]
        else:
            errors.append("prefix part must be non-empty")
    if not name:
        errors.append("name part must be non-empty")
    elif byte_length(name) > 63:
        errors.append("name part must be no more than 63 bytes")
    if not _key(name):
        errors.append(f"name part {_pattern_text(_KEY_TEXT, _KEY_FMT, 'MyName', 'my.name', '123-abc')}")
    return errors


def is_label_value(value: str) -> list[str]:
    matched = _value(value)
    if matched and len(value) <= 63:
        return []
    errors = ["must be no more than 63 bytes"] if byte_length(value) > 63 else []
    if not matched:
        errors.append(_pattern_text(_VALUE_TEXT, _VALUE_FMT, "MyValue", "my_value", "12345"))
    return errors


def is_c_identifier(value: str) -> list[str]:
    if _c_identifier(value):
        return []
    text = (
        "a valid C identifier must start with alphabetic character or '_', "
        "followed by a string of alphanumeric characters or '_'"
    )
    return [_pattern_text(text, _C_IDENTIFIER_FMT, "my_name", "MY_NAME", "MyName")]


def is_env_var_name(value: str) -> list[str]:
    """Environment variable names: printable ASCII without `=`."""
    if _relaxed_env(value):
        return []
    if not value:
        return ["environment variable name must be non-empty"]
    return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]


def is_config_map_key(value: str) -> list[str]:
    errors = ["must be no more than 253 characters"] if byte_length(value) > 253 else []
    if not _config_key(value):
        text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        errors.append(_pattern_text(text, _CONFIG_KEY_FMT, "key.name", "KEY_NAME", "key-name"))
    if value in {".", ".."}:
        errors.append(f"must not be '{value}'")
    elif value.startswith(".."):
        errors.append("must not start with '..'")
    return errors


def is_http_header_name(value: str) -> list[str]:
    if _header(value):
        return []
    text = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return [_pattern_text(text, _HEADER_FMT, "X-Header-Name")]


def is_port_name(value: str) -> list[str]:
    errors = ["must be no more than 15 characters"] if byte_length(value) > 15 else []
    if not _port_charset(value):
        errors.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _port_letter(value):
        errors.append("must contain at least one letter (a-z)")
    if "--" in value:
        errors.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        errors.append("must not begin or end with a hyphen")
    return errors


def is_in_range(value: int, low: int, high: int) -> list[str]:
    return [] if low <= value <= high else [f"must be between {low} and {high}, inclusive"]


def is_port_number(value: int) -> list[str]:
    return is_in_range(value, 1, 65535)


def is_user_id(value: int) -> list[str]:
    return is_in_range(value, 0, 2**31 - 1)


def is_group_id(value: int) -> list[str]:
    return is_in_range(value, 0, 2**31 - 1)


def is_decimal_integer(value: str) -> list[str]:
    """Integers as a person writes them: no plus sign, no leading zeros."""
    if _decimal(value):
        return []
    return ["must be a valid decimal integer in canonical form" if value else "must be non-empty"]


def path_segment_texts(value: str, *, prefix: bool = False) -> list[str]:
    """What is wrong with a name that only must not break a URL, or with the beginning of one."""
    if value in (".", "..") and not prefix:
        return [f"may not be '{value}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in value]
