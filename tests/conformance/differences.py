"""The differences that are accepted: the table in docs/conformance.md, so page and suite cannot disagree."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "conformance.md"
HEADER = "| case | why it differs |"


def accepted() -> dict[str, str]:
    """Cases by id, each with the reason why the embedded server answers otherwise."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = lines[lines.index(HEADER) + 2 :]
    found = {}
    for row in rows:
        if not row.startswith("|"):
            break
        case, reason = (cell.strip() for cell in row.strip("|").split("|"))
        found[case.strip("`")] = reason
    return found
