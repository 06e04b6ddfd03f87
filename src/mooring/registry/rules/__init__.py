"""The rules of every built-in kind, by the name of its store.

A kind that is served in a shape it is not stored in has a second entry, with its apiVersion behind an `@`: the defaults
of that shape, and the rules that hold only for what comes through it.
"""

from collections.abc import Mapping
from typing import Final

from mooring.registry.rules.administration import ADMINISTRATION
from mooring.registry.rules.core import CORE
from mooring.registry.rules.devices import DEVICES
from mooring.registry.rules.workloads import WORKLOADS
from mooring.registry.strategies import Strategy

__all__ = ["STRATEGIES"]

STRATEGIES: Final[Mapping[str, Strategy]] = {**CORE, **WORKLOADS, **ADMINISTRATION, **DEVICES}
