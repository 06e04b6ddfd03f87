"""Groups of two templates: what is wrong in both is put right in both, and promises hold in any order of the pods."""

from __future__ import annotations

import json
import shlex

import pytest

from mooring.kube.objects import Object
from mooring.placement.advise import Advice, Asked, CommandTarget, Edit, WorkloadPod, advise, weigh
from mooring.placement.advise.workload.trials import Trials
from mooring.testing import Scene, cluster, node, pod

GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"
PREFIX = "spec.leaderWorkerTemplate"
LEADER, WORKER = f"{PREFIX}.leaderTemplate", f"{PREFIX}.workerTemplate"


def groups(count: int, workers: int, leader: Object, worker: Object) -> list[WorkloadPod]:
    """Leaders, and then the workers of one group after another."""
    found = [_member(leader, f"set-{group}", LEADER, group) for group in range(count)]
    return found + [
        _member(worker, f"set-{group}-{number}", WORKER, group)
        for group in range(count)
        for number in range(1, workers + 1)
    ]


def _member(made: Object, name: str, template: str, group: int) -> WorkloadPod:
    body = {**made, "metadata": {**made["metadata"], "name": name}}
    return WorkloadPod(f"default/{name}", body, template, placed=False, unit=str(group))


def weighed(scene: Scene, members: list[WorkloadPod], *, live: bool = False) -> list[Advice]:
    leader, worker = members[0].pod, members[-1].pod
    manifest = {
        "kind": "LeaderWorkerSet",
        "spec": {"leaderWorkerTemplate": {"leaderTemplate": leader, "workerTemplate": worker}},
    }
    file = None if live else "set.yaml"
    target = CommandTarget(
        "LeaderWorkerSet", "set", "default", f"/{LEADER.replace('.', '/')}", file, live=live, manifest=manifest
    )
    asked = Asked(scene.explain(leader), leader, target, own=frozenset(each.key for each in members))
    return weigh(scene.engine, advise(scene.engine, asked).advice, asked, members, LEADER)


def operations(advice: Advice) -> list[Object]:
    words = shlex.split(advice.command or "")
    found: list[Object] = json.loads(words[words.index("-p") + 1])
    return found


def test_a_taint_that_leaders_and_workers_do_not_tolerate_is_tolerated_in_both_templates() -> None:
    scene = cluster(node("a", gpu=8, taints=[GPU_TAINT]))
    first = weighed(scene, groups(2, 1, pod("leader", gpu=1), pod("worker", gpu=2)))[0]
    assert first.title == f"Tolerate taint {GPU_TAINT} in both templates"
    assert len(first.brings or ()) == 4
    assert first.changes == 1
    paths = [operation["path"] for operation in operations(first)]
    assert [path.split("/")[3] for path in paths] == ["leaderTemplate", "workerTemplate"]


def test_two_mistakes_in_both_templates_are_one_set() -> None:
    scene = cluster(node("a", labels={"pool": "gpu"}, taints=[GPU_TAINT]))
    wrong: Object = {"nodeSelector": {"pool": "gpuu"}}
    first = weighed(scene, groups(2, 1, pod("leader", **wrong), pod("worker", **wrong)))[0]
    assert first.title == (
        'Correct nodeSelector pool from "gpuu" to "gpu" in both templates, '
        f"and tolerate taint {GPU_TAINT} in both templates"
    )
    assert len(first.brings or ()) == 4
    assert len(operations(first)) == 4


def test_different_mistakes_are_put_right_each_in_its_template() -> None:
    scene = cluster(node("a", labels={"pool": "gpu"}, taints=[GPU_TAINT]))
    worker = pod("worker", tolerations=[GPU_TAINT], nodeSelector={"pool": "gpuu"})
    first = weighed(scene, groups(1, 1, pod("leader"), worker))[0]
    assert first.title == (
        f"Tolerate taint {GPU_TAINT} in leaderTemplate, "
        'and correct nodeSelector pool from "gpuu" to "gpu" in workerTemplate'
    )
    assert [operation["path"].split("/")[3] for operation in operations(first)] == ["leaderTemplate", "workerTemplate"]


def test_a_template_that_is_right_is_left_as_it_is() -> None:
    scene = cluster(node("a", taints=[GPU_TAINT]))
    first = weighed(scene, groups(2, 1, pod("leader"), pod("worker", tolerations=[GPU_TAINT])))[0]
    assert first.title == f"Tolerate taint {GPU_TAINT}"
    assert [edit.target for edit in first.edits] == ["pod"]


def whole_groups(advice: Advice, members: list[WorkloadPod]) -> int:
    units: dict[str, bool] = {}
    for each in members:
        units[each.unit] = units.get(each.unit, True) and each.key in (advice.brings or ())
    return sum(units.values())


def test_no_group_is_promised_that_is_not_whole_when_all_groups_come_at_once() -> None:
    # Room for both leaders and three of the four workers: group by group one is whole, in turn one too.
    scene = cluster(node("a", gpu=5, taints=[GPU_TAINT]))
    members = groups(2, 2, pod("leader", gpu=1), pod("worker", gpu=1, tolerations=[GPU_TAINT]))
    tolerating = next(each for each in weighed(scene, members) if each.title.startswith("Tolerate") and not each.parts)
    assert whole_groups(tolerating, members) == 1
    # With room for two workers they may be of two groups, and then no group is whole.
    scene = cluster(node("a", gpu=4, taints=[GPU_TAINT]))
    tolerating = next(each for each in weighed(scene, members) if each.title.startswith("Tolerate") and not each.parts)
    assert whole_groups(tolerating, members) == 0


@pytest.mark.parametrize(("live", "whole"), [(False, 1), (True, 0)])
def test_a_live_set_stops_at_the_first_group_that_does_not_become_whole(live: bool, whole: int) -> None:
    leaders = [pod(f"set-{group}", gpu=2, node="a") for group in range(2)]
    scene = cluster(node("a", gpu=4), *leaders)
    members = [
        each._replace(placed=each.template == LEADER)
        for each in groups(2, 1, pod("leader", gpu=2), pod("worker", gpu=2))
    ]
    resources = "/spec/containers/0/resources"
    lower = [Edit("pod", "lower", f"{resources}/{part}/nvidia.com~1gpu", "2", "1") for part in ("requests", "limits")]
    # The last group is renewed first, while the leader of the other still holds what it held.
    assert Trials(scene.engine, members, LEADER, live=live).worst(lower).whole == whole
