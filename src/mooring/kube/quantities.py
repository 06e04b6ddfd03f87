"""Resource quantities ("1500m", "1.5Gi", "12e6"), exact, with the API's own spelling and integer views.

A quantity is an integer times a power of ten; nothing here is ever a float. The API remembers the family of suffix a
quantity was written in and prints it in that family again, and it keeps two representations, a 64-bit integer and an
arbitrary precision decimal, whose integer views differ at the edges (see `Quantity.scaled`). Placement must agree with
the real scheduler on those edges too, so they are kept.

`value` and `milli_value` are called for every container of every pod, with few distinct strings: they are cached.
"""

from typing import Final, Literal

from mooring.kube.errors import QuantityError
from mooring.kube.interning import intern

__all__ = ["BAD_FORMAT", "ZERO", "Quantity", "Style", "canonical", "milli_value", "parse_quantity", "value"]

Style = Literal["BinarySI", "DecimalExponent", "DecimalSI"]

BAD_FORMAT: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_BAD_NUMBER: Final = "unable to parse numeric part of quantity"
_BAD_SUFFIX: Final = "unable to parse quantity's suffix"

_INT64_MAX: Final = 2**63 - 1
_NANO: Final = -9
_DIGITS: Final = "0123456789"
_SUFFIX_CHARS: Final = "eEinumkKMGTP"
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX: Final = {0: "", **{exponent // 10: suffix for suffix, exponent in _BINARY.items()}}

# Scales that the API multiplies in one step, without looking at the overflow.
_SINGLE_STEP: Final = frozenset({0, 1, 2, 3, 6, 9})

# Beyond this many digits a number is refused instead of computed: "1e999999999" must not take the machine with it, and
# Python writes no more than 4,300 of them.
_MAX_DIGITS: Final = 4_000
_TOO_LARGE: Final = 10**_MAX_DIGITS


class Quantity:
    """An exact amount, `mantissa` x 10^`exponent`, and the way it is to be printed. Immutable; equal by amount."""

    __slots__ = ("_text", "big", "exponent", "mantissa", "style")

    mantissa: int
    exponent: int
    style: Style
    big: bool
    _text: str

    def __init__(
        self, mantissa: int, exponent: int = 0, style: Style = "DecimalSI", *, big: bool = False, text: str = ""
    ) -> None:
        write = object.__setattr__
        write(self, "mantissa", mantissa)
        write(self, "exponent", exponent if mantissa else 0)
        write(self, "style", style)
        write(self, "big", big or not -_INT64_MAX - 1 <= mantissa <= _INT64_MAX)
        write(self, "_text", text)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A quantity cannot be changed; {name} is read-only.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"A quantity cannot be changed; {name} is read-only.")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.mantissa, self.exponent, self.style, self.big, self._text)

    # Integer views

    @property
    def value(self) -> int:
        """The amount in whole units, rounded up."""
        return self.scaled(0)

    @property
    def milli_value(self) -> int:
        """The amount in thousandths, rounded up."""
        return self.scaled(-3)

    def scaled(self, exponent: int) -> int:
        """The amount in units of 10^`exponent` as the API computes it in 64 bits.

        What does not fit wraps around or becomes 0, and negative amounts round one way or another, depending on
        representation and scale. People never meet this with sane amounts, but two schedulers that differ here would
        place such a pod differently.
        """
        shift = self.exponent - exponent
        mantissa = self.mantissa
        if not self.big:
            if shift < 0:
                quotient, rest = divmod(abs(mantissa), _pow10(min(-shift, 20)))
                quotient += rest > 0
                return quotient if mantissa > 0 else -quotient
            if shift in _SINGLE_STEP:
                return _wrap(mantissa * _pow10(shift))
            result = mantissa * _pow10(min(shift, 20))
            return result if -_INT64_MAX - 1 <= result <= _INT64_MAX else 0
        if shift >= 0:
            return _wrap(_wrap(mantissa) * _pow10(min(shift, 64)))
        divisor = _pow10(-shift)
        if mantissa < _INT64_MAX and -shift < 19:
            wrapped = _wrap(mantissa)
            quotient, rest = divmod(abs(wrapped), divisor)
            return (quotient if wrapped >= 0 else -quotient) + (rest > 0)
        quotient, rest = divmod(mantissa, divisor)
        return _wrap(quotient) + (rest > 0)

    def round_up(self, exponent: int) -> "Quantity":
        """This amount as a multiple of 10^`exponent`, rounded away from zero."""
        if self.exponent >= exponent:
            return self
        quotient, rest = divmod(abs(self.mantissa), _pow10(exponent - self.exponent))
        quotient += rest > 0
        return Quantity(quotient if self.mantissa > 0 else -quotient, exponent, self.style, big=self.big)

    # Text

    def __str__(self) -> str:
        if not self._text:
            object.__setattr__(self, "_text", self._canonical())
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def _canonical(self) -> str:
        mantissa, exponent = self.mantissa, self.exponent
        if mantissa == 0:
            return "0"
        if self.style == "BinarySI":
            whole = self._whole()
            if whole is not None and abs(whole) >= 1024:
                power = 0
                while whole % 1024 == 0:
                    whole //= 1024
                    power += 1
                return f"{whole}{_BINARY_SUFFIX.get(power, '')}"
        while mantissa % 10 == 0:
            mantissa //= 10
            exponent += 1
        mantissa *= _pow10(exponent % 3)
        exponent -= exponent % 3
        if self.style == "DecimalExponent":
            return f"{mantissa}e{exponent}" if exponent else str(mantissa)
        # There is no decimal suffix above E; the API prints the bare number then.
        return f"{mantissa}{_DECIMAL_SUFFIX.get(exponent, '')}"

    def _whole(self) -> int | None:
        if self.exponent >= 0:
            return self.mantissa * _pow10(self.exponent)
        quotient, rest = divmod(self.mantissa, _pow10(-self.exponent))
        return None if rest else quotient

    # Order and arithmetic

    def _compare(self, other: "Quantity") -> int:
        left, right = self.mantissa, other.mantissa
        if self.exponent != other.exponent:
            # Where one is zero or their signs differ, scale does not matter.
            if left * right <= 0:
                return (left > right) - (left < right)
            # Exponents may be astronomic, so magnitudes are compared before anything is scaled.
            gap = (len(str(abs(left))) + self.exponent) - (len(str(abs(right))) + other.exponent)
            if gap:
                return gap * left
            low = min(self.exponent, other.exponent)
            left *= _pow10(self.exponent - low)
            right *= _pow10(other.exponent - low)
        return (left > right) - (left < right)

    def __eq__(self, other: object) -> bool:
        return self._compare(other) == 0 if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: "Quantity") -> bool:
        return self._compare(other) < 0

    def __le__(self, other: "Quantity") -> bool:
        return self._compare(other) <= 0

    def __gt__(self, other: "Quantity") -> bool:
        return self._compare(other) > 0

    def __ge__(self, other: "Quantity") -> bool:
        return self._compare(other) >= 0

    def __hash__(self) -> int:
        mantissa, exponent = self.mantissa, self.exponent
        while mantissa and mantissa % 10 == 0:
            mantissa //= 10
            exponent += 1
        return hash((mantissa, exponent))

    def __bool__(self) -> bool:
        return self.mantissa != 0

    def __neg__(self) -> "Quantity":
        return Quantity(-self.mantissa, self.exponent, self.style, big=self.big)

    def __add__(self, other: "Quantity") -> "Quantity":
        low = min(self.exponent, other.exponent)
        far = max(self.exponent, other.exponent) - low >= _MAX_DIGITS
        shifts = (0, 0) if far else (self.exponent - low, other.exponent - low)
        total = self.mantissa * _pow10(shifts[0]) + other.mantissa * _pow10(shifts[1])
        if far or abs(total) >= _TOO_LARGE:
            raise QuantityError(f"{self} and {other} are too far apart to be added.")
        # A zero has no style of its own.
        style = self.style if self.mantissa else other.style
        return Quantity(total, low, style, big=self.big or other.big)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return self + -other

    def __mul__(self, factor: int) -> "Quantity":
        return Quantity(self.mantissa * factor, self.exponent, self.style, big=self.big)


