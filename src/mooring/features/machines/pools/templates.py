"""Templates of pools: what of a change is a rollout, and which MachineSet is the newest.

Version, failure domain, bootstrap object and provider's template cause new Machines. Everything else, such as labels,
taints and timeouts, reaches the Machines that there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from mooring.api.core.types import LabelSelector
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.machine_sets import MachineSet
from mooring.features.machines.api.machine_specs import MachineSpec
from mooring.features.machines.api.names import REVISION
from mooring.features.machines.blueprints import written
from mooring.kube.selectors import Selector, selector_from_dict
from mooring.kube.times import moment
from mooring.runtime.view import View
from mooring.workloads.revisions import content_hash

__all__ = ["PoolSets", "is_current", "revision_of", "selector_of", "set_name", "sort_out", "template_hash"]

# A set's name is the value of a label of its Machines, and they put five letters behind it.
_MAX_BASE_CHARS: Final = 63 - 1 - 10 - 1 - 5


class PoolSets(NamedTuple):
    """The set of today's template, if there is one, and the others from the oldest to the youngest."""

    new: MachineSet | None
    old: tuple[MachineSet, ...]

    @property
    def all(self) -> tuple[MachineSet, ...]:
        return self.old if self.new is None else (*self.old, self.new)


def selector_of(selector: LabelSelector) -> Selector:
    return selector_from_dict(written(selector))


def _relevant(spec: MachineSpec) -> tuple[object, ...]:
    """What of a template causes new Machines."""
    bootstrap = spec.bootstrap
    reference = bootstrap.config_ref.same_object if bootstrap.config_ref else bootstrap.data_secret_name
    return spec.version, spec.failure_domain, reference, spec.infrastructure_ref.same_object


def _due(view: View, deployment: MachineDeployment) -> str:
    """The moment from which Machines have to be, once it has come."""
    after = deployment.spec.rollout.after
    return after if after is not None and view.reached(moment(after)) else ""


def is_current(view: View, deployment: MachineDeployment, machine_set: MachineSet) -> bool:
    """Whether a set is of today's template."""
    if _relevant(machine_set.spec.template.spec) != _relevant(deployment.spec.template.spec):
        return False
    due, created = _due(view, deployment), machine_set.metadata.creation_timestamp
    return not due or created is None or moment(created) >= moment(due)


def sort_out(view: View, deployment: MachineDeployment, owned: Iterable[MachineSet]) -> PoolSets:
    ordered = sorted(owned, key=lambda one: (one.metadata.creation_timestamp or "", one.metadata.name))
    current = [one for one in ordered if not one.metadata.deleting and is_current(view, deployment, one)]
    new = current[0] if current else None
    return PoolSets(new, tuple(one for one in ordered if one is not new))


def template_hash(view: View, deployment: MachineDeployment) -> str:
    """A word for today's template. It holds the pool's name, so that no two pools share a word."""
    relevant = _relevant(deployment.spec.template.spec)
    return content_hash([deployment.metadata.name, relevant, _due(view, deployment)], None)


def set_name(deployment: MachineDeployment, word: str) -> str:
    return f"{deployment.metadata.name[:_MAX_BASE_CHARS]}-{word}"


def revision_of(machine_set: MachineSet) -> int:
    text = machine_set.metadata.annotations.get(REVISION, "")
    return int(text) if text.isdecimal() else 0
