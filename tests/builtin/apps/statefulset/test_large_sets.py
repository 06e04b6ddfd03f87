"""StatefulSets of many pods, which are counted in blocks and not read one by one."""

from __future__ import annotations

import pytest

from mooring.builtin.apps.statefulset.controller import reconcile
from mooring.builtin.apps.statefulset.ordinals import BLOCK, BLOCKS
from mooring.runtime.decision import Patch
from mooring.runtime.view import ListQuestion
from mooring.testing.views import NOON, view_of
from tests.builtin.apps.statefulset.objects import (
    KEY,
    NEW,
    OLD,
    UID,
    created,
    decide,
    deleted,
    pod,
    revision,
    said,
    stateful_set,
)

# Large sets


def test_a_large_set_is_counted_in_blocks() -> None:
    count = 3 * BLOCK + 1
    members = [pod(i) for i in range(count)]
    view = view_of([stateful_set(4 * BLOCK), revision(), *members])
    assert created(reconcile(KEY, view, NOON)) == [f"web-{count}"]
    decision = decide(stateful_set(4 * BLOCK), revision(), *members, pod(count, phase="Pending"))
    assert (said(decision)["replicas"], said(decision)["readyReplicas"]) == (count + 1, count)
    lists = {q.value for q in view.questions if isinstance(q, ListQuestion) and q.by == "block" and not q.counter}
    assert lists == {f"{UID}/3"}
    assert not any(isinstance(q, ListQuestion) and (q.by, q.counter) == ("owner", "") and "Pod" in str(q.kind)
                   for q in view.questions)  # fmt: skip


@pytest.mark.parametrize("broken", [0, BLOCK - 1, BLOCK, 2 * BLOCK + 3])
def test_one_broken_pod_in_a_large_set_is_found(broken: int) -> None:
    pods = [pod(i, phase="Failed") if i == broken else pod(i) for i in range(3 * BLOCK)]
    assert deleted(decide(stateful_set(3 * BLOCK), revision(), *pods)) == [f"web-{broken}"]


@pytest.mark.parametrize("start", [0, 7])
def test_a_very_large_set_is_counted_in_large_blocks(start: int) -> None:
    count = BLOCKS[1] + 3 * BLOCK + 1
    pods = [pod(i) for i in range(start, start + count)]
    web = stateful_set(2 * BLOCKS[1], ordinals={"start": start})
    view = view_of([web, revision(), *pods])
    assert created(reconcile(KEY, view, NOON)) == [f"web-{start + count}"]
    assert len(view.questions) < 120
    decision = decide(web, revision(), *pods, pod(start + count, phase="Pending"))
    assert (said(decision)["replicas"], said(decision)["readyReplicas"]) == (count + 1, count)


def test_in_order_the_pod_that_comes_and_the_one_before_are_told_in_one_write() -> None:
    first = decide(stateful_set(2), revision(), pod(0))
    assert created(first) == ["web-1"]
    assert not first.status
    second = decide(stateful_set(2), revision(), pod(0), pod(1, phase="Pending"))
    assert (said(second)["replicas"], said(second)["readyReplicas"]) == (2, 1)


def test_a_pod_that_the_api_refuses_does_not_keep_the_others_from_being_told() -> None:
    view = view_of([stateful_set(2), revision(), pod(0)], problem="exceeded quota")
    decision = reconcile(KEY, view, NOON)
    (write,) = decision.intent
    assert isinstance(write, Patch)
    assert write.body["status"]["readyReplicas"] == 1
    assert ("FailedCreate", "Create Pod web-1 in StatefulSet web failed error: exceeded quota") in {
        (event.reason, event.message) for event in decision.events
    }


def test_one_missing_pod_in_a_large_set_comes_back() -> None:
    pods = [pod(i) for i in range(3 * BLOCK) if i != BLOCK + 1]
    assert created(decide(stateful_set(3 * BLOCK), revision(), *pods)) == [f"web-{BLOCK + 1}"]


def test_a_large_set_shrinks_from_the_top() -> None:
    pods = [pod(i) for i in range(3 * BLOCK)]
    assert deleted(decide(stateful_set(2 * BLOCK), revision(), *pods)) == [f"web-{3 * BLOCK - 1}"]


def test_an_update_of_a_large_set_goes_on_where_it_is() -> None:
    revisions = [revision("web:1", 1), revision("web:2", 2)]
    pods = [pod(i, OLD if i < BLOCK else NEW) for i in range(2 * BLOCK)]
    decision = decide(stateful_set(2 * BLOCK, "web:2", {"currentRevision": OLD}), *revisions, *pods)
    assert deleted(decision) == [f"web-{BLOCK - 1}"]
    assert (said(decision)["currentReplicas"], said(decision)["updatedReplicas"]) == (BLOCK, BLOCK)
