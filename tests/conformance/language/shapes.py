"""The kinds that drawn writes are about, as trees of what their fields may hold."""

from __future__ import annotations

import copy
import random
from typing import Any, Final, NamedTuple

from tests.conformance.language.samples import definition

Object = dict[str, Any]


class Items(NamedTuple):
    """A list: of what, with which keys, how many at most."""

    of: Any
    keys: tuple[str, ...] = ()
    most: int = 3


class Whole(NamedTuple):
    """An object whose first fields are always there."""

    fields: Object
    needed: tuple[str, ...]


class Named(NamedTuple):
    """A map with free names."""

    of: Any
    names: tuple[str, ...] = ("a", "b", "c")


_LABELS: Final = Named(("x", "y", ""))
_PORTS: Final = Items(
    Whole({"containerPort": (80, 443, 81), "name": ("http", "https"), "protocol": ("TCP", "UDP")}, ("containerPort",)),
    ("containerPort", "protocol"),
)
_ENV: Final = Items(Whole({"name": ("A", "B", "C"), "value": ("1", "2", "")}, ("name",)), ("name",))
_RESOURCES: Final = {
    "limits": Named(("1", "2", "500m", 1), ("cpu", "memory")),
    "requests": Named(("1", "0.5", "250m"), ("cpu", "memory")),
}
_CONTAINER: Final = Whole(
    {
        "name": ("main", "side", "log"),
        "image": ("i:1", "i:2"),
        "ports": _PORTS,
        "env": _ENV,
        "args": Items(("a", "b", "c")),
        "command": Items(("sh", "run")),
        "resources": _RESOURCES,
        "imagePullPolicy": ("Always", "Never"),
        "volumeMounts": Items(
            Whole({"name": ("v", "w"), "mountPath": ("/a", "/b")}, ("name", "mountPath")), ("mountPath",), 2
        ),
        "securityContext": {"runAsUser": (1, 2), "capabilities": {"add": Items(("NET_ADMIN", "SYS_TIME"))}},
        "terminationMessagePath": ("/t",),
    },
    ("name", "image"),
)
_POD: Final = Whole(
    {
        "containers": Items(_CONTAINER, ("name",), 2),
        "initContainers": Items(_CONTAINER, ("name",), 1),
        "volumes": Items(
            Whole(
                {"name": ("v", "w"), "emptyDir": {"medium": ("Memory",), "sizeLimit": ("1Gi", "1024Mi")}},
                ("name", "emptyDir"),
            ),
            ("name",),
            2,
        ),
        "nodeSelector": _LABELS,
        "tolerations": Items({"key": ("k", "l"), "operator": ("Exists",), "effect": ("NoSchedule", "NoExecute")}),
        "hostAliases": Items(Whole({"ip": ("1.2.3.4", "1.2.3.5"), "hostnames": Items(("a", "b"))}, ("ip",)), ("ip",)),
        "imagePullSecrets": Items(Whole({"name": ("s", "t")}, ("name",)), ("name",)),
        "serviceAccountName": ("default", "robot"),
        "terminationGracePeriodSeconds": (5, 30),
        "topologySpreadConstraints": Items(
            Whole(
                {
                    "maxSkew": (1, 2),
                    "topologyKey": ("zone", "host"),
                    "whenUnsatisfiable": ("DoNotSchedule", "ScheduleAnyway"),
                },
                ("maxSkew", "topologyKey", "whenUnsatisfiable"),
            ),
            ("topologyKey", "whenUnsatisfiable"),
            2,
        ),
        "securityContext": {"runAsNonRoot": (True, False), "supplementalGroups": Items((1, 2, 3))},
    },
    ("containers",),
)
_META: Final = {"labels": _LABELS, "annotations": _LABELS, "finalizers": Items(("x.io/a", "x.io/b"), most=2)}
_SPEC: Final = {
    "size": (1, 2, 3),
    "color": ("red", "blue"),
    "replicas": (1, 2),
    "tags": Items(("a", "b", "c", "d")),
    "numbers": Items((1, 2, 3)),
    "atoms": Items(("x", "y", "z")),
    "pieces": Items(
        Whole(
            {"name": ("p", "q", "r"), "size": (1, 2), "marks": Items(("m", "n")), "more": Named(("1", "2"))}, ("name",)
        ),
        ("name",),
    ),
    "ports": Items(
        Whole({"port": (80, 81), "protocol": ("TCP", "UDP"), "host": ("h", "i")}, ("port",)), ("port", "protocol")
    ),
    "atomicItems": Items({"name": ("p", "q"), "v": (1, 2)}),
    "labels": _LABELS,
    "fixed": Named(("1", "2")),
    "nested": {"deep": {"deeper": ("x", "y"), "list": Items((1, 2))}, "other": ("o", "p")},
    "struct": {"a": ("1", "2"), "b": (1, 2)},
    "free": Named(("1", 2, {"k": "v"}, [1, 2], [{"name": "n"}]), ("f", "g")),
    "either": (1, "50%"),
    "empty": (None, 5),
    "template": Whole(
        {"apiVersion": ("v1",), "kind": ("ConfigMap",), "metadata": {"name": ("e",)}, "data": Named(("1",))},
        ("apiVersion", "kind"),
    ),
}


