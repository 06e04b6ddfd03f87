"""Requests of every method, path, header, content and parameter, most of them wrong in one thing or two."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.conformance.questions.drawn.reads import NS
from tests.conformance.questions.drawn.request_parts import (
    ACCEPTS,
    BODIES,
    DEPLOYMENTS,
    HEADERS,
    LEASES,
    LIONS,
    MAPS,
    METHODS,
    PARAMETERS,
    PATCHES,
    PATHS,
    TYPES,
)
from tests.conformance.questions.stories import Step


def world() -> list[Step]:
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"food": {"type": "string"}, "size": {"type": "integer"}}},
            "status": {"type": "object", "properties": {"size": {"type": "integer"}}},
        },
    }
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}, "scale": scale},
    }
    spec = {
        "group": "beasts.example.com",
        "scope": "Namespaced",
        "names": {"plural": "lions", "kind": "Lion"},
        "versions": [version],
    }
    definition = {"metadata": {"name": "lions.beasts.example.com"}, "spec": spec}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    lion = {
        "apiVersion": "beasts.example.com/v1",
        "kind": "Lion",
        "metadata": {"name": "leo"},
        "spec": {"food": "meat", "size": 2},
    }
    return [
        {"do": f"POST {MAPS}", "body": {"metadata": {"name": "one"}, "data": {"a": "b"}}, "quiet": True},
        {
            "do": f"POST {DEPLOYMENTS}",
            "body": {
                "metadata": {"name": "web"},
                "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
            },
            "quiet": True,
        },
        {"do": f"POST {NS}/pods", "body": {"metadata": {"name": "p"}, "spec": template["spec"]}, "quiet": True},
        {
            "do": f"POST {LEASES}",
            "body": {"metadata": {"name": "mine"}, "spec": {"holderIdentity": "me"}},
            "quiet": True,
        },
        {"do": "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", "body": definition, "quiet": True},
        {"do": f"POST {LIONS}", "body": lion, "until": 201, "quiet": True},
        {"do": "GET /apis/beasts.example.com/v1", "until": 200, "quiet": True, "wait": 0.5},
    ]


def request(draw: random.Random) -> Step:
    method, path = draw.choice(METHODS), draw.choice(PATHS)
    if draw.random() < 0.4:
        # Nearly right.
        method, path = draw.choice(
            (
                ("POST", MAPS),
                ("PUT", f"{MAPS}/one"),
                ("PATCH", f"{MAPS}/one"),
                ("PATCH", f"{DEPLOYMENTS}/web"),
                ("POST", LIONS),
                ("PATCH", f"{LIONS}/leo"),
                ("PUT", f"{LIONS}/leo"),
            )
        )
    if path.rstrip("/").count("/") < 4 and path.startswith(("/api", "/apis")) and "namespaces" not in path:
        method = "GET"
    given = [
        f"{name}={draw.choice(PARAMETERS[name])}"
        for name in draw.sample(sorted(PARAMETERS), draw.choice((0, 0, 0, 1, 1, 2)))
    ]
    if (
        method not in ("GET", "HEAD", "OPTIONS")
        and draw.random() < 0.85
        and not any(each.startswith("dryRun") for each in given)
    ):
        given.append("dryRun=All")
    step: Step = {"do": f"{method} {path}" + (f"?{'&'.join(given)}" if given else ""), "managed": False}
    headers: dict[str, str | None] = {}
    if draw.random() < (0.5 if method in ("GET", "HEAD") else 0.15):
        headers["Accept"] = draw.choice(ACCEPTS)
    if draw.random() < 0.15:
        name, value = draw.choice(HEADERS)
        headers[name] = value
    if method in ("POST", "PUT", "PATCH") or draw.random() < 0.05:
        body = draw.choice(
            [each for each in BODIES if _is_lion(each)] if "/lions" in path and method != "PATCH" else BODIES
        )
        step |= {"text": body.encode().decode("latin-1")} if isinstance(body, str) else {"body": body}
        kind = (
            draw.choice(PATCHES)
            if method == "PATCH" and (draw.random() < 0.85 or "lions" not in path)
            else "application/json"
            if draw.random() < 0.75
            else draw.choice(TYPES)
        )
        if isinstance(body, str) and body.startswith(("api", "a:", "-")) and draw.random() < 0.7:
            kind = "application/apply-patch+yaml" if method == "PATCH" else "application/yaml"
        headers["Content-Type"] = kind
    if headers:
        step["headers"] = headers
    if (
        any(path.startswith(each) for each in ("/openapi", "/healthz", "/livez", "/readyz", "/version"))
        or path in ("/", "/api", "/api/", "/apis", "/apis/", "/api/v1", "/api/v1/", "/apis/apps/v1", "/apis/apps/v1/")
        or "componentstatuses" in path
    ):
        step["pick"] = ["kind", "groupVersion", "name", "major"]
    return step


def _is_lion(body: Any) -> bool:
    """A custom kind must be named in its objects."""
    return isinstance(body, dict) and "kind" in body and "apiVersion" in body


def story(number: int) -> list[Step]:
    draw = random.Random(f"requests {number}")
    gone: Step = {
        "do": "DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/lions.beasts.example.com",
        "quiet": True,
    }
    end: Step = {"do": "GET /apis/beasts.example.com/v1", "until": 404, "quiet": True, "wait": 0.3}
    state: list[Step] = [{"do": f"GET {path}"} for path in (f"{MAPS}/one", f"{DEPLOYMENTS}/web", f"{LIONS}/leo")]
    return [*world(), *(request(draw) for _ in range(80)), *state, gone, end]


def sizes() -> list[Step]:
    """Long targets, deep and large bodies."""
    deep: Any = 1
    for _ in range(51):
        deep = {"a": deep}
    steps: list[Step] = []
    for length in (100, 2000, 6000):
        steps.append({"do": f"GET {MAPS}?labelSelector=a%3D{'x' * 63}&unknown={'y' * length}", "pick": ["kind"]})
    for size in (1000, 300_000):
        body = {"metadata": {"name": "large", "annotations": {"a": "x" * size}}}
        steps.append({"do": f"POST {MAPS}?dryRun=All", "body": body, "pick": ["kind"]})
    for size in (2**20 - 40, 2**20, 2**20 + 1):
        steps.append(
            {
                "do": f"POST {MAPS}?dryRun=All",
                "body": {"metadata": {"name": "large"}, "data": {"a": "x" * size}},
                "pick": ["kind"],
            }
        )
    steps.append({"do": f"POST {MAPS}?dryRun=All", "body": {"metadata": {"name": "deep"}, "data": deep}})
    steps.append(
        {
            "do": f"POST {MAPS}?dryRun=All",
            "text": json.dumps({"metadata": {"name": "wide", "labels": {f"k{index}": "v" for index in range(200)}}}),
            "pick": ["kind"],
        }
    )
    return steps


def stories() -> dict[str, list[Step]]:
    return {f"requests-{number}": story(number) for number in range(10)} | {"sizes": sizes()}
