"""The page itself: files from memory, addresses within it, and what is said where it was not built."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute
from starlette.testclient import TestClient

from mooring.runway.rest.errors import RestError
from mooring.runway.rest.page import _files, page
from mooring.runway.rest.responses import error_response
from mooring.runway.rest.route_table import ROUTES


async def _told(request: object, error: Exception) -> Response:
    return error_response(error)


def serving(folder: Path) -> TestClient:
    app = Starlette(
        routes=[StarletteRoute("/{path:path}", page(ROUTES, folder), methods=["GET", "HEAD", "POST"])],
        exception_handlers={RestError: _told},
    )
    return TestClient(app)


@pytest.fixture
def built(tmp_path: Path) -> TestClient:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>Mooring</title>")
    (tmp_path / "assets/index-1a2b.js").write_text("let a = 1" * 100)
    (tmp_path / ".made-from").write_text("1")
    return serving(tmp_path)


def test_a_link_into_the_page_is_the_page(built: TestClient) -> None:
    for path in ("/", "/workloads", "/workloads/Deployment/serving/chat?tab=logs"):
        answer = built.get(path)
        assert answer.text == "<title>Mooring</title>"
        assert answer.headers["cache-control"] == "no-cache"


def test_files_with_a_hash_in_their_names_are_kept_for_ever_and_packed(built: TestClient) -> None:
    answer = built.get("/assets/index-1a2b.js")
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/javascript")
    plain = built.get("/assets/index-1a2b.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.text == answer.text


def test_a_file_of_an_older_page_is_not_the_page(built: TestClient) -> None:
    answer = built.get("/assets/index-0000.js")
    assert answer.status_code == 404
    assert "reload the page" in answer.json()["error"]["message"]


def test_what_the_build_notes_for_itself_is_not_served(built: TestClient) -> None:
    assert built.get("/.made-from").text == "<title>Mooring</title>"


def test_every_answer_says_how_it_is_kept_and_that_nothing_else_is_loaded(built: TestClient, tmp_path: Path) -> None:
    (tmp_path / "assets/odd.zzz").write_bytes(b"odd")
    for path, kept, kind in (
        ("/", "no-cache", "text/html; charset=utf-8"),
        ("/xy/z", "no-cache", "text/html; charset=utf-8"),
        ("/assets/odd.zzz", "public, max-age=31536000, immutable", "application/octet-stream"),
    ):
        for packed in ("gzip", "identity"):
            answer = built.get(path, headers={"accept-encoding": packed})
            told = {"cache-control": kept, "vary": "Accept-Encoding", "content-type": kind, "x-frame-options": "DENY"}
            assert answer.headers.items() >= told.items()
            assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; ")
            assert answer.headers.get("content-encoding") == (packed if packed == "gzip" else None)
    assert built.head("/").status_code == 200
    (empty := tmp_path / "empty").mkdir()
    answer = serving(empty).get("/")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_packed_files_are_the_same_bytes_at_any_time(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("x")
    assert _files(tmp_path)["index.html"].packed[4:8] == bytes(4), "no moment stands in them"


@pytest.mark.parametrize("path", ["/api", "/api/none"])
def test_what_is_not_of_the_api_is_not_the_page(built: TestClient, path: str) -> None:
    answer = built.get(path)
    assert (answer.status_code, answer.json()["error"]["message"]) == (404, f"Route not found: GET {path}")


def test_a_path_that_only_begins_like_the_api_is_one_of_the_page(built: TestClient) -> None:
    assert built.get("/apix").text == "<title>Mooring</title>"
    assert built.get("/xapi/x").text == "<title>Mooring</title>"


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/api/none", 404), ("POST", "/api/nodes", 405), ("POST", "/", 405)]
)
def test_what_there_is_no_route_for_is_refused_in_the_shape_of_errors(
    built: TestClient, method: str, path: str, status: int
) -> None:
    answer = built.request(method, path)
    assert (answer.status_code, answer.json()["error"]["statusCode"]) == (status, status)


def test_where_it_is_not_built_it_says_how_and_what_else_there_is(tmp_path: Path) -> None:
    answer = serving(tmp_path).get("/")
    assert "sh scripts/page.sh" in answer.text
    assert "/api/workloads/{kind}/{namespace}/{name}" in answer.text
