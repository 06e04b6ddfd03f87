"""Requests of every method, path, header, content and parameter, most of them wrong in one thing or two."""

from __future__ import annotations

import json
import random
from typing import Any

from mooring.kube.objects import Object
from tests.conformance.questions.drawn.reads import NS, PARTIAL, PARTIAL_LIST, PROTOBUF, TABLE
from tests.conformance.questions.stories import Step

MAPS = f"{NS}/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/$NS/leases"
DEPLOYMENTS = "/apis/apps/v1/namespaces/$NS/deployments"
LIONS = "/apis/beasts.example.com/v1/namespaces/$NS/lions"
METHODS = ("GET", "GET", "GET", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
PATHS = (
    MAPS, f"{MAPS}/one", f"{MAPS}/none", f"{MAPS}/one/status", f"{MAPS}/one/x", f"{MAPS}/one/x/y", DEPLOYMENTS, f"{DEPLOYMENTS}/web",
    f"{DEPLOYMENTS}/web/scale", f"{DEPLOYMENTS}/web/status", f"{DEPLOYMENTS}/none/scale", f"{NS}/pods/p/binding", f"{NS}/pods/p/eviction",
    f"{NS}/pods/p/status", f"{NS}/pods/p/ephemeralcontainers", f"{NS}/pods/p/resize", f"{NS}/pods/p/none", "/api/v1/namespaces/$NS",
    "/api/v1/namespaces/$NS/status", "/api/v1/namespaces/$NS/finalize", "/api/v1/namespaces/nowhere/configmaps", f"{NS}/secrets",
    "/api/v1/configmaps/one", "/api/v1/nodes/none", f"{NS}/nodes", f"{NS}/nodes/none", f"{NS}/things", "/api/v1/things", "/api/v2/pods",
    "/apis/apps/v9/deployments", "/apis/apps/v1beta1/deployments", "/apis/none.example.com/v1/things", "/apis/none.example.com",
    "/apis/apps", "/apis/apps/", "/apis/apps/v1", "/apis/apps/v1/", "/apis/apps/v9", "/api", "/api/", "/apis", "/apis/", "/api/v1", "/api/v1/",
    "/api/v2", "/api/v1/namespaces", "/api/v1/namespaces/", "/api/v1//configmaps", "//api/v1/namespaces/$NS/configmaps", "/api/v1/namespaces//configmaps",
    f"{MAPS}/", f"{MAPS}/one/", "/none", "/healthz", "/healthz/ping", "/healthz/none", "/livez", "/readyz", "/version", "/version/x",
    LIONS, f"{LIONS}/leo", f"{LIONS}/none", f"{LIONS}/leo/status", f"{LIONS}/leo/scale", "/apis/beasts.example.com",
    "/apis/beasts.example.com/v1", "/apis/beasts.example.com/v2/namespaces/$NS/lions", "/apis/beasts.example.com/v1/lions", LEASES, f"{LEASES}/mine",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/apis/authorization.k8s.io/v1/namespaces/$NS/localsubjectaccessreviews",
    f"{NS}/bindings", f"{NS}/serviceaccounts/default/token", f"{MAPS}/%6fne",
    f"{MAPS}/one%2fstatus", f"{MAPS}/..", f"{MAPS}/ONE", f"{MAPS}/a:b", f"{MAPS}/%00", "/api/v1/namespaces/$NS/configmaps/" + "x" * 300,
)  # fmt: skip
ACCEPTS = (
    "application/json", "*/*", "application/*", "application/yaml", PROTOBUF, TABLE, PARTIAL, PARTIAL_LIST, "text/html", "text/plain", "",
    None, "application/json;q=0.5,application/yaml", "application/yaml;q=0.1,application/json;q=0.2", f"{TABLE},application/json",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io", "application/json;as=Table;v=v2;g=meta.k8s.io", "application/json;as=Table;v=v1;g=x",
    "application/json;as=None;v=v1;g=meta.k8s.io,application/json", "application/json;as=Table", f"{PROTOBUF};as=Table;v=v1;g=meta.k8s.io",
    f"{PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io", "junk",
    "application/json;stream=watch", "application/json; charset=utf-8", "APPLICATION/JSON", "application/cbor", "text/*", ";", "application/json;q=0",
    "application/yaml;as=Table;v=v1;g=meta.k8s.io", "application/json;pretty=1", "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io",
    "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io;profile=nopeer", "application/json;as=APIGroupDiscoveryList;v=v2beta1;g=apidiscovery.k8s.io,application/json",
)  # fmt: skip
TYPES = (
    "application/json", "application/json", "application/yaml", PROTOBUF, "text/plain", "", None, "application/json; charset=utf-8", "application/cbor",
    "application/merge-patch+json", "application/strategic-merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml",
    "application/apply-patch+cbor", "application/x-www-form-urlencoded", "*/*", "APPLICATION/JSON", "junk", "application/jsonp", ";", "text/json",
)  # fmt: skip
PATCHES = TYPES[9:13]
PARAMETERS: dict[str, tuple[str, ...]] = {
    "dryRun": ("All", "x", "", "All&dryRun=All", "true"),
    "fieldManager": ("me", "", "x" * 129, "a%0ab", "%C3%A9", "x" * 128),
    "fieldValidation": ("Strict", "Warn", "Ignore", "x", "", "strict"),
    "force": ("true", "false", "x", ""),
    "pretty": ("true", "false", "x"),
    "timeout": ("5s", "0s", "100h"),
    "gracePeriodSeconds": ("0", "x", "5"),
    "propagationPolicy": ("Background", "x"),
    "limit": ("1", "x"),
    "resourceVersion": ("0", "x"),
    "unknown": ("x",),
    "watch": ("false",),
}
MAP: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}
BODIES: tuple[Any, ...] = (
    MAP, MAP, {"metadata": {"name": "one"}}, {"metadata": {"name": "two"}}, {"metadata": {"generateName": "g-"}}, {"metadata": {}}, {}, "", "{", "[]", "null",
    "5", '"x"', MAP | {"apiVersion": "v2"}, MAP | {"kind": "Pod"}, MAP | {"kind": "Thing"}, MAP | {"apiVersion": "apps/v1", "kind": "Deployment"},
    MAP | {"apiVersion": 5}, MAP | {"kind": []}, MAP | {"metadata": {"name": "one", "namespace": "other"}}, MAP | {"metadata": {"name": "Bad_"}},
    MAP | {"metadata": {"name": "one", "resourceVersion": "1"}}, MAP | {"metadata": {"name": "one", "resourceVersion": "x"}}, MAP | {"metadata": {"name": "one", "uid": "x"}},
    MAP | {"metadata": {"name": 5}}, MAP | {"metadata": "x"}, MAP | {"data": {"a": 5}}, MAP | {"data": []}, MAP | {"dota": {"a": "b"}}, MAP | {"data": {"a": "b"}, "immutable": "x"},
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"three"},"data":{"a":"1","a":"2"}}', '{"apiVersion":"v1","kind":"ConfigMap","kind":"ConfigMap","metadata":{"name":"three"}}',
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: four\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: four}\ndata: {a: 5}\n", "a: b: c", "- a\n- b\n", "a: &x [*x]\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: four}\n---\napiVersion: v1\nkind: ConfigMap\n", '{"metadata":{"name":"\\ud800"}}', '{"metadata":{"name":"five","labels":{"a":"\u00e9"}}}',
    '[{"op":"add","path":"/data","value":{"a":"b"}}]', '[{"op":"remove","path":"/none"}]', '[{"op":"test","path":"/kind","value":"Pod"}]', '[{"op":"x","path":"/data"}]',
    '[{"op":"replace","path":"/metadata/name","value":"other"}]', '[{"path":"/data"}]', '[{"op":"add","path":"data","value":1}]', '{"data":{"a":null}}', '{"metadata":{"labels":{"a":5}}}',
    '{"metadata":{"finalizers":["x"]}}', '{"metadata":{"ownerReferences":[{"uid":"u"}]}}', '{"$patch":"delete"}', '{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}',
    '{"spec":{"replicas":3}}', '{"spec":{"replicas":-1}}', '{"spec":{"replicas":"x"}}', {"apiVersion": "beasts.example.com/v1", "kind": "Lion", "metadata": {"name": "leo"}, "spec": {"food": "fish", "size": 3}},
    {"apiVersion": "beasts.example.com/v1", "kind": "Lion", "metadata": {"name": "leo2"}, "spec": {"food": 5, "mane": True}}, {"apiVersion": "beasts.example.com/v2", "kind": "Lion", "metadata": {"name": "leo"}},
    {"apiVersion": "beasts.example.com/v1", "kind": "Tiger", "metadata": {"name": "leo"}}, {"target": {"name": "n"}}, {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}},
)  # fmt: skip
HEADERS: tuple[tuple[str, str], ...] = (
    ("Accept-Encoding", "gzip"), ("Content-Encoding", "gzip"), ("Content-Encoding", "x"), ("Impersonate-User", "ann"), ("If-None-Match", '"x"'), ("Range", "bytes=0-5"),
    ("User-Agent", "kubectl/v1.35 (linux)"), ("User-Agent", "curl/8"), ("User-Agent", ""), ("User-Agent", "Mozilla/5.0 x"), ("Origin", "http://x"), ("X-HTTP-Method-Override", "DELETE"),
    ("Authorization", "Bearer no"),
)  # fmt: skip


