"""On which line of a fleet's file a field stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from mooring.supervisor.fleet.lines import line_of

TEXT = """\
---
kind: Node
metadata:
  name: a
  namespaced: no
  labels:
    example.com/pool: one
    example.com: two
spec:
  taints:
    - key: x
    - key: y
      effect: Never
---
---
kind: List
items:
  - kind: Pod
  - kind: Node
    spec: {}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "fleet.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path / "fleet.yaml"


@pytest.mark.parametrize(
    ("document", "item", "fields", "line"),
    [
        pytest.param(1, None, ["spec.taints[1].effect"], 13, id="a field within a list"),
        pytest.param(1, None, ["metadata.name"], 4, id="a field whose name begins another"),
        pytest.param(1, None, ["metadata.labels.example.com/pool"], 7, id="a key with dots in it"),
        pytest.param(1, None, ["metadata.labels[example.com]"], 8, id="a key in brackets"),
        pytest.param(1, None, ["spec.taints[1].value"], 12, id="what is missing, by what is around it"),
        pytest.param(1, None, ["spec.taints[7].key"], 10, id="an element that is not there"),
        pytest.param(
            1, None, ["spec[0].key", "kind[0]"], 9, id="an element of what is no list, by what it would be in"
        ),
        pytest.param(1, None, ["metadata.nam"], 3, id="half a name is no field"),
        pytest.param(1, None, ["status", "spec.taints[0].key"], 11, id="the deepest of several"),
        pytest.param(1, None, [], 2, id="no field: the object"),
        pytest.param(2, None, ["kind"], 16, id="empty documents do not count"),
        pytest.param(2, 1, ["spec"], 20, id="an item of a List"),
        pytest.param(2, 2, ["spec"], None, id="an item that is not there"),
        pytest.param(3, None, ["kind"], None, id="a document that is not there"),
        pytest.param(1, 0, ["kind"], None, id="an item of what is no List"),
    ],
)
def test_the_line_of_a_field(file: Path, document: int, item: int | None, fields: list[str], line: int | None) -> None:
    assert line_of(file, document, item, fields) == line


def test_a_file_that_cannot_be_read_has_no_lines(tmp_path: Path) -> None:
    assert line_of(tmp_path / "gone.yaml", 1, None, ["kind"]) is None
    (tmp_path / "bad.yaml").write_text("a: [", encoding="utf-8")
    assert line_of(tmp_path / "bad.yaml", 1, None, ["a"]) is None
