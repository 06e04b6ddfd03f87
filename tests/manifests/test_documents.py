"""Files as people and kubectl make them, and files that are not what they should be."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from bench.fleet import write
from mooring.api.core import views
from mooring.api.core.types import Node, Pod
from mooring.manifests import Document, ManifestError, Views, read_manifests, read_objects, read_views
from mooring.manifests.emit import to_yaml

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\n"
VIEWS: Views = {("v1", "Pod"): Pod, ("v1", "Node"): Node}


def names(path: Path) -> list[str]:
    """The names in a file, read both ways; they must agree."""
    plain = [(d.number, d.index, d.value["metadata"]["name"]) for d in read_manifests(path) if d.value["kind"] == "Pod"]
    typed = [(d.number, d.index, d.value.metadata.name) for d in read_views(path, VIEWS)]
    assert plain == typed
    return [f"{number}/{'-' if index is None else index} {name}" for number, index, name in plain]


def given(tmp_path: Path, text: str | bytes, name: str = "cluster.yaml") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def listed(*items: str) -> str:
    body = "".join("- " + item.replace("\n", "\n  ").rstrip(" ") for item in items)
    return f'apiVersion: v1\nitems:\n{body}kind: List\nmetadata:\n  resourceVersion: ""\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(POD.format("a"), ["1/- a"], id="one object"),
        pytest.param(POD.format("a") + "---\n" + POD.format("b"), ["1/- a", "2/- b"], id="two documents"),
        pytest.param("---\n# note\n---\n" + POD.format("a") + "---\n", ["1/- a"], id="empty documents do not count"),
        pytest.param("# licence\n\n" + POD.format("a") + "# end\n", ["1/- a"], id="comments around"),
        pytest.param("--- # first\n" + POD.format("a") + "...\n", ["1/- a"], id="markers with comments"),
        pytest.param("%YAML 1.1\n---\n" + POD.format("a"), ["1/- a"], id="a directive"),
        pytest.param(
            "--- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n", ["1/- a"], id="flow style on the marker line"
        ),
        pytest.param("{apiVersion: v1, kind: Pod, metadata: {name: a}}\n", ["1/- a"], id="flow style that is not JSON"),
        pytest.param(listed(POD.format("a"), POD.format("b")), ["1/0 a", "1/1 b"], id="a List"),
        pytest.param(listed(POD.format("a"), listed(POD.format("b"))), ["1/0 a", "1/0 b"], id="a List in a List"),
        pytest.param(
            "kind: List\napiVersion: v1\nitems:\n  - kind: Pod\n    apiVersion: v1\n    metadata: {name: a}\n",
            ["1/0 a"],
            id="a List by hand",
        ),
        pytest.param(
            "apiVersion: v1\nitems:\n- metadata:\n    name: a\n- metadata:\n    name: b\nkind: PodList\n",
            ["1/0 a", "1/1 b"],
            id="a typed list leaves the kind to itself",
        ),
        pytest.param(
            "apiVersion: v1\nkind: List\nitems:\n- &p\n  apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n- *p\n",
            ["1/0 a", "1/1 a"],
            id="items that refer to each other",
        ),
        pytest.param("apiVersion: v1\nitems: []\nkind: List\n", [], id="an empty List"),
        pytest.param(POD.format("a").replace("\n", "\r\n"), ["1/- a"], id="Windows line ends"),
        pytest.param(b"\xef\xbb\xbf" + POD.format("a").encode(), ["1/- a"], id="a byte order mark"),
        pytest.param(b"\xff\xfe" + POD.format("a").encode("utf-16-le"), ["1/- a"], id="UTF-16 as PowerShell writes it"),
        pytest.param(POD.format("a").rstrip(), ["1/- a"], id="no newline at the end"),
        pytest.param(POD.format("'é'"), ["1/- é"], id="letters beyond ASCII"),
        pytest.param(POD.format("|\n    a\n\n")[:-1], ["1/- a\n"], id="a block scalar"),
    ],
)
def test_layouts_of_yaml(tmp_path: Path, text: str | bytes, expected: list[str]) -> None:
    assert names(given(tmp_path, text)) == expected


def objects(*pods: str) -> list[dict[str, Any]]:
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}} for name in pods]


@pytest.mark.parametrize("indent", [None, 2, 4], ids=["compact", "two spaces", "as kubectl prints"])
def test_lists_in_json(tmp_path: Path, indent: int | None) -> None:
    value = {"apiVersion": "v1", "items": objects("a", "b"), "kind": "List"}
    assert names(given(tmp_path, json.dumps(value, indent=indent))) == ["1/0 a", "1/1 b"]


def test_other_layouts_of_json(tmp_path: Path) -> None:
    one, two = (json.dumps(value) for value in objects("a", "b"))
    assert names(given(tmp_path, one)) == ["1/- a"]
    assert names(given(tmp_path, one + "\n" + two + "\n")) == ["1/- a", "2/- b"]
    typed = {"apiVersion": "v1", "items": [{"metadata": {"name": "a"}}], "kind": "PodList"}
    assert names(given(tmp_path, json.dumps(typed, indent=4))) == ["1/0 a"]


def test_a_fleet_reads_the_same_in_yaml_and_json(tmp_path: Path) -> None:
    answers = []
    for form in ("yaml", "json"):
        path = tmp_path / f"fleet.{form}"
        write(path, nodes=20, pods=60, seed=1, form=form)
        answers.append([document.value for document in read_views(path, VIEWS)])
        assert answers[-1] == [
            view.value for view in read_views(given(tmp_path, as_json(read_manifests(path)), "plain.json"), VIEWS)
        ]
    assert answers[0] == answers[1]
    assert len(answers[0]) == 80


def as_json(documents: Any) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [document.value for document in documents]})


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(POD.format("a").encode()))
    monkeypatch.setattr("sys.stdin", stdin)
    assert [document.file for document in read_manifests("-")] == ["standard input"]


def test_a_field_that_is_null_counts_as_absent(tmp_path: Path) -> None:
    text = POD.format("a") + "spec:\n  nodeName: null\n  tolerations:\n  containers: null\n"
    (found,) = read_views(given(tmp_path, text), VIEWS)
    assert found.value == Pod(metadata=found.value.metadata)


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "is empty: expected at least one object"),
        ("# nothing\n---\n", "is empty: expected at least one object"),
        ("a: b: c\n", "document 1: line 1: not YAML: mapping values are not allowed in this context"),
        (POD.format("a") + "---\n\nx: [1\n", "document 2: line 7: not YAML: did not find expected ',' or ']'"),
        (
            listed(POD.format("a"), POD.format("[b")),
            "document 1: item 1: line 10: not YAML: did not find expected ',' or ']'",
        ),
        ("hello\n", 'document 1: expected an object with apiVersion and kind, found "hello"'),
        ("- a\n- b\n", "document 1: expected an object with apiVersion and kind, found a list"),
        ("kind: Pod\n", "document 1: apiVersion: required, and must be a string"),
        (POD.format("a") + "---\napiVersion: v1\n", "document 2: kind: required, and must be a string"),
        ("apiVersion: v1\nkind: 7\n", "document 1: kind: required, and must be a string"),
        ("apiVersion: v1\nitems: 7\nkind: List\n", "document 1: items: must be a list"),
        (
            "apiVersion: v1\nitems:\n- a\nkind: List\n",
            'document 1: item 0: expected an object with apiVersion and kind, found "a"',
        ),
        (
            "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\nkind: Pod\n",
            'document 1: has items, but its kind is "Pod", not a List',
        ),
        (b"a: \xff\n", "not UTF-8 text (byte 3)"),
        (b"a: \xc3", "not UTF-8 text (it ends inside a character at byte 4)"),
        (b"apiVersion: v1\nkind: \x00\n", "document 1: line 2: not YAML: character U+0000 is not allowed"),
        (BOMB, "document 1: line 5: aliases expand to more than 100,000 values"),
        ("a: &a [*a]\n", "document 1: line 1: alias *a has no anchor before it"),
        ("[" * 100_000, "document 1: nested too deeply"),
        ("a: " + "[" * 100_000, "document 1: line 1: nested more than 150 deep"),
        ("\n".join(" " * n + "a:" for n in range(1000)), "document 1: line 152: nested more than 150 deep"),
        ('{"apiVersion": "v1",\n "kind" "Pod"}\n', "document 1: line 2: not JSON: Expecting ':' delimiter"),
        ("a: !secret x\n", "document 1: line 1: tag !secret means nothing to Kubernetes"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_one_line(tmp_path: Path, text: str | bytes, error: str) -> None:
    path = given(tmp_path, text)
    for read in (lambda: list(read_manifests(path)), lambda: list(read_views(path, VIEWS))):
        with pytest.raises(ManifestError) as raised:
            read()
        assert str(raised.value) == f"{path}: {error}"


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"nowhere\.yaml: no such file$"):
        list(read_manifests(tmp_path / "nowhere.yaml"))
    with pytest.raises(ManifestError, match=r"is a directory, not a file$"):
        list(read_manifests(tmp_path))


def test_a_field_of_the_wrong_type_is_named(tmp_path: Path) -> None:
    text = POD.format("a") + "spec:\n  containers:\n  - ports: nonsense\n"
    with pytest.raises(ManifestError, match=r'Pod "a": spec\.containers\[0\]\.ports: expected array.*, got str$'):
        list(read_views(given(tmp_path, text), VIEWS))


def test_a_document_makes_errors_about_itself() -> None:
    document: Document[dict[str, Any]] = Document("cluster.yaml", 3, 12, {})
    assert str(document.error("spec: wrong")) == "cluster.yaml: document 3: item 12: spec: wrong"


@pytest.mark.parametrize("form", ["yaml", "json", "list"])
def test_objects_without_a_view_that_fits_come_as_they_are(tmp_path: Path, form: str) -> None:
    objects = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "uid": "1"}, "spec": {"hostname": "h"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b"}, "spec": {"hostname": "h"}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "c", "uid": "3"}},
    ]
    path = tmp_path / "objects.yaml"
    if form == "yaml":
        path.write_text("---\n".join(map(to_yaml, objects)), encoding="utf-8")
    else:
        items = {"apiVersion": "v1", "kind": "List", "items": objects}
        path.write_text(json.dumps(items, indent=4) if form == "json" else to_yaml(items), encoding="utf-8")
    pods: Views = {("v1", "Pod"): views.Pod}
    found = [document.value for document in read_objects(path, pods, lambda pod: bool(pod.metadata.uid))]
    assert isinstance(found[0], views.Pod)
    assert found[0].metadata.name == "a"
    assert found[1:] == objects[1:]