def world() -> list[Step]:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"food": {"type": "string"}, "size": {"type": "integer"}}}, "status": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}, "scale": scale}}
    spec = {"group": "beasts.example.com", "scope": "Namespaced", "names": {"plural": "lions", "kind": "Lion"}, "versions": [version]}
    definition = {"metadata": {"name": "lions.beasts.example.com"}, "spec": spec}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    lion = {"apiVersion": "beasts.example.com/v1", "kind": "Lion", "metadata": {"name": "leo"}, "spec": {"food": "meat", "size": 2}}
    return [
        {"do": f"POST {MAPS}", "body": {"metadata": {"name": "one"}, "data": {"a": "b"}}, "quiet": True},
        {"do": f"POST {DEPLOYMENTS}", "body": {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}, "quiet": True},
        {"do": f"POST {NS}/pods", "body": {"metadata": {"name": "p"}, "spec": template["spec"]}, "quiet": True},
        {"do": f"POST {LEASES}", "body": {"metadata": {"name": "mine"}, "spec": {"holderIdentity": "me"}}, "quiet": True},
        {"do": "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", "body": definition, "quiet": True},
        {"do": f"POST {LIONS}", "body": lion, "until": 201, "quiet": True},
        {"do": "GET /apis/beasts.example.com/v1", "until": 200, "quiet": True, "wait": 0.5},
    ]


