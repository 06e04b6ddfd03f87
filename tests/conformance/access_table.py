"""Writes the table "who may do what" of docs/security.md from the recorded answers; with --check only compares.

python -m tests.conformance.access_table

A cell says yes unless the real server answered 401 or 403. Verbs on one resource that have the same answers share a
line. That the embedded server answers the same is what test_cases.py sees to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.made import ROOT, write_or_check
from tests.conformance.cases import HERE, load_file, read_answers

PAGE = ROOT / "docs" / "security.md"
BEGIN = "<!-- made by python -m tests.conformance.access_table -->"
END = "<!-- end of what is made -->"
# The columns: users of the suite, and what they are called here.
COLUMNS = {
    "anonymous": "anonymous",
    "user": "user",
    "view": "view",
    "edit": "edit",
    "admin": "admin",
    "robot": "account",
    "node-a": "node",
    "cluster-admin": "cluster-admin",
    "administrator": "masters",
}
REFUSED = ("401", "403")
MATRICES = load_file(HERE / "cases" / "rights.yaml")


def answers(matrix: str) -> Iterator[tuple[str, str, str]]:
    """Of every line of a matrix the request, the user and the code."""
    for line in read_answers("rights")[matrix]:
        request, _, rest = line.partition(" | ")
        user, _, answer = rest.partition(": ")
        yield request, user, answer[:3]


def rows(matrix: str) -> list[tuple[str, list[str], list[str]]]:
    """Resource, verbs and cells."""
    requests: dict[str, dict[str, str]] = {}
    for request, user, code in answers(matrix):
        requests.setdefault(request, {})[user] = "no" if code in REFUSED else "yes"
    found: list[tuple[str, list[str], list[str]]] = []
    for request, users in requests.items():
        verb, _, resource = request.partition(" ")
        cells = [users[user] for user in COLUMNS]
        if found and found[-1][0] == resource and found[-1][2] == cells:
            found[-1][1].append(verb)
        else:
            found.append((resource, [verb], cells))
    return found


def table(matrix: str) -> list[str]:
    head = ["what", "verbs", *COLUMNS.values()]
    lines = [f"### {matrix}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for resource, verbs, cells in rows(matrix):
        lines.append(f"| {resource} | {', '.join(verbs)} | {' | '.join(cells)} |")
    return [*lines, ""]


def text(page: Path = PAGE) -> str:
    """The page with its table as it must be; the rest of it is left alone."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    made = "\n".join(line for case in MATRICES for line in table(case.name))
    return f"{before}{BEGIN}\n\n{made}\n{END}{after}"


def main() -> int:
    return write_or_check({PAGE: text()}, "python -m tests.conformance.access_table")


if __name__ == "__main__":
    sys.exit(main())
