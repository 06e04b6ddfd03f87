"""The functions that Kubernetes adds to CEL, one module per library, all in `FUNCTIONS`.

Libraries that nothing asks for yet are left out: those of URLs, addresses, formats and authorisation.
"""

from mooring.kube.cel.functions.lists import LISTS
from mooring.kube.cel.functions.model import NO_SUCH_OVERLOAD, Function
from mooring.kube.cel.functions.patterns import PATTERNS
from mooring.kube.cel.functions.quantities import QUANTITIES
from mooring.kube.cel.functions.versions import VERSIONS

__all__ = ["FUNCTIONS", "NO_SUCH_OVERLOAD", "Function"]

FUNCTIONS: tuple[Function, ...] = (*QUANTITIES, *VERSIONS, *PATTERNS, *LISTS)
