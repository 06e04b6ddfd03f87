"""When the autoscaler would decide otherwise though nothing has changed: moments that something is waited for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from mooring.features.autoscaler.loop import LoopDecision
from mooring.features.autoscaler.node_groups import groups_by_node
from mooring.features.autoscaler.observation import ClusterObjects
from mooring.features.autoscaler.scale_up.pending_pods import moments_of_help
from mooring.features.autoscaler.settings import AutoscalerSettings

__all__ = ["next_looks"]

# Most times must be over, not just reached.
_OVER: Final = timedelta(seconds=1)


def next_looks(decision: LoopDecision, objects: ClusterObjects, settings: AutoscalerSettings) -> Iterator[datetime]:
    """What may be tried for ever (pods that nothing helps, nodes that cannot go) is left to the scan interval."""
    yield from _cool_downs(decision, settings)
    yield from _unneeded(decision, objects)
    state = decision.memory.state
    yield from (request.expected_by + _OVER for request in state.requests.values())
    options = {group.name: group.options for group in objects.groups}
    for name, incorrect in state.incorrect.items():
        if incorrect.registered < incorrect.target:
            yield incorrect.first_seen + options[name].max_node_provision_time + _OVER
    owners = groups_by_node(objects.groups)
    for name, since in state.unregistered_since.items():
        yield since + owners[name].options.max_node_provision_time + _OVER
    yield from (each + _OVER for each in moments_of_help(decision.scale_up.waiting, settings))


def _cool_downs(decision: LoopDecision, settings: AutoscalerSettings) -> Iterator[datetime]:
    if decision.deletion is not None or decision.unneeded is None or not decision.unneeded.removable:
        return
    memory = decision.memory
    for since, delay in (
        (memory.scaled_up_at, settings.scale_down_delay_after_add),
        (memory.deleted_at, settings.scale_down_delay_after_delete),
        (memory.failed_at, settings.scale_down_delay_after_failure),
    ):
        if since is not None:
            yield since + delay


def _unneeded(decision: LoopDecision, objects: ClusterObjects) -> Iterator[datetime]:
    owners = groups_by_node(objects.groups)
    for name, since in decision.memory.scale_down.unneeded_since.items():
        options = owners[name].options
        yield since + options.scale_down_unneeded_time + _OVER
        yield since + options.scale_down_unready_time + _OVER
