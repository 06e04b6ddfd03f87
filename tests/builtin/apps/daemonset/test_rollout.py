"""Rolling updates of DaemonSets: one step at a time, and to the end with a crash after any write."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mooring.builtin.apps.daemonset.controller import CONTROLLER
from mooring.kube.objects import Object
from mooring.testing.views import NOON
from tests.builtin.apps.daemonset.objects import (
    daemon_set,
    decide,
    deleted,
    hash_of,
    node,
    nodes,
    pod,
    said,
    taint,
    targets,
    template,
)
from tests.builtin.fixpoint import World, never_starts, same_end_after_any_crash

# Updates


def old_pods(count: int, **kwargs: Any) -> list[Object]:
    return [pod(f"old{number}", f"n{number}", "outdated", **kwargs) for number in range(count)]


@pytest.mark.parametrize(
    ("limit", "gone"),
    [
        pytest.param(1, ["old0"], id="one at a time"),
        pytest.param("50%", ["old0", "old1"], id="half of four"),
        pytest.param("26%", ["old0", "old1"], id="a portion is rounded up"),
    ],
)
def test_outdated_pods_are_replaced(limit: int | str, gone: list[str]) -> None:
    owner = daemon_set(rolling={"maxUnavailable": limit})
    assert deleted(decide(owner, *nodes(4), *old_pods(4))) == gone


def test_what_is_away_already_counts() -> None:
    owner = daemon_set(rolling={"maxUnavailable": 2})
    starting = pod("new0", "n0", hash_of(owner), ready=None)
    assert deleted(decide(owner, *nodes(4), starting, *old_pods(4)[1:])) == ["old1"]


def test_outdated_pods_that_are_broken_go_first_and_all_at_once() -> None:
    broken = old_pods(3, ready=None)
    assert deleted(decide(daemon_set(), *nodes(4), *broken, pod("old3", "n3", "outdated"))) == ["old0", "old1", "old2"]


def test_ready_for_a_moment_is_not_available() -> None:
    owner = daemon_set(minReadySeconds=30)
    fresh = pod("new0", "n0", hash_of(owner), ready=10)
    decision = decide(owner, *nodes(2), fresh, *old_pods(2)[1:])
    assert deleted(decision) == []
    assert said(decision)["numberReady"] == 2
    assert said(decision)["numberAvailable"] == 1
    later = decide(owner, *nodes(2), fresh, *old_pods(2)[1:], now=NOON + timedelta(seconds=20))
    assert deleted(later) == ["old1"]


def test_on_delete_nothing_is_replaced_until_somebody_deletes_it() -> None:
    owner = daemon_set(strategy="OnDelete")
    assert decide(owner, *nodes(2), *old_pods(2)).children == ()
    assert targets(decide(owner, *nodes(2), *old_pods(1))) == ["n1"]


def test_with_surge_new_pods_come_first() -> None:
    owner = daemon_set(rolling={"maxSurge": 2, "maxUnavailable": 0})
    decision = decide(owner, *nodes(3), *old_pods(3))
    assert targets(decision) == ["n0", "n1"]
    assert deleted(decision) == []


def test_with_surge_the_old_pod_goes_when_the_new_one_is_available() -> None:
    owner = daemon_set(rolling={"maxSurge": 1, "maxUnavailable": 0})
    word = hash_of(owner)
    both = (*nodes(1), pod("old", "n0", "outdated"))
    assert deleted(decide(owner, *both, pod("new", "n0", word, ready=None, age=1))) == []
    assert deleted(decide(owner, *both, pod("new", "n0", word, ready=1, age=1))) == ["old"]


def test_with_surge_an_old_pod_that_is_not_ready_is_not_kept() -> None:
    owner = daemon_set(rolling={"maxSurge": 1, "maxUnavailable": 0})
    pair = pod("old", "n0", "outdated", ready=None), pod("new", "n0", hash_of(owner), ready=None, age=1)
    assert deleted(decide(owner, *nodes(1), *pair)) == ["old"]


def test_with_surge_a_node_that_is_wanted_no_more_is_left_when_others_serve() -> None:
    owner = daemon_set(rolling={"maxSurge": 1, "maxUnavailable": 0})
    closed = node("n0", taint("spot"))
    starting = pod("new1", "n1", hash_of(owner), ready=None, age=1)
    assert deleted(decide(owner, closed, node("n1"), pod("old0", "n0", "outdated"), starting)) == []
    serving = pod("new1", "n1", hash_of(owner), ready=1, age=1)
    assert deleted(decide(owner, closed, node("n1"), pod("old0", "n0", "outdated"), serving)) == ["old0"]


# To the end


def world(owner: Object, *objects: Object, **kwargs: Any) -> World:
    return World([CONTROLLER], [owner, *objects], **kwargs)


def test_after_any_crash_every_node_ends_with_one_pod() -> None:
    calm = same_end_after_any_crash(lambda: world(daemon_set(), *nodes(4)))
    assert len(calm.of("Pod")) == 4
    assert calm.get("DaemonSet", "agent")["status"]["numberReady"] == 4


@pytest.mark.parametrize("rolling", [{"maxUnavailable": 2}, {"maxSurge": 2, "maxUnavailable": 0}])
def test_after_any_crash_an_update_ends_with_new_pods_only(rolling: Object) -> None:
    def updated() -> World:
        made = world(daemon_set(rolling=rolling), *nodes(4))
        made.run()
        made.edit("DaemonSet", "agent", {"spec": {"template": template("agent:2")}})
        made.most.clear()
        return made

    calm = same_end_after_any_crash(updated)
    assert {p["spec"]["containers"][0]["image"] for p in calm.of("Pod")} == {"agent:2"}
    assert len(calm.of("Pod")) == 4
    assert calm.most["Pod"] <= 4 + rolling.get("maxSurge", 0)
    assert [r["revision"] for r in calm.of("ControllerRevision")] in ([1, 2], [2, 1])


def test_pods_that_never_start_stop_an_update_at_its_limit() -> None:
    made = world(daemon_set(rolling={"maxUnavailable": 2}), *nodes(5))
    made.run()
    made.kubelet = never_starts
    made.edit("DaemonSet", "agent", {"spec": {"template": template("agent:2")}})
    made.run()
    images = sorted(p["spec"]["containers"][0]["image"] for p in made.of("Pod"))
    assert images == ["agent:1"] * 3 + ["agent:2"] * 2
    assert made.get("DaemonSet", "agent")["status"]["numberUnavailable"] == 2
