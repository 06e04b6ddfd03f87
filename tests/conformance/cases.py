"""The suite's cases: in cases/*.yaml requests that people wrote, in answers/*.yaml what the real server said.

A case is a list of steps in a namespace of its own. A table is one request with a row per variation, each a case:

    - table: A pod is refused when
      do: POST /api/v1/namespaces/$NS/pods?dryRun=All
      body: {...}
      rows:
        - a container has no name: {spec/containers/0/name: null}

A row's keys are paths into the body; null takes the field away. `$do` and `$body` replace the request itself.

A matrix is every request sent by every user, in one case; of an answer only the code and the sentence are kept:

    - matrix: Pods
      users: [anonymous, view]
      requests:
        - list pods: {do: GET /api/v1/namespaces/$NS/pods}

A step says `by` whom it is sent; without it, by an administrator in system:masters.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
REQUEST_FIELDS = {"do", "body", "with", "content", "accept", "agent", "by", "headers"}
STEP_FIELDS = REQUEST_FIELDS | {"as", "brief", "pick", "managed", "patiently", "watch", "events", "during"}


@dataclass(frozen=True)
class Case:
    """Steps with the answers they must get; `given` are steps that must only succeed."""

    file: str
    name: str
    steps: list[dict[str, Any]]
    given: list[dict[str, Any]] = field(default_factory=list)
    answers: list[Any] | None = None

    @property
    def id(self) -> str:
        return f"{self.file}: {self.name}"


def load() -> list[Case]:
    """Every case of every file, in the order in which they are written."""
    return [case for path in sorted((HERE / "cases").glob("*.yaml")) for case in load_file(path)]


def load_file(path: Path) -> list[Case]:
    answers = read_answers(path.stem)
    found: dict[str, Case] = {}
    for entry in _read(path):
        for case in _cases(path.stem, entry, answers):
            if case.name in found:
                raise ValueError(f'{path.name} has two cases named "{case.name}".')
            found[case.name] = case
    return list(found.values())


def read_answers(stem: str) -> dict[str, list[Any]]:
    path = HERE / "answers" / f"{stem}.yaml"
    return (_read(path) or {}) if path.exists() else {}


def changed(body: Any, changes: Mapping[str, Any]) -> Any:
    """A copy of a body with the values at some paths replaced, added or, by None, taken away."""
    body = copy.deepcopy(body)
    for pointer, value in changes.items():
        *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")]
        place = body
        for part in parents:
            place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
        _set(place, last, value)
    return body


def _set(place: Any, last: str, value: Any) -> None:
    if isinstance(place, list):
        if value is None:
            del place[int(last)]
        else:
            place[int(last) : int(last) + 1] = [value]
    elif value is None:
        place.pop(last, None)
    else:
        place[last] = value


def _cases(file: str, entry: dict[str, Any], answers: Mapping[str, list[Any]]) -> Iterator[Case]:
    if "case" in entry:
        name = entry["case"]
        yield Case(file, name, _steps(entry["steps"]), _steps(entry.get("given", [])), answers.get(name))
        return
    if "matrix" in entry:
        name = entry["matrix"]
        yield Case(file, name, list(_matrix_steps(entry)), _steps(entry.get("given", [])), answers.get(name))
        return
    request = {key: entry[key] for key in STEP_FIELDS & entry.keys()}
    for row in entry["rows"]:
        ((sentence, changes),) = row.items()
        name = f"{entry['table']} {sentence}"
        yield Case(file, name, [_varied(request, changes or {})], _steps(entry.get("given", [])), answers.get(name))


def _matrix_steps(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for row in entry["requests"]:
        ((sentence, request),) = row.items()
        for user in entry["users"]:
            yield {**request, "by": user, "brief": f"{sentence} | {user}"}


def _varied(request: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    whole = {key.removeprefix("$"): value for key, value in changes.items() if key.startswith("$")}
    parts = {key: value for key, value in changes.items() if not key.startswith("$")}
    step = request | whole
    return step | {"body": changed(step["body"], parts)} if parts else step


def _steps(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for step in steps:
        if unknown := step.keys() - STEP_FIELDS:
            raise ValueError(f"A step knows no {', '.join(sorted(unknown))}: {step}")
    return steps


def _read(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
