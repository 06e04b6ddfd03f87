"""Random objects of every served kind, written in every way: whatever comes of it must be stored or refused in words.

The objects are those of the conformance cases, with parts replaced by junk, taken away, or added as the kind's schema
has them, but without what usually comes with them. `python -m tests.registry.fuzz SECONDS [SEED]` looks for longer than
the suite does.
"""

from __future__ import annotations

import copy
import random
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.schemas import Schema, builtin_schema
from mooring.kube.status import ApiError
from mooring.registry import Registry, Resource
from tests.conformance.cases import load
from tests.registry.world import START, definition

_JUNK: list[Any] = [
    None, "", [], {}, 0, True, False, -1, 2**31, 2**63, 2**70, 1.5, -0.0, 1e300, "x", "A_b", "a" * 300, "\x00",
    "1Gi", "25%", "-5%", "2026-01-01T00:00:00Z", "10.0.0.1", "[", "\u2028", "*/0 * * * *", "default", ".", "a/b/c", "é",
    "..", [None], [{}], [1], ["a", "a"], [[]], {"a": None}, {"name": "x"}, {"": ""}, {"matchLabels": {"a": 1}},
    {"$patch": "replace"}, [{"$patch": "delete"}], {"$retainKeys": ["x"]}, {"$deleteFromPrimitiveList/finalizers": [1]},
]  # fmt: skip
_TEXTS = ["x", "", "a/b", "A_b", "10.0.0.1", "1Gi", "50%", "default", "$(A)", "Never", "Always", "In", "Exists", "TCP"]
# CEL, and what is nearly CEL, for the fields that have it.
_CEL_FIELDS = ("expression", "messageExpression", "valueExpression", "rule")
_EXPRESSIONS = [
    "true", "1", "", "1 +", "'\\x'", "b'\\xff'", "(" * 300, "a." * 500 + "b", "[[1]][0][0]", "true ? 1 : 'x'",
    "type(object)", "self.x", "params.x == 1", "variables.a.b", "oldObject == null",
    "object.metadata.name.size() > 2", "object == oldObject", "object.spec.containers.all(c, c.image != '')",
    "has(object.spec.x) && object.spec.x == 1", "{'a': 1, 'a': 2}.a == 1", "request.userInfo.username == 'fuzz'",
    "request.operation in ['CREATE', 1]", "namespaceObject.metadata.name != ''", "[1, 2].map(x, x / 0) == []",
    "9223372036854775807 + 1 > 0", "'a'.matches('(a+)+$')", "object.data.exists(k, k == 'a')",
    "duration('1h') < duration('x')", "timestamp('2026-01-01T00:00:00Z').getFullYear() == 1",
    "ip('10.0.0.1').family() == 4", "quantity('1Gi').isGreaterThan(quantity('-'))", "url('x').getHost() == ''",
    "'%d %s'.format([1, 'x', object]) == ''", "object.metadata.?labels['a'].orValue('') == ''",
    "authorizer.group('').resource('pods').check('get').allowed()",
    "[1, 2, 3].all(x, [1, 2, 3].all(y, [1, 2, 3].exists(z, x * y * z > 26)))",
    "'é'.charAt(7) == object.metadata.name", "device.attributes['a.io'].b == 1",
    "double('NaN') == 1.0 || uint(-1) == 1u", "dyn([]).x.y",
]  # fmt: skip
_POD = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
_BACKEND = {"name": "s", "port": {"number": 1}}
_TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
_OPERATIONS = ("add", "remove", "replace", "copy", "move", "test", "x")
_ADMISSION = "admissionregistration.k8s.io/v1"
# Kinds of which the cases create none, or none that is taken.
_MORE: list[Object] = [
    {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **rest}
    for api_version, kind, rest in (
        ("v1", "ReplicationController", {"spec": {"selector": {"a": "b"}, "template": _POD}}),
        ("v1", "PodTemplate", {"template": _POD}),
        ("networking.k8s.io/v1", "IngressClass", {"spec": {"controller": "a.io/b"}}),
        ("networking.k8s.io/v1", "Ingress", {"spec": {"defaultBackend": {"service": _BACKEND}}}),
        (_ADMISSION, "ValidatingAdmissionPolicyBinding", {"spec": {"policyName": "x", "validationActions": ["Deny"]}}),
        (
            _ADMISSION,
            "ValidatingAdmissionPolicy",
            {
                "spec": {
                    "matchConstraints": {
                        "resourceRules": [
                            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["configmaps"]}
                        ]
                    },
                    "validations": [{"expression": "true"}],
                }
            },
        ),
        (
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            {"spec": {"scaleTargetRef": _TARGET, "maxReplicas": 3}},
        ),
        (
            "autoscaling/v1",
            "HorizontalPodAutoscaler",
            {"spec": {"scaleTargetRef": _TARGET, "maxReplicas": 3}},
        ),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", definition("gadgets", "Gadget")),
    )
]  # fmt: skip
PATCHES = ("merge", "strategic", "json", "apply")