def _rebuild(mantissa: int, exponent: int, style: Style, big: bool, text: str) -> Quantity:
    return Quantity(mantissa, exponent, style, big=big, text=text)


ZERO: Final = Quantity(0)


def _pow10(power: int) -> int:
    # The type checker cannot know that the power is not negative.
    result: int = 10**power
    return result


def _wrap(number: int) -> int:
    """The number as it looks in 64 bits."""
    return (number + 2**63) % 2**64 - 2**63


def parse_quantity(text: str | float) -> Quantity:
    """Read a quantity; numbers are read as they would be written in JSON. Raises QuantityError."""
    if text.__class__ is not str:
        text = _number_text(text)
    found = _PARSED.get(text)
    if found is None:
        found = _parse(text.strip())
        intern(_PARSED, text, found, _MAX_CACHED)
    return found


def canonical(text: str | float) -> str:
    """The spelling in which the API stores and prints a quantity."""
    return str(parse_quantity(text))


def value(text: str | float) -> int:
    """The amount in whole units, rounded up."""
    if text.__class__ is not str:
        text = _number_text(text)
    found = _VALUES.get(text)
    if found is None:
        found = parse_quantity(text).value
        intern(_VALUES, text, found, _MAX_CACHED)
    return found


def milli_value(text: str | float) -> int:
    """The amount in thousandths, rounded up."""
    if text.__class__ is not str:
        text = _number_text(text)
    found = _MILLI_VALUES.get(text)
    if found is None:
        found = parse_quantity(text).milli_value
        intern(_MILLI_VALUES, text, found, _MAX_CACHED)
    return found


