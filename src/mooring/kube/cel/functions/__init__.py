"""The functions of expressions, one module per library, all by their names in `functions_named`."""

from mooring.kube.cel.functions.addresses import ADDRESSES
from mooring.kube.cel.functions.authorization import AUTHORIZATION
from mooring.kube.cel.functions.conversions import CONVERSIONS
from mooring.kube.cel.functions.formats import FORMATS
from mooring.kube.cel.functions.lists import LISTS
from mooring.kube.cel.functions.model import NO_SUCH_OVERLOAD, Function
from mooring.kube.cel.functions.operators import OPERATORS
from mooring.kube.cel.functions.optionals import OPTIONALS
from mooring.kube.cel.functions.patterns import PATTERNS
from mooring.kube.cel.functions.quantities import QUANTITIES
from mooring.kube.cel.functions.strings import STRINGS
from mooring.kube.cel.functions.times import TIMES
from mooring.kube.cel.functions.urls import URLS
from mooring.kube.cel.functions.versions import VERSIONS

__all__ = ["NO_SUCH_OVERLOAD", "Function", "functions_named"]

_BY_NAME: dict[str, list[Function]] = {}
for _function in (
    *OPERATORS,
    *CONVERSIONS,
    *TIMES,
    *STRINGS,
    *PATTERNS,
    *LISTS,
    *OPTIONALS,
    *QUANTITIES,
    *VERSIONS,
    *URLS,
    *ADDRESSES,
    *FORMATS,
    *AUTHORIZATION,
):
    _BY_NAME.setdefault(_function.name, []).append(_function)


def functions_named(name: str) -> list[Function] | None:
    """All overloads of a function, or None if there is none of that name."""
    return _BY_NAME.get(name)
