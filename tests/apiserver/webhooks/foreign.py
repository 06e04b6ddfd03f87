"""A webhook that is not ours: an HTTPS server in a thread, with the answers that a test gives it."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mooring.kube.objects import Object
from mooring.net.certificates import ensure_certificates

Answer = Callable[[Object], Object]


def allowed(*patch: Object, warnings: list[str] | None = None) -> Answer:
    """Let it pass, changed by some operations of a JSON patch."""
    response: Object = {"allowed": True}
    if patch:
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}
    if warnings:
        response["warnings"] = warnings
    return lambda _: response


def denied(message: str = "", **status: Any) -> Answer:
    full = ({"message": message} if message else {}) | status
    return lambda _: {"allowed": False} | ({"status": full} if full else {})


def labelled(**labels: str) -> Object:
    """The operation that puts labels in the place of those that there are."""
    return {"op": "add", "path": "/metadata/labels", "value": labels}


class Foreign:
    """`calls` has the request of every review, by path, in the order in which they came."""

    def __init__(self, url: str, authority: bytes) -> None:
        self.url = url
        self.authority = authority
        self.calls: list[tuple[str, Object]] = []
        self.delays: dict[str, float] = {}
        self._answers: dict[str, Callable[[Object], Any]] = {}
        self._lock = threading.Lock()

    def on(self, path: str, answer: Answer) -> str:
        """Answer reviews on a path so from now on; returns the path."""
        self._answers[path] = answer
        return path

    def raw(self, path: str, answer: Callable[[Object], Any]) -> str:
        """The same with the whole body, as bytes with a status or as the review that is answered."""
        return self.on(path, answer)

    def forget(self) -> None:
        with self._lock:
            self.calls.clear()
        self.delays.clear()
        self._answers.clear()

    def asked(self, path: str) -> list[Object]:
        with self._lock:
            return [request for where, request in self.calls if where == path]

    def client(self, path: str, **other: Any) -> Object:
        """The clientConfig that leads to a path."""
        return {"url": f"{self.url}{path}", "caBundle": base64.b64encode(self.authority).decode()} | other

    def answer(self, path: str, review: Object) -> tuple[int, bytes]:
        request = review["request"]
        with self._lock:
            self.calls.append((path, request))
        time.sleep(self.delays.get(path, 0))
        found = self._answers.get(path)
        if found is None:
            return 404, b"nothing here"
        made = found(request)
        if isinstance(made, tuple):
            return made
        if "apiVersion" not in made:
            made = {
                "apiVersion": review["apiVersion"],
                "kind": review["kind"],
                "response": {"uid": request["uid"]} | made,
            }
        return 200, json.dumps(made).encode()


@contextmanager
def foreign_webhook(folder: Path) -> Iterator[Foreign]:
    certificates = ensure_certificates(folder, ("127.0.0.1", "localhost", "hook.web.svc"), now=datetime.now(UTC))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # A head and a body that leave in two packets would wait 40 ms for each other.
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status, answer = foreign.answer(self.path.partition("?")[0], json.loads(body))
            self.send_response(status)
            self.send_header("content-type", "application/json" if status == 200 else "text/plain")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
            self.wfile.flush()

        def log_message(self, *_: Any) -> None:
            return

    class Listener(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, request: Any, client_address: Any) -> None:
            # Clients that do not trust it, or do not wait for it, leave.
            return

    server = Listener(("127.0.0.1", 0), Handler)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificates.certificate, certificates.key)
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    foreign = Foreign(f"https://127.0.0.1:{server.server_port}", certificates.authority.read_bytes())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield foreign
    finally:
        server.shutdown()
        server.server_close()
