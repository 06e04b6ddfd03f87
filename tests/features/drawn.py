"""Objects of our kinds drawn around whole ones, and what the API answers to each of them.

Every field that a schema names, and every field that a whole object has, is left out, made null, emptied and set to
what lies at and beyond its bounds, one at a time and then some at once. Each is created, and written over the whole
object. What the registry and the webhooks say of it is recorded: the refusal, or what was filled in and dropped.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final, NamedTuple

from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Registry
from mooring.runtime.settings import Configuration
from mooring.runtime.webhooks.direct import install

NOW: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
REMOVED: Final = object()
# Fields below which a schema is not followed: what is in them has rules of its own, and a whole object shows some.
NOT_FOLLOWED: Final = frozenset({"status", "metadata", "workerTemplate", "leaderTemplate", "volumeClaimTemplates"})
# Of one whole object: fields that are changed alone, and changes of several.
ALONE: Final = 200
TOGETHER: Final = 50
_CUT = 300

Path = tuple[str | int, ...]


class Change(NamedTuple):
    path: Path
    value: Any

    def __str__(self) -> str:
        path = ".".join(map(str, self.path))
        return f"no {path}" if self.value is REMOVED else f"{path}={_short(self.value)}"


class World:
    """A registry with all our kinds and webhooks, and with these objects; `user` writes what is drawn."""

    def __init__(
        self,
        *objects: Object,
        configuration: Configuration | None = None,
        user: str = "bob",
        groups: tuple[str, ...] = ("people",),
    ) -> None:
        self._sent = {"dry_run": True, "user": user, "groups": groups}
        self.registry = Registry(now=NOW)
        kinds = self.registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        for definition in CATALOG.definitions():
            self.registry.create(kinds, definition, now=NOW)
        webhooks, conversions = CATALOG.webhooks(), CATALOG.conversions()
        parts: dict[str, Any] = {} if configuration is None else {"configuration": configuration}
        install(self.registry, webhooks, clock=lambda: NOW, conversions=conversions, **parts)
        for each in objects:
            self._create(each)

    def _create(self, obj: Object, **options: Any) -> Object:
        resource = self.registry.resource(obj["apiVersion"], obj["kind"])
        namespace = obj["metadata"].get("namespace", "default") if resource.namespaced else None
        return self.registry.create(resource, obj, now=NOW, namespace=namespace, **options)

    def answers(self, whole: Object, *, seed: str, more: Iterable[Change] = ()) -> dict[str, str]:
        """By change, what creating such an object says, and what updating the whole one to it says."""
        cases = [*drawn(whole, self._schema(whole), seed, [*more])]
        created = [self._answer(with_changes(whole, changes), None) for changes in cases]
        stored = self._create(whole)
        found = {"as it is": _difference(whole, stored)}
        for changes, before in zip(cases, created, strict=True):
            after = self._answer(with_changes(stored, changes), stored)
            found[" and ".join(map(str, changes))] = before if before == after else f"{before}\nupdate: {after}"
        return found

    def every_answer(self, wholes: Mapping[str, Object]) -> dict[str, str]:
        """The answers to objects drawn around each of these, by its name and what was changed."""
        found: dict[str, str] = {}
        for name, whole in wholes.items():
            answers = self.answers(whole, seed=f"{whole['kind']}/{name}")
            found |= {f"{name}: {change}": answer for change, answer in answers.items()}
        return found

    def _answer(self, obj: Object, stored: Object | None) -> str:
        warnings: list[str] = []
        sent: dict[str, Any] = {"warnings": warnings, **self._sent}
        try:
            if stored is None:
                answer = _difference(obj, self._create(obj, **sent))
            else:
                resource = self.registry.resource(stored["apiVersion"], stored["kind"])
                answer = _difference(obj, self.registry.update(resource, obj, now=NOW, **sent), stored)
        except ApiError as error:
            causes = [f"{each.get('field')}: {each.get('message')}" for each in error.details.get("causes", ())]
            answer = "\n".join([f"{error.code} {error.reason}", *(sorted(causes) or [error.message])])
        return "\n".join([answer, *(f"warning: {each}" for each in warnings)])

    def _schema(self, whole: Object) -> Mapping[str, Any]:
        version = whole["apiVersion"].rpartition("/")[2]
        for each in CATALOG.definitions():
            if each["spec"]["names"]["kind"] == whole["kind"]:
                for served in each["spec"]["versions"]:
                    if served["name"] == version:
                        schema: Mapping[str, Any] = served["schema"]["openAPIV3Schema"]
                        return schema
        return {}


def drawn(whole: Object, schema: Mapping[str, Any], seed: str, more: Sequence[Change]) -> Iterator[tuple[Change, ...]]:
    """Changes to make at once, each of them once."""
    dice = random.Random(f"drawn/{seed}")
    found = [*_metadata(whole)]
    own = {name: value for name, value in whole.items() if name not in ("apiVersion", "kind", "metadata", "status")}
    for name in sorted({*own, *schema.get("properties", {})} - {"apiVersion", "kind", "metadata", "status"}):
        found += _changes(own.get(name, REMOVED), schema.get("properties", {}).get(name, {}), (name,), dice)
    unlike = list({str(each): each for each in found}.values())
    if len(unlike) > ALONE:
        unlike = [unlike[number] for number in sorted(dice.sample(range(len(unlike)), ALONE))]
    unlike += more
    yield from ((each,) for each in unlike)
    seen = set()
    for _ in range(TOGETHER):
        picked = tuple(dice.sample(unlike, min(len(unlike), dice.randint(2, 3))))
        if not any(_within(a.path, b.path) for a in picked for b in picked if a is not b) and str(picked) not in seen:
            seen.add(str(picked))
            yield picked


def _within(path: Path, other: Path) -> bool:
    return path[: len(other)] == other


def _metadata(whole: Object) -> Iterator[Change]:
    for name in ("labels", "annotations"):
        for key, value in whole["metadata"].get(name, {}).items():
            yield Change(("metadata", name, key), REMOVED)
            for other in dict.fromkeys(("", "0", "1", "-1", "2", "3", "x", "true", f"{value}x")):
                yield Change(("metadata", name, key), other)
    for name in ("a.b", "A", "x" * 57, "x" * 64, "1a", "a" * 254):
        yield Change(("metadata", "name"), name)


def _changes(value: Any, schema: Mapping[str, Any], path: Path, dice: random.Random) -> Iterator[Change]:
    """Of one field and of all below it."""
    if value is not REMOVED:
        yield Change(path, REMOVED)
    if len(path) < 3 or dice.random() < 0.3:
        yield Change(path, None)
    for each in _values(value, schema):
        yield Change(path, each)
    yield from _below(value, schema, path, dice)


def _below(value: Any, schema: Mapping[str, Any], path: Path, dice: random.Random) -> Iterator[Change]:
    followed = {} if path[-1] in NOT_FOLLOWED else schema.get("properties", {})
    if isinstance(value, list) and value:
        for number, each in enumerate(value[:3]):
            yield from _changes(each, schema.get("items", {}), (*path, number), dice)
    elif isinstance(value, dict) or (followed and len(path) < 6):
        known = value if isinstance(value, dict) else {}
        for name in sorted({*known, *followed}):
            yield from _changes(known.get(name, REMOVED), followed.get(name, {}), (*path, name), dice)


def _values(value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    kind = schema.get("type") or _type(value)
    if schema.get("x-kubernetes-int-or-string") or "anyOf" in schema:
        yield from (0, 1, 2, -1, "0%", "50%", "100%", "101%", "x", "10m", "1Gi")
    elif kind == "string":
        yield from dict.fromkeys((*schema.get("enum", ()), "", "x", "A b", "1", *_beside(value)))
        yield "y" * (schema.get("maxLength", 63) + 1)
    elif kind in ("integer", "number"):
        around = {schema[bound] + step for bound in ("minimum", "maximum") if bound in schema for step in (-1, 0, 1)}
        own = {value - 1, value + 1} if isinstance(value, int) else set()
        yield from sorted({-1, 0, 1, 2, 7, 2**31 - 1, 2**31} | around | own)
        yield "1"
    elif kind == "boolean":
        yield from (True, False, "true")
    elif kind == "array":
        yield []
        if isinstance(value, list) and value:
            yield [*value, value[0]]
            yield [*reversed(value)][:-1]
        else:
            yield [sample_of(schema.get("items", {}))]
    elif kind == "object":
        yield {}
        if "additionalProperties" in schema or not schema.get("properties"):
            yield {"example.com/more": "1", **(value if isinstance(value, dict) else {})}
            yield {"a": "1", "b b": "", "nvidia.com/gpu": "2"}
        else:
            yield {"unknown": 1, **(value if isinstance(value, dict) else sample_of(schema))}


def _type(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "")


def _beside(value: Any) -> Iterator[str]:
    """Texts that are almost the one that is there."""
    if isinstance(value, str) and value:
        yield from (f"{value}x", value[:-1], value.upper(), f" {value}", f"{value}/..", f"-{value}")


def values_below(value: Any, schema: Mapping[str, Any], dice: random.Random) -> Iterator[Change]:
    """Of all fields of an object, also of its status."""
    for name in sorted({*value, *schema.get("properties", {})} - {"apiVersion", "kind", "metadata"}):
        yield from _changes(value.get(name, REMOVED), schema.get("properties", {}).get(name, {}), (name,), dice)


def sample_of(schema: Mapping[str, Any]) -> Any:
    """The least that a schema takes, with one of everything."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: sample_of(part) for name, part in sorted(schema.get("properties", {}).items())}
        case "array":
            return [sample_of(schema.get("items", {}))]
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return True
        case _:
            return "1"


