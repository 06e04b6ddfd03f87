"""A node whose kubelet a test plays: it says that it is ready, runs pods as the test says, and serves their logs."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.net.certificates import Certificates, ensure_node_certificate
from mooring.testing.homes import EMBEDDED, Home
from mooring.testing.http import Api


class PlayedNode:
    """`logs` are what its containers wrote, by the names of pods; `refusals` is how often it refuses to show one."""

    def __init__(self, api: Api, name: str, certificate: Path, key: Path) -> None:
        self.name = name
        self.logs: dict[str, str] = {}
        self.refusals = 0
        self._api = api
        node = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                # /containerLogs/NAMESPACE/POD/CONTAINER?...
                _, _, _, pod, container = self.path.partition("?")[0].split("/")
                refused, node.refusals = node.refusals > 0, max(0, node.refusals - 1)
                found = None if refused or container != "validator" else node.logs.get(pod)
                self.send_response(500 if found is None else 200)
                self.end_headers()
                self.wfile.write(b"the runtime is not ready" if found is None else found.encode())

            def log_message(self, *args: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def join(self, made: Object) -> None:
        assert self._api.post("/api/v1/nodes", made).code == 201
        now = timestamp(datetime.now(UTC))
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "played"}
        status = {
            "conditions": [{**ready, "lastHeartbeatTime": now, "lastTransitionTime": now}],
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self._server.server_port}},
        }
        path = f"/api/v1/nodes/{self.name}/status"
        answer = self._api.patch(path, "strategic", {"status": status})
        assert answer.code == 200, answer.body

    def reports(self, pod: str, status: Object) -> None:
        answer = self._api.patch(f"/api/v1/namespaces/default/pods/{pod}/status", "merge", {"status": status})
        assert answer.code == 200, answer.body

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def played_node(home: Home, api: Api, made: Object) -> Iterator[PlayedNode]:
    """The API server of a home takes a kubelet's certificate from the authority of that home."""
    files = Certificates(home.folder / "tls" if home.name == EMBEDDED else home.folder)
    ensure_node_certificate(files, now=datetime.now(UTC))
    node = PlayedNode(api, made["metadata"]["name"], files.node_certificate, files.node_key)
    try:
        node.join(made)
        yield node
    finally:
        node.close()
