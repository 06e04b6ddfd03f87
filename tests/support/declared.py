"""What a controller declares, as lines: what it reads and may write, who tells its events, and more."""

from __future__ import annotations

from mooring.runtime.controller import Controller

__all__ = ["declared"]


def declared(controller: Controller) -> str:
    kinds = sorted(
        f"{kind.described} on_demand={kind.on_demand} polled={kind.polled_seconds:g}" for kind in controller.kinds
    )
    writes = sorted(f"{kind.described}: {' '.join(rights)}" for kind, rights in controller.writes.items())
    effects = [f"{each.name} by {each.executor} in {each.timeout}" for each in controller.effects]
    facts = {
        "of": None if controller.of is None else controller.of.described,
        "kinds": kinds,
        "writes": writes,
        "folds": [f"{fold.name} at least {fold.min_interval}" for fold in controller.folds],
        "effects": effects,
        "memory": None if controller.memory is None else controller.memory.__name__,
        "min_interval": str(controller.min_interval),
        "metrics": [f"{each.name} {each.kind} {each.labels}" for each in controller.metrics],
        "gates": dict(controller.gates),
        "settings": [(each.name, str(each.default)) for each in controller.settings],
        "indexes": sorted(name for each in controller.indexers for name in (*each.indexes, *each.counters)),
        "reporter": controller.reporter,
        "defined": controller.defined is not None,
        "defined_writes": controller.defined_writes,
    }
    return "".join(f"{name}: {value}\n" for name, value in facts.items())
