"""MachineDeployment: rolls Machines from one template to the next by growing one MachineSet and shrinking the others.

Each run takes one step and writes down what it saw; the sets' answers wake it for the next. Which sets are its own is a
matter of owner references: pools of one cluster may have equal selectors.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from mooring.api.conditions import find_condition, set_conditions
from mooring.api.kinds import Key, key_of
from mooring.api.meta import Condition
from mooring.features.hosts.api.conditions import HOSTS_UNAVAILABLE
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BOOTSTRAP_KUBECONFIG_TEMPLATE, BYO_MACHINE_TEMPLATE
from mooring.features.machines.api import conditions as say
from mooring.features.machines.api.kinds import CLUSTER, MACHINE, MACHINE_DEPLOYMENT, MACHINE_SET
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.machine_sets import MachineSet
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import DEPLOYMENT_NAME, MACHINE_DEPLOYMENT_FINALIZER, REVISION
from mooring.features.machines.blocks import Block, missing_cluster, pause_of, paused_condition
from mooring.features.machines.blueprints import find_blueprint
from mooring.features.machines.pools.rollout import PoolLimits, SetSize, on_delete_step, rolling_step
from mooring.features.machines.pools.sets import machine_set_of, new_machine_set
from mooring.features.machines.pools.status import conditions_of, versions_of
from mooring.features.machines.pools.templates import (
    PoolSets,
    revision_of,
    selector_of,
    set_name,
    sort_out,
    template_hash,
)
from mooring.kube.intorpercent import resolve
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Apply, Decision, Delete, Event, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.finalizers import add_finalizer, remove_finalizer
from mooring.workloads.ownerrefs import adopt, is_controlled_by
from mooring.workloads.podcontrol import status_change

ON_DELETE: Final = "OnDelete"
NAME_TAKEN: Final = "MachineSetNameTaken"


class ObservedPool(NamedTuple):
    """One look at a MachineDeployment."""

    deployment: MachineDeployment
    sets: PoolSets
    machines: tuple[Machine, ...]
    now: datetime

    @property
    def limits(self) -> PoolLimits:
        rolling, wanted = self.deployment.spec.rollout.strategy.rolling_update, self.deployment.wanted
        surge = 1 if rolling.max_surge is None else rolling.max_surge
        unavailable = 0 if rolling.max_unavailable is None else rolling.max_unavailable
        return PoolLimits(wanted, resolve(surge, wanted, up=True), resolve(unavailable, wanted, up=False))

    @property
    def replaces(self) -> bool:
        """Whether Machines of an older template are replaced without anybody's doing."""
        return self.deployment.spec.rollout.strategy.type != ON_DELETE

    @property
    def outdated(self) -> int:
        return sum(max(each.wanted, each.status.replicas) for each in self.sets.old)

    def size(self, machine_set: MachineSet) -> SetSize:
        owned = [each for each in self.machines if is_controlled_by(each, machine_set)]
        staying = sum(not each.metadata.deleting for each in owned)
        available = machine_set.status.available_replicas
        # A set that somebody deletes wants nothing any more; its Machines have their hosts until they are gone.
        wanted = 0 if machine_set.metadata.deleting else machine_set.wanted
        return SetSize(machine_set.metadata.name, wanted, len(owned), available, staying)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    deployment = view.get(MACHINE_DEPLOYMENT, *key)
    if deployment is None:
        return Decision()
    owned = view.owned(MACHINE_SET, deployment)
    machines = tuple(machine for each in owned for machine in view.owned(MACHINE, each))
    pool = ObservedPool(deployment, sort_out(view, deployment, owned), machines, now)

    # 1. A pool that goes takes its sets along, and waits for them.
    if deployment.metadata.deleting:
        return _deleted(pool)
    if added := add_finalizer(MACHINE_DEPLOYMENT, deployment, MACHINE_DEPLOYMENT_FINALIZER):
        return Decision(intent=added)

    # 2. Its Cluster is there, and nobody has paused it.
    cluster = view.get(CLUSTER, key.namespace, deployment.spec.cluster_name)
    if cluster is None:
        return Decision(status=_status(pool, missing_cluster(key.namespace, deployment.spec.cluster_name)))
    if pause := pause_of(cluster, deployment.metadata.annotations, paused=deployment.spec.paused):
        return Decision(status=_status(pool, pause=pause))

    # 3. Sets that were its own before.
    if adopted := _adopted(view, deployment):
        return Decision(intent=adopted)

    # 4. Today's template has a set, or gets one once all that it names is there.
    blueprint = find_blueprint(view, key.namespace, deployment.spec.template.spec)
    block = blueprint if isinstance(blueprint, Block) else None
    if pool.sets.new is None:
        return _introduced(view, pool) if block is None else Decision(status=_status(pool, block, stuck=block))

    # 5. One step of the rollout, and what reaches Machines without one.
    old = [pool.size(each) for each in pool.sets.old]
    step = rolling_step if pool.replaces else on_delete_step
    sizes = step(pool.limits, pool.size(pool.sets.new), old)
    writes, events = _written(pool, sizes)

    # 6. The number of today's template; the status of a custom kind takes no annotations.
    number = str(_revision(pool, pool.sets.new))
    if deployment.metadata.annotations.get(REVISION) != number:
        noted = Patch(MACHINE_DEPLOYMENT, key, {"metadata": {"annotations": {REVISION: number}}})
        return Decision(intent=(noted,), children=tuple(writes), events=tuple(events))

    # 7. Status says what was seen.
    stuck = None if sizes else _stuck(pool)
    told = find_condition(deployment.status.conditions, say.ROLLING_OUT)
    if stuck is not None and (told is None or told.reason != stuck.reason):
        events.append(Event(MACHINE_DEPLOYMENT, key, "Warning", stuck.reason, stuck.message))
    return Decision(children=tuple(writes), status=_status(pool, block, stuck=stuck), events=tuple(events))


