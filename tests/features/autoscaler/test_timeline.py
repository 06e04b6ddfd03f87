"""What happened in the pools, put together from events, conditions and the log of decisions."""

from __future__ import annotations

from typing import Any

from mooring.features.autoscaler.diagnosis import CLAIM, HOST, POOL, TEMPLATE
from mooring.features.autoscaler.timeline.moments import pool_timeline
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.machines import ByoMachine
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.manifests.views import convert
from mooring.runtime.pool_report import PoolEvent, PoolMoment

GROUP = "MachineDeployment/default/gpu"
NO_POOLS: dict[str, list[Any]] = {POOL: [], HOST: [], TEMPLATE: [], CLAIM: []}


def at(minute: int, second: int = 0) -> str:
    return f"2026-01-01T12:{minute:02}:{second:02}Z"


def event(kind: str, name: str, reason: str, message: str, time: str) -> PoolEvent:
    return PoolEvent(kind, "default", name, reason, message, time)


def joined(host: str, time: str, machine: str = "gpu-5d8f-abcde") -> PoolEvent:
    return event(CLAIM, machine, "NodeProvisionedSucceeded", f"ByoHost {host} is a Node", time)


def left(host: str, time: str, machine: str = "gpu-5d8f-abcde") -> PoolEvent:
    return event(CLAIM, machine, "ByoHostReleaseSucceeded", f"Released ByoHost {host}", time)


def claim(name: str, host: str, since: str, pool: str = "gpu") -> ByoMachine:
    """A host that is a node of a pool."""
    condition = {"type": "BYOHostReady", "status": "True", "lastTransitionTime": since}
    status = {"hostRef": {"name": host}, "nodeRef": {"name": host}, "conditions": [condition]}
    labels = {"cluster.x-k8s.io/deployment-name": pool}
    metadata = {"name": name, "namespace": "default", "labels": labels}
    found: ByoMachine = convert({"metadata": metadata, "status": status}, ByoMachine)
    return found


def told(*events: PoolEvent, log: str = "", world: dict[str, list[Any]] | None = None) -> list[PoolMoment]:
    return list(pool_timeline({**NO_POOLS, **(world or {})}, {"log": log}, events))


def words(moments: list[PoolMoment]) -> list[tuple[str, str, str, int]]:
    return [(each.pool, each.kind, each.text, each.nodes) for each in moments]


def test_a_scale_up_names_the_pods_it_was_for_and_is_told_once() -> None:
    plan = f"[{{{GROUP} 1->3 (max: 4)}}]"
    pods = [
        event("Pod", name, "TriggeredScaleUp", f"pod triggered scale-up: {plan}", at(1, second))
        for name, second in (("b", 1), ("a", 2))
    ]
    scaled = event(POOL, "gpu", "SuccessfulScale", "Scaled up MachineSet gpu-5d8f from 1 to 3", at(1, 3))
    found = told(*pods, scaled, log=f"{at(1)} Final scale-up plan: {plan}\n")
    assert words(found) == [
        ("gpu", "grown", "The autoscaler scaled it from 1 to 3, for 2 pods: default/a and default/b", 0)
    ]


def test_the_same_sizes_an_hour_later_are_another_decision() -> None:
    log = "".join(f"{time} Final scale-up plan: [{{{GROUP} 0->1 (max: 4)}}]\n" for time in (at(0), at(59)))
    assert [each.time for each in told(log=log)] == [at(0), at(59)]


def test_a_person_who_scales_is_not_the_autoscaler() -> None:
    found = told(event(POOL, "gpu", "SuccessfulScale", "Scaled down MachineSet gpu-5d8f from 3 to 2", at(1)))
    assert words(found) == [("gpu", "shrunk", "It was scaled from 3 to 2", 0)]


