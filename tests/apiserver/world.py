"""An API server on a real socket to tell stories with: short verbs, a clock that stands until it is moved."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import httpx2

from mooring.apiserver.app import Application
from mooring.apiserver.authentication.users import User
from mooring.apiserver.authorization.bootstrap import bootstrap_rbac
from mooring.apiserver.server import Server
from mooring.kube.objects import Object
from mooring.net.asgi import Receive, Scope, Send
from mooring.net.fairqueue import FairQueue
from mooring.net.server import HttpServer
from mooring.registry import CheckedStorage, MemoryStorage, Registry

START = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
TOKEN = "secret"
ADMIN = User("admin", ("system:masters", "system:authenticated"))

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


Headers = dict[str, str]


class Answer(NamedTuple):
    """What came back. `body` is the object, or the text where it is none."""

    code: int
    body: Any
    headers: httpx2.Headers

    @property
    def warnings(self) -> list[str]:
        return [value for name, value in self.headers.multi_items() if name == "warning"]


class Switch:
    """Lets every test have a server of its own on the one socket that all of them share."""

    def __init__(self) -> None:
        self.app: Application | None = None
        self.queue = FairQueue()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.app is not None
        await self.app(scope, receive, send)

    def stop(self) -> None:
        if self.app is not None:
            self.app.stop()


class Running:
    """A server in a thread of this process."""

    def __init__(self, url: str, switch: Switch, loop: asyncio.AbstractEventLoop, http: HttpServer) -> None:
        self.url, self.switch, self.loop, self.http = url, switch, loop, http

    def call(self, function: Callable[[], Any]) -> Any:
        """Run a function in the server's loop, and give what it returns."""

        async def inside() -> Any:
            return function()

        return asyncio.run_coroutine_threadsafe(inside(), self.loop).result(10)


@contextmanager
def running() -> Iterator[Running]:
    switch = Switch()
    sock = socket.create_server(("127.0.0.1", 0))
    ready = threading.Event()
    holder: list[tuple[Server, asyncio.AbstractEventLoop]] = []

    async def main() -> None:
        server = Server(switch)  # type: ignore[arg-type]
        holder.append((server, asyncio.get_running_loop()))
        ready.set()
        await server.serve(sock)

    port = sock.getsockname()[1]
    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(10)
    server, loop = holder[0]
    try:
        yield Running(f"http://127.0.0.1:{port}", switch, loop, server.http)
    finally:
        loop.call_soon_threadsafe(server.stop)
        thread.join(10)


class Api:
    """One server with its client. Objects are dicts; what is refused comes back as an answer like any other."""

    def __init__(self, server: Running, storage: MemoryStorage | None = None, **options: Any) -> None:
        self.storage = storage or CheckedStorage()
        self.now = START
        # By token.
        self.users = {TOKEN: ADMIN}
        history = options.pop("history_limit", 20_000)
        self.registry = Registry(self.storage, now=START, seed=1, history_limit=history)
        self.app = Application(
            self.registry,
            clock=lambda: self.now,
            authenticate=lambda token: self.users.get(token or ""),
            **options,
        )
        self.server = server
        server.switch.app = self.app
        self.client = httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=20)

    def close(self) -> None:
        self.server.call(self.app.stop)
        self.client.close()
        if isinstance(self.storage, CheckedStorage):
            self.storage.verify()

    def bootstrap_rbac(self) -> None:
        """Create the roles and bindings of every served cluster; most stories do without."""
        self.server.call(lambda: bootstrap_rbac(self.registry, now=self.now))

    def user(self, name: str, *groups: str) -> Headers:
        """Headers of a request that somebody else sends."""
        self.users[name] = User(name, (*groups, "system:authenticated"))
        return {"authorization": f"Bearer {name}"}

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def send(self, method: str, path: str, body: Any = None, *, content_type: str = "", **headers: str) -> Answer:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if content is not None:
            sent["Content-Type"] = content_type or "application/json"
        answer = self.client.request(method, path, content=content, headers=sent)
        is_json = answer.headers.get("content-type", "").startswith("application/json")
        return Answer(answer.status_code, answer.json() if is_json and answer.content else answer.text, answer.headers)

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any, **options: str) -> Answer:
        return self.send("POST", path, body, **options)

    def put(self, path: str, body: Any, **options: str) -> Answer:
        return self.send("PUT", path, body, **options)

    def delete(self, path: str, body: Any = None, **options: str) -> Answer:
        return self.send("DELETE", path, body, **options)

    def merge(self, path: str, body: Any, **headers: str) -> Answer:
        return self.send("PATCH", path, body, content_type="application/merge-patch+json", **headers)

    def apply(self, path: str, body: Any, **headers: str) -> Answer:
        return self.send("PATCH", path, body, content_type="application/apply-patch+yaml", **headers)

    def made(self, path: str, body: Any) -> Object:
        """The object that a POST makes; it must be made."""
        answer = self.post(path, body)
        assert answer.code == 201, answer.body
        made: Object = answer.body
        return made

    def fill(self, count: int) -> list[str]:
        """Make many config maps at once, without a request for each; their names."""
        kind = self.registry.resource("v1", "ConfigMap")
        names = [f"c{number:03}" for number in range(count)]

        def make() -> None:
            for name in names:
                self.registry.create(kind, {"metadata": {"name": name}}, now=self.now)

        self.server.call(make)
        return names

    def names(self, path: str) -> list[str]:
        return [item["metadata"]["name"] for item in self.get(path).body["items"]]

    @contextmanager
    def watch(self, path: str, *, accept: str = "application/json", **query: Any) -> Iterator[Lines]:
        parameters = {"watch": "true"} | {
            name: str(value).lower() if value in (True, False) else str(value) for name, value in query.items()
        }
        with self.client.stream("GET", path, params=parameters, headers={"Accept": accept}) as answer:
            yield Lines(answer)


class Lines:
    """The lines of a watch, read when they are asked for."""

    def __init__(self, answer: httpx2.Response) -> None:
        self.code = answer.status_code
        self.headers = answer.headers
        self._lines = answer.iter_lines()

    def next(self) -> Object:
        found: Object = json.loads(next(self._lines))
        return found

    def rest(self) -> list[Object]:
        """Everything until the server ends the stream."""
        return [json.loads(line) for line in self._lines]

    def told(self) -> tuple[str, str]:
        """The next event in short: its type and the name of the object."""
        event = self.next()
        return event["type"], event["object"]["metadata"].get("name", "")


def failed(answer: Answer) -> tuple[int, str]:
    """The code and reason of a refusal, which must be a Status."""
    body = answer.body
    assert isinstance(body, dict), body
    assert body["kind"] == "Status", body
    assert body["status"] == "Failure", body
    assert body["code"] == answer.code
    return answer.code, body["reason"]
