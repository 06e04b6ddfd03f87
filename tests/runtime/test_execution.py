"""What comes of every answer to every write, the same for both drivers, and what a stage that fails lets run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import pytest

from mooring.api.kinds import Key
from mooring.client.transport import AsyncTransport, Request, Transport, UnknownOutcome, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import (
    AlreadyExistsError,
    ApiError,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    ServiceUnavailableError,
    TooManyRequestsError,
    UnauthorizedError,
)
from mooring.runtime.decision import Event
from mooring.runtime.dispatcher.outcome import Outcome
from mooring.runtime.drivers.execution import execute, execute_async
from tests.runtime.sample import CONFIG_MAP

Answer = Object | MooringError

KINDS: Final = {("v1", "ConfigMap"): CONFIG_MAP}
A: Final = (CONFIG_MAP, Key("default", "a"))
OURS: Final = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1", "controller": True}
NO_RIGHT: Final = (
    'configmaps "a" is forbidden: User "ada" cannot create resource "configmaps" in API group "" in the namespace '
    '"default"'
)


class Scripted:
    """A transport that gives these answers, by the names of objects, and remembers what it was asked."""

    def __init__(self, writes: dict[str, Answer], found: Answer | None = None) -> None:
        self.writes, self.found = writes, found
        self.asked: list[str] = []
        self.versions: list[str | None] = []

    def write(self, request: Request) -> Object:
        self.asked.append(f"{request.verb} {request.name}")
        self.versions.append(request.resource_version)
        return self._given(self.writes[request.name])

    def get(self, *names: str, metadata_only: bool = False) -> Object:
        self.asked.append(f"get {' '.join(names)}{' metadata' if metadata_only else ''}")
        assert self.found is not None
        return self._given(self.found)

    def _given(self, answer: Answer) -> Object:
        if isinstance(answer, MooringError):
            raise answer
        return answer


class Awaited:
    """The same for those who wait."""

    def __init__(self, scripted: Scripted) -> None:
        self._scripted = scripted

    async def write(self, request: Request) -> Object:
        return self._scripted.write(request)

    async def get(self, *names: str, metadata_only: bool = False) -> Object:
        return self._scripted.get(*names, metadata_only=metadata_only)


def both(stages: list[list[Request]], made: Callable[[], Scripted]) -> tuple[Outcome, Scripted]:
    """What both drivers make of it."""
    one, other = made(), made()
    transport: Any = one
    found = execute(stages, _as_transport(transport), KINDS)
    awaited: Any = Awaited(other)
    again = asyncio.run(execute_async(stages, _as_async(awaited), KINDS))
    assert again == found
    assert (other.asked, other.versions) == (one.asked, one.versions)
    return found, one


def scripted(writes: dict[str, Answer], found: Answer | None = None) -> Callable[[], Scripted]:
    return lambda: Scripted(writes, found)


def _as_transport(transport: Transport) -> Transport:
    return transport


def _as_async(transport: AsyncTransport) -> AsyncTransport:
    return transport


def write(verb: Any, name: str = "a", body: Object | None = None, **more: Any) -> Request:
    return Request(verb, "v1", "ConfigMap", "default", name, body or {"metadata": {"name": name}}, **more)


def stored(name: str = "a", version: str = "7", **more: Any) -> Object:
    return {"metadata": {"name": name, "uid": "u", "resourceVersion": version, **more}}


def later(seconds: int | None) -> TooManyRequestsError:
    return TooManyRequestsError("not now", None if seconds is None else {"retryAfterSeconds": seconds})


def error(code: int) -> ApiError:
    made = ApiError(f"answered with {code}")
    made.code = code
    return made


ANOTHER: Final = InvalidError("ConfigMap", "", "a", [])
ANOTHER.details = {"causes": [{"field": "spec"}, {"field": "metadata.uid", "message": "another one"}]}
REFUSED: Final = InvalidError("ConfigMap", "", "a", [])
REFUSED.details = {"causes": [{"field": "data.uid", "message": "is too long"}]}
VERBS: Final = ("create", "apply", "patch", "delete", "evict", "bind")

# What is not said has its default.
ANSWERS: Final[list[tuple[tuple[str, ...], MooringError, dict[str, Any]]]] = [
    (("delete", "evict"), NotFoundError("gone"), {}),
    (("create", "apply", "patch", "bind"), NotFoundError("gone"), {"failed": "gone", "stale": True}),
    (VERBS, ConflictError("changed"), {"failed": "changed", "stale": True}),
    (VERBS, ANOTHER, {"failed": str(ANOTHER), "stale": True}),
    (VERBS, REFUSED, {"terminal": str(REFUSED)}),
    (VERBS, UnknownOutcome("lost"), {"failed": "lost", "suspect": {A}}),
    (VERBS, Unreachable("not there"), {"failed": "not there"}),
    *(
        (
            ("evict",),
            later(seconds),
            {"postponed": "ConfigMap default/a is not evicted yet: not now", "retry_after": wait},
        )
        for seconds, wait in (
            (None, timedelta(seconds=5)),
            (0, timedelta(seconds=5)),
            (10, timedelta(seconds=10)),
            (1, timedelta(seconds=1)),
        )
    ),
    *(
        (("create", "patch", "delete"), later(seconds), {"failed": "not now", "retry_after": wait})
        for seconds, wait in (
            (None, timedelta(seconds=1)),
            (0, timedelta(seconds=1)),
            (10, timedelta(seconds=10)),
            (2, timedelta(seconds=2)),
        )
    ),
    *((VERBS, error(code), {"failed": f"answered with {code}", "suspect": {A}}) for code in (500, 501, 503, 504)),
    (VERBS, ServiceUnavailableError("down"), {"failed": "down", "suspect": {A}}),
    (VERBS, UnauthorizedError("who is it"), {"failed": "who is it"}),
    *((VERBS, error(code), {"terminal": f"answered with {code}"}) for code in (400, 402, 405, 413, 422, 428, 499)),
    (VERBS, BadRequestError("no"), {"terminal": "no"}),
    (VERBS, ForbiddenError("a quota"), {"terminal": "a quota"}),
    (
        ("create",),
        ForbiddenError(NO_RIGHT),
        {"terminal": NO_RIGHT, "missing_right": "create configmaps in namespace default"},
    ),
]


def test_every_refusal_of_every_write_means_what_it_says() -> None:
    for verbs, refusal, wanted in ANSWERS:
        for verb in verbs:
            second = write("create", "b")
            found, transport = both([[write(verb)], [second]], scripted({"a": refusal, "b": stored("b")}))
            stops = bool(wanted)
            versions = {} if stops else {(CONFIG_MAP, Key("default", "b")): 7}
            assert found == Outcome(**{"versions": versions, **wanted}), (verb, refusal)
            assert transport.asked == [f"{verb} a", *([] if stops else ["create b"])], (verb, refusal)


@pytest.mark.parametrize(
    ("wanted", "result"),
    [
        ({}, "done"),
        ({"postponed": "x"}, "postponed"),
        ({"postponed": "x", "failed": "y"}, "failed"),
        ({"failed": "y"}, "failed"),
        ({"failed": "y", "stale": True}, "conflict"),
        ({"failed": "y", "stale": True, "terminal": "z"}, "terminal"),
        ({"terminal": "z"}, "terminal"),
    ],
)
def test_the_worst_that_came_of_a_task_is_its_result(wanted: dict[str, Any], result: str) -> None:
    assert Outcome(**wanted).result == result
    assert Outcome(**wanted).stopped is (result != "done")


def test_what_was_written_is_known_by_version_and_labels() -> None:
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    cases: list[tuple[Any, Object, dict[str, Any]]] = [
        ("create", stored(labels={"x": "y"}), {"versions": {A: 7}, "labels": {A: {"x": "y"}}}),
        ("patch", stored(labels={}), {"versions": {A: 7}}),
        ("apply", stored(version="12"), {"versions": {A: 12}}),
        ("evict", {"metadata": {"uid": "u"}}, {"gone": {(*A, "u")}}),
        ("evict", stored(**leaving), {"gone": {(*A, "u")}}),
        ("delete", stored(), {"gone": {(*A, "u")}}),
        # Finalizers keep it: what was written is its deletion timestamp.
        ("delete", stored(**leaving), {"gone": {(*A, "u")}, "versions": {A: 7}}),
    ]
    for verb, answer, wanted in cases:
        found, _ = both([[write(verb)]], scripted({"a": answer}))
        assert found == Outcome(**wanted), (verb, answer)


def test_a_write_builds_on_what_an_earlier_stage_left_and_else_on_what_it_was_decided_on() -> None:
    stages = [
        [write("patch", resource_version="3"), write("patch", "b", resource_version="4")],
        [write("patch", resource_version="3"), write("patch"), write("create", "c", resource_version="1")],
    ]
    answers: dict[str, Answer] = {name: stored(name, "9") for name in "abc"}
    _, transport = both(stages, scripted(answers))
    assert transport.versions == ["3", "4", "9", None, "1"]


EXISTS: Final = AlreadyExistsError("a exists")
LOOKED: Final = ["create a", "get v1 ConfigMap default a metadata"]


def test_what_exists_already_is_ours_if_our_owner_made_it() -> None:
    other, plain = {**OURS, "uid": "2"}, {**OURS, "controller": False}
    foreign = {"failed": "a exists, and somebody else owns it"}
    unknown = {"failed": "a exists"}
    cases: list[tuple[list[Object], Answer, dict[str, Any]]] = [
        ([OURS], stored(ownerReferences=[OURS]), {"versions": {A: 7}}),
        ([OURS], stored(ownerReferences=[{**plain, "uid": "3"}, OURS]), {"versions": {A: 7}}),
        ([plain, OURS], stored(ownerReferences=[OURS]), {"versions": {A: 7}}),
        ([OURS], stored(ownerReferences=[other]), foreign),
        ([OURS], stored(ownerReferences=[plain]), foreign),
        ([OURS], stored(), foreign),
        ([plain], stored(ownerReferences=[plain]), foreign),
        ([], stored(ownerReferences=[OURS]), foreign),
        # Nobody's, and wanted by nobody.
        ([], stored(), foreign),
        ([OURS], NotFoundError("gone"), unknown),
        ([OURS], Unreachable("not there"), unknown),
        ([OURS], UnknownOutcome("lost"), unknown),
        ([OURS], ForbiddenError("no"), unknown),
    ]
    for owners, found, wanted in cases:
        body = {"metadata": {"name": "a", **({"ownerReferences": owners} if owners else {})}}
        outcome, transport = both([[write("create", body=body)]], scripted({"a": EXISTS}, found))
        assert outcome == Outcome(**wanted), (owners, found)
        assert transport.asked == LOOKED


def test_a_failure_lets_the_rest_of_its_stage_run_and_stops_later_ones() -> None:
    answers: dict[str, Answer] = {"a": ConflictError("changed"), "b": stored("b"), "c": stored("c")}
    found, transport = both([[write("patch"), write("create", "b")], [write("create", "c")]], scripted(answers))
    assert transport.asked == ["patch a", "create b"]
    assert found.versions == {(CONFIG_MAP, Key("default", "b")): 7}


def test_events_about_writes_that_were_not_carried_out_are_not_told() -> None:
    written, gone, missed = (Key("default", name) for name in ("written", "gone", "missed"))
    about = Event(CONFIG_MAP, A[1], "Normal", "R", "m")
    events = (about, *(about._replace(after=(CONFIG_MAP, key)) for key in (written, gone, missed)))
    outcome = Outcome(versions={(CONFIG_MAP, written): 7}, gone={(CONFIG_MAP, gone, "u")})
    assert outcome.true(events) == events
    outcome.failed = "changed"
    assert outcome.true(events) == events[:3]
