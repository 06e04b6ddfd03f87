"""What Kubernetes' e2e binary prints is understood: which test runs, and how each ended."""

from __future__ import annotations

from tests.conformance.e2e.batches import Outcome, Reading, dealt, focus

RULE = "-" * 30
PRINTED = f"""
Will run 3 of 7355 specs
{RULE}
[SynchronizedBeforeSuite] PASSED [0.775 seconds]
{RULE}
[sig-node] Secrets should patch a secret [Conformance] [sig-node, Conformance]
/somewhere/secrets.go:153
  STEP: creating a secret
• [0.755 seconds]
{RULE}
SSS
{RULE}
[sig-apps] Job should run [Conformance] [sig-apps, Conformance]
/somewhere/job.go:1
  [FAILED] in [It] - /somewhere/job.go:9
• [FAILED] [3.100 seconds]
[sig-apps] Job [It] should run [Conformance] [sig-apps, Conformance]

  [FAILED] it did not run
  In [It] at: /somewhere/job.go:9
{RULE}
[sig-apps] CronJob should run [Conformance] [sig-apps, Conformance]
"""
NAMES = [
    "[sig-node] Secrets should patch a secret [Conformance]",
    "[sig-apps] Job should run [Conformance]",
    "[sig-apps] CronJob should run [Conformance]",
]


def test_each_test_that_ended_is_told_with_what_was_said_about_it() -> None:
    reading = Reading(NAMES)
    told = [outcome for line in PRINTED.splitlines(keepends=True) for outcome in reading.read(line)]
    assert [(each.name, each.state, each.seconds) for each in told] == [
        (NAMES[0], "passed", 0.755),
        (NAMES[1], "failed", 3.1),
    ]
    assert told[1].message.endswith("it did not run\n  In [It] at: /somewhere/job.go:9")
    assert reading.current == NAMES[2]


def test_a_test_that_runs_when_the_binary_ends_was_killed() -> None:
    reading = Reading(NAMES)
    for line in PRINTED.splitlines(keepends=True):
        list(reading.read(line))
    assert list(reading.end()) == [Outcome(NAMES[2], "killed", 0.0)]


def test_tests_are_dealt_to_batches_and_asked_for_by_their_whole_names() -> None:
    assert dealt("abcde", 2) == ["ab", "cd", "e"]
    assert focus(["[a] b", "c*"]) == r"(\[a\]\ b|c\*)$"
