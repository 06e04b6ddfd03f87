"""The REST server in a thread, for the API server of either home, and clients that read JSON and streams."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from mooring.client.access import Access
from mooring.net.tls import client_context
from mooring.runway.rest.app import rest_app
from mooring.runway.rest.callers import Callers, digest_of
from mooring.runway.rest.server import rest_server
from mooring.runway.rest.service import RestService, ServiceFacts
from mooring.testing.homes import Home
from mooring.testing.http import Api

PATIENCE = 20.0
SESSION = "a-token-of-this-process"
READER = "reader"
NOBODY = "nobody"
USERS = {READER: ("people",), NOBODY: ("people",)}
KINDS = ("Workspace", "LeaderWorkerSet", "Installation", "NotebookValidationJob", "ByoHost")


class RestClient:
    """Requests of one caller."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx2.Client(base_url=url, headers=self.headers, timeout=PATIENCE)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        answer = self._client.request(method, path, json=body, headers=headers)
        return answer.status_code, answer.json()

    def get(self, path: str) -> Any:
        status, body = self.ask("GET", path)
        assert status == 200, body
        return body

    def post(self, path: str, body: Any = None) -> Any:
        status, answer = self.ask("POST", path, body)
        assert status < 300, answer
        return answer

    @contextmanager
    def stream(self, topics: str, last_id: str = "") -> Iterator[EventReader]:
        headers = {"Last-Event-ID": last_id} if last_id else {}
        with self._client.stream("GET", f"/api/stream?topics={topics}", headers=headers) as response:
            assert response.status_code == 200, response.read()
            yield EventReader(response.iter_lines())

    def close(self) -> None:
        self._client.close()


class EventReader:
    """The events of a stream, one after another. `last_id` is where it can be resumed."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.last_id = ""

    def next(self) -> tuple[str, Any]:
        topic, data = "", ""
        for line in self._lines:
            if line.startswith("event: "):
                topic = line[7:]
            elif line.startswith("id: "):
                self.last_id = line[4:]
            elif line.startswith("data: "):
                data = line[6:]
            elif not line and data:
                return topic, json.loads(data)
        raise EOFError("the stream has ended")

    def until(self, wanted: Callable[[str, Any], bool]) -> list[tuple[str, Any]]:
        """The events up to and with the first that is wanted."""
        found = []
        while True:
            found.append(self.next())
            if wanted(*found[-1]):
                return found


class Rest:
    """A REST server, and who may use it: the administrator, a reader and somebody without rights."""

    def __init__(self, url: str, home: Home, service: RestService) -> None:
        self.url, self.home, self.service = url, home, service
        self._clients: list[RestClient] = []

    def client(self, token: str) -> RestClient:
        self._clients.append(RestClient(self.url, token))
        return self._clients[-1]

    @property
    def admin(self) -> RestClient:
        return self.client(self.home.token)

    @property
    def reader(self) -> RestClient:
        return self.client(self.home.tokens[READER])

    @property
    def nobody(self) -> RestClient:
        return self.client(self.home.tokens[NOBODY])

    def close(self) -> None:
        for client in self._clients:
            client.close()


def eventually(look: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {PATIENCE:.0f} s: {what}")


@contextmanager
def rest(home: Home) -> Iterator[Rest]:
    server = Access(home.url, client_context(authority=home.ca.read_bytes()))
    bearer = {"Authorization": f"Bearer {home.token}"}
    own = Access(home.url, server.tls, headers=lambda: bearer)
    listening = socket.create_server(("127.0.0.1", 0))
    services: list[RestService] = []
    ready = threading.Event()
    stops: list[Callable[[], None]] = []

    async def main() -> None:
        facts = ServiceFacts(home.url, "1.0", "mooring", embedded=True)
        services.append(RestService(Callers(server, {digest_of(SESSION): own}), facts))
        running = rest_server(rest_app(services[0]))
        stops.append(lambda: setattr(running, "should_exit", True))
        ready.set()
        await running.serve(sockets=[listening])

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    found = Rest(f"http://127.0.0.1:{listening.getsockname()[1]}", home, services[0])
    try:
        yield found
    finally:
        found.close()
        stops[0]()
        thread.join(PATIENCE)


def furnish(api: Api) -> None:
    """The kinds that are asked about, and the rights of those who ask."""
    from mooring.catalog import CATALOG

    for definition in CATALOG.definitions():
        if definition["spec"]["names"]["kind"] in KINDS:
            assert api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition).code in (201, 409)
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    reading = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
    for path, body in (
        (f"{rbac}/clusterroles", {"metadata": {"name": "reading"}, "rules": reading}),
        (
            f"{rbac}/clusterrolebindings",
            {
                "metadata": {"name": "reading"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reading"},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": READER}],
            },
        ),
    ):
        assert api.post(path, body).code in (201, 409)

    def served() -> bool:
        lists = ("kaito.sh/v1beta1/workspaces", "runway.mooring.dev/v1alpha1/installations")
        others = ("leaderworkerset.x-k8s.io/v1/leaderworkersets", "mlops.mlops.dev/v1alpha1/notebookvalidationjobs")
        return all(api.get(f"/apis/{path}").code == 200 for path in (*lists, *others))

    eventually(served, "the kinds are served")
