"""Feature gates: what can be tried before it is proven, or switched off when it is in the way.

A gate is declared by the controller whose feature it guards, and removed when nobody needs it any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mooring.cli.errors import InputError

if TYPE_CHECKING:
    from mooring.runtime.controller import Controller

__all__ = ["chosen_gates", "known_gates", "parse_gates"]


def known_gates() -> dict[str, bool]:
    """Every gate of this version and whether it is open when nobody says anything."""
    from mooring.runtime.gates import all_gates
    from mooring.supervisor.table import all_controllers

    return all_gates(controller.gates for controller in all_controllers())


def chosen_gates(controllers: Iterable[Controller], states: Mapping[str, bool]) -> dict[str, bool]:
    """The gates of these controllers; others belong to controllers that were not chosen."""
    names = {name for controller in controllers for name in controller.gates}
    return {name: state for name, state in states.items() if name in names}


def parse_gates(words: Sequence[str], known: Mapping[str, bool] | None = None) -> dict[str, bool]:
    """`a=true,b=false`, given once or several times, as what each known gate then is."""
    if known is None:
        # Loading all controllers to find that nothing was said would cost the start of every command.
        known = known_gates() if words else {}
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
