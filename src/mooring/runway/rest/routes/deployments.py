"""Deployments of models: what would be made and where it would land, and those that are there."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final

import msgspec

from mooring.client.transport import Scope, plain
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.kube.times import timestamp
from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.deployments.deployed_model import DeployedModel, DeployedPod
from mooring.runway.deployments.reading import ConfigReading
from mooring.runway.fit import Fit, deployment_fit
from mooring.runway.operations.create import create_deployment
from mooring.runway.operations.deployments import (
    delete_deployment,
    deployment_log,
    find_deployment,
    list_deployments,
)
from mooring.runway.operations.metrics import deployment_metrics
from mooring.runway.providers import labels
from mooring.runway.providers.deployment_kinds import DEPLOYMENT_KINDS
from mooring.runway.providers.registry import deployment_manifests, read_deployment
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.routes.workloads import MAX_TAIL_LINES, TAIL_LINES
from mooring.runway.shown import Shown

__all__ = ["DEPLOYMENT_ROUTES"]

_MOST_LISTED: Final = 100


class DeploymentsQuery(msgspec.Struct, frozen=True):
    """Of one namespace, or of all."""

    namespace: str = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=_MOST_LISTED)] = _MOST_LISTED
    offset: Annotated[int, msgspec.Meta(ge=0)] = 0


class NamespaceQuery(msgspec.Struct, frozen=True):
    """Where the deployment is; needed where several have the name."""

    namespace: str = ""


class DeploymentLogsQuery(msgspec.Struct, frozen=True, rename="camel"):
    """Without `podName` it is the first pod that has a node."""

    namespace: str = ""
    pod_name: str = ""
    container: str = ""
    tail_lines: Annotated[int, msgspec.Meta(ge=1, le=MAX_TAIL_LINES)] = TAIL_LINES
    timestamps: bool = False


class Pagination(Shown, frozen=True):
    total: int
    limit: int
    offset: int
    has_more: bool


class DeploymentsShown(Shown, frozen=True):
    deployments: tuple[DeployedModel, ...]
    pagination: Pagination


class DeploymentCreated(Shown, frozen=True):
    message: str
    name: str
    namespace: str
    provider: str
    warnings: tuple[str, ...] | None = None


class PreviewResource(Shown, frozen=True):
    kind: str
    api_version: str
    name: str
    manifest: dict[str, Any]


class PrimaryResource(Shown, frozen=True):
    kind: str
    api_version: str


class PreviewShown(Shown, frozen=True):
    resources: tuple[PreviewResource, ...]
    primary_resource: PrimaryResource
    warnings: tuple[str, ...] | None = None


class MessageShown(Shown, frozen=True):
    message: str


class PodsShown(Shown, frozen=True):
    pods: tuple[DeployedPod, ...]


class PendingReason(Shown, frozen=True):
    """`is_resource_constraint` says that more or larger nodes would help."""

    reason: str
    message: str
    is_resource_constraint: bool
    resource_type: str | None = None


class PendingReasonsShown(Shown, frozen=True):
    reasons: tuple[PendingReason, ...]


class MetricShown(Shown, frozen=True):
    """A sample of Prometheus. What is no number is a word: NaN, +Inf or -Inf."""

    name: str
    value: float | str
    labels: dict[str, str]


class MetricsShown(Shown, frozen=True):
    """`error` says why there are none, or of which pods."""

    available: bool
    timestamp: str
    metrics: tuple[MetricShown, ...]
    error: str | None = None


class DeploymentLogsShown(Shown, frozen=True):
    logs: str
    pod_name: str
    container: str | None = None


def _read(call: RestCall) -> ConfigReading:
    return read_deployment(call.body, embedded=call.service.facts.embedded)


def _where(call: RestCall) -> tuple[str, str, str]:
    """The name of a deployment, the provider of objects that name none, and the namespace."""
    return call.path["name"], call.service.facts.provider, call.query.namespace


async def _list(call: RestCall) -> DeploymentsShown:
    asked: DeploymentsQuery = call.query
    found = await list_deployments(call.caller.transport, call.service.facts.provider, asked.namespace)
    shown = tuple(found[asked.offset : asked.offset + asked.limit])
    more = asked.offset + len(shown) < len(found)
    return DeploymentsShown(shown, Pagination(len(found), asked.limit, asked.offset, more))


async def _create(call: RestCall) -> DeploymentCreated:
    config, warnings = _read(call)
    await create_deployment(call.caller.transport, deployment_manifests(config, call.service.facts.settings))
    message = f"Deployment {config.name} created"
    return DeploymentCreated(message, config.name, config.namespace, config.provider, warnings or None)


async def _preview(call: RestCall) -> PreviewShown:
    config, warnings = _read(call)
    return _shown(deployment_manifests(config, call.service.facts.settings), warnings)


def _shown(manifests: list[Object], warnings: tuple[str, ...] = ()) -> PreviewShown:
    resources = tuple(
        PreviewResource(each["kind"], each["apiVersion"], each["metadata"]["name"], each) for each in manifests
    )
    return PreviewShown(resources, PrimaryResource(resources[0].kind, resources[0].api_version), warnings or None)


class FitQuery(msgspec.Struct, frozen=True):
    """Without `advice` the answer comes sooner, and does not say what would help."""

    advice: bool = True


async def _fit(call: RestCall) -> Fit:
    asked: FitQuery = call.query
    config, warnings = _read(call)
    facts = call.service.facts

    def work() -> Fit:
        source = call.service.source(call.caller)
        try:
            snapshot = source.load(lambda pod: False)
        finally:
            source.close()
        found = deployment_fit(config, facts.settings, snapshot, facts.configuration, advised=asked.advice)
        return msgspec.structs.replace(found, warnings=(*warnings, *found.warnings))

    return await call.service.compute(work)


async def _get(call: RestCall) -> DeployedModel:
    return await find_deployment(call.caller.transport, *_where(call))


async def _delete(call: RestCall) -> MessageShown:
    found = await delete_deployment(call.caller.transport, *_where(call))
    return MessageShown(f"Deployment {found.name} in namespace {found.namespace} is being deleted")


async def _manifest(call: RestCall) -> PreviewShown:
    """The objects as they are in the cluster, the main one first."""
    found, transport = await _get(call), call.caller.transport
    objects: list[Object] = []
    for kind in DEPLOYMENT_KINDS:
        try:
            objects.append(await transport.get(kind.api_version, kind.kind, found.namespace, found.name))
        except NotFoundError:
            continue
    scope = Scope(found.namespace, f"{labels.INSTANCE}={found.name},{labels.MANAGED_BY}={labels.MANAGER}")
    for kind_name in ("Service", "ConfigMap"):
        async for page in transport.list("v1", kind_name, scope):
            objects += [{"apiVersion": "v1", "kind": kind_name, **plain(item)} for item in page.items]
    if not objects:
        raise NotFoundError(f'there is no deployment "{found.name}" any more')
    for each in objects:
        each["metadata"].pop("managedFields", None)
    return _shown(objects)


async def _pods(call: RestCall) -> PodsShown:
    return PodsShown((await _get(call)).pods)


async def _pending(call: RestCall) -> PendingReasonsShown:
    pods = (pod for pod in (await _get(call)).pods if pod.reason and not pod.ready)
    return PendingReasonsShown(tuple(_reason(pod) for pod in pods))


def _reason(pod: DeployedPod) -> PendingReason:
    text = pod.message.lower()
    lacks = "insufficient" in text
    kinds = {"nvidia.com/gpu": "gpu", "cpu": "cpu", "memory": "memory"}
    lacking = next((shown for word, shown in kinds.items() if f"insufficient {word}" in text), None)
    return PendingReason(pod.reason, pod.message, lacks, lacking)


async def _logs(call: RestCall) -> DeploymentLogsShown:
    asked: DeploymentLogsQuery = call.query
    found = await deployment_log(
        call.caller.transport,
        *_where(call),
        pod=asked.pod_name,
        container=asked.container,
        tail=asked.tail_lines,
        timestamps=asked.timestamps,
    )
    return DeploymentLogsShown(found.text, found.pod, asked.container or None)


async def _metrics(call: RestCall) -> MetricsShown:
    found = await deployment_metrics(call.caller.transport, *_where(call))
    samples = tuple(MetricShown(each.name, each.number, each.labels) for each in found.samples)
    return MetricsShown(bool(samples), timestamp(datetime.now(UTC)), samples, found.problem or None)


_ALL: Final = "/api/deployments"
_ONE: Final = f"{_ALL}/{{name}}"
_CREATES: Final = "Create all objects of a deployment, or none."
_SHOWS_LIVE: Final = "Its objects as they are in the cluster."
_CONFIG: Final = DeploymentConfig
_BY_NAME: Final = NamespaceQuery

DEPLOYMENT_ROUTES: Final = (
    Route("GET", _ALL, "Deployments of models, newest first.", _list, DeploymentsShown, DeploymentsQuery),
    Route("POST", _ALL, _CREATES, _create, DeploymentCreated, None, _CONFIG, 201, writes=True, checks_body=True),
    Route(
        "POST", f"{_ALL}/preview", "The objects it would be.", _preview, PreviewShown, None, _CONFIG, checks_body=True
    ),
    Route(
        "POST", f"{_ALL}/fit", "Where its pods would land, or why not.", _fit, Fit, FitQuery, _CONFIG, checks_body=True
    ),
    Route("GET", _ONE, "One deployment.", _get, DeployedModel, _BY_NAME),
    Route("DELETE", _ONE, "Delete it with all it owns.", _delete, MessageShown, _BY_NAME, writes=True),
    Route("GET", f"{_ONE}/manifest", _SHOWS_LIVE, _manifest, PreviewShown, _BY_NAME),
    Route("GET", f"{_ONE}/pods", "Its pods.", _pods, PodsShown, _BY_NAME),
    Route("GET", f"{_ONE}/pending-reasons", "Why its pods wait.", _pending, PendingReasonsShown, _BY_NAME),
    Route("GET", f"{_ONE}/metrics", "What its pods answer at /metrics.", _metrics, MetricsShown, _BY_NAME),
    Route("GET", f"{_ONE}/logs", "The log of one of its pods.", _logs, DeploymentLogsShown, DeploymentLogsQuery),
)
