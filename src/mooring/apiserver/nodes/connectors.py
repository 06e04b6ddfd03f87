"""The sub-resources that lead to what runs in pods: logs, streams, and proxies.

They answer by themselves, part by part, instead of with one response.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from mooring.apiserver.calls import Call, Context
from mooring.apiserver.nodes.kubelets import Kubelets, NodeAccess
from mooring.apiserver.nodes.logs import LogProxy
from mooring.apiserver.nodes.proxies import HttpProxy
from mooring.apiserver.nodes.streams import StreamProxy
from mooring.apiserver.routing import RequestInfo
from mooring.net.asgi import Send

__all__ = ["Connect", "Connectors", "has_own_form"]

# Answers a request; the status that it was answered with.
Connect = Callable[[Call, Send], Awaitable[int]]

_STREAMS: Final = ("exec", "attach", "portforward")


# What they send back is the pod's own, in whatever form a client asks for.
_FREE: Final = frozenset({*_STREAMS, "log", "proxy"})


def has_own_form(target: RequestInfo) -> bool:
    """Whether the answer to a request comes from what runs in a pod, and is not an object of the API."""
    return target.subresource in _FREE


class Connectors:
    def __init__(self, context: Context, access: NodeAccess) -> None:
        self.kubelets = kubelets = Kubelets(context.registry, access)
        self._logs = LogProxy(context, kubelets)
        streams = StreamProxy(context, kubelets)
        self._of: dict[tuple[str, str], Connect] = {("pods", "log"): self._logs.serve}
        self._of |= {("pods", name): streams.serve for name in _STREAMS}
        proxy = HttpProxy(context, kubelets)
        self._of[("pods", "proxy")] = proxy.serve_pod
        self._of[("services", "proxy")] = proxy.serve_service
        self._of[("nodes", "proxy")] = proxy.serve_node

    def of(self, call: Call) -> Connect | None:
        """What answers a request; None where that is a handler."""
        target = call.target
        if target.group or (target.rest and target.subresource != "proxy"):
            return None
        return self._of.get((target.plural, target.subresource))

    def stop(self) -> None:
        """End the logs that are being followed; streams end with their connections."""
        self._logs.stop()
