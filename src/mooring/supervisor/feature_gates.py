"""Feature gates: what can be tried before it is proven, or switched off when it is in the way.

A gate is declared by the feature that it guards and by the controllers that ask for it, and removed when nobody needs
it any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mooring.catalog import CATALOG
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.runtime.controller import Controller

__all__ = ["chosen_gates", "parse_gates"]


def chosen_gates(controllers: Iterable[Controller], states: Mapping[str, bool]) -> dict[str, bool]:
    """The gates of these controllers; others belong to controllers that were not chosen."""
    names = {name for controller in controllers for name in controller.gates}
    return {name: state for name, state in states.items() if name in names}


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
