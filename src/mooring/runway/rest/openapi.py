"""The OpenAPI 3.1 document, made from the table of routes and the types that they declare."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from mooring.runway.rest.errors import ErrorShown
from mooring.runway.rest.route import Route

__all__ = ["openapi"]

_PARAMETER: Final = re.compile(r"{(\w+)(?::path)?}")
_REFUSED: Final = {
    "400": "The request cannot be read; `details` names the fields.",
    "401": "There is no token, or the API server does not accept it.",
    "403": "The caller may not do this, in the words of the API server.",
    "404": "There is no such object.",
    "409": "The object is there already, or has changed meanwhile.",
    "422": "The request cannot be done; `details` names the fields.",
    "503": "The API server cannot be reached, or there is too much to do.",
}


def openapi(routes: Sequence[Route], version: str) -> dict[str, Any]:
    types = _types(routes)
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schema_of = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, Any] = {}
    for route in routes:
        operations = paths.setdefault(_PARAMETER.sub(r"{\1}", route.path), {})
        operations[route.method.lower()] = _operation(route, schema_of, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Mooring",
            "version": version,
            "description": "Nodes, workloads and deployments for people and pages, with the rights of the caller.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _types(routes: Sequence[Route]) -> list[Any]:
    found = [ErrorShown]
    for route in routes:
        found += [each for each in (route.response, route.body, route.query) if each is not None]
    return list({repr(each): each for each in found}.values())


def _operation(route: Route, schema_of: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"description": route.summary}
    if route.response is None:
        answer["content"] = {"text/event-stream": {"schema": {"type": "string"}}}
    else:
        answer["content"] = {"application/json": {"schema": schema_of[repr(route.response)]}}
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": _operation_id(route),
        "tags": [route.tag],
        "responses": {str(route.status): answer, **_errors(route, schema_of)},
    }
    parameters = [*_path_parameters(route), *_query_parameters(route, components)]
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema_of[repr(route.body)]}},
        }
    if route.public:
        operation["security"] = []
    return operation


def _operation_id(route: Route) -> str:
    words = re.findall(r"\w+", route.path.removeprefix("/api").replace(":path", ""))
    return "_".join([route.method.lower(), *words])


def _errors(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    shown = {"application/json": {"schema": schema_of[repr(ErrorShown)]}}
    return {} if route.public else {code: {"description": text, "content": shown} for code, text in _REFUSED.items()}


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(route.path)
    ]


def _query_parameters(route: Route, components: dict[str, Any]) -> list[dict[str, Any]]:
    if route.query is None:
        return []
    schema = components[route.query.__name__]
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": part}
        for name, part in schema["properties"].items()
    ]
