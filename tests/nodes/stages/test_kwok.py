"""Templates, queries and Stages as kwok itself takes them; record.py asked it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import yaml

from mooring.kube.times import moment
from mooring.nodes.stages.gotemplate import GoTemplate
from mooring.nodes.stages.kinds import Stage
from mooring.nodes.stages.lexer import TemplateError
from mooring.nodes.stages.lifecycle import StageError, choose, compile_stage
from mooring.nodes.stages.next_write import StageFailure, outcome
from mooring.nodes.stages.query import QueryError, query
from tests.nodes.stages.drawn_templates import OBJECT
from tests.nodes.stages.record import RECORDED
from tests.support.recordings import difference, recorded

NOON = "2026-01-01T12:00:00Z"
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Now": lambda: NOON,
    "StartTime": lambda: NOON,
    "NodeName": lambda: "n1",
    "NodeIP": lambda: "10.0.0.1",
    "NodeIPs": lambda: ["10.0.0.1"],
    "NodeIPWith": lambda name: "10.0.0.1",
    "PodIPWith": lambda *which: "10.244.0.9",
}
# What of kwok is decidedly not followed: the template, query or name of a Stage, and why.
DIFFERENT: dict[str, str] = yaml.safe_load(Path(__file__).with_name("differences.yaml").read_text(encoding="utf-8"))


def of_template(asked: Any) -> Any:
    try:
        return {"text": GoTemplate(asked["template"].strip(), tuple(FUNCTIONS)).render(OBJECT, FUNCTIONS)}
    except TemplateError:
        return {"error": True}


def of_query(asked: Any) -> Any:
    try:
        return {"values": query(asked["query"]).values(OBJECT)}
    except QueryError:
        return {"error": True}


def of_stage(asked: Any) -> Any:
    now, found = moment(asked["now"]), asked["object"]
    try:
        stage = compile_stage(msgspec.convert(asked["stage"], Stage))
    except StageError:
        return {"matches": True, "error": True}
    if not stage.matches(found):
        return {"matches": False}
    answer: Any = {"matches": True, "due": stage.due(found, now) - now}
    try:
        return answer | {"after": outcome(stage, found, FUNCTIONS), "delete": any(each.delete for each in stage.steps)}
    except StageFailure:
        return answer | {"error": True}


def stage_difference(expected: Any, found: Any) -> str:
    due = found.pop("due", None)
    delays = [timedelta(milliseconds=each) for each in expected.pop("delays", [0])]
    if due is not None and not delays[0] <= due <= delays[-1]:
        return f"due after {due}, not within {' and '.join(map(str, delays))}"
    # What a pod has of its own type, such as times that are null, is not said by its template.
    return difference(expected, found)


def of_choice(asked: Any) -> Any:
    stages = [compile_stage(msgspec.convert(each, Stage)) for each in asked["stages"]]
    chosen = [
        choose(stages, {**asked["object"], "metadata": {**asked["object"]["metadata"], "uid": f"u{n}"}})
        for n in range(200)
    ]
    return {"possible": sorted({each.name for each in chosen if each is not None})}


def compared() -> Iterator[tuple[str, str]]:
    """The name of each question, and how our answer differs; empty where it does not."""
    choice = 0
    for asked in recorded(RECORDED):
        if "template" in asked:
            yield (
                asked["template"],
                difference({k: v for k, v in asked.items() if k in ("text", "error")}, of_template(asked)),
            )
        elif "query" in asked:
            yield (
                asked["query"],
                difference({k: v or [] for k, v in asked.items() if k in ("values", "error")}, of_query(asked)),
            )
        elif "stage" in asked:
            expected = {name: value for name, value in asked.items() if name not in ("stage", "object", "now")}
            yield asked["stage"]["metadata"]["name"], stage_difference(expected, of_stage(asked))
        else:
            choice += 1
            yield f"choice {choice}", difference({"possible": asked["possible"]}, of_choice(asked))


def test_templates_queries_and_stages_are_taken_as_kwok_takes_them() -> None:
    told = {name: difference for name, difference in compared() if difference}
    unexpected = [f"{name!r}: {difference}" for name, difference in told.items() if name not in DIFFERENT]
    assert not unexpected, "\n".join([f"{len(unexpected)} differ", *unexpected[:10]])
    assert not DIFFERENT.keys() - told.keys()
