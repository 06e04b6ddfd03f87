"""Jobs: how many pods run, which of them count, and how it all ends."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.batch.job.controller import BURST, CONTROLLER, reconcile
from mooring.builtin.batch.job.indexes import format_indexes, parse_indexes
from mooring.builtin.batch.job.pods import TRACKING
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.testing.views import NOON, view_of

KEY = Key("default", "train")
UID = "Job/default/train"
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"


def job(status: Object | None = None, deleting: bool = False, **spec: Any) -> Object:
    template = {"metadata": {"labels": {"job-name": "train"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    body = {"parallelism": 1, "completions": 1, "backoffLimit": 6, "template": template, **spec}
    metadata: Object = {"name": "train", "namespace": "default"}
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": body, "status": status or {}}


def pod(
    name: str,
    phase: str = "Running",
    *,
    index: int | None = None,
    failures: int = 0,
    tracked: bool = True,
    deleting: bool = False,
    code: int | None = None,
    ended: datetime = NOON,
    conditions: list[Object] | None = None,
    ready: bool = False,
    restarts: int = 0,
) -> Object:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": UID, "controller": True}
    metadata: Object = {"name": name, "namespace": "default", "uid": name, "ownerReferences": [owner]}
    metadata["creationTimestamp"] = timestamp(NOON - timedelta(minutes=1))
    metadata["finalizers"] = [TRACKING] if tracked else []
    if index is not None:
        metadata["annotations"] = {INDEX: str(index), FAILURES: str(failures)}
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    state: Object = {}
    if phase in ("Succeeded", "Failed"):
        exit_code = code if code is not None else int(phase == "Failed")
        state = {"terminated": {"exitCode": exit_code, "finishedAt": timestamp(ended)}}
    containers = [{"name": "c", "state": state, "ready": ready, "restartCount": restarts}]
    said = [*(conditions or []), *([{"type": "Ready", "status": "True"}] if ready else [])]
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {"nodeName": "n1", "containers": [{"name": "c"}]},
        "status": {"phase": phase, "containerStatuses": containers, "conditions": said},
    }  # fmt: skip


def decide(*objects: Object, now: datetime = NOON) -> Decision:
    return reconcile(KEY, view_of(objects, now), now)


def made(decision: Decision) -> list[Object]:
    return [write.object for write in decision.children if isinstance(write, Create)]


def gone(decision: Decision) -> list[str]:
    return [write.key.name for write in decision.children if isinstance(write, Delete)]


def let_go(decision: Decision) -> list[str]:
    """Pods that lose their finalizer."""
    return [w.key.name for w in (*decision.children, *decision.release) if isinstance(w, Patch)]


def said(decision: Decision) -> Object:
    return decision.status[0].body["status"] if decision.status and isinstance(decision.status[0], Patch) else {}


def conditions(decision: Decision) -> dict[str, str]:
    return {c["type"]: c["reason"] for c in said(decision).get("conditions", [])}


def test_a_new_job_starts_its_pods_and_its_clock() -> None:
    decision = decide(job(parallelism=2, completions=3))
    assert len(made(decision)) == 2
    assert all(made["metadata"]["finalizers"] == [TRACKING] for made in made(decision))
    assert said(decision)["startTime"] == timestamp(NOON)
    assert {event.reason for event in decision.events} == {"SuccessfulCreate"}


def test_names_follow_from_the_job_and_are_not_those_in_use() -> None:
    first = [obj["metadata"]["name"] for obj in made(decide(job(parallelism=3, completions=3)))]
    assert first == [obj["metadata"]["name"] for obj in made(decide(job(parallelism=3, completions=3)))]
    again = made(decide(job(parallelism=3, completions=3), pod(first[0]), pod(first[2])))
    assert [obj["metadata"]["name"] for obj in again] == [first[1]]


@pytest.mark.parametrize(
    ("spec", "pods", "count"),
    [
        ({"parallelism": 5, "completions": 2}, [], 2),
        ({"parallelism": 2, "completions": 5}, [pod("a"), pod("b", "Succeeded")], 1),
        ({"parallelism": 2, "completions": None}, [pod("a", "Succeeded"), pod("b")], 0),
        ({"parallelism": 3, "completions": None}, [pod("a")], 2),
        ({"parallelism": 0, "completions": 2}, [], 0),
        ({"parallelism": 2000, "completions": 2000}, [], BURST),
        ({"parallelism": 1, "podReplacementPolicy": "Failed"}, [pod("a", deleting=True)], 0),
        ({"parallelism": 1, "suspend": True}, [], 0),
    ],
    ids=[
        "never more than completions are left",
        "one success and one at work leave room for one",
        "after the first success of a work queue nobody is replaced",
        "a work queue runs as many as it may",
        "a parallelism of zero pauses",
        "a large one grows in bursts",
        "a terminating pod is in the way of its replacement if the policy says so",
        "a suspended one starts nothing",
    ],
)
def test_how_many_pods_are_made(spec: Object, pods: list[Object], count: int) -> None:
    assert len(made(decide(job(**spec), *pods))) == count


def test_a_pod_that_ended_is_noted_then_let_go_then_counted() -> None:
    noted = decide(job(completions=2), pod("a", "Succeeded"))
    assert said(noted)["uncountedTerminatedPods"] == {"succeeded": ["a"], "failed": None}
    assert "succeeded" not in said(noted)
    assert let_go(noted) == ["a"]
    uncounted = {"uncountedTerminatedPods": {"succeeded": ["a"]}}
    again = decide(job(uncounted, completions=2), pod("a", "Succeeded"))
    assert said(again)["uncountedTerminatedPods"] == {}
    assert let_go(again) == ["a"]
    counted = decide(job(uncounted, completions=2), pod("a", "Succeeded", tracked=False))
    assert said(counted)["succeeded"] == 1
    assert said(counted)["uncountedTerminatedPods"]["succeeded"] is None


def test_a_noted_pod_counts_even_if_it_was_deleted_meanwhile() -> None:
    counted = decide(job({"uncountedTerminatedPods": {"failed": ["a"]}}, completions=2))
    assert said(counted)["failed"] == 1


def test_it_completes_in_two_steps() -> None:
    target = decide(job({"succeeded": 1}))
    assert conditions(target) == {"SuccessCriteriaMet": "CompletionsReached"}
    met = {"type": "SuccessCriteriaMet", "status": "True", "reason": "CompletionsReached", "message": "m"}
    final = decide(job({"succeeded": 1, "conditions": [met]}))
    assert conditions(final)["Complete"] == "CompletionsReached"
    assert said(final)["completionTime"] == timestamp(NOON)
    assert [event.reason for event in final.events] == ["Completed"]


def test_it_does_not_end_while_a_pod_is_terminating() -> None:
    met = {"type": "SuccessCriteriaMet", "status": "True", "reason": "CompletionsReached", "message": "m"}
    waiting = decide(job({"succeeded": 1, "conditions": [met]}), pod("a", deleting=True, tracked=False))
    assert "Complete" not in conditions(waiting)


FAILED_TWICE = [pod("a", "Failed"), pod("b", "Failed")]


@pytest.mark.parametrize(
    ("spec", "pods", "reason"),
    [
        ({"backoffLimit": 1}, FAILED_TWICE, "BackoffLimitExceeded"),
        ({"backoffLimit": 2}, FAILED_TWICE, ""),
        ({"backoffLimit": 0}, [pod("a", deleting=True)], "BackoffLimitExceeded"),
        (
            {"backoffLimit": 2, "template": {"spec": {"restartPolicy": "OnFailure", "containers": []}}},
            [pod("a", restarts=2)],
            "BackoffLimitExceeded",
        ),
        ({"activeDeadlineSeconds": 60}, [pod("a")], "DeadlineExceeded"),
        ({"activeDeadlineSeconds": 61}, [pod("a")], ""),
        ({"activeDeadlineSeconds": 60, "suspend": True}, [], ""),
    ],
    ids=[
        "more failures than the limit",
        "as many failures as the limit",
        "a deleted pod is a failed one",
        "restarts in place",
        "a deadline that has passed",
        "a deadline that has not",
        "no deadline while suspended",
    ],
)
def test_when_it_fails(spec: Object, pods: list[Object], reason: str) -> None:
    started = {"startTime": timestamp(NOON - timedelta(seconds=60))}
    assert conditions(decide(job(started, **spec), *pods)).get("FailureTarget", "") == reason


def test_a_failing_job_counts_its_running_pods_as_failed_and_then_deletes_them() -> None:
    started = {"startTime": timestamp(NOON - timedelta(seconds=60))}
    first = decide(job(started, activeDeadlineSeconds=60), pod("a"))
    assert said(first)["uncountedTerminatedPods"]["failed"] == ["a"]
    assert let_go(first) == ["a"]
    assert not gone(first)
    target = {"type": "FailureTarget", "status": "True", "reason": "DeadlineExceeded", "message": "m"}
    second = decide(job({**started, "conditions": [target]}), pod("a", tracked=False))
    assert gone(second) == ["a"]


def test_failed_pods_are_replaced_after_a_backoff_that_doubles() -> None:
    objects = [job(completions=2, backoffLimit=9), pod("a", "Failed"), pod("b", "Failed")]
    view = view_of(objects, NOON)
    decision = reconcile(KEY, view, NOON)
    assert not made(decision)
    assert NOON + timedelta(seconds=20) in view.timers
    later = NOON + timedelta(seconds=20)
    assert len(made(decide(*objects, now=later))) == 1


def test_a_success_ends_the_backoff() -> None:
    failed = pod("a", "Failed", ended=NOON - timedelta(seconds=2))
    assert not made(decide(job(completions=3), failed))
    done = pod("b", "Succeeded", ended=NOON - timedelta(seconds=1))
    assert len(made(decide(job(completions=3), failed, done))) == 1


def test_suspending_lets_pods_go_uncounted_before_they_are_deleted() -> None:
    first = decide(job(suspend=True), pod("a"))
    assert let_go(first) == ["a"]
    assert not gone(first)
    assert conditions(first) == {"Suspended": "JobSuspended"}
    second = decide(job(suspend=True), pod("a", tracked=False))
    assert gone(second) == ["a"]


def test_resuming_starts_the_clock_anew() -> None:
    suspended = {"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended"}
    past = timestamp(NOON - timedelta(hours=1))
    decision = decide(job({"conditions": [suspended], "startTime": past}))
    assert conditions(decision) == {"Suspended": "JobResumed"}
    assert said(decision)["startTime"] == timestamp(NOON)


def test_too_many_pods_shrink_and_the_ready_ones_stay() -> None:
    decision = decide(job(parallelism=1, completions=5), pod("a", ready=True), pod("b"))
    assert let_go(decision) == ["b"]
    assert gone(decide(job(parallelism=1, completions=5), pod("a", ready=True), pod("b", tracked=False))) == ["b"]


def test_a_job_that_is_deleted_lets_go_of_all_pods() -> None:
    decision = decide(job(deleting=True), pod("a"), pod("b", "Failed"))
    assert let_go(decision) == ["a", "b"]
    assert not made(decision)


def test_a_finished_job_goes_when_its_time_is_over() -> None:
    done = {"type": "Complete", "status": "True", "lastTransitionTime": timestamp(NOON - timedelta(seconds=30))}
    over = decide(job({"conditions": [done]}, ttlSecondsAfterFinished=30))
    assert [(w.key, w.propagation) for w in over.children if isinstance(w, Delete)] == [(KEY, "Foreground")]
    assert decide(job({"conditions": [done]}, ttlSecondsAfterFinished=31)).empty
    assert decide(job({"conditions": [done]})).empty


SELECTOR = {"matchLabels": {"job-name": "train"}}


def test_an_orphan_that_the_selector_matches_is_taken_in_with_its_finalizer() -> None:
    orphan = pod("stray", tracked=False)
    orphan["metadata"] |= {"ownerReferences": [], "labels": {"job-name": "train"}, "finalizers": ["example.com/other"]}
    decision = decide(job(selector=SELECTOR), orphan)
    (adoption,) = decision.intent
    assert isinstance(adoption, Patch)
    metadata = adoption.body["metadata"]
    assert [(owner["uid"], owner["controller"]) for owner in metadata["ownerReferences"]] == [(UID, True)]
    assert metadata["finalizers"] == ["example.com/other", TRACKING]
    assert made(decision) == []


@pytest.mark.parametrize(
    ("labels", "more"),
    [({"job-name": "other"}, {}), ({"job-name": "train"}, {"deletionTimestamp": timestamp(NOON)})],
    ids=["one that is not matched", "one that is going"],
)
def test_other_orphans_are_left_alone(labels: Object, more: Object) -> None:
    orphan = pod("stray", tracked=False)
    orphan["metadata"] |= {"ownerReferences": [], "labels": labels, **more}
    assert decide(job(selector=SELECTOR), orphan).intent == ()


def test_a_job_that_is_deleted_takes_nobody_in() -> None:
    orphan = pod("stray", tracked=False)
    orphan["metadata"] |= {"ownerReferences": [], "labels": {"job-name": "train"}}
    assert decide(job(selector=SELECTOR, deleting=True), orphan).intent == ()


def test_a_pod_that_lost_the_labels_is_let_go_without_its_finalizer() -> None:
    decision = decide(job(selector=SELECTOR), pod("gone-astray"))
    (release,) = decision.intent
    assert isinstance(release, Patch)
    assert release.body["metadata"] == {"ownerReferences": None, "finalizers": None}


def test_another_controller_s_job_is_left_alone() -> None:
    assert decide(job(managedBy="example.com/queue")).empty


# Indexed

INDEXED: Object = {"completionMode": "Indexed", "completions": 4, "parallelism": 2}


def test_a_pod_of_an_index_knows_it() -> None:
    first = made(decide(job(**INDEXED)))[0]
    assert first["metadata"]["annotations"][INDEX] == "0"
    assert first["metadata"]["labels"][INDEX] == "0"
    assert first["metadata"]["name"].startswith("train-0-")
    assert first["spec"]["hostname"] == "train-0"
    source = first["spec"]["containers"][0]["env"][0]["valueFrom"]["fieldRef"]["fieldPath"]
    assert source == f"metadata.labels['{INDEX}']"


def test_the_first_open_indexes_are_filled() -> None:
    running = pod("x", index=1)
    decision = decide(job({"completedIndexes": "0"}, **{**INDEXED, "parallelism": 3}), running)
    assert [obj["metadata"]["annotations"][INDEX] for obj in made(decision)] == ["2", "3"]


def test_completed_indexes_are_kept_as_ranges() -> None:
    decision = decide(job({"completedIndexes": "0,1", "succeeded": 2}, **INDEXED), pod("x", "Succeeded", index=2))
    assert said(decision)["completedIndexes"] == "0-2"
    assert said(decision)["succeeded"] == 3


def test_a_second_pod_of_an_index_is_too_many() -> None:
    decision = decide(job(**INDEXED), pod("x", index=0), pod("y", index=0, ready=True))
    assert let_go(decision) == ["x"]


def test_an_index_fails_alone() -> None:
    spec = {**INDEXED, "backoffLimit": 2**31 - 1, "backoffLimitPerIndex": 1}
    retried = decide(job(**spec), pod("x", "Failed", index=0, ended=NOON - timedelta(seconds=10)))
    assert let_go(retried) == []
    assert made(retried)[0]["metadata"]["annotations"][FAILURES] == "1"
    over = decide(job(**spec), pod("x", "Failed", index=0, failures=1))
    assert said(over)["failedIndexes"] == "0"
    assert "0" not in [obj["metadata"]["annotations"][INDEX] for obj in made(over)]


@pytest.mark.parametrize(
    ("status", "limit", "reason"),
    [
        ({"failedIndexes": "0,1"}, 1, "MaxFailedIndexesExceeded"),
        ({"failedIndexes": "0", "completedIndexes": "1-3"}, None, "FailedIndexes"),
        ({"failedIndexes": "0", "completedIndexes": "1,2"}, None, ""),
    ],
    ids=["more failed indexes than allowed", "every index has ended and one failed", "one index is still open"],
)
def test_when_failed_indexes_end_it(status: Object, limit: int | None, reason: str) -> None:
    spec = {**INDEXED, "backoffLimit": 2**31 - 1, "backoffLimitPerIndex": 0, "maxFailedIndexes": limit}
    assert conditions(decide(job(status, **spec))).get("FailureTarget", "") == reason


DISRUPTED = [{"type": "DisruptionTarget", "status": "True"}]


def policy(action: str, **rule: Any) -> Object:
    return {"podFailurePolicy": {"rules": [{"action": action, **rule}]}, "backoffLimit": 0, "completions": 2}


@pytest.mark.parametrize(
    ("spec", "failed", "reason", "message"),
    [
        (
            policy("FailJob", onExitCodes={"operator": "In", "values": [42]}), pod("a", "Failed", code=42),
            "PodFailurePolicy",
            "Container c for pod default/a failed with exit code 42 matching FailJob rule at index 0",
        ),
        (
            policy("FailJob", onPodConditions=[{"type": "DisruptionTarget", "status": "True"}]),
            pod("a", "Failed", conditions=DISRUPTED), "PodFailurePolicy",
            "Pod default/a has condition DisruptionTarget matching FailJob rule at index 0",
        ),
        (policy("Ignore", onExitCodes={"operator": "NotIn", "values": [1]}), pod("a", "Failed", code=7), "", ""),
        (
            policy("Ignore", onExitCodes={"operator": "NotIn", "values": [1]}), pod("a", "Failed", code=1),
            "BackoffLimitExceeded", "Job has reached the specified backoff limit",
        ),
        (
            policy("Ignore", onExitCodes={"operator": "In", "values": [7], "containerName": "other"}),
            pod("a", "Failed", code=7), "BackoffLimitExceeded", "Job has reached the specified backoff limit",
        ),
    ],
    ids=[
        "a code that fails the job", "a condition that fails the job", "a code that is ignored",
        "a code that no rule matches", "a rule for another container",
    ],
)  # fmt: skip
def test_pod_failure_policies(spec: Object, failed: Object, reason: str, message: str) -> None:
    found = {c["type"]: c for c in said(decide(job(**spec), failed)).get("conditions", [])}
    target = found.get("FailureTarget", {"reason": "", "message": ""})
    assert (target["reason"], target["message"]) == (reason, message)


@pytest.mark.parametrize(
    ("rule", "met"),
    [
        ({"succeededIndexes": "0,2"}, True),
        ({"succeededIndexes": "0-3"}, False),
        ({"succeededIndexes": "0-3", "succeededCount": 2}, True),
        ({"succeededCount": 3}, False),
    ],
    ids=["all of the listed", "not all of the listed", "enough of the listed", "not enough of any"],
)
def test_success_policies(rule: Object, met: bool) -> None:
    spec = {**INDEXED, "successPolicy": {"rules": [rule]}}
    found = conditions(decide(job({"completedIndexes": "0,2"}, **spec)))
    assert found.get("SuccessCriteriaMet") == ("SuccessPolicy" if met else None)


@pytest.mark.parametrize("text", ["", "0", "0,1", "0-2", "0,2-4,7", "1,2,4-9"])
def test_indexes_are_read_as_they_are_written(text: str) -> None:
    assert format_indexes(parse_indexes(text, 100)) == text


def test_indexes_beyond_the_completions_are_forgotten() -> None:
    assert parse_indexes("0-9,12", 5) == {0, 1, 2, 3, 4}


def test_it_declares_what_it_writes() -> None:
    assert {kind.kind for kind in CONTROLLER.writes} == {"Job", "Pod"}
