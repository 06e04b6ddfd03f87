"""exec, attach and port-forward: a request that leaves HTTP is passed on to the kubelet of the pod's node.

This server does not look into the bytes, so it does not matter whether a client and a kubelet speak WebSocket or SPDY.
"""

import asyncio
from typing import Final
from urllib.parse import quote, urlencode

from mooring.apiserver.calls import Call, Context, wrong_method
from mooring.apiserver.kubelets import DIAL_SECONDS, Kubelets, container_of, kubelet_failure
from mooring.kube.status import ApiError, BadRequestError, InternalError
from mooring.net.asgi import Send, send_whole
from mooring.net.byte_stream import join_streams
from mooring.net.client_connection import ClientConnection, ConnectionCut, HttpResponse, request_bytes
from mooring.net.destination import Destination

__all__ = ["StreamProxy", "pass_upgrade", "upgrade_headers"]

_ANSWER_SECONDS: Final = 30.0
# The options of a client in the words of a kubelet.
_OPTIONS: Final = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}
_ON_BY_DEFAULT: Final = frozenset({"stdout", "stderr"})
_PASSED: Final = ("upgrade", "connection", "x-stream-protocol-version")
_TEXT: Final = b"text/plain; charset=utf-8"


class StreamProxy:
    def __init__(self, context: Context, kubelets: Kubelets) -> None:
        self._context = context
        self._kubelets = kubelets

    async def serve(self, call: Call, send: Send) -> int:
        """The status of the answer. Raises what is wrong with a request as long as nothing has been sent."""
        if call.request.method not in ("GET", "POST"):
            raise wrong_method()
        # Whoever enters a pod creates something in it, also by the GET with which WebSockets begin.
        self._context.access.check_creation(call.request, call.target)
        node, target = self._target(call)
        if call.request.upgrade is None:
            raise BadRequestError("Upgrade request required")
        # A request is begun outside of a task and becomes one when it first waits; time limits need one.
        await asyncio.sleep(0)
        headers = {"Host": node.authority, **self._kubelets.credentials(node), **upgrade_headers(call)}
        return await pass_upgrade(call, send, node, request_bytes(call.request.method, target, headers))

    def _target(self, call: Call) -> tuple[Destination, str]:
        request, name, what = call.request, call.target.name, call.target.subresource
        pod = self._context.registry.get(call.resource, call.namespace, name)
        path, query = [call.namespace, name], []
        if what == "portforward":
            query = [("port", port) for port in request.query.get("ports", ())]
        else:
            path.append(container_of(pod, request.text("container")))
            query = [(word, "1") for option, word in _OPTIONS.items() if _is_on(call, option)]
            query += [("command", word) for word in request.query.get("command", ())]
        node = pod["spec"].get("nodeName")
        if not node:
            raise BadRequestError(f"pod {name} does not have a host assigned")
        simulated = f"pod {name} cannot be entered: node {node} is simulated, and nothing is really run there"
        where = self._kubelets.of(node, simulated)
        root = "portForward" if what == "portforward" else what
        return where, f"/{root}/{'/'.join(quote(part, safe='') for part in path)}?{urlencode(query)}"


def _is_on(call: Call, option: str) -> bool:
    given = call.request.flag(option)
    return option in _ON_BY_DEFAULT and call.target.subresource == "attach" if given is None else given


def upgrade_headers(call: Call) -> dict[str, str]:
    """The headers that two ends of another protocol agree on it with."""
    found: dict[str, str] = {}
    for key, value in call.request.headers:
        name = key.decode("latin-1")
        if name in _PASSED or name.startswith("sec-websocket-"):
            text = value.decode("latin-1")
            found[name] = f"{found[name]}, {text}" if name in found else text
    return found


async def pass_upgrade(call: Call, send: Send, target: Destination, request: bytes) -> int:
    """Dial, pass the request on, and join both ends when it is granted; the status of the answer."""
    connection = await _dialled(target)
    try:
        answer = await connection.open(request, _ANSWER_SECONDS)
        if answer.status != 101:
            return await _refused(await connection.rest(_ANSWER_SECONDS), send)
        assert call.request.upgrade is not None
        client = call.request.upgrade(list(answer.headers.items()))
        await join_streams(client, connection.upgraded())
        return answer.status
    except TimeoutError:
        raise InternalError.of(f"{target.authority} did not answer in {_ANSWER_SECONDS:.0f} s") from None
    except ConnectionCut as error:
        raise InternalError.of(f"{target.authority} closed the connection: {error}") from None
    finally:
        connection.close()


async def _dialled(target: Destination) -> ClientConnection:
    try:
        return await target.dial(seconds=DIAL_SECONDS)
    except (OSError, ConnectionCut) as error:
        raise ApiError(f"error dialing backend: {kubelet_failure(error, target)}") from None


async def _refused(answer: HttpResponse, send: Send) -> int:
    if answer.status < 400:
        raise InternalError.of(f"invalid upgrade response: status code {answer.status}")
    kind = answer.headers.get(b"content-type", _TEXT)
    await send_whole(send, answer.status, kind, answer.body, (b"connection", b"close"))
    return answer.status
