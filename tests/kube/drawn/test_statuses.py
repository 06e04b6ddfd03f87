"""Drawn statuses, conditions and other small values: what is read from them, and what refusals say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from random import Random
from typing import Any

from mooring.kube import status
from mooring.kube.conditions import conditions_of, find_condition, is_true, set_conditions, transition_time
from mooring.kube.errors import invalid, required
from mooring.kube.go_json import go_json, has_sorted_keys, with_sorted_keys
from mooring.kube.interning import intern
from mooring.kube.nesting import DEPTH_LIMIT, is_deeper
from mooring.kube.node_identity import node_of, node_user
from mooring.kube.prometheus import Histogram, Metric, exposition
from mooring.kube.times import moment, timestamp
from tests.kube.drawn.drawing import answer
from tests.support.golden import same_as_recorded


def _refusals() -> list[status.ApiError]:
    errors = [required("spec.a", ""), invalid("spec.b", "x\n", "is bad")]
    causes = [{"reason": "Why", "message": "text"}]
    made: list[status.ApiError] = [
        status.BadRequestError("no\nway", {"name": "x"}),
        status.UnauthorizedError("Unauthorized"),
        status.ForbiddenError.of("pods", "", "p", "no"),
        status.ForbiddenError.of("deployments", "apps", "", "no", causes),
        status.NotFoundError.of("deployments", "apps", "web"),
        status.MethodNotAllowedError.of("deployments", "apps", "patch"),
        status.AlreadyExistsError.of("pods", "", "p"),
        status.ConflictError.of("pods", "", "p", "it changed"),
        status.ConflictError.stale("deployments", "apps", "p"),
        status.ExpiredError("too old", continue_="token"),
        status.ExpiredError.too_old(5, 9),
        status.InvalidError("Pod", "", "p", errors),
        status.InvalidError("Set", "apps\n", "", errors[1:]),
        status.InvalidError("Set", "apps", "s", ()),
        status.TooManyRequestsError("slow down", {"retryAfterSeconds": 3}),
        status.ServiceUnavailableError("later"),
        status.InternalError.of("oh\x1b\nno"),
        status.UnknownError("who knows"),
        status.TooLargeVersionError.of(9, 5),
        status.InsufficientStorageError("full"),
    ]
    return [*made, *(status.RejectedPatchError("bad", code) for code in (400, 413, 415, 422, 409))]


def _facts(error: status.ApiError) -> str:
    more = (getattr(error, "errors", None), getattr(error, "continue_", None))
    facts = f"{type(error).__name__} {error} {error.code} {error.reason} {error.retry_after}"
    return f"{facts} {error.path} {more} {error.status()}"


def test_refusals_on_the_wire_and_back() -> None:
    said = {}
    for number, error in enumerate(_refusals()):
        said[f"{number} {error}"] = f"{_facts(error)}\n{_facts(status.error_from_status(error.status()))}"
    draw = Random(5)
    reasons = (
        "",
        "",
        "NotFound",
        "Conflict",
        "AlreadyExists",
        "Expired",
        "Gone",
        "Invalid",
        "Timeout",
        "InternalError",
        "Odd",
    )
    codes = (0, 400, 401, 403, 404, 405, 409, 410, 415, 422, 429, 500, 502, 503, 504, 507)
    details: tuple[Any, ...] = (
        None,
        {},
        {"retryAfterSeconds": 7},
        {"causes": None},
        {"causes": [{"reason": "ResourceVersionTooLarge"}], "retryAfterSeconds": 1},
        {"causes": [{"message": "x"}, {"field": "spec.a"}, {"field": "spec.b"}]},
    )
    for number in range(400):
        given: dict[str, Any] = {
            "reason": draw.choice(reasons),
            "code": draw.choice(codes),
            "details": draw.choice(details),
        }
        given |= {"message": draw.choice(("", "said")), "metadata": draw.choice((None, {}, {"continue": "token"}))}
        given = {name: value for name, value in given.items() if value not in (None, "") or draw.random() < 0.2}
        code, retry_after = draw.choice(codes), draw.choice((None, 0, 5))
        given["reason"] = given.get("reason") or ""
        said[f"drawn {number} {given} {code} {retry_after}"] = _facts(
            status.error_from_status(given, code, retry_after)
        )
    same_as_recorded("kube-statuses", said)


def test_conditions_of_plain_objects() -> None:
    draw, said = Random(6), {}

    def drawn(kinds: list[str]) -> list[dict[str, Any]]:
        times = ("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z", None, "")
        made = [
            {
                "type": kind,
                "status": draw.choice(("True", "False")),
                "reason": draw.choice("ab"),
                "lastTransitionTime": draw.choice(times),
            }
            for kind in kinds
        ]
        return [{name: value for name, value in each.items() if value is not None} for each in made]

    for number in range(300):
        known, wanted = (drawn(draw.sample(["Ready", "Live", "Odd"], draw.randrange(4))) for _ in range(2))
        if draw.random() < 0.3:
            wanted = [dict(each) for each in known[:2]]
        stamp = "2026-11-15T12:00:00Z"
        facts = [
            find_condition(known, "Ready"),
            is_true(known, "Ready"),
            transition_time(find_condition(known, "Live"), "True", stamp),
        ]
        said[f"{number} {known} {wanted}"] = f"{facts} {set_conditions(known, wanted, stamp)}"
    objects: tuple[dict[str, Any], ...] = ({}, {"status": None}, {"status": {}}, {"status": {"conditions": None}})
    assert [conditions_of(each) for each in objects] == [[]] * 4
    assert conditions_of({"status": {"conditions": [{"type": "Ready"}]}}) == [{"type": "Ready"}]
    same_as_recorded("kube-conditions", said)


def test_how_deep_values_are() -> None:
    def nested(depth: int, innermost: Any) -> Any:
        for level in range(depth):
            innermost = [1, innermost] if level % 2 else {"a": "x", "b": innermost}
        return innermost

    values: tuple[Any, ...] = (1, "text", None, [], {})
    for limit in (0, 1, 2, 5, DEPTH_LIMIT):
        for innermost in values:
            own = int(isinstance(innermost, list | dict))
            for depth in range(limit + 3) if limit < 10 else (limit - 1, limit, limit + 1):
                assert is_deeper(nested(depth, innermost), limit) is (depth + own > limit), (limit, innermost, depth)
    assert is_deeper(nested(201, 1)) is True
    assert is_deeper(nested(200, 1)) is False


def test_which_node_a_user_is() -> None:
    assert node_user("n0") == "system:node:n0"
    assert node_of("system:node:n0", ("a", "system:nodes")) == "n0"
    assert node_of("system:node:", ("system:nodes",)) == ""
    for user, groups in (("system:node:n0", ()), ("system:node:n0", ("a",)), ("n0", ("system:nodes",)), ("n0", ())):
        assert node_of(user, groups) is None


def test_keys_in_the_order_in_which_go_writes_them() -> None:
    value = {"b": 1, "a": [{"d": 1, "c": "<"}]}
    assert has_sorted_keys(value) is False
    assert str(with_sorted_keys(value)) == "{'a': [{'c': '<', 'd': 1}], 'b': 1}"
    assert has_sorted_keys(with_sorted_keys(value)) is True
    assert go_json(value) == b'{"a":[{"c":"\\u003c","d":1}],"b":1}'


def test_moments_and_their_texts() -> None:
    noon = datetime(2026, 11, 15, 12, tzinfo=UTC)
    east = timezone(timedelta(hours=5, minutes=30))
    for given in (noon, noon.astimezone(east), noon.replace(tzinfo=None), noon + timedelta(microseconds=999_999)):
        assert timestamp(given) == "2026-11-15T12:00:00Z"
    assert timestamp(noon - timedelta(microseconds=1)) == "2026-11-15T11:59:59Z"
    assert timestamp(datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC)) == "1969-12-31T23:59:59Z"
    assert moment("2026-11-15T12:00:00Z") == noon


def test_a_full_table_of_equal_values_starts_over() -> None:
    table: dict[str, int] = {}
    assert [intern(table, each, number, 2) for number, each in enumerate("ab")] == [0, 1]
    assert table == {"a": 0, "b": 1}
    assert intern(table, "c", 2, 2) == 2
    assert table == {"c": 2}


def test_scrapes_of_every_sort_of_metric() -> None:
    runs = Metric("runs_total", "counter", "Runs.", ("of", "result"))
    runs.start(("a", "b"), ("good", "bad"))
    runs.add("a", "good")
    runs.add("a", "good", amount=2.5)
    runs.start(("a",), ("good",))
    runs.add('odd "\\\n', "bad")
    size = Metric("size", "gauge", "Size.", ())
    size.set(value=1e21)
    times = Histogram("seconds", "Time.", ("of",), (0.5, 1.0))
    for value in (0.4, 0.5, 0.6, 1.0, 1.5):
        times.observe("b", value=value)
    times.observe("a", value=2)
    assert (runs.value("a", "good"), runs.value("c", "good"), size.value()) == (3.5, 0.0, 1e21)
    assert exposition((runs, times, size)) == (
        "# HELP runs_total Runs.\n# TYPE runs_total counter\n"
        'runs_total{of="a",result="bad"} 0\nruns_total{of="a",result="good"} 3.5\n'
        'runs_total{of="b",result="bad"} 0\nruns_total{of="b",result="good"} 0\n'
        'runs_total{of="odd \\"\\\\\\n",result="bad"} 1\n'
        "# HELP seconds Time.\n# TYPE seconds histogram\n"
        'seconds_bucket{of="a",le="0.5"} 0\nseconds_bucket{of="a",le="1.0"} 0\nseconds_bucket{of="a",le="+Inf"} 1\n'
        'seconds_sum{of="a"} 2\nseconds_count{of="a"} 1\n'
        'seconds_bucket{of="b",le="0.5"} 2\nseconds_bucket{of="b",le="1.0"} 4\nseconds_bucket{of="b",le="+Inf"} 5\n'
        'seconds_sum{of="b"} 4\nseconds_count{of="b"} 5\n'
        "# HELP size Size.\n# TYPE size gauge\nsize 1e+21\n"
    )
    runs.clear()
    assert (runs.value("a", "good"), list(runs.lines())) == (0.0, [])


def test_a_series_has_a_value_for_each_label() -> None:
    runs = Metric("runs_total", "counter", "Runs.", ("of",))
    runs.add("a", "b")
    assert answer(exposition, [runs]).startswith("! ValueError")