def request(draw: random.Random) -> Step:
    method, path = draw.choice(METHODS), draw.choice(PATHS)
    if draw.random() < 0.4:
        # Nearly right.
        method, path = draw.choice((("POST", MAPS), ("PUT", f"{MAPS}/one"), ("PATCH", f"{MAPS}/one"), ("PATCH", f"{DEPLOYMENTS}/web"), ("POST", LIONS), ("PATCH", f"{LIONS}/leo"), ("PUT", f"{LIONS}/leo")))
    if path.rstrip("/").count("/") < 4 and path.startswith(("/api", "/apis")) and "namespaces" not in path:
        method = "GET"
    given = [f"{name}={draw.choice(PARAMETERS[name])}" for name in draw.sample(sorted(PARAMETERS), draw.choice((0, 0, 0, 1, 1, 2)))]
    if method not in ("GET", "HEAD", "OPTIONS") and draw.random() < 0.85 and not any(each.startswith("dryRun") for each in given):
        given.append("dryRun=All")
    step: Step = {"do": f"{method} {path}" + (f"?{'&'.join(given)}" if given else ""), "managed": False}
    headers: dict[str, str | None] = {}
    if draw.random() < (0.5 if method in ("GET", "HEAD") else 0.15):
        headers["Accept"] = draw.choice(ACCEPTS)
    if draw.random() < 0.15:
        name, value = draw.choice(HEADERS)
        headers[name] = value
    if method in ("POST", "PUT", "PATCH") or draw.random() < 0.05:
        body = draw.choice([each for each in BODIES if _is_lion(each)] if "/lions" in path and method != "PATCH" else BODIES)
        step |= {"text": body.encode().decode("latin-1")} if isinstance(body, str) else {"body": body}
        kind = draw.choice(PATCHES) if method == "PATCH" and (draw.random() < 0.85 or "lions" not in path) else "application/json" if draw.random() < 0.75 else draw.choice(TYPES)
        if isinstance(body, str) and body.startswith(("api", "a:", "-")) and draw.random() < 0.7:
            kind = "application/apply-patch+yaml" if method == "PATCH" else "application/yaml"
        headers["Content-Type"] = kind
    if headers:
        step["headers"] = headers
    if any(path.startswith(each) for each in ("/openapi", "/healthz", "/livez", "/readyz", "/version")) or path in ("/", "/api", "/api/", "/apis", "/apis/", "/api/v1", "/api/v1/", "/apis/apps/v1", "/apis/apps/v1/") or "componentstatuses" in path:
        step["pick"] = ["kind", "groupVersion", "name", "major"]
    return step


