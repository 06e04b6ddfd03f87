"""Quantities in expressions: `quantity("40Gi").isGreaterThan(...)`."""

from typing import Final

from mooring.kube.cel.functions.model import Function, read_argument
from mooring.kube.errors import QuantityError
from mooring.kube.quantities import BAD_FORMAT, Quantity, parse_quantity

QUANTITY: Final = "kubernetes.Quantity"
_INT64: Final = range(-(2**63), 2**63)


def _quantity(text: str) -> Quantity:
    """Of fields the API trims the text first, of expressions it does not."""
    if text != text.strip():
        raise QuantityError(BAD_FORMAT)
    return parse_quantity(text)


def _is_quantity(text: str) -> bool:
    try:
        _quantity(text)
    except QuantityError:
        return False
    return True


def _compare(left: Quantity, right: Quantity) -> int:
    return (left > right) - (left < right)


def _is_integer(quantity: Quantity) -> bool:
    return _whole(quantity) is not None


def _as_integer(quantity: Quantity) -> int:
    whole = _whole(quantity)
    if whole is None:
        raise ValueError("cannot convert value to integer")
    return whole


def _whole(quantity: Quantity) -> int | None:
    """The amount, where it is a whole number of 64 bits."""
    mantissa, exponent = quantity.mantissa, quantity.exponent
    if mantissa and exponent > 20:
        return None
    if exponent < 0:
        mantissa, rest = divmod(mantissa, 10**-exponent)
        return None if rest or mantissa not in _INT64 else mantissa
    whole: int = mantissa * 10**exponent
    return whole if whole in _INT64 else None


def _as_float(quantity: Quantity) -> float:
    # As it comes out when two numbers of 64 bits are multiplied.
    return float(quantity.mantissa) * float(f"1e{quantity.exponent}")


def _sign(quantity: Quantity) -> int:
    return (quantity.mantissa > 0) - (quantity.mantissa < 0)


_ONE: Final = (QUANTITY,)
_TWO: Final = (QUANTITY, QUANTITY)

QUANTITIES: Final = (
    Function("quantity", ("string",), QUANTITY, _quantity, cost=read_argument()),
    Function("isQuantity", ("string",), "bool", _is_quantity, cost=read_argument()),
    # Called before its argument, unlike all others.
    Function("sign", _ONE, "int", _sign),
    Function("isGreaterThan", _TWO, "bool", lambda left, right: left > right, member=True),
    Function("isLessThan", _TWO, "bool", lambda left, right: left < right, member=True),
    Function("compareTo", _TWO, "int", _compare, member=True),
    Function("asApproximateFloat", _ONE, "double", _as_float, member=True),
    Function("asInteger", _ONE, "int", _as_integer, member=True),
    Function("isInteger", _ONE, "bool", _is_integer, member=True),
    Function("add", _TWO, QUANTITY, lambda left, right: left + right, member=True),
    Function("add", (QUANTITY, "int"), QUANTITY, lambda left, right: left + Quantity(right), member=True),
    Function("sub", _TWO, QUANTITY, lambda left, right: left - right, member=True),
    Function("sub", (QUANTITY, "int"), QUANTITY, lambda left, right: left - Quantity(right), member=True),
)
