"""What stands for a quantity or a version inside an expression.

The library passes numbers, texts, bytes, lists and maps between an expression and its functions, and no types of ours.
So a value of such a type is bytes while an expression runs: a tag and a text that is the same for equal values, since
`==` compares the bytes. Types are checked before, with the real types (`environment.py`), so no expression that
Kubernetes accepts can tell the difference.
"""

from typing import Any, Final

from mooring.kube.quantities import Quantity
from mooring.kube.versions import Semver, parse_version

QUANTITY: Final = "kubernetes.Quantity"
SEMVER: Final = "kubernetes.Semver"

# The types that bytes stand for.
OPAQUE: Final[dict[str, type]] = {QUANTITY: Quantity, SEMVER: Semver}

_QUANTITY_TAG: Final = b"\xffquantity:"
_VERSION_TAG: Final = b"\xffsemver:"


def encode(value: Any) -> Any:
    """A value as an expression is given it."""
    if isinstance(value, Quantity):
        mantissa, exponent = value.mantissa, value.exponent
        while mantissa and mantissa % 10 == 0:
            mantissa //= 10
            exponent += 1
        return _QUANTITY_TAG + f"{mantissa} {exponent if mantissa else 0}".encode()
    if isinstance(value, Semver):
        # What was built when makes no difference between two versions.
        return _VERSION_TAG + str(value).encode()
    return value


def decode(value: Any) -> Any:
    """A value as a function of ours is given it."""
    # The library hands bytes to functions as a bytearray.
    if isinstance(value, bytes | bytearray):
        if value.startswith(_QUANTITY_TAG):
            mantissa, exponent = value[len(_QUANTITY_TAG) :].split()
            return Quantity(int(mantissa), int(exponent))
        if value.startswith(_VERSION_TAG):
            return parse_version(value[len(_VERSION_TAG) :].decode())
    return value
