"""What the controller of Jobs decides: pods, counting, ends, adoption."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.builtin.batch.job.controller import CONTROLLER, MAX_WRITES_PER_PASS, reconcile
from mooring.builtin.batch.job.pods import TRACKING
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Decision, Delete, Patch
from mooring.testing.views import NOON, view_of
from tests.builtin.batch.job.objects import KEY, UID, conditions, decide, job, let_go, made, pod, said


def gone(decision: Decision) -> list[str]:
    return [write.key.name for write in decision.children if isinstance(write, Delete)]


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
        ({"parallelism": 2000, "completions": 2000}, [], MAX_WRITES_PER_PASS),
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


def test_it_declares_what_it_writes() -> None:
    assert {kind.kind for kind in CONTROLLER.writes} == {"Job", "Pod"}
