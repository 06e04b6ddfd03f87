"""The application: every route of the table, behind the guard, with one shape of errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp

from mooring.kube.names import is_dns1123_subdomain
from mooring.runway.rest.callers import Caller
from mooring.runway.rest.errors import ErrorDetail, RestError
from mooring.runway.rest.guard import Guard
from mooring.runway.rest.page import page
from mooring.runway.rest.responses import error_response, json_response
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.route_table import ROUTES
from mooring.runway.rest.service import RestService

__all__ = ["rest_app"]

BODY_SECONDS: Final = 30.0
# What nginx notes for a client that went before it had an answer.
_CLIENT_CLOSED: Final = 499
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_NAMES: Final = frozenset({"name", "namespace"})


def rest_app(service: RestService, names: Collection[str] = (), routes: Sequence[Route] = ROUTES) -> ASGIApp:
    """`names` are further host names that the server may be reached by."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        looking = asyncio.create_task(service.callers.look_after())
        try:
            yield
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking
            await service.callers.close()

    # Paths that hold others, such as {id:path}, come last.
    ordered = sorted(routes, key=lambda route: (":path" in route.path, "{" in route.path))
    endpoints = [
        StarletteRoute(route.path, _endpoint(service, route), methods=[route.method], include_in_schema=False)
        for route in ordered
    ]
    app = Starlette(
        routes=[*endpoints, StarletteRoute("/{path:path}", page(routes), methods=_METHODS)],
        exception_handlers={HTTPException: _wrong_method, Exception: _error, RestError: _error},
        lifespan=lifespan,
    )
    return Guard(app, names)


async def _wrong_method(request: Request, error: Exception) -> Response:
    """Methods that a path does not take. Where there is no route for a path, the page answers."""
    return error_response(RestError(405, f"Method not allowed: {request.method} {request.url.path}"))


async def _error(request: Request, error: Exception) -> Response:
    return error_response(error)


def _endpoint(service: RestService, route: Route) -> Any:
    async def endpoint(request: Request) -> Response:
        try:
            if route.public:
                return await _answer(service, route, request, None)
            caller = await service.callers.get(_token(request))
            caller.uses += 1
            try:
                return await _answer(service, route, request, caller)
            finally:
                caller.uses -= 1
        except ClientDisconnect:
            # Nobody is there to read it, and it is no error of ours.
            return Response(status_code=_CLIENT_CLOSED)
        except Exception as error:
            return error_response(error)

    return endpoint


async def _answer(service: RestService, route: Route, request: Request, caller: Caller | None) -> Response:
    query = _query(route, request.query_params)
    wanted = Any if route.checks_body else route.body
    body = None if route.body is None else _body(wanted, await _read(request))
    found = await route.handler(RestCall(service, caller, _path(request.path_params), query, body, request.headers))
    return found if isinstance(found, Response) else json_response(found, route.status)


def _token(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise RestError(401, "Authentication required: send a token of the API server as Authorization: Bearer TOKEN")
    return token.strip()


def _path(parameters: Mapping[str, str]) -> Mapping[str, str]:
    for field in _NAMES & parameters.keys():
        if problems := is_dns1123_subdomain(parameters[field]):
            raise RestError(400, f"{field}: {problems[0]}", [ErrorDetail(field, problems[0])])
    return parameters


def _query(route: Route, parameters: Mapping[str, str]) -> Any:
    if route.query is None:
        return None
    known = {
        each.encode_name: parameters[each.encode_name]
        for each in _fields(route.query)
        if each.encode_name in parameters
    }
    try:
        return msgspec.convert(known, route.query, strict=False)
    except msgspec.ValidationError as error:
        raise _invalid(error) from None


def _fields(struct: type[Any]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(struct)


async def _read(request: Request) -> bytes:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await request.body()
    except TimeoutError:
        raise RestError(408, f"the body of the request did not arrive within {BODY_SECONDS:.0f} s") from None


def _body(wanted: Any, data: bytes) -> Any:
    try:
        return msgspec.json.decode(data, type=wanted)
    except msgspec.ValidationError as error:
        raise _invalid(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RestError(400, f"the body is not JSON: {error}") from None


def _invalid(error: msgspec.ValidationError) -> RestError:
    from mooring.runway.explain.asked_pods.manifest_pods import message_of

    said = message_of(error)
    field, _, problem = said.partition(": ")
    return RestError(400, said, [ErrorDetail(field, problem)] if problem else ())
