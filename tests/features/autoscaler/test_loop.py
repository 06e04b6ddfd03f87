"""The autoscaler over time: pools grow, fail, are given up, and nodes go."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from mooring.features.autoscaler.loop import LoopMemory, decide
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.settings import UPSTREAM, AutoscalerSettings
from tests.features.autoscaler.clusters import NOON, aged_pod, cluster, nodes_of, pods, pool, ready_node

SETTINGS = AutoscalerSettings()
MINUTE = timedelta(minutes=1)


def grown(group: NodeGroup, target: int, *, arrived: int = 0) -> NodeGroup:
    """The group after a resize, with some of its nodes there."""
    names = tuple(f"{group.name}-{i}" for i in range(arrived))
    return msgspec.structs.replace(group, target=target, nodes=names)


def test_an_empty_pool_grows_for_pods_that_find_no_node() -> None:
    decision = decide(cluster([pool("web", cpu="4")]), pods(6, cpu="1"), LoopMemory(), NOON, SETTINGS)
    assert [str(each) for each in decision.scale_up.plan] == ["{web 0->2 (max: 10)}"]
    assert [each.key for each in decision.scale_up.triggered] == [f"default/web-{i}" for i in range(6)]
    assert decision.memory.state.requests["web"].increase == 2


def test_nodes_on_their_way_are_counted_on() -> None:
    group = pool("web", cpu="4")
    first = decide(cluster([group]), pods(6, cpu="1"), LoopMemory(), NOON, SETTINGS)
    again = decide(cluster([grown(group, 2)]), pods(6, cpu="1"), first.memory, NOON + MINUTE, SETTINGS)
    assert (again.scale_up.result, again.lower) == ("NotNeeded", {})


def test_a_pool_that_gets_no_nodes_is_lowered_and_left_alone() -> None:
    group = pool("web", cpu="4")
    first = decide(cluster([group]), pods(6, cpu="1"), LoopMemory(), NOON, SETTINGS)
    late = NOON + 16 * MINUTE
    objects = cluster([grown(group, 2)])
    second = decide(objects, pods(6, cpu="1"), first.memory, late, SETTINGS)
    assert (second.lower, second.scale_up.result) == ({"web": 0}, "NotTried")
    third = decide(cluster([group]), pods(6, cpu="1"), second.memory, late + MINUTE, SETTINGS)
    assert third.scale_up.skipped == {"web": "in backoff after failed scale-up"}
    upstream = decide(objects, pods(6, cpu="1"), first.memory, late, UPSTREAM)
    assert upstream.lower == {}


def test_the_nodes_that_did_come_are_kept_when_a_target_is_lowered() -> None:
    group = pool("web", cpu="4")
    first = decide(cluster([group]), pods(12, cpu="1"), LoopMemory(), NOON, SETTINGS)
    half = grown(group, 3, arrived=1)
    objects = cluster([half], nodes_of(half, cpu="4"))
    assert decide(objects, (), first.memory, NOON + 16 * MINUTE, SETTINGS).lower == {"web": 1}


def test_a_target_that_nobody_remembers_is_lowered_too() -> None:
    asked = grown(pool("web", cpu="4"), 2)
    first = decide(cluster([asked]), pods(6, cpu="1"), LoopMemory(), NOON, SETTINGS)
    assert (first.scale_up.result, first.lower) == ("NotNeeded", {})
    assert decide(cluster([asked]), (), first.memory, NOON + 16 * MINUTE, SETTINGS).lower == {"web": 0}


def test_a_node_that_a_waiting_pod_will_go_to_is_needed() -> None:
    group = pool("web", 2)
    bound = [aged_pod(f"old-{i}", cpu="1", node=f"web-{i}", owner="ReplicaSet/old") for i in range(2)]
    objects = cluster([group], nodes_of(group), bound, controllers={("ReplicaSet", "default", "old"): 2})
    idle = decide(objects, (), LoopMemory(), NOON, SETTINGS)
    busy = decide(objects, [aged_pod("new", cpu="6500m", owner="ReplicaSet/old")], LoopMemory(), NOON, SETTINGS)
    assert busy.scale_up.result == "NotNeeded"
    for decision, count in ((idle, 1), (busy, 0)):
        assert decision.unneeded is not None
        assert len(decision.unneeded.removable) == count


def test_instances_that_never_become_nodes_are_removed() -> None:
    group = grown(pool("web", least=1), 2, arrived=2)
    first = decide(cluster([group]), (), LoopMemory(), NOON, SETTINGS)
    assert first.remove == {}
    later = decide(cluster([group]), (), first.memory, NOON + 16 * MINUTE, SETTINGS)
    assert later.remove == {"web": ("web-0",)}


def test_an_idle_node_goes_after_ten_minutes_and_its_pods_move() -> None:
    group = pool("web", 2)
    nodes = nodes_of(group)
    bound = [aged_pod("one", cpu="1", node="web-0", owner="ReplicaSet/one")]
    objects = cluster([group], nodes, bound, controllers={("ReplicaSet", "default", "one"): 1})
    first = decide(objects, (), LoopMemory(), NOON, SETTINGS)
    assert first.unneeded is not None
    assert first.deletion is not None
    assert [each.node for each in first.unneeded.removable] == ["web-1"]
    assert [(each.node, each.reason) for each in first.deletion.held] == [("web-1", "NotUnneededLongEnough")]
    exactly = decide(objects, (), first.memory, NOON + 10 * MINUTE, SETTINGS)
    assert exactly.deletion is not None
    assert exactly.deletion.empty == []
    later = decide(objects, (), exactly.memory, NOON + 11 * MINUTE, SETTINGS)
    assert later.deletion is not None
    assert later.deletion.empty == ["web-1"]
    assert later.memory.deleted_at == NOON + 11 * MINUTE


def test_nothing_goes_for_a_while_after_something_came() -> None:
    web, gpu = pool("web", 1), pool("gpu", gpu=1)
    objects = cluster([web, gpu], nodes_of(web))
    first = decide(objects, [aged_pod("train", gpu=1)], LoopMemory(), NOON, SETTINGS)
    assert [each.group for each in first.scale_up.plan] == ["gpu"]
    done = cluster([web, grown(gpu, 1, arrived=1)], [*nodes_of(web), ready_node("gpu-0", gpu=1)])
    quick = SETTINGS._replace(options=SETTINGS.options._replace(scale_down_unneeded_time=MINUTE))
    second = decide(done, (), first.memory, NOON + 5 * MINUTE, quick)
    assert second.unneeded is not None
    assert second.deletion is None
    third = decide(done, (), second.memory, NOON + 11 * MINUTE, quick)
    assert third.deletion is not None
    assert "web-0" in third.deletion.empty


@pytest.mark.parametrize(
    ("settings", "going"),
    [
        (SETTINGS, 3),
        (SETTINGS._replace(min_cores=1), 2),
        (SETTINGS._replace(min_cores=4), 2),
        (SETTINGS._replace(min_cores=5), 1),
        (SETTINGS._replace(min_memory=1), 2),
        (SETTINGS._replace(min_memory=17 << 30), 1),
    ],
)
def test_a_cluster_keeps_the_cores_and_the_memory_that_it_must_have(settings: AutoscalerSettings, going: int) -> None:
    group = pool("web", 3)
    nodes = nodes_of(group, cpu="4", memory="16Gi")
    first = decide(cluster([group], nodes), (), LoopMemory(), NOON, settings)
    second = decide(cluster([group], nodes), (), first.memory, NOON + 11 * MINUTE, settings)
    assert second.deletion is not None
    assert len(second.deletion.empty) == going


def test_deletions_that_have_started_are_counted() -> None:
    group = pool("web", 6)
    nodes = nodes_of(group)
    few = SETTINGS._replace(max_scale_down_parallelism=3)
    first = decide(cluster([group], nodes), (), LoopMemory(), NOON, few)
    for deleting, count in (({}, 3), ({"web-0": False, "web-1": True}, 1)):
        objects = cluster([group], nodes, deleting=deleting)
        decision = decide(objects, (), first.memory, NOON + 11 * MINUTE, few)
        assert decision.deletion is not None
        assert len(decision.deletion.empty) == count
        assert not deleting.keys() & {*decision.deletion.empty}


def test_a_cluster_in_which_most_nodes_are_unready_is_left_alone() -> None:
    group = pool("web", 5)
    nodes = nodes_of(group)
    broken = [
        msgspec.structs.replace(node, status=msgspec.structs.replace(node.status, conditions=())) for node in nodes[:4]
    ]
    decision = decide(cluster([group], [*broken, nodes[4]]), pods(3, cpu="9"), LoopMemory(), NOON, SETTINGS)
    assert (decision.scale_up.result, decision.unneeded) == ("NotTried", None)


def test_deciding_twice_decides_the_same() -> None:
    group = pool("web", 2, cpu="4")
    objects = cluster([group], nodes_of(group, cpu="4"))
    one, other = (decide(objects, pods(11, cpu="1"), LoopMemory(), NOON, SETTINGS) for _ in range(2))
    assert (one.scale_up.plan, one.memory) == (other.scale_up.plan, other.memory)
    assert one.unneeded is not None
    assert other.unneeded is not None
    assert one.unneeded.removable == other.unneeded.removable
