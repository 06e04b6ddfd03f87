"""Watches of every beginning, with what happens while they are open."""

from __future__ import annotations

import random

from mooring.kube.objects import Object
from tests.conformance.questions.drawn.reads import (
    FIELDS,
    NS,
    PARTIAL,
    PROTOBUF,
    SELECTORS,
    TABLE,
    change,
    objects,
    query,
)
from tests.conformance.questions.stories import Step

ACCEPTS = (
    "application/json",
    "application/json",
    "application/json",
    TABLE,
    PARTIAL,
    PROTOBUF,
    "application/json;stream=watch",
)


def during(draw: random.Random, kind: str, index: int) -> list[Step]:
    steps: list[Step] = []
    for number in range(draw.choice((0, 1, 3, 5))):
        if kind == "configmaps":
            steps.append(change(draw))
            continue
        name = f"p{draw.randrange(4)}"
        way = draw.randrange(5)
        if way == 0:
            steps.append({"do": f"DELETE {NS}/pods/{name}?gracePeriodSeconds={draw.choice((0, 5))}"})
        elif way == 1:
            body: Object = {
                "metadata": {"labels": {"app": draw.choice(("web", "db", None)), "tier": draw.choice(("back", None))}}
            }
            steps.append({"do": f"PATCH {NS}/pods/{name}", "type": "merge", "body": body})
        elif way == 2:
            status = {
                "phase": draw.choice(("Running", "Failed")),
                "nominatedNodeName": draw.choice(("node-2", "node-3")),
            }
            steps.append({"do": f"PATCH {NS}/pods/{name}/status", "type": "merge", "body": {"status": status}})
        elif way == 3:
            bind: Object = {"metadata": {"name": name}, "target": {"kind": "Node", "name": "node-1"}}
            steps.append({"do": f"POST {NS}/pods/{name}/binding", "body": bind})
        else:
            spec = {"containers": [{"name": "c", "image": "i"}]}
            labels = {"story": "$NS", "app": draw.choice(("web", "db"))}
            new = {"metadata": {"name": f"w{index}-{number}", "labels": labels}, "spec": spec}
            steps.append({"do": f"POST {NS}/pods", "body": new})
    return steps


def watches(kind: str, number: int) -> list[Step]:
    draw = random.Random(f"watches {kind} {number}")
    steps = objects(draw, kind, 4)
    steps.append({"do": f"GET {NS}/{kind}", "as": "before", "wait": 0.3})
    for index in range(9):
        parameters: dict[str, str | int] = {"watch": draw.choice(("true", "1"))}
        if draw.random() < 0.4:
            parameters["labelSelector"] = draw.choice(SELECTORS[:14])
        if draw.random() < 0.4:
            parameters["fieldSelector"] = draw.choice(FIELDS[kind])
        way = draw.random()
        if way < 0.3:
            parameters["resourceVersion"] = draw.choice(
                ("${before/metadata/resourceVersion}", "${o1/metadata/resourceVersion}")
            )
        elif way < 0.5:
            parameters["resourceVersion"] = "0"
        elif way < 0.75:
            parameters |= {
                "sendInitialEvents": draw.choice(("true", "true", "false")),
                "resourceVersionMatch": "NotOlderThan",
            }
            parameters["allowWatchBookmarks"] = "true"
            if draw.random() < 0.6:
                parameters["resourceVersion"] = draw.choice(("", "0", "${o1/metadata/resourceVersion}"))
        if draw.random() < 0.2:
            parameters["allowWatchBookmarks"] = "true"
        where = f"{NS}/{kind}"
        if draw.random() < 0.2:
            where = f"/api/v1/{kind}"
            parameters["labelSelector"] = "story=$NS"
        watch = f"{where}{query(**parameters)}"
        accept = draw.choice(ACCEPTS)
        if accept == TABLE and draw.random() < 0.5:
            watch += f"&includeObject={draw.choice(('None', 'Object', 'Metadata'))}"
        steps.append({"watch": watch, "during": during(draw, kind, index), "headers": {"Accept": accept}})
    steps.append({"do": f"GET {NS}/{kind}"})
    return steps


def refused() -> list[Step]:
    bad = (
        "resourceVersion=x",
        "resourceVersionMatch=Exact",
        "resourceVersionMatch=NotOlderThan",
        "sendInitialEvents=true",
        "sendInitialEvents=true&resourceVersionMatch=Exact",
        "sendInitialEvents=true&resourceVersionMatch=x",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&limit=1",
        "labelSelector=a+in",
        "fieldSelector=a%3Db",
        "sendInitialEvents=false",
        "sendInitialEvents=x",
        "timeoutSeconds=x",
        "limit=x",
        "continue=x",
        "limit=-1",
        "sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
        "resourceVersion=5&resourceVersionMatch=Exact",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        "includeObject=x",
        "resourceVersionMatch=x&resourceVersion=5",
    )
    steps: list[Step] = []
    for text in bad:
        for accept in ("application/json", TABLE, PROTOBUF, "application/yaml", "text/html"):
            steps.append({"watch": f"{NS}/secrets?watch=1&{text}", "headers": {"Accept": accept}})
    for where in ("secrets/x", "configmaps/none", "none", "secrets/x/status"):
        steps.append({"watch": f"{NS}/{where}?watch=1"})
    steps.append({"watch": "/api/v1/nodes?watch=1&labelSelector=none%3Dnone"})
    steps.append({"watch": "/api/v1/namespaces/$NS/secrets?watch=1", "by": "eve"})
    steps.append({"watch": "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?watch=1"})
    return steps


def stories() -> dict[str, list[Step]]:
    found = {
        f"watches-{kind}-{number}": watches(kind, number) for kind in ("configmaps", "pods") for number in range(7)
    }
    return found | {"watches-refused": refused()}