_MAX_CACHED: Final = 65_536
_PARSED: Final[dict[str, Quantity]] = {}
_VALUES: Final[dict[str, int]] = {}
_MILLI_VALUES: Final[dict[str, int]] = {}


def _number_text(number: object) -> str:
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise QuantityError(BAD_FORMAT)
    return repr(number)


def _parse(text: str) -> Quantity:
    if not text:
        raise QuantityError(BAD_FORMAT)
    negative, digits, fraction, suffix = _split(text)
    exponent = _DECIMAL.get(suffix)
    style: Style = "DecimalSI"
    if exponent is None:
        binary = _BINARY.get(suffix)
        if binary is not None:
            return _parse_binary(text, negative, digits, fraction, binary)
        exponent = _exponent(suffix)
        style = "DecimalExponent"
    exponent -= len(fraction)
    shifted = digits + fraction
    number = _number(shifted)
    signed = -number if negative else number
    if len(shifted) <= 18 and exponent >= _NANO:
        # The API keeps a spelling that looks canonical to it, even "+1" or "1.001".
        keep = exponent % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"
        return Quantity(signed, exponent, style, text=text if keep else "")
    if number == 0:
        return _zero(text.removesuffix(suffix), style)
    return _parse_big(signed, exponent, style)


def _parse_binary(text: str, negative: bool, digits: str, fraction: str, power: int) -> Quantity:
    number = _number(digits + fraction)
    signed = -number if negative else number
    # The estimate of digits by which the API chooses its representation.
    if not fraction and 15 - len(digits) - power * 3 // 10 - 1 >= 0 and number << power <= _INT64_MAX:
        return Quantity(signed << power, 0, "BinarySI", text=text if number & 7 else "")
    if number == 0:
        return _zero(text[:-2], "BinarySI")
    return _parse_big(signed << power, -len(fraction), "BinarySI")


def _number(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise QuantityError(_BAD_NUMBER)
    return int(digits)


def _zero(digits: str, style: Style) -> Quantity:
    if not any(char.isdigit() for char in digits):
        raise QuantityError(_BAD_NUMBER)
    return Quantity(0, 0, style, big=True)


def _parse_big(signed: int, exponent: int, style: Style) -> Quantity:
    """Round away from zero to billionths, and cap what was written with a binary suffix."""
    number = abs(signed)
    if exponent > _MAX_DIGITS:
        raise QuantityError(_BAD_NUMBER)
    shift = exponent - _NANO
    if shift >= 0:
        nanos = number * _pow10(shift)
    elif -shift > len(str(number)):
        nanos = 1
    else:
        nanos = -(-number // _pow10(-shift))
    if nanos >= _TOO_LARGE:
        raise QuantityError(_BAD_NUMBER)
    exponent = _NANO
    if style == "BinarySI":
        if nanos > _INT64_MAX * 10**9:
            nanos, exponent = _INT64_MAX, 0
        elif nanos < 10**9:
            style = "DecimalSI"
    return Quantity(-nanos if signed < 0 else nanos, exponent, style, big=True)


def _exponent(suffix: str) -> int:
    body = suffix[1:]
    digits = body[1:] if body[:1] in {"+", "-"} else body
    if suffix[:1] not in {"e", "E"} or not digits.isdecimal() or not digits.isascii():
        raise QuantityError(_BAD_SUFFIX)
    exponent = int(body) if len(digits) <= 20 else _INT64_MAX + 1
    if not -_INT64_MAX - 1 <= exponent <= _INT64_MAX:
        raise QuantityError(_BAD_SUFFIX)
    return (exponent + 2**31) % 2**32 - 2**31


def _split(text: str) -> tuple[bool, str, str, str]:
    """Sign, digits without leading zeros, digits after the point, suffix.

    Looser than the pattern in the error text, as the API is: "-", "." and "k" are zero.
    """
    end = len(text)
    start = 1 if text[0] in "+-" else 0
    while start < end and text[start] == "0":
        start += 1
    position = _skip(text, start, _DIGITS)
    digits = text[start:position] or "0"
    fraction = ""
    if position < end and text[position] == ".":
        point = position + 1
        position = _skip(text, point, _DIGITS)
        fraction = text[point:position]
    start = position
    position = _skip(text, position, _SUFFIX_CHARS)
    if position < end and text[position] in "+-":
        position += 1
    if _skip(text, position, _DIGITS) < end:
        raise QuantityError(BAD_FORMAT)
    return text[0] == "-", digits, fraction, text[start:]


def _skip(text: str, position: int, chars: str) -> int:
    end = len(text)
    while position < end and text[position] in chars:
        position += 1
    return position
