"""Every cell is the one that a real server of version 1.35.8 printed for the same object at the same moment."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from mooring.apiserver.tables import table
from mooring.kube.objects import Object
from mooring.registry import Registry, Resource
from tests.apiserver.kinds import NOW

FACTS = Path(__file__).parent.parent.parent / "data" / "tables"
RECORDED = [json.loads(line) for line in (FACTS / "builtin.jsonl").read_text(encoding="utf-8").splitlines()]
COLUMNS = json.loads((FACTS / "columns.json").read_text(encoding="utf-8"))
CUSTOM = json.loads((FACTS / "custom.json").read_text(encoding="utf-8"))
KINDS = list(Registry().resources)
# The real server prints a time for which it has no column.
CELLS_WITHOUT_COLUMN = {"IPAddress": 1}


def kind(api_version: str, name: str) -> Resource:
    return next(each for each in KINDS if (each.api_version, each.kind) == (api_version, name))


@pytest.mark.parametrize("fact", RECORDED, ids=lambda fact: f"{fact['kind']}: {fact['case']}")
def test_a_row_says_what_the_real_server_says(fact: Object) -> None:
    made = table(kind(fact["apiVersion"], fact["kind"]), [fact["object"]], now=datetime.fromisoformat(fact["now"]))
    (row,) = made["rows"]
    assert row["cells"] == fact["cells"]
    assert row.get("conditions") == fact.get("conditions")


def test_every_served_kind_was_recorded_or_has_only_a_name_and_a_time() -> None:
    recorded = {(fact["apiVersion"], fact["kind"]) for fact in RECORDED}
    missing = {str(each) for each in KINDS if (each.api_version, each.kind) not in recorded}
    assert missing == {"apiextensions.k8s.io/v1 CustomResourceDefinition"}


@pytest.mark.parametrize("resource", KINDS, ids=str)
def test_columns_are_those_of_the_real_server(resource: Resource) -> None:
    made = table(resource, [], now=NOW, list_metadata={})
    ours = [[each["name"], each["type"], each["format"], each["priority"]] for each in made["columnDefinitions"]]
    assert ours == COLUMNS[f"{resource.group or 'core'}/{resource.version}/{resource.plural}"]


@pytest.mark.parametrize("resource", KINDS, ids=str)
def test_an_object_without_anything_in_it_has_a_cell_for_every_column(resource: Resource) -> None:
    bookmark = {
        "kind": resource.kind,
        "apiVersion": resource.api_version,
        "metadata": {"resourceVersion": "7", "creationTimestamp": None},
    }
    made = table(resource, [bookmark], now=NOW)
    more = CELLS_WITHOUT_COLUMN.get(resource.kind, 0)
    assert len(made["rows"][0]["cells"]) == len(made["columnDefinitions"]) + more


@pytest.mark.parametrize("fact", CUSTOM["columns"], ids=lambda fact: f"{fact['type']} {fact['path']}")
def test_a_column_of_a_custom_kind_says_what_the_real_server_says(fact: Object) -> None:
    lions = Resource("demo.example.com", "v1", "Demo", "demos", True, "demo", custom=True)
    column = {"name": "C", "type": fact["type"], "jsonPath": fact["path"]}
    made = table(lions, [CUSTOM["object"]], now=datetime.fromisoformat(CUSTOM["now"]), columns=[column])
    cell = made["rows"][0]["cells"][1]
    assert cell == fact["cell"]
    assert type(cell) is type(fact["cell"])
