"""What `make conformance` makes of a report, and that whatever it accepts stands in the docs with its reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mooring.kube.objects import Object
from scripts.conformance.verdict import accepted, verdict

PAGE = Path(__file__).parents[3] / "docs" / "leaderworkersets.md"


def story(name: str, state: str = "passed", kind: str = "It", **fields: Any) -> Object:
    return {"LeafNodeText": name, "LeafNodeType": kind, "State": state, **fields}


def report(*stories: Object) -> list[Object]:
    return [{"SpecReports": list(stories)}]


def test_every_accepted_failure_is_in_the_docs_and_nothing_else_is() -> None:
    rows = [f"| {suite}: {name} | {why} |" for suite, stories in accepted().items() for name, why in stories.items()]
    _, _, table = PAGE.read_text(encoding="utf-8").partition("| story that may fail | reason |\n|---|---|\n")
    assert table.splitlines() == rows


def test_a_suite_whose_stories_all_pass_is_well() -> None:
    assert verdict(report(story("a"), story("b")), {}) == (["2 of 2 stories passed"], True)


def test_an_accepted_failure_is_told_with_its_reason() -> None:
    lines, well = verdict(report(story("a"), story("b", "failed")), {"b": "it is late"})
    assert lines == ["1 of 2 stories passed", "  accepted: b (it is late)"]
    assert well


def test_any_other_failure_counts() -> None:
    for state in ("failed", "panicked", "timedout", "interrupted"):
        lines, well = verdict(report(story("a", state)), {"b": "it is late"})
        assert lines == ["0 of 1 stories passed", "  FAILED: a"]
        assert not well


def test_a_suite_that_does_not_begin_is_not_well() -> None:
    begins = story("BeforeSuite", "failed", "BeforeSuite")
    skipped = story("a", "skipped")
    assert verdict(report(begins, skipped), {}) == (["0 of 0 stories passed", "  FAILED: BeforeSuite"], False)
    assert not verdict([], {})[1]


def test_a_story_that_an_earlier_one_takes_along_counts_and_one_that_a_flag_leaves_out_does_not() -> None:
    failure = {"Message": "Spec skipped because an earlier spec in an ordered container failed"}
    lines, well = verdict(report(story("a"), story("b", "skipped", Failure=failure), story("c", "skipped")), {})
    assert lines == ["1 of 2 stories passed", "  FAILED: b"]
    assert not well
