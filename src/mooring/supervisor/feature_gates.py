"""Feature gates: what can be tried before it is proven, or switched off when it is in the way.

A gate is added with the feature it guards, and removed when nobody needs it any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mooring.catalog import CATALOG
from mooring.kube.errors import InputError

__all__ = ["parse_gates"]


def parse_gates(words: Sequence[str], known: Mapping[str, bool] | None = None) -> dict[str, bool]:
    """`a=true,b=false`, given once or several times, as what each known gate then is."""
    known = CATALOG.gates if known is None else known
    gates = dict(known)
    for word in (word.strip() for text in words for word in text.split(",")):
        name, equals, value = word.partition("=")
        if name not in known:
            there = f"there are {', '.join(sorted(known))}" if known else "this version has none"
            raise InputError(f'--feature-gates: there is no gate "{name}"; {there}')
        if not equals or value.lower() not in ("true", "false"):
            raise InputError(f'--feature-gates: "{word}" must be {name}=true or {name}=false')
        gates[name] = value.lower() == "true"
    return gates