class Kind(NamedTuple):
    api_version: str
    kind: str
    plural: str
    fields: Object
    status: Object
    needed: Object
    namespaced: bool = True

    @property
    def base(self) -> str:
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        return f"{root}/namespaces/default/{self.plural}" if self.namespaced else f"{root}/{self.plural}"


_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "object", "additionalProperties": _TEXT}


def _listed(items: Object, kind: str, *keys: str, **more: Any) -> Object:
    named = {"x-kubernetes-list-map-keys": list(keys)} if keys else {}
    return {"type": "array", "x-kubernetes-list-type": kind, "items": items, **named, **more}


def shelf_definition() -> Object:
    """A kind with every way in which lists and maps are shared."""
    piece = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": _TEXT,
            "size": {"type": "integer", "default": 7},
            "marks": _listed(_TEXT, "set"),
            "more": _TEXTS,
        },
    }
    port = {
        "type": "object",
        "required": ["port"],
        "properties": {"port": {"type": "integer"}, "protocol": {**_TEXT, "default": "TCP"}, "host": _TEXT},
    }
    spec = {
        "size": {"type": "integer", "default": 1},
        "color": {"type": "string", "enum": ["red", "blue"]},
        "replicas": {"type": "integer"},
        "tags": _listed(_TEXT, "set"),
        "numbers": _listed({"type": "integer"}, "set"),
        "atoms": _listed(_TEXT, "atomic"),
        "pieces": _listed(piece, "map", "name"),
        "ports": _listed(port, "map", "port", "protocol"),
        "atomicItems": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": _TEXT, "v": {"type": "integer"}}},
        },
        "labels": _TEXTS,
        "fixed": {**_TEXTS, "x-kubernetes-map-type": "atomic"},
        "nested": {
            "type": "object",
            "properties": {
                "deep": {
                    "type": "object",
                    "properties": {
                        "deeper": {**_TEXT, "default": "d"},
                        "list": {"type": "array", "items": {"type": "integer"}},
                    },
                },
                "other": _TEXT,
            },
        },
        "struct": {
            "type": "object",
            "x-kubernetes-map-type": "atomic",
            "properties": {"a": _TEXT, "b": {"type": "integer"}},
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "either": {"x-kubernetes-int-or-string": True},
        "empty": {"type": "integer", "nullable": True},
        "template": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
    }
    made = definition(
        "shelf", {"spec": {"type": "object", "properties": spec}, "status": {"type": "object", "properties": spec}}
    )
    names = made["spec"]["names"]
    names.update(plural="shelves", singular="shelf")
    made["metadata"]["name"] = "shelves.language.example.com"
    made["spec"]["scope"] = "Namespaced"
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    made["spec"]["versions"][0]["subresources"] = {"status": {}, "scale": paths}
    return made