def _deleted(pool: ObservedPool) -> Decision:
    if not pool.sets.all:
        return Decision(release=remove_finalizer(MACHINE_DEPLOYMENT, pool.deployment, MACHINE_DEPLOYMENT_FINALIZER))
    going = tuple(Delete(MACHINE_SET, key_of(each)) for each in pool.sets.all if not each.metadata.deleting)
    return Decision(children=going, status=_status(pool))


def _adopted(view: View, deployment: MachineDeployment) -> tuple[Patch, ...]:
    name, selector = deployment.metadata.name, selector_of(deployment.spec.selector)
    orphans = view.list(MACHINE_SET, "orphan", deployment.metadata.namespace)
    return tuple(
        adopt(MACHINE_SET, each, MACHINE_DEPLOYMENT, deployment)
        for each in orphans
        if each.metadata.labels.get(DEPLOYMENT_NAME) == name and selector.matches(each.metadata.labels)
    )


def _revision(pool: ObservedPool, machine_set: MachineSet) -> int:
    """The newest set has the highest number, also one that is taken up again."""
    number = revision_of(machine_set)
    if machine_set is not pool.sets.new:
        return number
    return max(number, 1 + max((revision_of(each) for each in pool.sets.old), default=0))


def _introduced(view: View, pool: ObservedPool) -> Decision:
    """A set for today's template. It gets its Machines in the next steps."""
    deployment = pool.deployment
    key, word = key_of(deployment), template_hash(view, deployment)
    name = set_name(deployment, word)
    taken = view.get(MACHINE_SET, key.namespace, name)
    if taken is not None:
        text = f"MachineSet {name} is needed and belongs to another, or is being deleted; delete it"
        return Decision(status=_status(pool, Block(NAME_TAKEN, text)))
    made = new_machine_set(deployment, word, 1 + max((revision_of(each) for each in pool.sets.old), default=0))
    events = [_event(deployment, "Normal", "SuccessfulCreate", f"Created MachineSet {name}", made)]
    if shared := _equal_selectors(view, deployment):
        text = (
            f"the selector is also that of {', '.join(shared)}; Machines are told apart by their owners, but tools "
            "that go by the selector count those of all of them; add a label that only this pool has"
        )
        events.append(_event(deployment, "Warning", "EqualSelectors", text, made))
    return Decision(children=(made,), status=_status(pool), events=tuple(events))


def _equal_selectors(view: View, deployment: MachineDeployment) -> list[str]:
    """Other pools of the cluster that select the same Machines."""
    own = selector_of(deployment.spec.selector)
    pools = view.list(MACHINE_DEPLOYMENT, "namespace", deployment.metadata.namespace)
    others = (each for each in pools if each.metadata.uid != deployment.metadata.uid)
    return sorted(each.metadata.name for each in others if str(selector_of(each.spec.selector)) == str(own))


def _event(
    deployment: MachineDeployment, kind: Literal["Normal", "Warning"], reason: str, text: str, after: Apply
) -> Event:
    return Event(MACHINE_DEPLOYMENT, key_of(deployment), kind, reason, text, (MACHINE_SET, after.key))


