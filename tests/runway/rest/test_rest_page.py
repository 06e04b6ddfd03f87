"""docs/rest.md describes every route and every topic."""

from __future__ import annotations

import re
from pathlib import Path

from mooring.runway.rest.mirror.sources import TOPICS
from mooring.runway.rest.route_table import ROUTES

PAGE = (Path(__file__).parents[3] / "docs" / "rest.md").read_text(encoding="utf-8")


def test_every_route_is_described_and_no_other() -> None:
    described = set(re.findall(r"^\| `([A-Z]+ /api/\S+)` \|", PAGE, re.MULTILINE))
    assert described == {f"{route.method} {route.path.replace(':path', '')}" for route in ROUTES}


def test_every_topic_is_named() -> None:
    stream = PAGE.partition("## The stream")[2]
    assert all(f"`{topic}`" in stream for topic in TOPICS)


def test_writing_routes_are_marked() -> None:
    for route in ROUTES:
        line = next(line for line in PAGE.splitlines() if f"`{route.method} {route.path.replace(':path', '')}`" in line)
        assert line.endswith("Writes. |") is route.writes, line
