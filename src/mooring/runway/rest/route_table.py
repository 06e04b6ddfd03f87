"""Every route of the REST API, in one list."""

from __future__ import annotations

from typing import Any, Final

from mooring.runway.rest.openapi import openapi
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.routes.cluster import CLUSTER_ROUTES
from mooring.runway.rest.routes.deployments import DEPLOYMENT_ROUTES
from mooring.runway.rest.routes.fleet import FLEET_ROUTES
from mooring.runway.rest.routes.health import HEALTH_ROUTES
from mooring.runway.rest.routes.installation.definitions import DEFINITION_ROUTES
from mooring.runway.rest.routes.installation.gpu_operator import GPU_OPERATOR_ROUTES
from mooring.runway.rest.routes.installation.providers import PROVIDER_ROUTES
from mooring.runway.rest.routes.models import MODEL_ROUTES
from mooring.runway.rest.routes.people import PEOPLE_ROUTES
from mooring.runway.rest.routes.questions import QUESTION_ROUTES
from mooring.runway.rest.routes.settings import SETTINGS_ROUTES
from mooring.runway.rest.routes.stream import STREAM_ROUTES
from mooring.runway.rest.routes.workloads import WORKLOAD_ROUTES
from mooring.runway.rest.routes.writes import WRITE_ROUTES

__all__ = ["ROUTES"]


async def _openapi(call: RestCall) -> dict[str, Any]:
    return openapi(ROUTES, call.service.facts.version)


ROUTES: Final[tuple[Route, ...]] = (
    *HEALTH_ROUTES,
    *CLUSTER_ROUTES,
    *SETTINGS_ROUTES,
    *MODEL_ROUTES,
    *DEPLOYMENT_ROUTES,
    *PROVIDER_ROUTES,
    *DEFINITION_ROUTES,
    *GPU_OPERATOR_ROUTES,
    *FLEET_ROUTES,
    *PEOPLE_ROUTES,
    *WORKLOAD_ROUTES,
    *QUESTION_ROUTES,
    *WRITE_ROUTES,
    *STREAM_ROUTES,
    Route("GET", "/api/openapi.json", "This API as an OpenAPI document.", _openapi, dict[str, Any], public=True),
)
