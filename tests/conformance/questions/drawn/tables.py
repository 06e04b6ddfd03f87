"""Every kind as a table: objects in all shapes, and columns of every type for a custom kind."""

from __future__ import annotations

import random
from typing import Any

from mooring.kube.objects import Object
from tests.conformance.questions.drawn.more_shapes import MORE_SHAPES
from tests.conformance.questions.drawn.pods import OLD, POD
from tests.conformance.questions.drawn.reads import TABLE
from tests.conformance.questions.drawn.shapes import SHAPES
from tests.conformance.questions.drawn.templates import drawn, maybe, one
from tests.conformance.questions.stories import Step

OBJECTS = 14


def cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: cleaned(item) for key, item in value.items() if item is not None}
    return [cleaned(item) for item in value] if isinstance(value, list) else value


def story(number: int, path: str, template: Any, count: int) -> list[Step]:
    draw = random.Random(f"tables {path} {number}")
    kind, inside = path.rpartition("/")[2], "/namespaces/" in path
    steps: list[Step] = []
    names: list[str] = []
    for index in range(count):
        body: Object = cleaned(drawn(draw, template))
        name = f"o{index}" if inside else f"{kind}-{number}-{index}"
        if body.get("spec", {}).get("type") == "ExternalName":
            body["spec"]["externalName"] = "a.example.com"
        names.append(name)
        body["metadata"] = {"name": name, "labels": {"story": "$NS"}, **body.get("metadata", {})}
        body["metadata"]["labels"] = {"story": "$NS", **body["metadata"].get("labels", {})}
        # What is empty is stored or not; a table says the same of both.
        status = {key: value for key, value in body.pop("status", {}).items() if value not in ([], {})}
        steps.append({"do": f"POST {path}", "body": body, "pick": ["metadata/name"]})
        if status:
            steps.append(
                {
                    "do": f"PATCH {path}/{name}/status",
                    "type": "merge",
                    "body": {"status": status},
                    "pick": ["metadata/name"],
                }
            )
    listed = f"GET {path}?labelSelector=story%3D$NS"
    table = {"Accept": TABLE}
    steps.append({"do": listed, "headers": table, "pick": ["rows/*/cells", "rows/*/conditions"], "wait": 0.4})
    steps.append({"do": f"{listed}&includeObject=None&limit=2", "headers": table})
    steps.append(
        {
            "do": f"{listed}&includeObject=Object&limit=1",
            "headers": table,
            "pick": ["kind", "columnDefinitions", "rows"],
        }
    )
    steps.append({"do": f"GET {path}/{names[0]}", "headers": table})
    steps.append({"do": f"DELETE {path}/{names[1]}?gracePeriodSeconds=600", "pick": ["kind"]})
    steps.append({"do": listed, "headers": table, "pick": ["rows/*/cells"]})
    if not inside:
        for name in names:
            steps.append(
                {
                    "do": f"PATCH {path}/{name}",
                    "type": "merge",
                    "body": {"metadata": {"finalizers": None}},
                    "pick": ["kind"],
                }
            )
            steps.append({"do": f"DELETE {path}/{name}", "pick": ["kind"]})
    return steps


TYPES = ("string", "integer", "number", "boolean", "date")
PATHS = (
    ".spec.text",
    ".spec.number",
    ".spec.flag",
    ".spec.when",
    ".spec.list",
    ".spec.list[0]",
    ".spec.list[*]",
    ".spec.list[-1]",
    ".spec.list[0:2]",
    ".spec.items[?(@.name=='b')].value",
    ".spec.items[*].name",
    ".spec.items[0].value",
    ".spec.map",
    ".spec.map.key",
    ".spec['map']['key']",
    ".spec.none",
    ".metadata.creationTimestamp",
    ".metadata.labels.story",
    ".spec.float",
    ".status.conditions[?(@.type=='Ready')].status",
    ".spec.items[?(@.value>1)].name",
    ".spec.items[?(@.on==true)].name",
    "..name",
    ".spec.items[1:].value",
    ".spec.map.*",
    ".spec.large",
    ".spec.items[?(@.name!='a')].name",
    ".metadata.name",
    ".spec.dotted\\.key",
    ".spec.items[?(@.value<=1)].name",
    ".spec.items[0,1].name",
    ".spec",
)
LION = {
    "text": maybe(one("x", "", "two\nlines", "5")),
    "number": maybe(one(0, -3, 12345678)),
    "large": maybe(2**53 + 1),
    "float": maybe(one(1.5, 0.1, 1e21, 2.0, -0.25)),
    "flag": maybe(one(True, False)),
    "when": maybe(one(OLD, "2026-11-01T00:00:00Z", "x", "2100-01-01T00:00:00Z")),
    "list": maybe(one([], ["a", "b", "c"], [1, 2.5, True])),
    "items": maybe(
        one([], [{"name": "a", "value": 1, "on": True}, {"name": "b", "value": 2}], [{"name": "b", "value": "x"}])
    ),
    "map": maybe(one({}, {"key": "v"}, {"key": {"deep": 1}, "other": [1]})),
    "dotted.key": maybe("d"),
}


def custom(number: int) -> list[Step]:
    draw = random.Random(f"columns {number}")
    group = f"q{number}.example.com"
    columns: list[Object] = []
    for index in range(14):
        column: Object = {"name": f"C{index}", "type": draw.choice(TYPES), "jsonPath": draw.choice(PATHS)}
        column |= draw.choice(({}, {"priority": 1}, {"priority": 0, "format": "date-time"}, {"description": "d"}))
        if column.get("format") and column["type"] not in ("string", "date"):
            del column["format"]
        columns.append(column)
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version: Object = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": loose}}
    if number:
        version["additionalPrinterColumns"] = columns
    names = {"plural": "lions", "kind": "Lion"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    path = f"/apis/{group}/v1/namespaces/$NS/lions"
    made = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    steps: list[Step] = [
        {"do": f"POST {made}", "body": {"metadata": {"name": f"lions.{group}"}, "spec": spec}, "pick": ["kind"]}
    ]
    steps.append({"do": f"GET {path}", "until": 200, "pick": ["kind"]})
    for index in range(8):
        body: Object = {
            "apiVersion": f"{group}/v1",
            "kind": "Lion",
            "metadata": {"name": f"l{index}", "labels": {"story": "$NS"}},
            "spec": drawn(draw, LION),
        }
        if draw.random() < 0.5:
            body["status"] = {
                "conditions": [{"type": draw.choice(("Ready", "Other")), "status": draw.choice(("True", "False"))}]
            }
        steps.append({"do": f"POST {path}", "body": body, "pick": ["kind"]})
    steps.append({"do": f"GET {path}", "headers": {"Accept": TABLE}})
    steps.append({"do": f"GET {path}/l0?includeObject=Object", "headers": {"Accept": TABLE}})
    steps.append({"do": f"DELETE {made}/lions.{group}", "pick": ["kind"]})
    return steps


def stories() -> dict[str, list[Step]]:
    found = {f"table-pods-{number}": story(number, "/api/v1/namespaces/$NS/pods", POD, 20) for number in range(5)}
    for path, template in (SHAPES | MORE_SHAPES).items():
        kind = path.rpartition("/")[2]
        group = "-x" if path.startswith("/apis/events") else ""
        found[f"table-{kind}{group}"] = story(0, path, template, OBJECTS)
    return found | {f"columns-{number}": custom(number) for number in range(9)}
