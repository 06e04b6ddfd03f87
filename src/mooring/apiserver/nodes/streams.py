"""exec, attach and port-forward: a request that leaves HTTP is passed on to the kubelet of the pod's node.

This server does not look into the bytes, so it does not matter whether a client and a kubelet speak WebSocket or SPDY;
only where a kubelet refuses what a client speaks, it translates.
"""

from functools import partial
from typing import Final
from urllib.parse import quote, urlencode

from mooring.apiserver.calls import Call, Context, wrong_method
from mooring.apiserver.nodes.kubelets import Kubelets, container_of
from mooring.apiserver.nodes.stream_translation import can_translate, translate_stream
from mooring.apiserver.nodes.upgrades import pass_upgrade, upgrade_headers
from mooring.kube.status import BadRequestError
from mooring.net.asgi import Send
from mooring.net.client_connection import request_bytes
from mooring.net.destination import Destination

__all__ = ["StreamProxy"]

# The options of a client in the words of a kubelet.
_OPTIONS: Final = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}
_ON_BY_DEFAULT: Final = frozenset({"stdout", "stderr"})


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
        credentials = self._kubelets.credentials(node)
        headers = {"Host": node.authority, **credentials, **upgrade_headers(call)}
        translated = partial(translate_stream, call, send, node, target, credentials, _streams(call))
        fallback = translated if can_translate(call) else None
        return await pass_upgrade(
            call.request, send, node, request_bytes(call.request.method, target, headers), fallback
        )

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


def _streams(call: Call) -> tuple[str, ...]:
    """The streams of a command: a terminal has one for its size, and none for errors of its own."""
    on = {option for option in _OPTIONS if _is_on(call, option)}
    if "tty" in on:
        on = on - {"stderr"} | {"resize"}
    return ("error", *(name for name in ("stdin", "stdout", "stderr", "resize") if name in on))


def _is_on(call: Call, option: str) -> bool:
    given = call.request.flag(option)
    return option in _ON_BY_DEFAULT and call.target.subresource == "attach" if given is None else given