class Fuzz:
    """One seed of it: the same seed does the same things."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self._registry = Registry(now=START, seed=seed)
        self._registry.create(self._crd, definition(), now=START)
        self._seeds = _objects(self._registry)
        # Those of the seeds that the API takes as they are, stored, by the names under which they are.
        self._stored = {kind: self._store(kind) for kind in self._seeds}

    def _store(self, kind: tuple[str, str]) -> list[str]:
        resource, names = self._registry.resource(*kind), []
        for number, obj in enumerate(self._seeds[kind]):
            name = obj["metadata"].get("name") if resource.store.startswith("customres") else f"o{number}"
            body = {**obj, "metadata": {**obj["metadata"], "name": name}}
            with suppress(ApiError):
                self._registry.create(resource, body, now=START, namespace="default" if resource.namespaced else None)
                names.append(name)
        return names

    @property
    def _crd(self) -> Resource:
        return self._registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")

    @property
    def kinds(self) -> set[tuple[str, str]]:
        return set(self._seeds)

    def new_object(self, *, mutated: bool = True) -> tuple[Resource, Any]:
        """Something to create, and the kind that it is, or was, of."""
        kind = self._draw.choice(sorted(self._seeds))
        resource = self._registry.resource(*kind)
        obj = copy.deepcopy(self._draw.choice(self._seeds[kind]))
        return resource, self._mutated(obj, resource) if mutated else obj

    def step(self) -> str | None:
        """Write something; what broke, with the request, or None."""
        draw, registry = self._draw, self._registry
        kind = draw.choice(sorted(self._seeds))
        resource = registry.resources.find(*kind)
        if resource is None:
            return None
        obj = copy.deepcopy(draw.choice(self._seeds[kind]))
        name = draw.choice([*self._stored[kind], f"new{draw.randrange(9)}"])
        if kind[1] != "CustomResourceDefinition":
            obj["metadata"]["name"] = name
        found = registry.find(*kind, "default" if resource.namespaced else "", name)
        body = self._mutated(copy.deepcopy(found) if found is not None and draw.random() < 0.7 else obj, resource)
        options: Object = {"now": START, "dry_run": draw.random() < 0.3}
        options["field_validation"] = draw.choice(["Ignore", "Warn", "Strict"])
        options["manager"] = draw.choice(["", "a", "b"])
        try:
            self._write(resource, name, body, options)
        except (ApiError, MooringError):
            return None
        except Exception:
            return f"{kind} {body!r}\n{traceback.format_exc()}"
        return None

    def _write(self, resource: Resource, name: str, body: Any, options: Object) -> None:
        draw, registry = self._draw, self._registry
        namespace = "default" if resource.namespaced else ""
        below = draw.choice(["", "", "", *sorted(resource.subresources & {"status", "scale"})])
        match draw.choice([0, 0, 1, 2, 3, 3, 3, 3, 4]):
            case 0:
                registry.create(resource, body, namespace=namespace or None, **options)
            case 1 | 2:
                registry.update(resource, body, subresource=below, **options)
            case 3:
                how = draw.choice(PATCHES)
                sent = self._operations(body) if how == "json" else self._part(body, how)
                force = {"force": True} if how == "apply" and draw.random() < 0.5 else {}
                registry.patch(resource, namespace, name, how, sent, subresource=below, **force, **options)  # type: ignore[arg-type]
            case _:
                grace = draw.choice([None, 0, 5, -1])
                registry.delete(resource, namespace, name, now=START, grace=grace, dry_run=draw.random() < 0.9)

    def _part(self, body: Any, how: str) -> Any:
        """Some of the object's fields, as patches have them."""
        if not isinstance(body, dict) or self._draw.random() < 0.3:
            return body
        kept = {key: value for key, value in body.items() if self._draw.random() < 0.6}
        return {**kept, "apiVersion": body.get("apiVersion"), "kind": body.get("kind")} if how == "apply" else kept

    def _operations(self, body: Any) -> Any:
        places = list(_places(body)) or [()]
        found: list[Any] = []
        for _ in range(self._draw.randrange(1, 4)):
            path = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in self._draw.choice(places))
            operation = {
                "op": self._draw.choice(["add", "remove", "replace", "copy", "move", "test", "x"]),
                "path": path,
            }
            operation |= {"value": self._draw.choice(_JUNK)} if self._draw.random() < 0.8 else {"from": path}
            found.append(self._draw.choice(_JUNK) if self._draw.random() < 0.1 else operation)
        return found

    def _mutated(self, obj: Any, resource: Resource) -> Any:
        schema = None if resource.custom else builtin_schema(resource.api_version, resource.kind)
        for _ in range(self._draw.randrange(1, 4)):
            places = list(_places(obj))
            if not places or not isinstance(obj, dict):
                return self._draw.choice(_JUNK)
            way = self._draw.random()
            if way < 0.7 and schema is not None:
                self._grow(obj, schema)
                continue
            if self._draw.random() < 0.8:
                # What is wrong with the metadata hides what is wrong with the rest.
                places = [path for path in places if path[0] not in ("metadata", "kind", "apiVersion")] or places
            path = self._draw.choice(places)
            holder: Any = obj
            for step in path[:-1]:
                holder = holder[step]
            if way < 0.85:
                del holder[path[-1]]
            else:
                holder[path[-1]] = copy.deepcopy(self._draw.choice(_JUNK))
        return obj

    def _grow(self, value: Any, schema: Schema) -> None:
        """Add a field that the schema has, somewhere within the value."""
        while isinstance(value, dict):
            if not schema.properties:
                if schema.additional_properties is None or not value:
                    return
                value, schema = value[self._draw.choice(sorted(value))], schema.additional_properties
                continue
            inside = [key for key in value if key in schema.properties and isinstance(value[key], dict | list)]
            if inside and self._draw.random() < 0.75:
                key = self._draw.choice(inside)
                value, schema = value[key], schema.properties[key]
                if isinstance(value, list) and value and schema.items is not None:
                    value, schema = self._draw.choice(value), schema.items
                continue
            key = self._draw.choice(sorted(schema.properties))
            value[key] = self._field(key, schema.properties[key], 0)
            return

    def _field(self, key: str, schema: Schema, depth: int) -> Any:
        is_cel = key in _CEL_FIELDS and schema.type == "string"
        return self._draw.choice(_EXPRESSIONS) if is_cel else self._made(schema, depth)

    def _made(self, schema: Schema, depth: int) -> Any:
        """A value of the right types, and of any sense."""
        draw = self._draw
        if draw.random() < 0.04:
            return copy.deepcopy(draw.choice(_JUNK))
        if schema.enum and draw.random() < 0.7:
            return draw.choice(schema.enum)
        if schema.type == "array":
            return [self._made(schema.items, depth + 1) for _ in range(draw.randrange(3))] if schema.items else []
        if schema.properties and depth < 5:
            keys = draw.sample(sorted(schema.properties), min(len(schema.properties), draw.randrange(5)))
            return {key: self._field(key, schema.properties[key], depth + 1) for key in keys}
        if schema.additional_properties is not None:
            return {draw.choice(_TEXTS): self._made(schema.additional_properties, depth + 1)}
        if schema.int_or_string:
            return draw.choice([0, 1, -1, 70000, "50%", "x", "200%", ""])
        plain: dict[str, Any] = {
            "integer": draw.choice([0, 1, -1, 5, 2**31]),
            "boolean": draw.random() < 0.5,
            "number": 1.5,
        }
        return plain.get(schema.type, {} if schema.type == "object" else draw.choice(_TEXTS))


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*path, key)
        yield from _places(item, (*path, key))


