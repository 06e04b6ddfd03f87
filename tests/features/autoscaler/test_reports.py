"""What the autoscaler tells: on pods, in its log, and in its status."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from mooring.features.autoscaler.discovery import PoolObjects, discover
from mooring.features.autoscaler.loop import LoopDecision, LoopMemory, decide
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.reports.events import loop_events
from mooring.features.autoscaler.reports.log_lines import discovery_lines, loop_lines
from mooring.features.autoscaler.reports.status import loop_status
from mooring.features.autoscaler.settings import AutoscalerSettings
from tests.features.autoscaler.clusters import (
    NOON,
    aged_pod,
    cluster,
    machine_deployment,
    nodes_of,
    pods,
    pool,
    ready_node,
)

SETTINGS = AutoscalerSettings()
MINUTE = timedelta(minutes=1)


def told(reason: str, groups: list[NodeGroup], decision: LoopDecision) -> list[str]:
    return [event.message for event in loop_events(decision, groups) if event.reason == reason]


def test_pods_are_told_what_grows_for_them() -> None:
    groups = [pool("web", cpu="4")]
    decision = decide(cluster(groups), pods(2, cpu="3"), LoopMemory(), NOON, SETTINGS)
    assert told("TriggeredScaleUp", groups, decision) == ["pod triggered scale-up: [{web 0->2 (max: 10)}]"] * 2
    assert told("ScaledUpGroup", groups, decision) == ["Scale-up: setting group web size to 2 instead of 0 (max: 10)"]


def test_pods_are_told_why_nothing_grows_for_them() -> None:
    groups = [pool("web", most=0), pool("small", cpu="1")]
    decision = decide(cluster(groups), [aged_pod("huge", cpu="64")], LoopMemory(), NOON, SETTINGS)
    assert told("NotTriggerScaleUp", groups, decision) == [
        "pod didn't trigger scale-up: 1 Insufficient cpu, 1 max node group size reached"
    ]


def test_a_scale_up_that_failed_and_was_taken_back_is_told() -> None:
    group = pool("web", cpu="4")
    first = decide(cluster([group]), pods(1, cpu="3"), LoopMemory(), NOON, SETTINGS)
    asked = [msgspec.structs.replace(group, target=1)]
    decision = decide(cluster(asked), pods(1, cpu="3"), first.memory, NOON + 16 * MINUTE, SETTINGS)
    assert told("ScaleUpTimedOut", asked, decision) == ["Nodes added to group web failed to register within 16m0s"]
    (text,) = told("ScaleUpReverted", asked, decision)
    assert text == "Lowering size of group web to 0 instead of 1: no more nodes came in time"


def test_nodes_that_go_are_told_with_the_pods_that_move() -> None:
    group = pool("web", 2)
    bound = [aged_pod(f"old-{i}", cpu="1", node=f"web-{i}", owner="ReplicaSet/old") for i in range(2)]
    objects = cluster([group], nodes_of(group), bound, controllers={("ReplicaSet", "default", "old"): 2})
    first = decide(objects, (), LoopMemory(), NOON, SETTINGS)
    second = decide(objects, (), first.memory, NOON + 11 * MINUTE, SETTINGS)
    text = "Scale-down: removing node web-0, utilization: cpu 0.12, pods to reschedule: old-0"
    assert text in told("ScaleDown", [group], second)
    assert "Node web-0 is held: NotUnneededLongEnough" in [*loop_lines(first)]
    assert "Scale-down: removing node web-0" in [*loop_lines(second)]


def test_the_log_names_pools_and_plans() -> None:
    scalable = machine_deployment("worker-pool", replicas=2, max_size="5")
    lines = [*discovery_lines(discover([PoolObjects(scalable)], SETTINGS))]
    assert lines == ["discovered nodegroup: MachineDeployment/default/worker-pool (min: 0, max: 5, replicas: 2)"]
    decision = decide(cluster([pool("web", cpu="4")]), pods(2, cpu="3"), LoopMemory(), NOON, SETTINGS)
    lines = [*loop_lines(decision)]
    assert "Pod default/web-0 is unschedulable" in lines
    assert lines[-3:] == [
        "Best option to resize: web",
        "Final scale-up plan: [{web 0->2 (max: 10)}]",
        "Scale-down is in cooldown",
    ]


def test_the_status_keeps_the_time_at_which_something_became_so() -> None:
    group = pool("web", 1)
    objects = cluster([group], nodes_of(group))
    first = decide(objects, (), LoopMemory(), NOON, SETTINGS)
    status = loop_status(first, objects.groups, {})
    later = decide(objects, pods(1, cpu="6"), first.memory, NOON + MINUTE, SETTINGS)
    again = loop_status(later, objects.groups, status)
    (web,) = again["nodeGroups"]
    assert (web["health"]["status"], web["health"]["nodeCounts"]["registered"]["ready"]) == ("Healthy", 1)
    assert web["health"]["lastTransitionTime"] == "2026-06-01T12:00:00Z"
    assert web["health"]["lastProbeTime"] == "2026-06-01T12:01:00Z"
    (before,) = status["nodeGroups"]
    assert [each["scaleDown"]["status"] for each in (before, web)] == ["CandidatesPresent", "NoCandidates"]
    assert web["scaleDown"]["lastTransitionTime"] == "2026-06-01T12:01:00Z"


def test_nodes_of_no_pool_are_counted_like_any_other() -> None:
    group = pool("web", 1)
    nodes = [*nodes_of(group), ready_node("control-plane")]
    decision = decide(cluster([group], nodes), (), LoopMemory(), NOON, SETTINGS)
    counted = msgspec.to_builtins(loop_status(decision, [group], {}))["clusterWide"]["health"]["nodeCounts"]
    assert (counted["registered"]["ready"], counted["registered"]["beingDeleted"]) == (2, 0)
