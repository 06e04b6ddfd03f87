"""The metrics of a deployment: what its pods answer at /metrics, asked through the API server with the caller's rights.

There need be none: where no pod is ready, or none has a port, or what it answers is something else, a sentence says so.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple, Protocol

from mooring.client.transport import AsyncTransport, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.runway.deployments.metrics_text import MetricSample, read_samples
from mooring.runway.operations.deployments import find_deployment_with_pods

__all__ = ["DeploymentMetrics", "ProxyTransport", "deployment_metrics"]

_PATH: Final = "metrics"
# Servers of models have some hundred series, and histograms with many bounds.
_MOST_BYTES: Final = 8 << 20
# More are not asked.
_MOST_PODS: Final = 32


class ProxyTransport(AsyncTransport, Protocol):
    """A transport to a server that passes requests on to pods."""

    async def proxied(self, namespace: str, pod: str, port: int, path: str, most_bytes: int) -> str:
        """What a pod answers. Raises MooringError where it answers nothing, or too much."""
        ...


class DeploymentMetrics(NamedTuple):
    """`problem` says why there are none, or of which pods there are none."""

    samples: list[MetricSample]
    problem: str = ""


async def deployment_metrics(
    transport: ProxyTransport, name: str, provider: str, namespace: str = ""
) -> DeploymentMetrics:
    """Of all pods that are ready, each sample with the label `pod`. Raises what `find_deployment` raises."""
    deployed, pods = await find_deployment_with_pods(transport, name, provider, namespace)
    ready = {each.name for each in deployed.pods if each.ready}
    if not ready:
        why = f": {deployed.message}" if deployed.message else ""
        return DeploymentMetrics([], f"no pod of deployment {name} is ready{why}")
    ports = {each["metadata"]["name"]: _port(each) for each in pods if each["metadata"]["name"] in ready}
    asked = [(pod, port) for pod, port in sorted(ports.items()) if port][:_MOST_PODS]
    if not asked:
        return DeploymentMetrics([], f"the pods of deployment {name} name no port that could be asked for metrics")
    answers = await asyncio.gather(*(_scraped(transport, deployed.namespace, *each) for each in asked))
    samples = [sample for answer in answers for sample in answer.samples]
    return DeploymentMetrics(samples, "; ".join(answer.problem for answer in answers if answer.problem))


async def _scraped(transport: ProxyTransport, namespace: str, pod: str, port: int) -> DeploymentMetrics:
    try:
        text = await transport.proxied(namespace, pod, port, _PATH, _MOST_BYTES)
        found = read_samples(text)
    except Unreachable:
        # That is the API server, and no matter of the pod's.
        raise
    except MooringError as error:
        return DeploymentMetrics([], f"pod {pod} gives no metrics at port {port}: {error}")
    if not found:
        return DeploymentMetrics([], f"pod {pod} gives no metrics at port {port}: its answer is empty")
    return DeploymentMetrics([_of_pod(sample, pod) for sample in found])


def _of_pod(sample: MetricSample, pod: str) -> MetricSample:
    """A label of that name that is there already gets another name, as Prometheus has it."""
    own = {"exported_pod" if name == "pod" else name: value for name, value in sample.labels.items()}
    return sample._replace(labels={**own, "pod": pod})


def _port(pod: Object) -> int:
    """The port called metrics, or the first that any container names; 0 where none is named."""
    containers = (pod.get("spec") or {}).get("containers") or ()
    ports = [port for each in containers for port in each.get("ports") or ()]
    chosen: Object = next((each for each in ports if each.get("name") == "metrics"), ports[0] if ports else {})
    return int(chosen.get("containerPort", 0))