def _written(pool: ObservedPool, sizes: dict[str, int]) -> tuple[list[Write], list[Event]]:
    """The sets with their sizes; old ones that have no Machine any more go."""
    writes: list[Write] = []
    events: list[Event] = []
    for each in pool.sets.all:
        if each.metadata.deleting:
            continue
        old, size, key = each is not pool.sets.new, sizes.get(each.metadata.name, each.wanted), key_of(each)
        if old and size == each.wanted == 0 and not pool.size(each).existing:
            writes.append(Delete(MACHINE_SET, key))
            continue
        closed = old and not pool.replaces
        made = machine_set_of(pool.deployment, each, size, _revision(pool, each), closed=closed)
        writes.append(made)
        if size != each.wanted:
            text = f"Scaled {'up' if size > each.wanted else 'down'} MachineSet {key.name} from {each.wanted} to {size}"
            events.append(_event(pool.deployment, "Normal", "SuccessfulScale", text, made))
    return writes, events


def _stuck(pool: ObservedPool) -> Block | None:
    """Why a rollout does not go on: a Machine of the new template finds no host while the old ones keep theirs."""
    if pool.sets.new is None or not pool.outdated or not pool.replaces:
        return None
    for machine in pool.machines:
        found = find_condition(machine.status.conditions, say.INFRASTRUCTURE_READY)
        if found is None or found.reason != HOSTS_UNAVAILABLE or not is_controlled_by(machine, pool.sets.new):
            continue
        text = (
            f"Machine {machine.metadata.name} of the new template finds no free host: {found.message}. Free a host, or "
            "set maxSurge to 0 and maxUnavailable to 1, so that hosts of old Machines are used again"
        )
        return Block(say.ROLLOUT_BLOCKED, text)
    return None


def _rolling_out(pool: ObservedPool, stuck: Block | None) -> Condition:
    if not pool.outdated:
        return Condition(say.ROLLING_OUT, "False", say.NOT_ROLLING_OUT)
    if stuck is not None:
        return Condition(say.ROLLING_OUT, "True", stuck.reason, stuck.message)
    text = f"{pool.outdated} Machines are not of the newest template"
    if not pool.replaces:
        text += "; they are replaced when somebody deletes them"
    return Condition(say.ROLLING_OUT, "True", say.IS_ROLLING_OUT, text)


def _available(pool: ObservedPool, block: Block | None, available: int) -> Condition:
    least = pool.deployment.wanted - pool.limits.unavailable
    if available >= least:
        return Condition(say.AVAILABLE, "True", say.IS_AVAILABLE)
    if block is not None:
        return Condition(say.AVAILABLE, "False", block.reason, block.message)
    text = f"{available} Machines are available, and {least} have to be"
    return Condition(say.AVAILABLE, "False", say.NOT_AVAILABLE, text)


def _status(
    pool: ObservedPool, block: Block | None = None, *, pause: str = "", stuck: Block | None = None
) -> tuple[Patch, ...]:
    deployment, sets = pool.deployment, pool.sets.all
    old, meta = deployment.status, deployment.metadata
    there = sum(each.status.replicas for each in sets)
    available = sum(each.status.available_replicas for each in sets)
    wanted = (
        _available(pool, block, available),
        *conditions_of(pool.machines, deployment.wanted, block, paused_condition(pause), going=meta.deleting),
        _rolling_out(pool, stuck),
    )
    new = replace(
        old,
        conditions=set_conditions(old.conditions, wanted, pool.now),
        observed_generation=meta.generation,
        selector=str(selector_of(deployment.spec.selector)),
        replicas=there,
        ready_replicas=sum(each.status.ready_replicas for each in sets),
        available_replicas=available,
        up_to_date_replicas=sum(each.status.up_to_date_replicas for each in sets),
        versions=versions_of(pool.machines),
        phase=_phase(deployment, there),
    )
    always = ("replicas", "readyReplicas", "availableReplicas", "upToDateReplicas")
    return status_change(MACHINE_DEPLOYMENT, deployment, old, new, always)


def _phase(deployment: MachineDeployment, there: int) -> str:
    if deployment.wanted == there:
        return "Running"
    return "ScalingUp" if deployment.wanted > there else "ScalingDown"


CONTROLLER = Controller(
    name="machinedeployment",
    reporter="machinedeployment-controller",
    reconcile=reconcile,
    of=MACHINE_DEPLOYMENT,
    reads=(
        CLUSTER,
        MACHINE_SET,
        MACHINE,
        BYO_MACHINE_TEMPLATE,
        BOOTSTRAP_KUBECONFIG,
        BOOTSTRAP_KUBECONFIG_TEMPLATE,
    ),
    writes={
        MACHINE_DEPLOYMENT: ("patch", "status", "finalizers"),
        MACHINE_SET: ("create", "patch", "delete"),
    },
)
