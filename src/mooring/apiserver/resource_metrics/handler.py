"""Answers requests for metrics.k8s.io: the pods or nodes that are asked about, as far as something is known of them."""

from collections.abc import Awaitable, Callable, Iterable

from mooring.apiserver.calls import Context, not_found, wrong_method
from mooring.apiserver.messages.encodings import reencoded
from mooring.apiserver.messages.negotiation import negotiate
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.messages.responses import Response
from mooring.apiserver.nodes.kubelets import Kubelets, is_simulated
from mooring.apiserver.resource_metrics.objects import measured_node, measured_pod, said_node, said_pod
from mooring.apiserver.resource_metrics.resources import METRICS, POD_METRICS
from mooring.apiserver.resource_metrics.summaries import Summaries, Summary
from mooring.apiserver.routing import RequestInfo
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.registry import Resource
from mooring.registry.lists import ListResult

__all__ = ["ResourceMetricsHandler"]


class ResourceMetricsHandler:
    """Without `kubelets`, only what is said of simulated nodes and pods is known."""

    def __init__(self, context: Context, kubelets: Kubelets | None) -> None:
        self._context = context
        self._registry = context.registry
        self._summaries = None if kubelets is None else Summaries(kubelets)

    def stop(self) -> None:
        if self._summaries is not None:
            self._summaries.stop()

    async def answer(self, request: HttpRequest, target: RequestInfo) -> Response:
        asked = (target.version, target.plural)
        resource = next((each for each in METRICS if (each.version, each.plural) == asked), None)
        if resource is None or target.subresource or (target.namespace is not None and not resource.namespaced):
            raise not_found()
        if request.method != "GET" or request.flag("watch"):
            raise wrong_method()
        if target.name and resource.namespaced and target.namespace is None:
            raise not_found()
        representation = negotiate(request.header(b"accept"), custom=True)
        measured, representations = self._measure(resource), self._context.representations
        if not target.name:
            items = ListResult(await measured(self._selected(request, target, resource)), "")
            response = representations.many(request, representation, resource, items)
            return reencoded(response, representation.encoding)
        one = self._registry.find("v1", _measured_kind(resource), target.namespace or "", target.name)
        found = [] if one is None else await measured([one])
        if not found:
            shown = f"{target.namespace}/{target.name}" if resource.namespaced else target.name
            raise NotFoundError(f'{resource.kind.lower()}.{resource.group} "{shown}" not found')
        return reencoded(representations.one(request, representation, resource, found[0]), representation.encoding)

    def _measure(self, resource: Resource) -> Callable[[list[Object]], Awaitable[list[Object]]]:
        return self._pods if resource is POD_METRICS else self._nodes

    def _selected(self, request: HttpRequest, target: RequestInfo, resource: Resource) -> list[Object]:
        """The pods or nodes that the selectors find."""
        return self._registry.list(
            self._registry.resource("v1", _measured_kind(resource)),
            target.namespace,
            label_selector=request.text("labelSelector"),
            field_selector=",".join(filter(None, request.query.get("fieldSelector", ()))),
        ).items

    async def _pods(self, pods: list[Object]) -> list[Object]:
        running = [pod for pod in pods if pod["spec"].get("nodeName") and _phase(pod) == "Running"]
        names = {pod["spec"]["nodeName"] for pod in running}
        simulated = {name for name in names if (node := self._node(name)) is not None and is_simulated(node)}
        summaries = await self._ask(names - simulated)
        stats = {
            (each.pod_ref.namespace, each.pod_ref.name): each
            for summary in summaries.values()
            for each in summary.pods or ()
        }
        now, made = self._context.clock(), []
        for pod in running:
            metadata = pod["metadata"]
            if pod["spec"]["nodeName"] in simulated:
                made.append(said_pod(pod, now))
            elif (found := stats.get((metadata["namespace"], metadata["name"]))) is not None:
                made.append(measured_pod(pod, found))
        return [each for each in made if each is not None]

    async def _nodes(self, nodes: list[Object]) -> list[Object]:
        simulated = {node["metadata"]["name"]: node for node in nodes if is_simulated(node)}
        summaries = await self._ask(name for node in nodes if (name := node["metadata"]["name"]) not in simulated)
        on_node: dict[str, list[Object]] = {name: [] for name in simulated}
        for pod in self._registry.all("v1", "Pod") if simulated else ():
            if (name := pod["spec"].get("nodeName")) in on_node and _phase(pod) == "Running":
                on_node[name].append(pod)
        now, made = self._context.clock(), []
        for node in nodes:
            name = node["metadata"]["name"]
            if name in simulated:
                made.append(said_node(node, on_node[name], now))
            elif name in summaries:
                made.append(measured_node(node, summaries[name]))
        return [each for each in made if each is not None]

    def _node(self, name: str) -> Object | None:
        return self._registry.find("v1", "Node", "", name)

    async def _ask(self, names: Iterable[str]) -> dict[str, Summary]:
        return {} if self._summaries is None else await self._summaries.of(sorted(names))


def _measured_kind(resource: Resource) -> str:
    return resource.kind.removesuffix("Metrics")


def _phase(pod: Object) -> str:
    return str((pod.get("status") or {}).get("phase") or "")
