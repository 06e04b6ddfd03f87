"""The proxies of pods, services and nodes: plain HTTP to what runs behind them, by the names that kube-apiserver takes.

`NAME`, `NAME:PORT` and `SCHEME:NAME:PORT`. Where a name leads to is decided by `proxy_targets`; here requests and
answers are passed on, part by part. A token of this server's never goes to a pod.
"""

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final
from urllib.parse import urlsplit

from mooring.apiserver.calls import Call, Context, wrong_method
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.nodes.kubelets import DIAL_SECONDS, Kubelets
from mooring.apiserver.nodes.proxy_targets import ProxyTarget, node_target, pod_target, service_target
from mooring.apiserver.nodes.relay import relay
from mooring.apiserver.nodes.upgrades import pass_upgrade
from mooring.kube.status import BadRequestError, ServiceUnavailableError
from mooring.net.asgi import Header, Message, Send
from mooring.net.client_connection import ConnectionCut, HttpResponse, request_bytes
from mooring.net.destination import Destination, dial_failure

__all__ = ["HttpProxy", "ProxiedExchange", "passed_headers", "rewritten_location"]

_METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
# What is between two neighbours and not for the one behind.
_HOP_BY_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer"}
    | {"transfer-encoding", "upgrade"}
)
_NOT_PASSED: Final = _HOP_BY_HOP | {"authorization", "content-length", "expect", "x-forwarded-uri"}
# The date is this server's own.
_NOT_RETURNED: Final = _HOP_BY_HOP | {"date"}
_BEYOND: Final = re.compile(r"/api/v1/(?:namespaces/[^/]+/)?(?:pods|services|nodes)/[^/]+/proxy(/.*)?", re.S)


class HttpProxy:
    def __init__(self, context: Context, kubelets: Kubelets) -> None:
        self._context = context
        self._kubelets = kubelets

    async def serve_pod(self, call: Call, send: Send) -> int:
        return await self._serve(call, send, lambda: pod_target(self._context.registry, self._kubelets, call))

    async def serve_service(self, call: Call, send: Send) -> int:
        return await self._serve(call, send, lambda: service_target(self._context.registry, self._kubelets, call))

    async def serve_node(self, call: Call, send: Send) -> int:
        if call.request.upgrade is not None:
            # Whoever may look at a node through its proxy may not yet enter its pods.
            raise BadRequestError("pods are entered by their own sub-resources, not through the proxy of their node")
        return await self._serve(call, send, lambda: node_target(self._context.registry, self._kubelets, call))

    async def _serve(self, call: Call, send: Send, locate: Callable[[], ProxyTarget]) -> int:
        """The status of the answer. Raises what is wrong with a request as long as nothing has been sent."""
        request = call.request
        if request.method not in _METHODS:
            raise wrong_method()
        target = locate()
        path = _beyond(request.raw_path)
        query = f"?{request.query_string}" if request.query_string else ""
        if not path and request.method in ("GET", "HEAD") and request.upgrade is None:
            # Links of a page without a slash at its end would lead astray.
            where = f"{request.raw_path}/{query}".encode("latin-1")
            headers: list[Header] = [(b"location", where), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 301, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return 301
        sent = {**passed_headers(request), "x-forwarded-uri": request.raw_path, **target.credentials}
        if request.upgrade is not None:
            sent |= {"connection": "Upgrade", "upgrade": request.header(b"upgrade")}
            data = request_bytes(request.method, f"{path or '/'}{query}", sent)
            return await pass_upgrade(request, send, target.destination, data)
        body = await request.body()
        data = request_bytes(request.method, f"{path or '/'}{query}", {**sent, "connection": "close"}, body)
        exchange = ProxiedExchange(request, target.destination, data, _prefix(request.raw_path))
        await relay(request, exchange.answer(), exchange.head, send)
        return exchange.status


class ProxiedExchange:
    """One request to the server behind, and its answer. `prefix` is what stands before its paths here."""

    def __init__(self, request: HttpRequest, where: Destination, data: bytes, prefix: str = "") -> None:
        self.status = 0
        self._request = request
        self._where = where
        self._data = data
        self._prefix = prefix
        self._response: HttpResponse | None = None

    async def answer(self) -> AsyncGenerator[bytes]:
        where = self._where
        try:
            connection = await where.dial(seconds=DIAL_SECONDS)
        except (OSError, ConnectionCut) as error:
            why = f"error trying to reach service: {dial_failure(error, where)}"
            raise ServiceUnavailableError(why) from None
        try:
            self._response = await connection.open(self._data)
            self.status = self._response.status
            yield b""
            if self._request.method != "HEAD":
                async with aclosing(connection.parts()) as parts:
                    async for part in parts:
                        yield part
        except ConnectionCut as error:
            raise ServiceUnavailableError(f"error trying to reach service: {error}") from None
        finally:
            connection.close()

    def head(self) -> Message:
        assert self._response is not None
        headers: list[Header] = []
        for name, value in self._response.headers.items():
            if name == b"location":
                value = rewritten_location(value, self._prefix, self._where.authority)
            if name.decode("latin-1") not in _NOT_RETURNED:
                headers += [(name, each) for each in value.split(b"\n")]
        return {"type": "http.response.start", "status": self.status, "headers": headers}


def passed_headers(request: HttpRequest) -> dict[str, str]:
    """The headers of a request that are for the server behind, too."""
    found: dict[str, str] = {}
    for key, value in request.headers:
        name, text = key.decode("latin-1"), value.decode("latin-1")
        if name not in _NOT_PASSED and not name.startswith("impersonate-"):
            found[name] = f"{found[name]}, {text}" if name in found else text
    before = found.get("x-forwarded-for")
    if request.client:
        found["x-forwarded-for"] = f"{before}, {request.client}" if before else request.client
    return found


def _beyond(path: str) -> str:
    """What a path names behind the proxy; empty when it ends with `proxy`."""
    found = _BEYOND.fullmatch(path)
    return found[1] or "" if found else ""


def _prefix(path: str) -> str:
    """What stands before it."""
    return path[: len(path) - len(_beyond(path))]


def rewritten_location(location: bytes, prefix: str, authority: str) -> bytes:
    """A redirect within the server behind leads through the proxy; others stay as they are."""
    try:
        parts = urlsplit(location.decode("latin-1"))
    except ValueError:
        return location
    if parts.netloc not in ("", authority) or not parts.path.startswith("/") or parts.path.startswith(prefix):
        return location
    return parts._replace(scheme="", netloc="", path=prefix + parts.path).geturl().encode("latin-1")
