"""Lists and sets in expressions: `names.isSorted()`, `sets.contains(a, b)`.

The lists' own indexOf and lastIndexOf are not here: the library has those of strings and lets nobody add to them.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

from mooring.kube.cel.functions.model import Function

List = Sequence[Any]


def _is_sorted(items: List) -> bool:
    return all(not later < earlier for earlier, later in pairwise(items))


def _least(items: List) -> Any:
    return _extreme(min, "min", items)


def _most(items: List) -> Any:
    return _extreme(max, "max", items)


def _extreme(choose: Callable[[List], Any], name: str, items: List) -> Any:
    if not items:
        raise ValueError(f"{name} called on empty list")
    return choose(items)


def _contains(items: List, wanted: List) -> bool:
    return all(one in items for one in wanted)


def _overlap(items: List, others: List) -> bool:
    return any(one in items for one in others)


_COMPARABLE: Final = ("int", "uint", "double", "bool", "string", "bytes")
_SUMMABLE: Final = ("int", "uint", "double")
_SETS: Final = ("list<dyn>", "list<dyn>")

LISTS: Final = (
    *(Function("isSorted", (f"list<{kind}>",), "bool", _is_sorted, member=True) for kind in _COMPARABLE),
    *(Function("min", (f"list<{kind}>",), kind, _least, member=True) for kind in _COMPARABLE),
    *(Function("max", (f"list<{kind}>",), kind, _most, member=True) for kind in _COMPARABLE),
    *(Function("sum", (f"list<{kind}>",), kind, sum, member=True) for kind in _SUMMABLE),
    Function("sets.contains", _SETS, "bool", _contains),
    Function("sets.intersects", _SETS, "bool", _overlap),
    Function("sets.equivalent", _SETS, "bool", lambda a, b: _contains(a, b) and _contains(b, a)),
)
