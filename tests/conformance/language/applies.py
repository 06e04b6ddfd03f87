"""Drawn sequences of writes by several managers, and what a real API server makes of them.

A record is one request with its answer, as `tests/registry/agreement.py` replays them.
"""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Iterator
from typing import Any, Final

import httpx2

from mooring.testing.http import Answer, Api
from tests.conformance.language.shapes import KINDS, Items, Kind, Named, Whole, drawn, shelf_definition

Object = dict[str, Any]

_MANAGERS: Final = ("ann", "bob", "eve")
_PATCHES: Final = ("merge", "json", "strategic")
_JUNK: Final[tuple[Any, ...]] = (None, "x", 1, -1, [], {}, True, [None], "a" * 70, 1.5, [{}], {"name": None})
_DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Sequences:
    """Sequences of requests, each made from the answers to those before it."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def kind(self) -> Kind:
        return self._draw.choice(KINDS)

    def request(self, kind: Kind, name: str, live: Object | None) -> Object:
        """The next request about an object."""
        draw = self._draw
        below = draw.choice(("", "", "", "", "status")) if kind.status else ""
        if live is None:
            op = draw.choice(("apply", "apply", "create"))
            below = "" if draw.random() < 0.9 else below
        else:
            op = draw.choice(("apply", "apply", "apply", "apply", "update", "merge", "json", "strategic"))
            if op == "strategic" and "." in kind.api_version and draw.random() < 0.95:
                op = "apply"
        record: Object = {
            "op": op,
            "kind": [kind.api_version, kind.kind],
            "ns": "default" if kind.namespaced else "",
            "name": name,
        }
        if below and op != "create":
            record["sub"] = "status"
        record["manager"] = draw.choice(_MANAGERS)
        if op == "apply" and draw.random() < 0.3:
            record["force"] = True
        record["fv"] = draw.choice(("Warn", "Warn", "Strict", "Ignore"))
        if op == "update" and draw.random() < 0.95:
            record["rv"] = True
        record["body"] = getattr(self, f"_{op}")(kind, name, live, record.get("sub", ""))
        return record

    def _whole(self, kind: Kind, name: str, below: str, share: float) -> Object:
        body: Object = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}}
        if below:
            body["status"] = drawn(kind.status, self._draw, share)
            return body
        made = drawn(kind.fields, self._draw, share)
        made.setdefault("metadata", {})["name"] = name
        if kind.namespaced and self._draw.random() < 0.5:
            made["metadata"]["namespace"] = "default"
        return {**body, **made}

    def _spoilt(self, body: Object) -> Object:
        """Now and then with something that does not belong there."""
        if self._draw.random() < 0.1:
            outside = ("apiVersion", "kind"), (("metadata",), ("metadata", "name"), ("metadata", "namespace"))
            places = [path for path in _places(body) if path[0] not in outside[0] and path not in outside[1]]
            path = self._draw.choice(places or [("spec",)])
            holder: Any = body
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = copy.deepcopy(self._draw.choice(_JUNK))
        if self._draw.random() < 0.04 and isinstance(body.get("spec"), dict):
            body["spec"]["unknownField"] = 1
        return body

    def _create(self, kind: Kind, name: str, live: Object | None, below: str) -> Object:
        return self._spoilt(_filled(self._whole(kind, name, below, 0.4), kind.needed))

    def _apply(self, kind: Kind, name: str, live: Object | None, below: str) -> Object:
        body = self._whole(kind, name, below, self._draw.choice((0.15, 0.3, 0.5)))
        if live is None or self._draw.random() < 0.3:
            body = _filled(body, kind.needed) if not below else body
        return self._spoilt(body)

    def _update(self, kind: Kind, name: str, live: Object | None, below: str) -> Object:
        assert live is not None
        body = copy.deepcopy(live)
        for key in ("managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"):
            if key != "managedFields" or self._draw.random() < 0.7:
                body["metadata"].pop(key, None)
        if self._draw.random() < 0.1:
            body["metadata"]["managedFields"] = self._draw.choice(([], [{}]))
        part = self._whole(kind, name, below, 0.25)
        for key, value in part.items():
            if isinstance(value, dict) and isinstance(body.get(key), dict):
                body[key].update(value)
            elif key not in ("apiVersion", "kind"):
                body[key] = value
        return self._spoilt(body)

    def _merge(self, kind: Kind, name: str, live: Object | None, below: str) -> Object:
        body = self._whole(kind, name, below, 0.25)
        return self._nulled(
            self._spoilt({key: value for key, value in body.items() if key not in ("apiVersion", "kind")})
        )

    def _nulled(self, body: Object) -> Object:
        """With some fields taken away."""
        for path in list(_places(body)):
            holder: Any = body
            if len(path) > 1 and self._draw.random() < 0.1 and path != ("metadata", "name"):
                for step in path[:-1]:
                    holder = holder[step] if isinstance(holder, dict) and step in holder else None
                if isinstance(holder, dict):
                    holder[path[-1]] = None
        return body

    def _strategic(self, kind: Kind, name: str, live: Object | None, below: str) -> Object:
        body = self._merge(kind, name, live, below)
        if self._draw.random() < 0.6:
            self._directed(body, {"status": kind.status} if below else kind.fields)
        return body

    def _directed(self, body: Any, tree: Any) -> None:
        """With directives of strategic patches at some of its lists and maps."""
        draw = self._draw
        fields = tree.fields if isinstance(tree, Whole) else tree
        if isinstance(tree, Items) and isinstance(body, list):
            for item in body:
                self._directed(item, tree.of)
            if tree.keys and draw.random() < 0.25:
                gone = drawn(tree.of, draw, 0.1)
                body.append({"$patch": "delete", **{key: gone[key] for key in tree.keys if key in gone}})
            elif draw.random() < 0.1:
                body.append({"$patch": "replace"})
            return
        if not isinstance(body, dict) or not isinstance(fields, dict):
            return
        for key, inner in fields.items():
            if key in body:
                self._directed(body[key], inner)
            if isinstance(inner, Items) and draw.random() < 0.25:
                plain = [drawn(inner.of, draw, 0.2) for _ in range(draw.randrange(4))]
                if inner.keys:
                    first = inner.keys[0]
                    body[f"$setElementOrder/{key}"] = [{first: each[first]} for each in plain if first in each]
                else:
                    body[draw.choice((f"$setElementOrder/{key}", f"$deleteFromPrimitiveList/{key}"))] = plain
            if isinstance(inner, dict | Named | Whole) and draw.random() < 0.08 and isinstance(body.get(key), dict):
                body[key]["$patch"] = draw.choice(("replace", "delete", "merge", "odd"))
            if draw.random() < 0.03:
                body["$retainKeys"] = [each for each in fields if each in body or draw.random() < 0.2]

    def _json(self, kind: Kind, name: str, live: Object | None, below: str) -> list[Object]:
        assert live is not None
        draw = self._draw
        kept = {key: value for key, value in live.items() if key not in ("apiVersion", "kind")}
        kept["metadata"] = {
            key: value for key, value in kept["metadata"].items() if key in ("labels", "annotations", "finalizers")
        }
        places = list(_places(kept))
        fresh = list(
            _places(
                {
                    key: value
                    for key, value in self._whole(kind, name, below, 0.3).items()
                    if key in ("spec", "status", "data")
                }
            )
        )
        made = []
        for _ in range(draw.randrange(1, 4)):
            path = draw.choice(places or [("spec",)]) if draw.random() < 0.75 or not fresh else draw.choice(fresh)
            pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)
            if draw.random() < 0.1:
                pointer += draw.choice(("/-", "/0", "/x", "/-1", "/99"))
            op = draw.choice(("add", "remove", "replace", "replace", "copy", "move", "test"))
            operation: Object = {"op": op, "path": pointer}
            if op in ("add", "replace", "test"):
                operation["value"] = draw.choice((_value(kept, path), 1, "x", {"k": "v"}, ["a"], None, 2))
            if op in ("copy", "move"):
                other = draw.choice(places or [("spec",)])
                operation["from"] = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in other)
            made.append(operation)
        return made


def _filled(body: Any, needed: Any) -> Any:
    """With what the kind cannot be without."""
    if isinstance(body, dict) and isinstance(needed, dict):
        return {
            **body,
            **{key: _filled(body[key], each) if key in body else copy.deepcopy(each) for key, each in needed.items()},
        }
    return body or copy.deepcopy(needed)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from _places(item, (*path, key))


def _value(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return copy.deepcopy(value)


def applies(api: Api, count: int = 900) -> Iterator[Object]:
    definition = shelf_definition()
    yield asked(
        api,
        {
            "op": "create",
            "kind": [definition["apiVersion"], definition["kind"]],
            "ns": "",
            "name": definition["metadata"]["name"],
            "body": definition,
        },
        _DEFINITIONS,
    )
    served(api, f"/apis/{definition['spec']['group']}/v1/shelves")
    sequences = Sequences(41)
    for number in range(count):
        kind, name, live = sequences.kind(), f"o{number}", None
        for _ in range(4):
            try:
                record = asked(api, sequences.request(kind, name, live), kind.base)
            except httpx2.TransportError:
                # Some few make the server panic.
                continue
            yield record
            if record["code"] < 300:
                live = record["answer"]
        if live is not None:
            api.patch(f"{kind.base}/{name}", "merge", {"metadata": {"finalizers": None}})
            api.delete(f"{kind.base}/{name}", gracePeriodSeconds=0)


def served(api: Api, path: str) -> None:
    for _ in range(300):
        if api.get(path).code == 200:
            return
        time.sleep(0.1)
    raise TimeoutError(path)


def asked(api: Api, record: Object, base: str) -> Object:
    """The record with the answer to its request."""
    query = {
        key: value
        for key, value in (
            ("fieldManager", record.get("manager", "tester")),
            ("fieldValidation", record.get("fv", "Warn")),
        )
        if value
    }
    if record.get("force"):
        query["force"] = "true"
    if record.get("dry"):
        query["dryRun"] = "All"
    where = "/".join(filter(None, (base, record["name"], record.get("sub"))))
    answer: Answer
    match record["op"]:
        case "create":
            answer = api.post(base, record["body"], **query)
        case "update":
            body = record["body"]
            if record.get("rv"):
                version = api.get(f"{base}/{record['name']}").body["metadata"]["resourceVersion"]
                body = {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
            answer = api.put(where, body, **query)
        case _:
            answer = api.patch(where, record["op"], record["body"], **query)
    told = {"warn": answer.warnings} if answer.warnings else {}
    return {**record, "code": answer.code, "answer": _kept(answer.body), **told}


def _kept(value: Any) -> Any:
    """An answer without what is another one each time."""
    if isinstance(value, dict):
        gone = {"uid", "resourceVersion", "creationTimestamp"} | ({"time"} if "manager" in value else set())
        return {key: _kept(item) for key, item in value.items() if key not in gone}
    return [_kept(item) for item in value] if isinstance(value, list) else value
