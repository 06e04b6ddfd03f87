"""Stages of kwok: which of them applies to an object next, and when.

A Stage is compiled as a whole when it is observed, or refused with a message and not used at all. Where kwok uses
random numbers, for weights and jitter, a hash of the object and the Stage decides, so that a simulation is repeatable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any, Final, NamedTuple

import msgspec

from mooring.api.kinds import Key, Kind
from mooring.kube.durations import parse_duration
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.nodes.stages.go_values import go_integer
from mooring.nodes.stages.gotemplate import GoTemplate
from mooring.nodes.stages.kinds import STAGE, Stage
from mooring.nodes.stages.lexer import TemplateError
from mooring.nodes.stages.query import Query, QueryError, query
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.folds import Fold

DRIVEN: Final = ("Pod", "Node")
# What templates may ask beside what is the same for every object.
ENVIRONMENT: Final = (
    "Now", "StartTime", "Version", "NodeName", "NodePort", "NodeIP", "NodeIPs", "NodeIPWith", "NodeIPsWith",
    "PodIPWith", "PodIPsWith",
)  # fmt: skip
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")
_PATCHES: Final = ("strategic", "merge", "json")


class StageError(MooringError):
    """A Stage that uses something that is not supported here."""


class StageRequirement(NamedTuple):
    query: Query
    operator: str
    values: tuple[str, ...]

    def holds(self, obj: Object) -> bool:
        found = self.query.values(obj)
        if self.operator in ("Exists", "DoesNotExist"):
            return bool(found) == (self.operator == "Exists")
        return any(_spelt(value) in self.values for value in found) == (self.operator == "In")


class Amount(NamedTuple):
    """A number or a duration: a fixed one, unless the object says otherwise."""

    fixed: int | None
    said: Query | None


class StageStep(NamedTuple):
    """One thing that a Stage does. A patch has a template, its root and the subresource that it goes to."""

    template: GoTemplate | None = None
    root: str = ""
    subresource: str = ""
    patch: str = "strategic"
    finalizers: Object | None = None
    event: Object | None = None
    delete: bool = False


class CompiledStage(NamedTuple):
    """A Stage with its queries and templates parsed."""

    name: str
    kind: str
    labels: tuple[tuple[str, str], ...]
    annotations: tuple[tuple[str, str], ...]
    requirements: tuple[StageRequirement, ...]
    weight: Amount
    duration: Amount
    jitter: Amount
    steps: tuple[StageStep, ...]

    def matches(self, obj: Object) -> bool:
        metadata = obj["metadata"]
        labels, annotations = metadata.get("labels", {}), metadata.get("annotations", {})
        return (
            all(labels.get(name) == value for name, value in self.labels)
            and all(annotations.get(name) == value for name, value in self.annotations)
            and all(requirement.holds(obj) for requirement in self.requirements)
        )

    def due(self, obj: Object, since: datetime) -> datetime:
        """When it applies to an object that it has matched since a moment."""
        first = _delay(self.duration, obj, since)
        if first is None:
            return since
        last = _delay(self.jitter, obj, since)
        if last is None:
            return since + first
        if last <= first:
            return since + last
        return since + first + (last - first) * (_lot(obj, self.name) / 2**64)


class Lifecycle:
    """The compiled Stages by the kind they select, and the problems of the others."""

    def __init__(self) -> None:
        self.problems: dict[Key, str] = {}
        self._stages: dict[Key, CompiledStage] = {}

    def change(self, kind: Kind[Any], change: Changed) -> bool:
        if change.old is not None and change.new is not None and change.old.spec == change.new.spec:
            return False
        self.problems.pop(change.key, None)
        self._stages.pop(change.key, None)
        if change.new is not None:
            try:
                self._stages[change.key] = compile_stage(change.new)
            except StageError as error:
                self.problems[change.key] = str(error)
        return True

    def of(self, kind: str) -> list[CompiledStage]:
        return [stage for key, stage in sorted(self._stages.items()) if stage.kind == kind]


STAGES: Final = Fold("stages", (STAGE,), Lifecycle, Lifecycle.change)


def choose(stages: Iterable[CompiledStage], obj: Object) -> CompiledStage | None:
    """The Stage that applies to an object next; of several, one is drawn by weight."""
    matched = [stage for stage in stages if stage.matches(obj)]
    if len(matched) < 2:
        return matched[0] if matched else None
    weighed = [(stage, weight) for stage in matched if (weight := _weight(stage.weight, obj)) is not None]
    # One whose weight is no number comes after all others.
    among = weighed or [(stage, 0) for stage in matched]
    total = sum(weight for _, weight in among)
    lot = _lot(obj, "\n".join(stage.name for stage in matched))
    if not total:
        return among[lot % len(among)][0]
    place = lot % total
    return next(
        stage for (stage, _), end in zip(among, accumulate(weight for _, weight in among), strict=True) if place < end
    )


def _lot(obj: Object, purpose: str) -> int:
    text = f"{obj['metadata'].get('uid', '')}\n{purpose}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def _spelt(value: Any) -> str | None:
    """A value as selectors write it; what is no text, number or truth is none of theirs."""
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int():
            return str(value)
    return None


def _first(said: Query | None, obj: Object) -> Any:
    found = said.values(obj) if said is not None else []
    return found[0] if found else None


def _weight(amount: Amount, obj: Object) -> int | None:
    """None where the object says something that is no number."""
    said = _first(amount.said, obj)
    if isinstance(said, str):
        found = go_integer(said)
        return None if found is None else max(found, 0)
    return max(said, 0) if isinstance(said, int) and not isinstance(said, bool) else amount.fixed or 0


def _delay(amount: Amount, obj: Object, since: datetime) -> timedelta | None:
    said = _first(amount.said, obj)
    if said == "":
        return None
    if isinstance(said, str):
        length = parse_duration(said)
        if length is not None:
            return length
        try:
            until = moment(said)
            return (until if until.tzinfo is not None else until.replace(tzinfo=UTC)) - since
        except ValueError:
            pass
    return None if amount.fixed is None else timedelta(milliseconds=amount.fixed)


# Compiling


def compile_stage(stage: Stage) -> CompiledStage:
    """Raises StageError with a sentence that names the field and what it says."""
    spec = stage.spec
    reference = spec.get("resourceRef") or {}
    kind, group = reference.get("kind", ""), reference.get("apiGroup", "v1")
    if kind not in DRIVEN or group not in ("v1", ""):
        raise StageError(f"spec.resourceRef: {group} {kind} is not driven here; v1 Pod and v1 Node are")
    selector = spec.get("selector")
    if selector is None:
        raise StageError("spec.selector is missing, so it selects nothing; {} selects everything")
    delay = spec.get("delay") or {}
    return CompiledStage(
        stage.metadata.name,
        kind,
        tuple((selector.get("matchLabels") or {}).items()),
        tuple((selector.get("matchAnnotations") or {}).items()),
        tuple(_requirements(selector.get("matchExpressions") or ())),
        Amount(spec.get("weight"), _said(spec.get("weightFrom"), "spec.weightFrom")),
        Amount(delay.get("durationMilliseconds", 0), _said(delay.get("durationFrom"), "spec.delay.durationFrom")),
        Amount(
            delay.get("jitterDurationMilliseconds"),
            _said(delay.get("jitterDurationFrom"), "spec.delay.jitterDurationFrom"),
        ),
        tuple(_steps(spec)),
    )


def stage_problem(obj: Object) -> str:
    """Why a Stage, as a plain object, would not be used; empty if it would be."""
    try:
        compile_stage(msgspec.convert(obj, Stage))
    except StageError as error:
        return str(error)
    return ""


def _requirements(expressions: Sequence[Object]) -> Iterable[StageRequirement]:
    for number, expression in enumerate(expressions):
        path = f"spec.selector.matchExpressions[{number}]"
        if expression.get("cel") is not None:
            raise StageError(f"{path}.cel is not understood here; write it as key, operator and values")
        said = expression.get("jq") or expression
        operator, values = said.get("operator", ""), tuple(said.get("values") or ())
        if operator not in _OPERATORS:
            raise StageError(f'{path}.operator: "{operator}" must be one of {", ".join(_OPERATORS)}')
        if bool(values) != (operator in ("In", "NotIn")):
            wanted = "needs values" if operator in ("In", "NotIn") else "takes no values"
            raise StageError(f"{path}: {operator} {wanted}")
        yield StageRequirement(_query(said.get("key", ""), f"{path}.key"), operator, values)


def _query(text: str, path: str) -> Query:
    try:
        return query(text)
    except QueryError as error:
        raise StageError(f"{path}: {error}") from None


def _said(source: Object | None, path: str) -> Query | None:
    if source is None:
        return None
    if source.get("cel") is not None:
        raise StageError(f"{path}.cel is not understood here; write it as expressionFrom")
    text = (source.get("jq") or {}).get("expression") or source.get("expressionFrom")
    return None if text is None else _query(text, f"{path}.expressionFrom")


def _steps(spec: Object) -> Iterable[StageStep]:
    if spec.get("steps"):
        for number, step in enumerate(spec["steps"]):
            path = f"spec.steps[{number}]"
            if step.get("apply") is not None:
                raise StageError(f"{path}.apply is not understood here; a Stage changes only the object it selects")
            yield _changes(step, path)
            if step.get("patch") is not None:
                yield _patch(step["patch"], f"{path}.patch")
        return
    following = spec.get("next") or {}
    yield _changes(following, "spec.next")
    for number, patch in enumerate(following.get("patches") or ()):
        yield _patch(patch, f"spec.next.patches[{number}]")
    if following.get("statusTemplate") and not following.get("patches"):
        path = "spec.next.statusTemplate"
        yield StageStep(template=_template(following["statusTemplate"], path), root="status", subresource="status")


def _changes(said: Object, path: str) -> StageStep:
    return StageStep(finalizers=said.get("finalizers"), event=said.get("event"), delete=bool(said.get("delete")))


def _patch(said: Object, path: str) -> StageStep:
    patch, subresource = said.get("type") or "strategic", said.get("subresource", "")
    if patch not in _PATCHES:
        raise StageError(f'{path}.type: "{patch}" must be one of {", ".join(_PATCHES)}')
    if subresource not in ("", "status"):
        raise StageError(f'{path}.subresource: "{subresource}" is not patched here; status is, and the object itself')
    template = _template(said.get("template", ""), f"{path}.template")
    return StageStep(template=template, root=said.get("root", ""), subresource=subresource, patch=patch)


def _template(text: str, path: str) -> GoTemplate:
    try:
        return GoTemplate(text.strip(), ENVIRONMENT)
    except TemplateError as error:
        raise StageError(f"{path}: {error}") from None