def test_nodes_are_counted_back_from_those_there_are() -> None:
    world = {CLAIM: [claim("gpu-5d8f-stays", "h2", at(3))]}
    found = told(joined("h1", at(1)), left("h1", at(5)), world=world)
    assert words(found) == [
        ("gpu", "joined", "h1 joined as a node", 1),
        ("gpu", "joined", "h2 joined as a node", 2),
        ("gpu", "left", "h1 left, and is free again", 1),
    ]


def test_a_node_whose_event_is_forgotten_joined_when_its_condition_says() -> None:
    world = {CLAIM: [claim("gpu-5d8f-stays", "h2", at(3))]}
    assert told(world=world) == told(joined("h2", at(3, 1), "gpu-5d8f-stays"), world=world)


def test_a_silent_host_is_lost_to_the_pool_that_claims_it() -> None:
    healthy = {"type": "HostHealthy", "status": "False", "reason": "HeartbeatStale", "message": "no heartbeat for 40s"}
    status = {"machineRef": {"name": "gpu-5d8f-abcde"}, "conditions": [{**healthy, "lastTransitionTime": at(9)}]}
    host = convert({"metadata": {"name": "h1", "namespace": "default"}, "status": status}, HostClaim)
    found = told(world={CLAIM: [claim("gpu-5d8f-abcde", "h1", at(1))], HOST: [host]})
    assert words(found)[-1] == ("gpu", "lost", "h1 is silent: no heartbeat for 40s", 1)


def test_a_node_that_is_not_ready_is_lost_to_its_pool_and_other_nodes_are_nobodys_business() -> None:
    events = [event("Node", name, "NodeNotReady", "Node is not ready", at(4)) for name in ("h1", "other")]
    found = told(*events, world={CLAIM: [claim("gpu-5d8f-abcde", "h1", at(1))]})
    assert words(found)[1:] == [("gpu", "lost", "h1 is not ready", 1)]


def test_a_node_that_the_autoscaler_removes_is_told_with_its_reason_once() -> None:
    why = "utilization: cpu 0.09, pods to reschedule: web"
    said = event(
        "ConfigMap", "cluster-autoscaler-status", "ScaleDown", f"Scale-down: removing node h1, {why}", at(8, 1)
    )
    found = told(joined("h1", at(1)), said, left("h1", at(9)), log=f"{at(8)} Scale-down: removing node h1\n")
    assert [each for each in words(found) if each[1] == "shrunk"] == [
        ("gpu", "shrunk", f"The autoscaler removes h1: {why}", 1)
    ]


def test_growth_that_brought_no_node_is_a_problem_and_is_taken_back() -> None:
    status = "cluster-autoscaler-status"
    late = event(
        "ConfigMap", status, "ScaleUpTimedOut", f"Nodes added to group {GROUP} failed to register within 15m", at(1)
    )
    reverted = f"Lowering size of group {GROUP} to 1 instead of 2: no more nodes came in time"
    assert words(told(late, event("ConfigMap", status, "ScaleUpReverted", reverted, at(2)))) == [
        ("gpu", "problem", "No node came of the last scale-up within 15m", 0),
        ("gpu", "shrunk", "The autoscaler lowered it to 1: no more nodes came in time", 0),
    ]


def test_a_pool_begins_when_it_was_made_and_says_for_whom() -> None:
    metadata = {"name": "gpu", "namespace": "default", "creationTimestamp": at(0)}
    annotations = {"mooring.dev/replica-pool-for": "serving/deepseek-0"}
    plain, replica = (
        convert({"metadata": {**metadata, **more}, "spec": {}}, MachineDeployment)
        for more in ({}, {"annotations": annotations})
    )
    assert words(told(world={POOL: [plain]})) == [("gpu", "made", "The pool was made", 0)]
    assert words(told(world={POOL: [replica]})) == [("gpu", "made", "The pool was made for serving/deepseek-0", 0)]


def test_a_claim_that_finds_no_host_says_why() -> None:
    found = told(event(CLAIM, "gpu-5d8f-abcde", "ByoHostSelectionFailed", "No host is claimed: none is free", at(1)))
    assert words(found) == [("gpu", "problem", "No host is claimed: none is free", 0)]
