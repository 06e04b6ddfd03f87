"""What the node's endpoint says of logs, beside a simple model of them, and its other pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.nodes.process.drawn_logs import answers, page, summary


def test_logs_are_shown_as_a_simple_model_of_them_says(tmp_path: Path) -> None:
    kinds = set()
    for number, told in enumerate(answers(tmp_path, 400)):
        case = f"log {number}, {told.asked}"
        follows = told.asked.get("follow") == "true"
        assert told.status == 200, case
        if told.cut and follows:
            # Who leaves has the beginning, and no end.
            assert told.expected.startswith(told.body), case
        else:
            assert told.body == told.expected, case
            assert told.ended, case
        kinds.add((follows, told.cut, told.over, told.ended, bool(told.body)))
    assert len(kinds) > 12, kinds


_WEB = "/containerLogs/shop/web/main"
_POST = {"method": "POST"}


@pytest.mark.parametrize(
    ("target", "more", "status", "text"),
    [
        (_WEB, {}, 400, "no log of shop/web/main, False"),
        (f"{_WEB}/", {}, 400, "no log of shop/web/main, False"),
        (f"{_WEB}?previous=true", {}, 400, "no log of shop/web/main, True"),
        (f"{_WEB}?previous=true&previous=false", {}, 400, "no log of shop/web/main, True"),
        (f"{_WEB}?previous=yes", {}, 400, "no log of shop/web/main, False"),
        (f"{_WEB}?tailLines=", {}, 400, "invalid literal for int() with base 10: ''"),
        (f"{_WEB}?limitBytes=x", {}, 400, "invalid literal for int() with base 10: 'x'"),
        (f"{_WEB}?sinceTime=now", {}, 400, "Invalid isoformat string: 'now'"),
        (_WEB, _POST, 405, "GET is all that can be done here"),
        (_WEB, {"headers": []}, 401, "Unauthorized"),
        (_WEB, {"headers": [(b"authorization", b"Bearer secrets")]}, 401, "Unauthorized"),
        (_WEB, {"headers": [(b"authorization", b" Bearer  secret ")]}, 400, "no log of shop/web/main, False"),
        ("/containerLogs/shop/web", {}, 404, "404 page not found"),
        (f"{_WEB}/more", {}, 404, "404 page not found"),
        ("/logs/shop/web/main", {}, 404, "404 page not found"),
        ("/", {}, 404, "404 page not found"),
        ("/healthz", {}, 200, "ok"),
        ("/healthz", _POST, 200, "ok"),
        ("/stats/summary", {"summary": summary}, 200, '{"node":{"nodeName":"here"}}'),
        ("/stats/summary", {"summary": summary, **_POST}, 405, "GET is all that can be done here"),
        ("/stats/summary", {}, 404, "404 page not found"),
        ("/stats/container", {"summary": summary}, 404, "404 page not found"),
        ("/stats/summary/more", {"summary": summary}, 404, "404 page not found"),
    ],
)
def test_every_other_page_says_what_it_is(target: str, more: dict[str, Any], status: int, text: str) -> None:
    kind = "application/json" if text.startswith("{") else "text/plain"
    headers = {"content-type": kind, "content-length": str(len(text)), "connection": "close"}
    assert page(target, **more) == (status, text, headers)
