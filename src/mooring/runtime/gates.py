"""Feature gates as controllers see them: what can be tried before it is proven, or switched off when it is in the way.

A controller declares its gates with their defaults, and asks its view. They are set when a process starts and do not
change while it runs, so an answer needs no subscription.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mooring.kube.errors import MooringError


class FeatureGates:
    def __init__(self, states: Mapping[str, bool] | None = None) -> None:
        self._states = dict(states or {})

    def enabled(self, name: str) -> bool:
        if name not in self._states:
            raise MooringError(f"there is no feature gate {name}; declare it on the controller that asks for it")
        return self._states[name]


def all_gates(declared: Iterable[Mapping[str, bool]], given: Mapping[str, bool] | None = None) -> dict[str, bool]:
    """Every declared gate with its default, or as it was given. Raises where two declarations differ."""
    found: dict[str, bool] = {}
    for gates in declared:
        for name, default in gates.items():
            if found.setdefault(name, default) != default:
                raise MooringError(f"feature gate {name} is declared twice, with different defaults")
    for name, state in (given or {}).items():
        if name not in found:
            raise MooringError(f"no controller here has the feature gate {name}")
        found[name] = state
    return found
