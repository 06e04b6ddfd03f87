"""Expanders one after another, until one option is left or none of them is left to ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from mooring.features.autoscaler.scale_up.expanders.least_waste import least_waste
from mooring.features.autoscaler.scale_up.expanders.option import ScaleUpOption
from mooring.features.autoscaler.scale_up.expanders.priority import by_priority
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.kube.errors import MooringError

__all__ = ["EXPANDERS", "best_options"]

Options = Sequence[ScaleUpOption]


def _most_pods(options: Options, settings: AutoscalerSettings) -> Options:
    most = max(len(option.pods) for option in options)
    return [option for option in options if len(option.pods) == most]


def _least_nodes(options: Options, settings: AutoscalerSettings) -> Options:
    least = min(option.nodes for option in options)
    return [option for option in options if option.nodes == least]


EXPANDERS: Final[Mapping[str, Callable[[Options, AutoscalerSettings], Options]]] = {
    "least-waste": lambda options, settings: least_waste(options),
    "least-nodes": _least_nodes,
    "most-pods": _most_pods,
    "priority": by_priority,
}


def best_options(options: Options, settings: AutoscalerSettings) -> Options:
    """The options that tie for the best, in the order in which they are given."""
    for name in settings.expanders:
        expander = EXPANDERS.get(name)
        if expander is None:
            raise MooringError(f"expander {name!r} is not known, use one of {', '.join(EXPANDERS)}")
        options = expander(options, settings)
        if len(options) == 1:
            break
    return options