_SHELF: Final = Kind("language.example.com/v1", "Shelf", "shelves", {"metadata": _META, "spec": _SPEC}, _SPEC, {})
_MATCH: Final = {"app": "d"}
KINDS: Final = (
    _SHELF,
    _SHELF,
    Kind(
        "apps/v1",
        "Deployment",
        "deployments",
        {
            "metadata": _META,
            "spec": {
                "replicas": (1, 2, 3),
                "paused": (True, False),
                "minReadySeconds": (0, 5),
                "strategy": {
                    "type": ("RollingUpdate",),
                    "rollingUpdate": {"maxSurge": (1, "25%"), "maxUnavailable": (1, "50%")},
                },
                "template": {"metadata": {"annotations": _LABELS}, "spec": _POD},
            },
        },
        {
            "replicas": (1, 2),
            "observedGeneration": (1, 2),
            "conditions": Items(
                Whole({"type": ("A", "B"), "status": ("True", "False"), "reason": ("r",)}, ("type", "status")),
                ("type",),
            ),
        },
        {
            "spec": {
                "selector": {"matchLabels": _MATCH},
                "template": {
                    "metadata": {"labels": _MATCH},
                    "spec": {"containers": [{"name": "main", "image": "i:1"}]},
                },
            }
        },
    ),
    Kind(
        "v1",
        "ConfigMap",
        "configmaps",
        {"metadata": _META, "data": Named(("1", "2", "")), "immutable": (False,)},
        {},
        {},
    ),
    Kind(
        "v1",
        "Service",
        "services",
        {
            "metadata": _META,
            "spec": {
                "ports": Items(
                    Whole(
                        {
                            "port": (80, 81, 82),
                            "name": ("x", "y", "z"),
                            "protocol": ("TCP", "UDP"),
                            "targetPort": (80, "http"),
                        },
                        ("port", "name"),
                    ),
                    ("port", "protocol"),
                ),
                "selector": Named(("1", "2")),
                "externalIPs": Items(("1.2.3.4", "1.2.3.5")),
                "sessionAffinity": ("ClientIP", "None"),
                "publishNotReadyAddresses": (True, False),
            },
        },
        {
            "conditions": Items(
                Whole(
                    {
                        "type": ("A", "B"),
                        "status": ("True", "False"),
                        "reason": ("r",),
                        "message": ("m",),
                        "lastTransitionTime": ("2026-01-01T00:00:00Z",),
                    },
                    ("type", "status", "reason", "message", "lastTransitionTime"),
                ),
                ("type",),
            )
        },
        {"spec": {"clusterIP": "None", "ports": [{"name": "x", "port": 80}]}},
    ),
    Kind(
        "v1",
        "Node",
        "nodes",
        {
            "metadata": _META,
            "spec": {
                "unschedulable": (True, False),
                "taints": Items(
                    Whole(
                        {"key": ("k", "l"), "effect": ("NoSchedule", "NoExecute"), "value": ("v",)}, ("key", "effect")
                    )
                ),
            },
        },
        {
            "capacity": Named(("1", "2Gi", 4), ("cpu", "memory")),
            "conditions": Items(
                Whole({"type": ("Ready", "Odd"), "status": ("True", "False")}, ("type", "status")), ("type",)
            ),
            "addresses": Items(
                Whole({"type": ("Hostname", "InternalIP"), "address": ("h", "1.2.3.4")}, ("type", "address")), ("type",)
            ),
        },
        {},
        False,
    ),
)


def drawn(tree: Any, draw: random.Random, share: float) -> Any:
    """A value of a tree, with about this share of its fields."""
    if isinstance(tree, dict):
        return {key: drawn(each, draw, share) for key, each in tree.items() if draw.random() < share}
    if isinstance(tree, Whole):
        kept = [key for key in tree.fields if key in tree.needed or draw.random() < share]
        return {key: drawn(tree.fields[key], draw, share) for key in kept}
    if isinstance(tree, Named):
        return {name: drawn(tree.of, draw, share) for name in tree.names if draw.random() < 0.5}
    if isinstance(tree, Items):
        return _items(tree, draw, share)
    return copy.deepcopy(draw.choice(tree))


def _items(tree: Items, draw: random.Random, share: float) -> list[Any]:
    found: list[Any] = []
    for _ in range(draw.randrange(tree.most + 1)):
        made = drawn(tree.of, draw, share)
        same = [each for each in found if _key(tree, each) == _key(tree, made)]
        if not same or draw.random() < 0.04:
            found.append(made)
    return found


def _key(tree: Items, item: Any) -> Any:
    return [item.get(name) for name in tree.keys] if tree.keys else item
