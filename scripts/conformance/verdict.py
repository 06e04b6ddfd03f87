"""Says how a suite of upstream's went: which of its stories passed, and which failures are accepted, for which reason.

    python -m scripts.conformance.verdict SUITE REPORT

REPORT is Ginkgo's, as JSON. The answer is 1 if a story failed that is not on the list of accepted ones.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ACCEPTED = Path(__file__).parents[2] / "tests" / "tools" / "conformance" / "accepted.json"


def accepted() -> dict[str, dict[str, str]]:
    """The stories that may fail, by suite, with the reasons."""
    found: dict[str, dict[str, str]] = json.loads(ACCEPTED.read_text(encoding="utf-8"))
    return found


def verdict(reports: list[dict[str, Any]], may_fail: dict[str, str]) -> tuple[list[str], bool]:
    """What to print about a suite, and whether all is well."""
    told = [each for report in reports for each in report.get("SpecReports") or []]
    stories = [each for each in told if each["LeafNodeType"] == "It" and not _left_out(each)]
    broken = [each["LeafNodeText"] for each in told if each["LeafNodeType"] != "It" and each["State"] == "failed"]
    failed = [each["LeafNodeText"] for each in stories if each["State"] != "passed"]
    lines = [f"{len(stories) - len(failed)} of {len(stories)} stories passed"]
    lines += [f"  accepted: {name} ({may_fail[name]})" for name in failed if name in may_fail]
    surprises = [name for name in failed if name not in may_fail]
    lines += [f"  FAILED: {name}" for name in (*broken, *surprises)]
    return lines, bool(stories) and not broken and not surprises


def _left_out(story: dict[str, Any]) -> bool:
    """Whether a flag left a story out; one that is skipped because another failed counts."""
    return story["State"] == "skipped" and not story.get("Failure")


def main() -> int:
    suite, report = sys.argv[1], Path(sys.argv[2])
    lines, well = verdict(json.loads(report.read_text(encoding="utf-8")), accepted()[suite])
    print("\n".join([f"{suite}: {lines[0]}", *lines[1:]]))
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
