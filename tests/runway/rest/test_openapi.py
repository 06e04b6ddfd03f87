"""The OpenAPI document describes every route, and the routes answer as it says, whatever they are asked."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mooring.runway.rest.openapi import openapi
from mooring.runway.rest.route_table import ROUTES
from tests.runway.rest.serving import Rest

DOCUMENT = openapi(ROUTES, "1.0")
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
# A stream has no end, and a plan is computed anew for every example.
LEFT_OUT = {"/api/stream"}
EXAMPLES = 3
OPERATIONS: list[Any] = [each.ok() for each in SCHEMA.get_all_operations()]  # type: ignore[union-attr]


def test_every_route_is_described_with_its_types() -> None:
    described = {(method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert described == {(route.method, route.path.replace(":path", "")) for route in ROUTES}
    ids = [operation["operationId"] for methods in DOCUMENT["paths"].values() for operation in methods.values()]
    assert len(ids) == len(set(ids))
    for methods in DOCUMENT["paths"].values():
        for operation in methods.values():
            assert operation["summary"].endswith(".")


def test_the_document_is_valid() -> None:
    SCHEMA.validate()


@pytest.mark.parametrize(
    "operation", [each for each in OPERATIONS if each.path not in LEFT_OUT], ids=lambda each: each.label
)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: str(mode.value))
def test_routes_answer_as_the_document_says(embedded: Rest, operation: Any, mode: GenerationMode) -> None:
    """Asked as it says, and with what it does not say."""
    if mode.is_negative and not (operation.body or operation.query or operation.path_parameters):
        return
    headers = {"Authorization": f"Bearer {embedded.home.token}"}

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.call_and_validate(base_url=embedded.url, headers=headers, checks=CHECKS)

    ask()