def _is_lion(body: Any) -> bool:
    """A custom kind must be named in its objects."""
    return isinstance(body, dict) and "kind" in body and "apiVersion" in body


def story(number: int) -> list[Step]:
    draw = random.Random(f"requests {number}")
    gone: Step = {"do": "DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/lions.beasts.example.com", "quiet": True}
    end: Step = {"do": "GET /apis/beasts.example.com/v1", "until": 404, "quiet": True, "wait": 0.3}
    state: list[Step] = [{"do": f"GET {path}"} for path in (f"{MAPS}/one", f"{DEPLOYMENTS}/web", f"{LIONS}/leo")]
    return [*world(), *(request(draw) for _ in range(80)), *state, gone, end]


def sizes() -> list[Step]:
    """Long targets, deep and large bodies."""
    deep = {"a": 1}
    for _ in range(50):
        deep = {"a": deep}  # type: ignore[dict-item]
    steps: list[Step] = []
    for length in (100, 2000, 6000):
        steps.append({"do": f"GET {MAPS}?labelSelector=a%3D{'x' * 63}&unknown={'y' * length}", "pick": ["kind"]})
    for size in (1000, 300_000):
        body = {"metadata": {"name": "large", "annotations": {"a": "x" * size}}}
        steps.append({"do": f"POST {MAPS}?dryRun=All", "body": body, "pick": ["kind"]})
    for size in (2**20 - 40, 2**20, 2**20 + 1):
        steps.append({"do": f"POST {MAPS}?dryRun=All", "body": {"metadata": {"name": "large"}, "data": {"a": "x" * size}}, "pick": ["kind"]})
    steps.append({"do": f"POST {MAPS}?dryRun=All", "body": {"metadata": {"name": "deep"}, "data": deep}})
    steps.append({"do": f"POST {MAPS}?dryRun=All", "text": json.dumps({"metadata": {"name": "wide", "labels": {f"k{index}": "v" for index in range(200)}}}), "pick": ["kind"]})
    return steps


def stories() -> dict[str, list[Step]]:
    return {f"requests-{number}": story(number) for number in range(10)} | {"sizes": sizes()}
