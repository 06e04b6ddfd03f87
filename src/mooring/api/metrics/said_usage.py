"""The annotation that says what a simulated pod or node uses, since nothing runs there that could be measured.

    mooring.dev/usage: cpu=250m,memory=64Mi

is the first container's usage, or the node's. `sidecar/cpu=10m` is that of a container named so.
"""

from typing import Final

from mooring.kube.errors import MooringError, QuantityError
from mooring.kube.quantities import Quantity, parse_quantity

__all__ = ["USAGE", "Usage", "parse_usage"]

USAGE: Final = "mooring.dev/usage"
# By container, "" where none is named; then by resource.
Usage = dict[str, dict[str, Quantity]]
_RESOURCES: Final = ("cpu", "memory")


def parse_usage(text: str) -> Usage:
    """Raises MooringError with one sentence."""
    found: Usage = {}
    for entry in text.split(","):
        place, equals, amount = entry.strip().partition("=")
        container, _, resource = place.rpartition("/")
        if not equals or resource not in _RESOURCES:
            raise MooringError(f"{entry.strip()!r} is not cpu=QUANTITY or memory=QUANTITY")
        try:
            quantity = parse_quantity(amount)
        except QuantityError:
            raise MooringError(f"{amount!r} is no quantity, such as 250m or 64Mi") from None
        if quantity.mantissa < 0:
            raise MooringError(f"{amount!r} is less than nothing")
        if resource in found.setdefault(container, {}):
            raise MooringError(f"{place!r} is said twice")
        found[container][resource] = quantity
    return found