def with_changes(obj: Object, changes: Iterable[Change]) -> Object:
    """A copy; what lies on the way to a changed field and is not there is made."""
    made = copy.deepcopy(obj)
    for path, value in changes:
        found: Any = made
        for step, following in pairwise(path):
            if not isinstance(_at(found, step), dict | list):
                _put(found, step, [] if isinstance(following, int) else {})
            found = _at(found, step)
        if value is not REMOVED:
            _put(found, path[-1], copy.deepcopy(value))
        elif _at(found, path[-1]) is not None:
            del found[path[-1]]
    return made


def _at(found: Any, step: str | int) -> Any:
    if isinstance(found, list):
        return found[step] if isinstance(step, int) and step < len(found) else None
    return found.get(step)


def _put(found: Any, step: str | int, value: Any) -> None:
    if isinstance(found, list) and isinstance(step, int) and step >= len(found):
        found.append(value)
    else:
        found[step] = value


_INCIDENTAL = ("uid", "creationTimestamp", "managedFields", "resourceVersion")


def _difference(sent: Any, stored: Any, before: Any = None) -> str:
    """What was made of an object: a line for each value that is another one than was sent."""
    told = _flat(stored)
    given = _flat(sent)
    lines = [f"+ {path}={_short(value)}" for path, value in told.items() if path not in given or given[path] != value]
    lines += [f"- {path}" for path in given if path not in told]
    if before is not None and sorted(lines) == []:
        lines = ["as sent" if told != _flat(before) else "as it was"]
    return "\n".join(lines) or "as sent"


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict) and value:
        return {
            each: leaf
            for name, part in value.items()
            if not (path == "metadata" and name in _INCIDENTAL)
            for each, leaf in _flat(part, f"{path}.{name}" if path else name).items()
        }
    if isinstance(value, list) and value:
        return {each: leaf for n, part in enumerate(value) for each, leaf in _flat(part, f"{path}.{n}").items()}
    return {path: value}


def _short(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= _CUT else f"{text[:_CUT]} … of {len(text)}"