def _objects(registry: Registry) -> dict[tuple[str, str], list[Object]]:
    """What the conformance cases create, by kind."""
    found: dict[tuple[str, str], list[Object]] = {}
    for case in load():
        for step in (*case.given, *case.steps):
            body = step.get("body")
            if not isinstance(body, dict) or not str(step.get("do", "")).startswith("POST"):
                continue
            kind = str(body.get("apiVersion")), str(body.get("kind"))
            if registry.resources.find(*kind) is not None:
                metadata = {key: value for key, value in (body.get("metadata") or {}).items() if key != "namespace"}
                found.setdefault(kind, []).append({**body, "metadata": metadata})
    for body in _MORE:
        found.setdefault((body["apiVersion"], body["kind"]), []).append(body)
    for resource in registry.resources:
        kind = resource.api_version, resource.kind
        found.setdefault(kind, [{"apiVersion": kind[0], "kind": kind[1], "metadata": {"name": "x"}}])
    return found


def main() -> None:
    seconds, seed = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    end, told, steps = time.monotonic() + seconds, set(), 0
    while time.monotonic() < end:
        fuzz = Fuzz(seed)
        for _ in range(1500):
            steps += 1
            broken = fuzz.step()
            where = broken.rpartition("  File ")[2].partition("\n")[0] if broken else ""
            if broken and where not in told:
                told.add(where)
                print(f"seed {seed}: {broken[:700]}\n...{broken[-700:]}\n")
        seed += 1
    print(f"{steps} writes, {len(told)} ways to break")


if __name__ == "__main__":
    main()
