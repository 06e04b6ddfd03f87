"""What is told about pools of replicas: on the pods that wait, on the pools, and on the policy."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.api.kinds import Key, key_of
from mooring.features.autoscaler.replica_pools.decision import ReplicaPoolsDecision
from mooring.features.autoscaler.replica_pools.policy import POLICY_CONFIG_MAP, ReplicaPoolPolicy
from mooring.features.autoscaler.replica_pools.replicas import Replica
from mooring.features.machines.api.kinds import MACHINE, MACHINE_DEPLOYMENT
from mooring.runtime.decision import Event
from mooring.workloads.kinds import CONFIG_MAP, POD

__all__ = ["policy_event", "pool_events"]


def pool_events(decision: ReplicaPoolsDecision, policy: ReplicaPoolPolicy | None) -> Iterator[Event]:
    for new in decision.made:
        assert policy is not None, "pools are made by a policy"
        key = Key(policy.namespace, new.name)
        yield from _growth(new.replica, key, 0, new.sizing.hosts)
    for grown in decision.grown:
        yield from _growth(grown.replica, grown.pool.key, grown.pool.target, grown.target)
    for refusal in decision.refused:
        text = f"no nodes are added for {refusal.replica.label}: {refusal.reason}"
        yield from _on_pods(refusal.replica, "NotTriggerScaleUp", text)
    for replica, pool in decision.shared:
        text = (
            f"{pool.name} was made for {pool.made_for}, and {replica.name} asks for nodes with {replica.label} too: "
            "they share the pool; give them different label keys if they should not"
        )
        yield from _on_pods(replica, "ReplicaPoolShared", text)
    for pool in decision.removed:
        text = f"its replica {pool.made_for} is gone, so the pool is removed and its hosts go back"
        yield Event(MACHINE_DEPLOYMENT, pool.key, "Normal", "ReplicaPoolRemoved", text)
    for lost in decision.replaced:
        key = key_of(lost.machine)
        text = f"{lost.reason}: Machine {key.name} goes, and another takes its place on a free host"
        yield Event(MACHINE_DEPLOYMENT, lost.pool.key, "Warning", "HostLost", text, (MACHINE, key))
    for lost in decision.stuck:
        text = f"{lost.reason}, and no other host is free in its place; bring it back, or free another"
        yield Event(MACHINE_DEPLOYMENT, lost.pool.key, "Warning", "HostLost", text)


def policy_event(problem: str) -> Event:
    return Event(CONFIG_MAP, POLICY_CONFIG_MAP, "Warning", "InvalidPolicy", problem)


def _growth(replica: Replica, pool: Key, before: int, after: int) -> Iterator[Event]:
    plan = f"[{{MachineDeployment/{pool.namespace}/{pool.name} {before}->{after} (max: {after})}}]"
    for pod in replica.unbound:
        key = Key(pod.metadata.namespace, pod.metadata.name)
        text = f"pod triggered scale-up: {plan}"
        yield Event(POD, key, "Normal", "TriggeredScaleUp", text, (MACHINE_DEPLOYMENT, pool))


def _on_pods(replica: Replica, reason: str, text: str) -> Iterator[Event]:
    for pod in replica.unbound if reason == "NotTriggerScaleUp" else replica.pods:
        yield Event(POD, Key(pod.metadata.namespace, pod.metadata.name), "Normal", reason, text)
