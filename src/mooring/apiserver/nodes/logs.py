"""Logs of containers: fetched from the kubelet of the pod's node, and streamed to the client.

Where nothing is really run, a pod may name a ConfigMap that holds its log: whoever does its work writes there.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Final
from urllib.parse import quote, urlencode

from mooring.apiserver.calls import Call, Context, wrong_method
from mooring.apiserver.nodes.kubelets import DIAL_SECONDS, Kubelets, container_of, is_simulated, kubelet_failure
from mooring.apiserver.nodes.relay import relay
from mooring.kube.errors import FieldError, forbidden, invalid
from mooring.kube.status import ApiError, BadRequestError, InternalError, InvalidError, NotFoundError
from mooring.net.asgi import Message, Send
from mooring.net.client_connection import ClientConnection, ConnectionCut, HttpResponse, request_bytes
from mooring.net.destination import Destination

__all__ = ["LogProxy"]


_ANSWER_SECONDS: Final = 30.0
_SENT: Final = {"User-Agent": "mooring-apiserver", "Connection": "close"}
_HEADERS: Final = [(b"content-type", b"text/plain"), (b"cache-control", b"no-cache, private")]
# On a pod of a simulated node: `CONFIGMAP/KEY` of its namespace.
_PLAYED_LOG: Final = "mooring.dev/log"
_HEAD: Final[Message] = {"type": "http.response.start", "status": 200, "headers": _HEADERS}


class LogProxy:
    def __init__(self, context: Context, kubelets: Kubelets) -> None:
        self._context = context
        self._kubelets = kubelets
        self._open: set[ClientConnection] = set()

    def stop(self) -> None:
        """End the logs that are being followed."""
        for connection in tuple(self._open):
            connection.close()

    async def serve(self, call: Call, send: Send) -> int:
        """The status of the answer. Raises what is wrong with a request as long as nothing has been sent."""
        if call.request.method != "GET":
            raise wrong_method()
        target = self._target(call)
        if target is None:
            await send({"type": "http.response.start", "status": 204, "headers": _HEADERS[1:]})
            await send({"type": "http.response.body", "body": b""})
            return 204
        if isinstance(target, bytes):
            await send(_HEAD)
            await send({"type": "http.response.body", "body": target})
            return 200
        await relay(call.request, self._fetch(*target), lambda: _HEAD, send)
        return 200

    # Whose log

    def _target(self, call: Call) -> tuple[Destination, str] | bytes | None:
        """The address and path of the log, or the log; None for a pod without a node, whose log is empty."""
        query = _query(call)
        pod = self._context.registry.get(call.resource, call.namespace, call.target.name)
        container = container_of(pod, call.request.text("container"))
        name = pod["spec"].get("nodeName")
        if not name:
            return None
        played = (pod["metadata"].get("annotations") or {}).get(_PLAYED_LOG)
        if played is not None and is_simulated(self._kubelets.node(name)):
            return self._played(call.namespace, played, query)
        simulated = f"pod {call.target.name} has no logs: node {name} is simulated, and nothing is really run there"
        node = self._kubelets.of(name, simulated)
        path = "/".join(quote(part, safe="") for part in (call.namespace, call.target.name, container))
        return node, f"/containerLogs/{path}?{urlencode(query)}"

    def _played(self, namespace: str, place: str, query: dict[str, str]) -> bytes:
        """The log that stands in a ConfigMap; empty while there is none. It is not followed."""
        registry = self._context.registry
        name, _, key = place.partition("/")
        try:
            found = registry.get(registry.resource("v1", "ConfigMap"), namespace, name)
        except NotFoundError:
            return b""
        lines = (found.get("data") or {}).get(key, "").splitlines(keepends=True)
        tail = int(query.get("tailLines", len(lines)))
        text = "".join(lines[max(0, len(lines) - tail) :]).encode()
        return text[: int(query.get("limitBytes", len(text)))]

    # From the node

    async def _fetch(self, node: Destination, path: str) -> AsyncGenerator[bytes]:
        """What the node sends, beginning with nothing as soon as it is known that it will."""
        try:
            connection = await node.dial(seconds=DIAL_SECONDS)
        except OSError as error:
            raise InternalError.of(f"the node cannot be asked for its logs: {kubelet_failure(error, node)}") from None
        self._open.add(connection)
        headers = {"Host": node.authority, **self._kubelets.credentials(node), **_SENT}
        try:
            answer = await connection.open(request_bytes("GET", path, headers), _ANSWER_SECONDS)
            if answer.status != 200:
                raise _refusal(await connection.rest(_ANSWER_SECONDS))
            yield b""
            # A log has no place for errors: what cuts it short ends it.
            with suppress(ConnectionCut):
                async with aclosing(connection.parts()) as parts:
                    async for part in parts:
                        yield part
        except TimeoutError:
            raise InternalError.of(f"the node at {node.authority} did not answer in {_ANSWER_SECONDS:.0f} s") from None
        except ConnectionCut as error:
            why = f"the node at {node.authority} stopped in the middle of its answer: {error}"
            raise InternalError.of(why) from None
        finally:
            self._open.discard(connection)
            connection.close()


def _refusal(answer: HttpResponse) -> ApiError:
    text = answer.body.decode(errors="replace").strip()
    if answer.status == 400:
        return BadRequestError(text)
    return InternalError.of(f"the node answered {answer.status}: {text}")


# What is asked


def _query(call: Call) -> dict[str, str]:
    """The options of a request as nodes take them."""
    request = call.request
    found = {name: "true" for name in ("follow", "previous", "timestamps") if request.flag(name)}
    tail, limit, seconds = (request.number(name) for name in ("tailLines", "limitBytes", "sinceSeconds"))
    since = request.text("sinceTime")
    errors: list[FieldError] = []
    if tail is not None and tail < 0:
        errors.append(invalid("tailLines", tail, "must be greater than or equal to 0"))
    if limit is not None and limit < 1:
        errors.append(invalid("limitBytes", limit, "must be greater than 0"))
    if seconds is not None and since:
        errors.append(forbidden("", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
    elif seconds is not None and seconds < 1:
        errors.append(invalid("sinceSeconds", seconds, "must be greater than 0"))
    if errors:
        raise InvalidError("PodLogOptions", "", call.target.name, errors)
    numbers = {"tailLines": tail, "limitBytes": limit, "sinceSeconds": seconds}
    found |= {name: str(number) for name, number in numbers.items() if number is not None}
    return found | ({"sinceTime": since} if since else {})
