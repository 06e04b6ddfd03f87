"""A small synchronous HTTP client for tests that look at an API server from outside, request by request.

It hides nothing: an answer is its code, its headers and its body, and an error is an answer like any other.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx2

JSON = "application/json"
SECONDS = 30.0
# What `patch` calls a body, and what the API calls it.
PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


@dataclass(frozen=True)
class Answer:
    """What came back; `body` is the JSON in it, the bytes of protobuf, or the text where it is neither."""

    code: int
    headers: httpx2.Headers
    body: Any

    @property
    def warnings(self) -> list[str]:
        """The sentences of the Warning headers."""
        texts = (line.split(" ", 2)[2] for line in self.headers.get_list("warning"))
        return [text.removeprefix('"').removesuffix('"').replace('\\"', '"').replace("\\\\", "\\") for text in texts]


class Api:
    """One server, one identity."""

    def __init__(self, url: str, token: str | None = None, ca: Path | None = None) -> None:
        trust = ssl.create_default_context(cafile=str(ca)) if ca else True
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.url = url
        self._client = httpx2.Client(base_url=url, headers=headers, verify=trust, timeout=SECONDS)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content: str = JSON,
        accept: str = JSON,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        """Sends bytes and text as they are and everything else as JSON."""
        answer = self._client.request(
            method,
            path,
            params=query,
            content=_encoded(body),
            headers={"Accept": accept, **({"Content-Type": content} if body is not None else {}), **(headers or {})},
        )
        return Answer(answer.status_code, answer.headers, _decoded(answer))

    def get(self, path: str, *, accept: str = JSON, **query: Any) -> Answer:
        return self.request("GET", path, accept=accept, **query)

    def post(self, path: str, body: Any, *, content: str = JSON, accept: str = JSON, **query: Any) -> Answer:
        return self.request("POST", path, body, content=content, accept=accept, **query)

    def put(self, path: str, body: Any, **query: Any) -> Answer:
        return self.request("PUT", path, body, **query)

    def patch(self, path: str, kind: str, body: Any, **query: Any) -> Answer:
        """`kind` is json, merge, strategic or apply."""
        return self.request("PATCH", path, body, content=PATCHES[kind], **query)

    def delete(self, path: str, options: Any = None, **query: Any) -> Answer:
        return self.request("DELETE", path, options, **query)

    @contextmanager
    def watch(self, path: str, *, accept: str = JSON, **query: Any) -> Iterator[WatchAnswer]:
        """An open watch; the server ends it after ten seconds, so that a missing event fails a test."""
        query = {"watch": "true", "timeoutSeconds": 10, **query}
        with self._client.stream("GET", path, params=query, headers={"Accept": accept}) as response:
            yield WatchAnswer(response)

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Api:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class WatchAnswer:
    """The events of one watch, in order."""

    def __init__(self, response: httpx2.Response) -> None:
        self.code = response.status_code
        self.headers = response.headers
        self._response = response
        self._lines = response.iter_lines()

    def text(self) -> str:
        """The whole body, for a watch that was refused."""
        return self._response.read().decode()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (json.loads(line) for line in self._lines if line)

    def take(self, count: int) -> list[dict[str, Any]]:
        """The next events; an AssertionError where the watch ends before there are as many."""
        events = []
        for event in self:
            events.append(event)
            if len(events) == count:
                return events
        raise AssertionError(f"The watch ended after {len(events)} of {count} events: {[e['type'] for e in events]}")


def _encoded(body: Any) -> bytes | None:
    if body is None:
        return None
    if isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode()


def _decoded(answer: httpx2.Response) -> Any:
    if answer.headers.get("content-type", "").startswith("application/vnd.kubernetes.protobuf"):
        return answer.content
    # Not by the content type: a real server calls some of its JSON text/plain.
    return answer.json() if answer.content[:1] == b"{" else answer.text
