"""The table of routes as programs see it: the whole document of the API, and what each route was declared to take."""

from __future__ import annotations

import json
from typing import Any

from mooring.runway.rest.openapi import openapi
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.route_table import ROUTES
from tests.support.golden import same_as_recorded


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True)


def test_the_document_of_the_api_is_what_it_was() -> None:
    document = openapi(ROUTES, "1.0")
    found = {f"path {path}": _text(told) for path, told in document.pop("paths").items()}
    found |= {f"type {name}": _text(told) for name, told in document["components"].pop("schemas").items()}
    same_as_recorded("runway-openapi", {**found, "head": _text(document)})


def test_each_route_is_declared_as_it_was() -> None:
    found = {}
    for number, route in enumerate(ROUTES):
        shown = {name: value for name, value in route._asdict().items() if name != "handler"}
        types = {name: getattr(shown[name], "__name__", repr(shown[name])) for name in ("response", "query", "body")}
        found[f"{number} {route.method} {route.path}"] = _text({**shown, **types, "tag": route.tag})
    same_as_recorded("runway-routes", found)


async def _nothing(call: RestCall) -> None:
    return None


def test_a_route_is_public_or_asks_for_a_token_and_says_what_it_refuses() -> None:
    open_one = Route("GET", "/api/a/{id:path}", "Open.", _nothing, dict[str, Any], public=True)
    stream = Route("POST", "/api/b-c/{name}", "Told.", _nothing, None, status=202)
    document = openapi([open_one, stream], "2.0")
    first, second = document["paths"]["/api/a/{id}"]["get"], document["paths"]["/api/b-c/{name}"]["post"]
    assert (first["security"], first["tags"], first["operationId"]) == ([], ["a"], "get_a_id")
    assert "security" not in second
    assert (second["tags"], second["operationId"]) == (["b-c"], "post_b_c_name")
    assert [*first["responses"]] == ["200"]
    assert [*second["responses"]] == ["202", "400", "401", "403", "404", "409", "422", "503"]
    assert second["responses"]["202"] == {
        "description": "Told.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
    name = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    assert second["parameters"] == [name]
    assert document["info"]["version"] == "2.0"
    assert document["security"] == [{"token": []}]
    assert document["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
