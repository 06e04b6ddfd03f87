"""A cluster that commands reach by kubeconfig: the embedded API over a socket, which keeps a list of what it is asked.

Objects are put into it as they are, as if controllers and people had made them; what a command may not do it refuses.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from mooring.apiserver.app import Application
from mooring.apiserver.authentication.users import User
from mooring.apiserver.server import Server
from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, ForbiddenError, UnauthorizedError
from mooring.manifests.emit import to_yaml
from mooring.net.asgi import Receive, Scope, Send
from mooring.registry import MemoryStorage, Registry
from mooring.registry.storage import Storage
from mooring.testing.http import Api

USER = "ada"


def now() -> datetime:
    return datetime.now(UTC)


class RequestLog:
    """Records every request, and refuses the kinds in `forbidden`."""

    def __init__(self, app: Application) -> None:
        self._app = app
        self.queue = app.queue
        self.asked: list[tuple[str, str]] = []
        # The plurals of kinds that may not be touched.
        self.forbidden: set[str] = set()
        self.expired = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.append((scope["method"], scope["path"]))
        error = self._refusal(scope["path"])
        if error is None:
            await self._app(scope, receive, send)
            return
        body = json.dumps(error.status()).encode()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": error.code, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _refusal(self, path: str) -> ApiError | None:
        if self.expired:
            return UnauthorizedError("Unauthorized")
        for plural in self.forbidden.intersection(path.split("/")):
            return ForbiddenError(f'{plural} is forbidden: User "{USER}" cannot list resource "{plural}"')
        return None

    def stop(self) -> None:
        self._app.stop()


class ServedCluster:
    """The storage, the log of requests and the kubeconfig of one served API."""

    def __init__(self, folder: Path, front: RequestLog, storage: Storage, registry: Registry, url: str) -> None:
        self.folder, self.front, self.url = folder, front, url
        self._storage, self._registry = storage, registry

    def add(self, *objects: Object) -> None:
        """Put objects in as they are."""
        stores = {(r.api_version, r.kind): r for r in self._registry.resources}
        for obj in objects:
            resource, meta = stores[obj["apiVersion"], obj["kind"]], obj["metadata"]
            revision = self._storage.revision + 1
            namespace = meta.get("namespace", "") if resource.namespaced else ""
            known = {"resourceVersion": str(revision), "uid": meta.get("uid") or f"{obj['kind']}-{meta['name']}"}
            self._storage.put(resource.store, namespace, meta["name"], {**obj, "metadata": {**meta, **known}}, revision)

    def serve_features(self) -> None:
        """Serve the kinds of all features, as their definitions in the cluster would."""
        with Api(self.url) as api:
            for definition in CATALOG.definitions():
                answer = api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
                assert answer.code == 201, answer.body

    @property
    def verbs(self) -> set[str]:
        return {method for method, _ in self.front.asked}

    def kubeconfig(self, namespace: str = "", url: str = "") -> str:
        context: Object = {"cluster": "it", "user": USER, **({"namespace": namespace} if namespace else {})}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "clusters": [{"name": "it", "cluster": {"server": url or self.url}}],
            "users": [{"name": USER, "user": {}}],
            "contexts": [{"name": "here", "context": context}],
        }
        file = self.folder / "kubeconfig"
        file.write_text(to_yaml(config))
        return str(file)


@contextmanager
def served(folder: Path) -> Iterator[ServedCluster]:
    storage = MemoryStorage()
    registry = Registry(storage, now=now())
    app = Application(registry, clock=now, authenticate=lambda header: User(USER, ("system:masters",)))
    front = RequestLog(app)
    sock = socket.create_server(("127.0.0.1", 0))
    ready = threading.Event()
    stops: list[Callable[[], object]] = []

    async def main() -> None:
        server = Server(front)  # type: ignore[arg-type]
        loop = asyncio.get_running_loop()
        stops.append(lambda: loop.call_soon_threadsafe(server.stop))
        ready.set()
        await server.serve(sock)

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield ServedCluster(folder, front, storage, registry, f"http://127.0.0.1:{sock.getsockname()[1]}")
    finally:
        stops[0]()
        thread.join(10)
