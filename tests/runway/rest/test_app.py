"""The application by itself: who is let in, what a handler is given, and how each error is answered."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
import pytest
from starlette.responses import Response

from mooring.client.transport import UnknownOutcome, Unreachable
from mooring.kube.errors import FieldError, InputError, InvalidObjectError, MooringError
from mooring.kube.status import ConflictError, ForbiddenError, UnauthorizedError
from mooring.runway.explain.asked_pods.cluster_pods import MissingObject
from mooring.runway.problems import DeploymentError, Problem
from mooring.runway.rest import app as module
from mooring.runway.rest.errors import ErrorDetail, RestError
from mooring.runway.rest.mirror.follower import FirstListOverdue
from mooring.runway.rest.responses import HEADERS, json_response
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.sources.refusal import ServerRefusal, refusal
from tests.runway.rest.asking import GONE, Answer, OneCaller, application, ask, asked

_CAUSES = {"causes": [{"field": "spec.a", "message": "no"}, {"message": "of nothing"}, {"field": "spec.b"}]}
_TOLD = [("spec.a", "no"), ("spec.b", "")]
_BOTH = [("a", "is bad"), ("b", "too")]
_NO_INT = "expected int, got str"


class Query(msgspec.Struct, frozen=True, rename="camel"):
    most: Annotated[int, msgspec.Meta(ge=1)] = 7
    is_whole: bool = False
    name: str = ""


class Body(msgspec.Struct, frozen=True):
    count: int = 0
    inner: dict[str, int] = {}


def route(handler: Callable[[RestCall], Awaitable[Any]], path: str = "/api/x", **more: Any) -> Route:
    given: dict[str, Any] = {"method": "POST", "path": path, "summary": "Told.", "handler": handler, "response": Any}
    return Route(**{**given, **more})


async def told(call: RestCall) -> Any:
    return [dict(call.path), repr(call.query), repr(call.body), call.headers.get("x-more")]


def fails(error: Exception) -> Callable[[RestCall], Awaitable[Any]]:
    async def handler(call: RestCall) -> Any:
        raise error

    return handler


def one(each: Route, *arguments: Any, **more: Any) -> Answer:
    return ask(application(OneCaller(), [each]), *arguments, **more)


@pytest.mark.parametrize(
    ("error", "status", "message", "details"),
    [
        (RestError(418, "short"), 418, "short", None),
        (RestError(400, "a: b", [ErrorDetail("a", "b")]), 400, "a: b", [("a", "b")]),
        (refusal("S", "list", ForbiddenError("no", _CAUSES)), 403, "S does not let you list: no", _TOLD),
        (ServerRefusal("other words", ConflictError("they", {})), 409, "other words", None),
        (ConflictError("changed", _CAUSES), 409, "changed", _TOLD),
        (UnauthorizedError("who"), 401, "who", None),
        (DeploymentError([Problem("a", "is bad"), Problem("b", "too")]), 400, "a: is bad; b: too", _BOTH),
        (MissingObject("none"), 404, "none", None),
        (UnknownOutcome("lost"), 504, "lost", None),
        (FirstListOverdue("late"), 504, "late", None),
        (Unreachable("away"), 503, "away", None),
        (msgspec.ValidationError("Expected `int`, got `str` - at `$.a.b`"), 400, f"a.b: {_NO_INT}", [("a.b", _NO_INT)]),
        (msgspec.ValidationError("Expected `int`, got `str`"), 400, _NO_INT, None),
        (msgspec.DecodeError("bad"), 400, "bad", None),
        (InputError("cannot"), 422, "cannot", None),
        (MooringError("is bad", "spec.x"), 422, str(MooringError("is bad", "spec.x")), [("spec.x", "is bad")]),
        (ValueError("of ours"), 500, "Something went wrong on our side; the log of the server has more.", None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)  # fmt: skip
def test_each_error_has_its_status_its_words_and_its_fields(
    error: Exception, status: int, message: str, details: list[tuple[str, str]] | None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = one(route(fails(error)), "POST", "/api/x")
    expected: dict[str, Any] = {"message": message, "statusCode": status}
    if details is not None:
        expected["details"] = [{"field": field, "message": text} for field, text in details]
    assert (answer.status, answer.body) == (status, {"error": expected})
    lines = {name.lower(): value for name, value in HEADERS.items()}
    assert answer.headers.items() >= {**lines, "content-type": "application/json"}.items()
    assert answer.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)
    assert bool(caplog.records) is (status == 500), "what is not meant for people is for the log"
    if status == 500:
        assert caplog.records[0].exc_info
        assert caplog.records[0].exc_info[1] is error


def test_an_object_that_is_invalid_is_told_by_its_fields() -> None:
    error = InvalidObjectError("Pod", "x", [FieldError("Invalid value", "spec.a", 3, "too many")])
    answer = one(route(fails(error)), "POST", "/api/x")
    assert answer.status == 422
    assert answer.body["error"]["details"] == [{"field": "spec.a", "message": "Invalid value: 3: too many"}]


def test_a_token_is_what_stands_behind_bearer() -> None:
    callers = OneCaller()
    app = application(callers, [route(told), route(told, "/api/open", public=True)])
    for given in ("Bearer t", "bearer t", "BEARER   t  "):
        assert ask(app, "POST", "/api/x", headers={"Authorization": given}).status == 200
    assert callers.tokens == ["t", "t", "t"]
    for given in ("", "t", "Basic t", "Bearer", "Bearer   ", "Bearert"):
        answer = ask(app, "POST", "/api/x", headers={"Authorization": given} if given else {})
        assert answer.status == 401, given
        assert "send a token of the API server as Authorization: Bearer TOKEN" in answer.body["error"]["message"]
    assert ask(app, "POST", "/api/open", headers={}).status == 200
    assert callers.tokens == ["t", "t", "t"], "who asks a public route is asked for nothing"


def test_a_caller_is_in_use_as_long_as_it_is_answered() -> None:
    callers = OneCaller()
    seen: list[int] = []

    async def handler(call: RestCall) -> Any:
        assert call.caller is callers.caller
        seen.append(callers.caller.uses)
        if len(seen) > 1:
            raise RestError(400, "no")

    app = application(callers, [route(handler)])
    assert [ask(app, "POST", "/api/x").status for _ in range(2)] == [200, 400]
    assert (seen, callers.caller.uses) == ([1, 1], 0)


def test_an_answer_is_json_with_the_status_of_its_route_or_what_the_handler_made() -> None:
    async def own(call: RestCall) -> Any:
        return Response(b"text", 299, media_type="text/x")

    made = one(route(told, status=201), "POST", "/api/x")
    assert (made.status, made.headers["content-type"]) == (201, "application/json")
    answer = one(route(own, status=201), "POST", "/api/x")
    assert (answer.status, answer.data) == (299, b"text")
    assert json_response({"a": [1]}).status_code == 200


@pytest.mark.parametrize(
    ("target", "code", "field"),
    [
        ("/api/a.b/c-d/Any_Thing", 200, ""),
        ("/api/A/c/x", 400, "namespace"),
        ("/api/a/c_d/x", 400, "name"),
        ("/api/a/-c/x", 400, "name"),
    ],
)
def test_names_of_a_path_are_checked_before_anybody_is_asked(target: str, code: int, field: str) -> None:
    answer = one(route(told, "/api/{namespace}/{name}/{kind}"), "POST", target)
    assert answer.status == code
    if field:
        (detail,) = answer.body["error"]["details"]
        assert detail["field"] == field
        assert answer.body["error"]["message"] == f"{field}: {detail['message']}"
        assert "RFC 1123 subdomain" in detail["message"]
    else:
        assert answer.body[0] == {"namespace": "a.b", "name": "c-d", "kind": "Any_Thing"}


@pytest.mark.parametrize(
    ("query", "told_of"),
    [
        ("", Query()),
        ("most=9&isWhole=true&name=x", Query(9, True, "x")),
        ("most=1&is_whole=true&other=1", Query(1)),
        ("name=", Query()),
        ("most=0", "most: expected int >= 1"),
        ("most=many", "most: expected int, got str"),
        ("isWhole=perhaps", "isWhole: expected bool, got str"),
    ],
)
def test_of_a_query_what_is_known_is_read(query: str, told_of: Query | str) -> None:
    answer = one(route(told, query=Query), "POST", f"/api/x?{query}")
    if isinstance(told_of, Query):
        assert (answer.status, answer.body[1]) == (200, repr(told_of))
        return
    field, _, problem = told_of.partition(": ")
    expected = {"message": told_of, "statusCode": 400, "details": [{"field": field, "message": problem}]}
    assert (answer.status, answer.body) == (400, {"error": expected})


@pytest.mark.parametrize(
    ("body", "message", "details"),
    [
        (b"", "the body is not JSON: Input data was truncated", None),
        (b"{", "the body is not JSON: Input data was truncated", None),
        (b'{"inner":{"\xff":1}}', None, None),
        (b"[]", "expected object, got array", None),
        (b'{"count":"x"}', "count: expected int, got str", [("count", "expected int, got str")]),
        (b'{"inner":{"a":null}}', "inner[...]: expected int, got null", [("inner[...]", "expected int, got null")]),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_by_field(
    body: bytes, message: str | None, details: list[tuple[str, str]] | None
) -> None:
    answer = one(route(told, body=Body), "POST", "/api/x", body)
    assert answer.status == 400
    error = answer.body["error"]
    assert error["message"] == message if message else error["message"].startswith("the body is not JSON: ")
    told_of = None if details is None else [{"field": field, "message": text} for field, text in details]
    assert error.get("details") == told_of


def test_a_body_is_of_its_type_or_as_it_was_sent_or_not_looked_at() -> None:
    body = {"count": 3, "more": 1}
    assert one(route(told, body=Body), "POST", "/api/x", body).body[2] == repr(Body(3))
    assert one(route(told, body=Body, checks_body=True), "POST", "/api/x", body).body[2] == repr(body)
    answer = one(route(told), "POST", "/api/x", b"{", headers={"Authorization": "Bearer t", "X-More": "m"})
    assert answer.body == [{}, "None", "None", "m"]


def test_a_body_that_does_not_arrive_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BODY_SECONDS", 0.0)

    async def never() -> Any:
        await asyncio.Event().wait()

    answer = one(route(told, body=Body), "POST", "/api/x", receive=never)
    expected = {"message": "the body of the request did not arrive within 0 s", "statusCode": 408}
    assert (answer.status, answer.body["error"]) == (408, expected)


def test_a_client_that_goes_while_it_sends_is_no_error_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    async def gone() -> Any:
        return GONE

    with caplog.at_level(logging.ERROR):
        assert one(route(told, body=Body), "POST", "/api/x", receive=gone).data == b""
    assert not caplog.records


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("POST", "/api/x", 200, ""),
        ("GET", "/api/x", 405, "Method not allowed: GET /api/x"),
        ("OPTIONS", "/api/x", 405, "Method not allowed: OPTIONS /api/x"),
        ("POST", "/api/none", 404, "Route not found: POST /api/none"),
        ("DELETE", "/page", 405, "Method not allowed: DELETE /page"),
        ("TRACE", "/page", 405, "Method not allowed: TRACE /page"),
    ],
)
def test_what_there_is_no_route_for(method: str, path: str, status: int, message: str) -> None:
    answer = one(route(told), method, path)
    assert answer.status == status
    if message:
        assert answer.body == {"error": {"message": message, "statusCode": status}}
        assert answer.headers["x-frame-options"] == "DENY"


def test_the_narrower_path_is_the_one_that_is_meant() -> None:
    def says(text: str) -> Callable[[RestCall], Awaitable[Any]]:
        async def handler(call: RestCall) -> Any:
            return [text, dict(call.path)]

        return handler

    paths = ("/api/m/{id:path}", "/api/m/{id}/more", "/api/m/all", "/api/m/{id}")
    app = application(OneCaller(), [route(says(path), path, method="GET") for path in paths])
    for asked_for, expected in (
        ("/api/m/all", ["/api/m/all", {}]),
        ("/api/m/one", ["/api/m/{id}", {"id": "one"}]),
        ("/api/m/one/more", ["/api/m/{id}/more", {"id": "one"}]),
        ("/api/m/one/two/three", ["/api/m/{id:path}", {"id": "one/two/three"}]),
    ):
        assert ask(app, "GET", asked_for).body == expected


def test_names_that_are_allowed_are_answered_under() -> None:
    app = application(OneCaller(), [route(told)], ["mooring.example"])
    token = {"Authorization": "Bearer t"}
    assert ask(app, "POST", "/api/x", headers={**token, "Host": "mooring.example"}).status == 200
    assert ask(app, "POST", "/api/x", headers={**token, "Host": "other.example"}).status == 421


def test_at_the_end_nobody_is_looked_after_any_more_before_all_are_closed() -> None:
    done: list[str] = []

    class Callers(OneCaller):
        async def look_after(self) -> None:
            done.append("looking")
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                done.append("looked")

        async def close(self) -> None:
            done.append("closed")

    sent: list[str] = []

    async def story() -> None:
        messages = ["lifespan.startup", "lifespan.shutdown"]

        async def receive() -> Any:
            await asyncio.sleep(0)
            return {"type": messages.pop(0)}

        async def send(message: Any) -> None:
            sent.append(message["type"])
            await asyncio.sleep(0)

        await application(Callers())({"type": "lifespan", "state": {}}, receive, send)

    asyncio.run(story())
    assert done == ["looking", "looked", "closed"]
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_errors_are_told_in_camel_case() -> None:
    async def story() -> Answer:
        return await asked(application(OneCaller(), [route(fails(RestError(400, "x")))]), "POST", "/api/x")

    assert json.loads(asyncio.run(story()).data) == {"error": {"message": "x", "statusCode": 400}}
