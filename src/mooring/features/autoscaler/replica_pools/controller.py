"""Pools of replicas as a controller: one key that looks at replicas, hosts and pools together.

It stands beside the autoscaler's own loop, which knows nothing of these pools: they have no label by which it finds
pools. Everything but since when a pool is unneeded is at the API server, so a crash loses nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

import msgspec

from mooring.api.core.types import Namespace
from mooring.api.kinds import Indexers, Key, Kind, key_of
from mooring.features.autoscaler.flags import FLAGS, REPLICA_POOL_UNNEEDED_TIME, SCAN_INTERVAL, settings_of
from mooring.features.autoscaler.kinds import SCALED_DAEMON_SET, SCALED_NODE, SCALED_POD
from mooring.features.autoscaler.pods import is_unschedulable
from mooring.features.autoscaler.replica_pools.decision import (
    ReplicaPoolsDecision,
    ReplicaWorld,
    decide_replica_pools,
)
from mooring.features.autoscaler.replica_pools.events import policy_event, pool_events
from mooring.features.autoscaler.replica_pools.objects import host_template, machine_deployment
from mooring.features.autoscaler.replica_pools.policy import (
    HOW_TO_ALLOW,
    POLICY_CONFIG_MAP,
    ReplicaPoolPolicy,
    read_policy,
)
from mooring.features.autoscaler.replica_pools.pools import (
    ReplicaPool,
    free_hosts,
    host_claims,
    read_replica_pools,
    stray_templates,
)
from mooring.features.autoscaler.replica_pools.replicas import Replica, looks_unique, read_replicas
from mooring.features.autoscaler.replica_pools.report import is_told, report_of, report_write
from mooring.features.autoscaler.reports.events import STATUS_CONFIG_MAP
from mooring.features.autoscaler.reports.status_config_map import STATUS
from mooring.features.autoscaler.surroundings import bound_pods, nodes_of
from mooring.features.autoscaler.views import AutoscalerPod
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.kinds import (
    BOOTSTRAP_KUBECONFIG,
    BOOTSTRAP_KUBECONFIG_TEMPLATE,
    BYO_HOST,
    BYO_MACHINE,
    BYO_MACHINE_TEMPLATE,
    K8S_INSTALLER_CONFIG_TEMPLATE,
)
from mooring.features.hosts.api.machines import ByoMachineSpec, ByoMachineTemplate, ByoMachineTemplateSpec
from mooring.features.hosts.api.matching import suits
from mooring.features.machines.api.kinds import CLUSTER, MACHINE, MACHINE_DEPLOYMENT, MACHINE_SET
from mooring.features.machines.api.names import PAUSED
from mooring.kube.errors import MooringError
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Event, Scale, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import NAMESPACE

__all__ = ["CONTROLLER"]

NAME: Final = "replica-pools"
_WAITING: Final = "waiting"
# Kinds that a policy may refer to, and that are looked for before a pool is made.
_REFERRED: Final[Mapping[str, Kind[Any]]] = {
    each.kind: each for each in (BOOTSTRAP_KUBECONFIG, BOOTSTRAP_KUBECONFIG_TEMPLATE, K8S_INSTALLER_CONFIG_TEMPLATE)
}


class ReplicaPoolsMemory(msgspec.Struct, frozen=True):
    looked_at: datetime
    unneeded_since: Mapping[Key, datetime] = msgspec.field(default_factory=dict)
    # What was told last: it is not told again.
    told: frozenset[tuple[str, Key, str]] = frozenset()


class StatedPolicy(NamedTuple):
    """The policy, or what is wrong with it; neither where there is none."""

    policy: ReplicaPoolPolicy | None = None
    problem: str = ""


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    memory = view.memory(ReplicaPoolsMemory)
    # 1. The last look is long enough ago. Until then nothing is asked, so nothing but time wakes the key.
    if memory is not None and not view.reached(memory.looked_at + view.settings[SCAN_INTERVAL]):
        return Decision(memory=memory)
    # 2. There are hosts to make pools from, or pools that were made. Otherwise neither pods nor nodes are followed.
    pools, strays = read_replica_pools(view), stray_templates(view)
    if not pools and not strays and not view.list(BYO_HOST):
        return Decision()
    # 3. Something is to be done, or to be told or untold: a look at all pods and nodes is only worth it then.
    stated = _stated_policy(view)
    found = view.get(STATUS, *STATUS_CONFIG_MAP)
    if not pools and not strays and not stated.problem and not is_told(found) and not _is_awaited(view, stated.policy):
        return Decision()
    # 4. What is needed and what may be done.
    known = {} if memory is None else memory.unneeded_since
    decision = decide_replica_pools(
        _world(view, stated, pools, strays), known, view.settings[REPLICA_POOL_UNNEEDED_TIME], now, settings_of(view)
    )
    for moment in decision.due:
        view.reached(moment)
    view.poll_again(now + view.settings[SCAN_INTERVAL])
    # 5. It is done and told. A template comes before the pool that is made from it, and goes after it.
    report = report_of(decision, stated.problem)
    events = _events(decision, stated)
    writes = _writes(decision, stated.policy, strays)
    told = tuple(report_write(found, report))
    return Decision(
        intent=writes.templates,
        children=writes.pools,
        status=told,
        release=writes.strays,
        events=tuple(each for each in events if memory is None or _said(each) not in memory.told),
        memory=ReplicaPoolsMemory(now, decision.unneeded_since, frozenset(map(_said, events))),
        final=not any(writes),
    )


def _said(event: Event) -> tuple[str, Key, str]:
    return event.reason, event.key, event.message


def _events(decision: ReplicaPoolsDecision, stated: StatedPolicy) -> list[Event]:
    wrong = [policy_event(stated.problem)] if stated.problem else []
    return [*wrong, *pool_events(decision, stated.policy)]


def _by_waiting(pod: AutoscalerPod) -> Iterable[str]:
    """Pods that wait for a node of some label: few, however many pods there are."""
    return (_WAITING,) if pod.spec.node_selector and is_unschedulable(pod) else ()


def _is_awaited(view: View, policy: ReplicaPoolPolicy | None) -> bool:
    """Whether a pod waits for nodes of its replica."""
    waiting = view.list(SCALED_POD, _WAITING, _WAITING)
    if policy is None:
        return any(looks_unique(pod) is not None for pod in waiting)
    return any(key in (pod.spec.node_selector or {}) for pod in waiting for key in policy.label_keys)


def _stated_policy(view: View) -> StatedPolicy:
    found = view.get(STATUS, *POLICY_CONFIG_MAP)
    if found is None:
        return StatedPolicy()
    try:
        return StatedPolicy(read_policy(found.data))
    except MooringError as error:
        return StatedPolicy(problem=error.message)


def _world(view: View, stated: StatedPolicy, pools: list[ReplicaPool], strays: Collection[Key]) -> ReplicaWorld:
    policy = stated.policy
    hosts = [] if policy is None else _hosts(view, policy)
    namespace = "" if policy is None else policy.namespace
    made = (*map(key_of, view.list(MACHINE_DEPLOYMENT)), *map(key_of, view.list(BYO_MACHINE_TEMPLATE)))
    return ReplicaWorld(
        policy,
        _obstacle(view, stated),
        _replicas(view, policy, pools),
        pools,
        hosts,
        free_hosts(view, hosts),
        [] if policy is None else host_claims(view, namespace),
        frozenset(each.name for each in made if each.namespace == namespace and each not in strays),
        nodes_of(view),
        bound_pods(view),
        sorted(view.list(SCALED_DAEMON_SET), key=lambda each: (each.metadata.namespace, each.metadata.name)),
        cast(list[Namespace], [*view.list(NAMESPACE)]),
    )


def _hosts(view: View, policy: ReplicaPoolPolicy) -> list[HostClaim]:
    wanted = ByoMachineSpec(selector=policy.host_selector)
    found = (host for host in view.list(BYO_HOST, "label", policy.namespace) if suits(host, wanted))
    return sorted(found, key=lambda host: host.metadata.name)


def _replicas(view: View, policy: ReplicaPoolPolicy | None, pools: list[ReplicaPool]) -> list[Replica]:
    """Without a policy, those that have a pool, and those whose pods look as if they wait for one."""
    pods, labels = view.list(SCALED_POD), {pool.label for pool in pools}
    if policy is not None:
        keys = {*policy.label_keys, *(label.key for label in labels)}
        return read_replicas(pods, keys, policy.size_annotation)
    labels |= {label for pod in pods if is_unschedulable(pod) and (label := looks_unique(pod)) is not None}
    found = read_replicas(pods, {label.key for label in labels}, "")
    return [replica for replica in found if replica.label in labels]


def _obstacle(view: View, stated: StatedPolicy) -> str:
    """Why no pool can be made at all, in one sentence with the way out."""
    policy = stated.policy
    if policy is None:
        return stated.problem or HOW_TO_ALLOW
    namespace = policy.namespace
    cluster = view.get(CLUSTER, namespace, policy.cluster)
    if cluster is None:
        return f"there is no Cluster {policy.cluster} in namespace {namespace}, which clusterName of the policy names"
    if cluster.spec.paused or PAUSED in cluster.metadata.annotations:
        return f"Cluster {policy.cluster} is paused; set its spec.paused to false and take its annotation {PAUSED} off"
    for name, to in (("bootstrapConfigRef", policy.bootstrap), ("installerRef", policy.installer)):
        if to is not None and to.kind in _REFERRED and view.get(_REFERRED[to.kind], namespace, to.name) is None:
            return f"there is no {to} in namespace {namespace}, which {name} of the policy names"
    return ""


class PoolWrites(NamedTuple):
    """Templates come before pools, and those that belong to no pool go."""

    templates: tuple[Write, ...]
    pools: tuple[Write, ...]
    strays: tuple[Write, ...]


def _writes(
    decision: ReplicaPoolsDecision, policy: ReplicaPoolPolicy | None, strays: Mapping[Key, ByoMachineTemplate]
) -> PoolWrites:
    templates: list[Write] = []
    pools: list[Write] = []
    used: set[Key] = set()
    for new in decision.made:
        assert policy is not None, "pools are made by a policy"
        template, key = host_template(new, policy), Key(policy.namespace, new.name)
        stray = strays.get(key)
        if stray is None:
            templates.append(Create(BYO_MACHINE_TEMPLATE, template))
        elif msgspec.convert(template["spec"], ByoMachineTemplateSpec) == stray.spec:
            # Whoever made it died before the pool was there.
            used.add(key)
        else:
            continue
        pools.append(Create(MACHINE_DEPLOYMENT, machine_deployment(new, policy)))
    pools += (Scale(MACHINE_DEPLOYMENT, each.pool.key, each.target) for each in decision.grown)
    pools += (Delete(MACHINE, key_of(each.machine)) for each in decision.replaced)
    pools += (Delete(MACHINE_DEPLOYMENT, each.key) for each in decision.removed)
    left = (Delete(BYO_MACHINE_TEMPLATE, key) for key in sorted(strays) if key not in used)
    return PoolWrites(tuple(templates), tuple(pools), tuple(left))


CONTROLLER: Final = Controller(
    NAME,
    reconcile,
    reads=(
        MACHINE_DEPLOYMENT,
        MACHINE_SET,
        MACHINE,
        CLUSTER,
        BYO_HOST,
        BYO_MACHINE,
        BYO_MACHINE_TEMPLATE,
        BOOTSTRAP_KUBECONFIG,
        BOOTSTRAP_KUBECONFIG_TEMPLATE,
        K8S_INSTALLER_CONFIG_TEMPLATE,
        SCALED_NODE,
        SCALED_POD,
        SCALED_DAEMON_SET,
        NAMESPACE,
        STATUS,
    ),
    writes={
        MACHINE_DEPLOYMENT: ("create", "scale", "delete"),
        BYO_MACHINE_TEMPLATE: ("create", "delete"),
        MACHINE: ("delete",),
        STATUS: ("create", "patch"),
    },
    memory=ReplicaPoolsMemory,
    settings=FLAGS,
    indexers=(Indexers(SCALED_POD, indexes={_WAITING: _by_waiting}),),
)
