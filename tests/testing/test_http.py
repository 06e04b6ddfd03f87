"""The client that tests look at servers with: what it sends, byte for byte, and what it makes of what comes back."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mooring.testing.http import Api

URL = "https://api.example.com"
PROTOBUF = "application/vnd.kubernetes.protobuf"


class Server:
    """Keeps what is asked, and says what it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[httpx2.Request] = []
        self.made: list[dict[str, Any]] = []
        self.answer = httpx2.Response(200, json={"kind": "Status"})
        real = httpx2.Client

        def client(**options: Any) -> httpx2.Client:
            self.made.append(options)
            kept = {name: value for name, value in options.items() if name != "verify"}
            return real(**kept, transport=httpx2.MockTransport(self._take))

        monkeypatch.setattr(httpx2, "Client", client)

    def _take(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        return self.answer

    def told(self) -> tuple[str, str, bytes, dict[str, str]]:
        """The last request, without the headers that every client sends."""
        request = self.asked[-1]
        usual = ("host", "accept-encoding", "connection", "user-agent", "content-length")
        headers = {name: value for name, value in request.headers.items() if name not in usual}
        return request.method, str(request.url).removeprefix(URL), request.content, headers


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    return Server(monkeypatch)


JSON = {"accept": "application/json"}
SENT = {**JSON, "content-type": "application/json"}


def test_requests_are_sent_as_they_are_written(server: Server) -> None:
    api = Api(URL)
    body = {"a": [1]}
    for send, told in (
        (partial(api.get, "/p"), ("GET", "/p", b"", JSON)),
        (
            partial(api.get, "/p", accept="text/plain", limit=5),
            ("GET", "/p?limit=5", b"", {"accept": "text/plain"}),
        ),
        (partial(api.post, "/p", body), ("POST", "/p", b'{"a": [1]}', SENT)),
        (
            partial(api.post, "/p", b"\x00", content="a/b", accept="c/d", dryRun="All"),
            ("POST", "/p?dryRun=All", b"\x00", {"accept": "c/d", "content-type": "a/b"}),
        ),
        (partial(api.put, "/p", "as it is", force="true"), ("PUT", "/p?force=true", b"as it is", SENT)),
        (partial(api.delete, "/p"), ("DELETE", "/p", b"", JSON)),
        (partial(api.delete, "/p", {}, x="y"), ("DELETE", "/p?x=y", b"{}", SENT)),
        (
            partial(api.request, "PUT", "/p", "", headers={"Accept": "x/y", "X-A": "b"}),
            ("PUT", "/p", b"", {"accept": "x/y", "content-type": "application/json", "x-a": "b"}),
        ),
        *(
            (
                partial(api.patch, "/p", kind, [], force="true"),
                ("PATCH", "/p?force=true", b"[]", {**JSON, "content-type": content}),
            )
            for kind, content in (
                ("json", "application/json-patch+json"),
                ("merge", "application/merge-patch+json"),
                ("strategic", "application/strategic-merge-patch+json"),
                ("apply", "application/apply-patch+yaml"),
            )
        ),
    ):
        send()
        assert server.told() == told


def test_a_token_makes_an_identity_and_an_authority_is_trusted(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ssl.create_default_context", "those in {cafile}".format)
    Api(URL).get("/p")
    assert "authorization" not in server.told()[3]
    Api(URL, "secret", tmp_path / "ca.crt").get("/p")
    assert server.told()[3]["authorization"] == "Bearer secret"
    assert [made["verify"] for made in server.made] == [True, f"those in {tmp_path / 'ca.crt'}"]
    assert [(made["base_url"], made["timeout"]) for made in server.made] == [(URL, 30.0)] * 2


def test_an_answer_is_json_bytes_of_protobuf_or_text(server: Server) -> None:
    api = Api(URL)
    for answer, code, body in (
        (httpx2.Response(201, content=b'{"a": 1}', headers={"content-type": "text/plain"}), 201, {"a": 1}),
        (httpx2.Response(404, content=b"not found"), 404, "not found"),
        (httpx2.Response(200, content=b""), 200, ""),
        (httpx2.Response(200, content=b"{\x00", headers={"content-type": PROTOBUF}), 200, b"{\x00"),
        (httpx2.Response(200, content=b"[1]", headers={"content-type": "application/json"}), 200, "[1]"),
    ):
        server.answer = answer
        found = api.get("/p")
        assert (found.code, found.body) == (code, body)
        assert found.headers.get("content-type") == answer.headers.get("content-type")
        assert found.warnings == []


def test_warnings_are_told_without_their_quotes(server: Server) -> None:
    texts = ('299 - "use v1"', r'299 - "say \"no\" to C:\\"', "299 host two words")
    server.answer = httpx2.Response(200, headers=[("warning", text) for text in texts])
    assert Api(URL).get("/p").warnings == ["use v1", 'say "no" to C:\\', "two words"]


def test_a_watch_gives_its_events_in_order_and_fails_where_one_is_missing(server: Server) -> None:
    events = [{"type": "ADDED", "object": {"n": number}} for number in range(3)]
    text = "\n\n".join(map(json.dumps, events)) + "\n"
    server.answer = httpx2.Response(200, content=text.encode(), headers={"x-a": "b"})
    with Api(URL) as api, api.watch("/p", resourceVersion="3") as watch:
        assert api.url == URL
        assert (watch.code, watch.headers["x-a"]) == (200, "b")
        assert watch.take(2) == events[:2]
        with pytest.raises(AssertionError, match=r"The watch ended after 1 of 2 events: \['ADDED'\]"):
            watch.take(2)
    assert server.told() == ("GET", "/p?watch=true&timeoutSeconds=10&resourceVersion=3", b"", JSON)
    with pytest.raises(RuntimeError, match="closed"):
        api.get("/p")


def test_a_watch_can_be_refused_and_have_other_bounds(server: Server) -> None:
    server.answer = httpx2.Response(410, content=b"too old")
    with Api(URL).watch("/p", accept="a/b", timeoutSeconds=1) as watch:
        assert (watch.code, watch.text()) == (410, "too old")
    assert server.told() == ("GET", "/p?watch=true&timeoutSeconds=1", b"", {"accept": "a/b"})
