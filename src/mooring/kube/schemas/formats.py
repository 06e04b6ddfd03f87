"""The named string formats that the API checks; any other name is a comment.

Names are compared without dashes, as the API does. Each check is no stricter than the API's own.
"""

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date
from typing import Final

from mooring.kube.names import byte_length, is_dns1123_label, is_dns1123_subdomain
from mooring.kube.schemas.patterns import compile_pattern

__all__ = ["known_format", "matches_format"]

Check = Callable[[str], bool]

# Letters and symbols of any script may stand in a host name, save in the last part of a dotted one.
_HOST_CHAR: Final = r"[a-zA-Z0-9$+<=>^`|~\x{80}-\x{10ffff}]"


def _pattern(text: str) -> Check:
    # Compiled when first used: few schemas use any format, and every command would pay for all of them.
    def match(value: str) -> bool:
        return compile_pattern(f"^(?:{text})$").search(value)

    return match


_is_date: Final = _pattern(r"\d{4}-\d{2}-\d{2}")
_is_time_of_day: Final = _pattern(r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d(.\d+)?([zZ]|[+-]\d{2}:\d{2})")
_is_hostname: Final = _pattern(
    rf"{_HOST_CHAR}(-?{_HOST_CHAR}{{0,62}})?"
    rf"|({_HOST_CHAR}((-|{_HOST_CHAR}){{0,61}}{_HOST_CHAR})?\.)+[a-zA-Z\x{{80}}-\x{{10ffff}}]{{2,63}}"
)


def _ip(version: int) -> Check:
    def check(text: str) -> bool:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return False
        return address.version == version and "%" not in text

    return check


def _cidr(text: str) -> bool:
    address, slash, length = text.partition("/")
    if not slash or not length.isdecimal() or not length.isascii():
        return False
    try:
        ipaddress.ip_interface(f"{address}/{int(length)}")
    except ValueError:
        return False
    return "%" not in text


def _byte(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return bool(text)


def _date(text: str) -> bool:
    if not _is_date(text):
        return False
    try:
        date(*map(int, text.split("-")))
    except ValueError:
        # The API knows a year 0, Python does not.
        return text.startswith("0000")
    return True


def _date_time(text: str) -> bool:
    day, _, time = text.replace("T", "t").partition("t")
    return _date(day) and _is_time_of_day(time)


def _hostname(text: str) -> bool:
    return _is_hostname(text) and byte_length(text) <= 255 and all(byte_length(p) <= 63 for p in text.split("."))


def _uuid(third: str, fourth: str) -> Check:
    return _pattern(f"(?i)[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{third}-?{fourth}-?[0-9a-f]{{12}}")


def _isbn10(text: str) -> bool:
    digits = _SPACES.sub("", text)
    if not _TEN.fullmatch(digits):
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    return sum(index * value for index, value in enumerate(values, 1)) % 11 == 0


def _isbn13(text: str) -> bool:
    digits = _SPACES.sub("", text)
    return bool(_THIRTEEN.fullmatch(digits)) and sum(map(int, digits[::2] + digits[1::2] * 3)) % 10 == 0


def _credit_card(text: str) -> bool:
    digits = _NO_DIGITS.sub("", text)
    doubled = "".join(str(int(digit) * 2) for digit in digits[-2::-2])
    return _CARD.fullmatch(digits) is not None and sum(map(int, digits[::-2] + doubled)) % 10 == 0


_SPACES: Final = re.compile(r"[\s-]+", re.ASCII)
_NO_DIGITS: Final = re.compile(r"[^0-9]+")
_TEN: Final = re.compile(r"[0-9]{9}[0-9X]")
_THIRTEEN: Final = re.compile(r"[0-9]{13}")
_CARD: Final = re.compile(
    r"4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11}"
)
_SHADE: Final = r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*"
_ANY_GROUP: Final = "[0-9a-f]{4}"
_VARIANT: Final = "[89ab][0-9a-f]{3}"

_FORMATS: Final[dict[str, Check]] = {
    "bsonobjectid": _pattern("[0-9a-fA-F]{24}"),
    "byte": _byte,
    "cidr": _cidr,
    "creditcard": _credit_card,
    "date": _date,
    "datetime": _date_time,
    "duration": _pattern(
        r"[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)"
        r"|\d+\s*(ns|nanoseconds?|nanos?|us|µs|microseconds?|micros?|ms|milliseconds?|millis?|s|seconds?|secs?"
        r"|m|minutes?|mins?|h|hours?|hrs?|d|days?|w|weeks?|wks?)"
    ),
    "email": _pattern(r"(.*<)?[^@\s<>()\[\],;:\\\"]+@[^@\s<>()\[\],;:\\\"]+>?"),
    "hexcolor": _pattern("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": _hostname,
    "ipv4": _ip(4),
    "ipv6": _ip(6),
    "isbn": lambda text: _isbn10(text) or _isbn13(text),
    "isbn10": _isbn10,
    "isbn13": _isbn13,
    "k8slongname": lambda text: not is_dns1123_subdomain(text),
    "k8sshortname": lambda text: not is_dns1123_label(text),
    "mac": _pattern(
        r"[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}([:-][0-9a-fA-F]{2}){0,14}|([0-9a-fA-F]{4}\.){2,9}[0-9a-fA-F]{4}"
    ),
    "password": lambda text: True,
    "rgbcolor": _pattern(rf"rgb\({_SHADE},{_SHADE},{_SHADE}\)"),
    "ssn": _pattern(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "uri": _pattern(r"(/|[a-zA-Z][a-zA-Z0-9+.-]*:)[^\x00-\x20\x7f]*|\*"),
    "uuid": _uuid(_ANY_GROUP, _ANY_GROUP),
    "uuid3": _uuid("3[0-9a-f]{3}", _ANY_GROUP),
    "uuid4": _uuid("4[0-9a-f]{3}", _VARIANT),
    "uuid5": _uuid("5[0-9a-f]{3}", _VARIANT),
}


def known_format(name: str) -> bool:
    """Whether strings are checked for this format."""
    return name.replace("-", "") in _FORMATS


def matches_format(name: str, text: str) -> bool:
    """Whether the text has the format; any text has an unknown one."""
    check = _FORMATS.get(name.replace("-", ""))
    return check is None or check(text)
