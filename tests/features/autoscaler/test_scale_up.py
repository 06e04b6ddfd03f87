"""Which pools grow: tables of balancing and expanders, and the snapshot that tries are made in."""

from __future__ import annotations

import pytest

from mooring.features.autoscaler.cluster_state.memory import Memory
from mooring.features.autoscaler.observation import look
from mooring.features.autoscaler.scale_up.balancing import balance
from mooring.features.autoscaler.scale_up.orchestrator import scale_up
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.snapshot import AutoscalerSnapshot, NodeTemplate, fresh_node
from tests.features.autoscaler.clusters import NOON, aged_pod, cluster, nodes_of, pods, pool, ready_node

SETTINGS = AutoscalerSettings()


@pytest.mark.parametrize(
    ("sizes", "new_nodes", "wanted"),
    [
        ([(0, 10), (0, 10)], 5, [3, 2]),
        ([(4, 10), (1, 10)], 2, [4, 3]),
        ([(4, 10), (1, 10)], 7, [6, 6]),
        ([(0, 1), (0, 10)], 5, [1, 4]),
        ([(3, 3), (1, 2)], 9, [3, 2]),
        ([(5, 10), (2, 10), (3, 4)], 6, [6, 6, 4]),
    ],
)
def test_new_nodes_go_to_the_smallest_pool_first(
    sizes: list[tuple[int, int]], new_nodes: int, wanted: list[int]
) -> None:
    groups = [pool(f"p{i}", size, most=most) for i, (size, most) in enumerate(sizes)]
    resized = {each.group: each.new_size for each in balance(groups, new_nodes, lambda group: True)}
    assert [resized.get(group.name, group.target) for group in groups] == wanted


@pytest.mark.parametrize(
    ("expanders", "priorities", "wanted"),
    [
        (("least-waste",), None, "small"),
        (("least-nodes",), None, "large"),
        (("most-pods", "least-nodes"), None, "large"),
        (("priority", "least-waste"), "10:\n- lar.*\n5:\n- .*\n", "large"),
        (("priority", "least-waste"), "10:\n- '*bad['\n", "small"),
        (("priority", "least-waste"), None, "small"),
    ],
)
def test_the_expander_chooses_between_pools(expanders: tuple[str, ...], priorities: str | None, wanted: str) -> None:
    groups = [pool("large", cpu="16", memory="64Gi"), pool("small", cpu="4", memory="8Gi")]
    settings = SETTINGS._replace(expanders=expanders, priorities=priorities)
    decision = scale_up(look(cluster(groups), Memory(), NOON, settings), pods(4, cpu="2", memory="4Gi"))
    assert [each.group for each in decision.plan] == [wanted]


def test_an_unknown_expander_is_named() -> None:
    settings = SETTINGS._replace(expanders=("cheapest",))
    groups = [pool("one"), pool("two")]
    decision = scale_up(look(cluster(groups), Memory(), NOON, settings), pods(1, cpu="2"))
    assert (decision.result, decision.error.partition(",")[0]) == ("Error", "expander 'cheapest' is not known")


def test_only_the_pool_that_the_pod_asks_for_grows() -> None:
    groups = [pool("web", labels={"purpose": "web"}), pool("gpu", labels={"purpose": "gpu"}, gpu=1)]
    pending = [aged_pod("train", gpu=1, nodeSelector={"purpose": "gpu"}, cpu="1")]
    decision = scale_up(look(cluster(groups), Memory(), NOON, SETTINGS), pending)
    assert [str(each) for each in decision.plan] == ["{gpu 0->1 (max: 10)}"]


def test_a_pod_that_no_pool_takes_is_told_why() -> None:
    groups = [pool("web", most=0), pool("small", cpu="1")]
    decision = scale_up(look(cluster(groups), Memory(), NOON, SETTINGS), [aged_pod("huge", cpu="64")])
    (group,) = decision.unschedulable
    assert decision.pieces(group) == ["1 Insufficient cpu", "1 max node group size reached"]


def test_what_is_tried_in_a_fork_leaves_no_trace() -> None:
    group = pool("web", 3)
    bound = [aged_pod(f"old-{i}", cpu="1", node=f"web-{i}", owner="ReplicaSet/old") for i in range(3)]
    snapshot = AutoscalerSnapshot(nodes_of(group), bound)
    before = _facts(snapshot)
    with snapshot.fork():
        slot = snapshot.add(fresh_node(NodeTemplate(ready_node("extra"), ()), "0"))
        assert snapshot.schedule_on(snapshot.compile(aged_pod("new", cpu="7")), slot)
        with snapshot.fork() as inner:
            snapshot.remove_node("web-1")
            inner.kept = True
        assert snapshot.schedule_anywhere(snapshot.compile(aged_pod("other", cpu="6"))) >= 0
    assert _facts(snapshot) == before


def _facts(snapshot: AutoscalerSnapshot) -> object:
    cache = snapshot.cluster
    on_nodes = {node.name: [pod.key for pod in snapshot.pods_on(node.name)] for node in snapshot.nodes}
    used = {name: (int(cache.used_cpu[slot]), int(cache.pod_count[slot])) for name, slot in cache.slots.items()}
    return on_nodes, used, sorted(cache.pods)
