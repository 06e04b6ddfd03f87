"""Objects of one shape are compared by lines: which differences are read, and which need the whole object read."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.api.core.types import Pod
from mooring.manifests.blocks import Unusual
from mooring.manifests.emit import to_yaml
from mooring.manifests.loader import load
from mooring.manifests.shape_reader import MAX_DIFFERENT, ShapeReader
from mooring.manifests.views import TypePlan, ViewReader, convert

BASE = """\
apiVersion: v1
kind: Pod
metadata:
  annotations:
    note: skipped
    quoted: "a-b"
  creationTimestamp: "2026-11-15T12:00:00Z"
  labels:
    app: web
    tier: front
  name: web-1
  namespace: team
spec:
  containers:
  - image: web:1
    name: main
    resources:
      requests:
        cpu: 100m
        memory: 1Gi
  - image: proxy:2
    name: proxy
  nodeName: n1
  nodeSelector:
    zone: a
  priority: 5
  tolerations:
  - effect: NoSchedule
    key: gpu
status:
  phase: Running
  startTime: "2026-11-15T12:00:00Z\""""

# What is in the text, what stands there instead, and whether the shape is the same with it.
CHANGES: dict[str, tuple[str, str, bool]] = {
    "a name": ("name: web-1", "name: web-2", True),
    "a name in quotes": ("name: web-1", 'name: "5"', True),
    "a number": ("priority: 5", "priority: 77", True),
    "a number that is none": ("priority: 5", "priority: many", False),
    "a value that goes": ("nodeName: n1", "nodeName: null", False),
    "nothing": ("nodeName: n1", "nodeName:", False),
    "an image with a colon": ("image: web:1", "image: registry:5000/web@sha256:ab", True),
    "an amount": ("cpu: 100m", "cpu: 2", True),
    "a label": ("app: web", "app: db", True),
    "a label that is a word": ("app: web", "app: 'on'", True),
    "all labels": ("app: web\n    tier: front", "app: db\n    tier: back", True),
    "another key of a label": ("app: web", "name: web", False),
    "a key of a field": ("nodeName: n1", "hostname: n1", False),
    "a deeper line in a label": ("tier: front", "  tier: front", False),
    "a toleration": ("key: gpu", "key: tpu", True),
    "a whole key in a toleration": ("effect: NoSchedule", "operator: Exists", False),
    "what nobody looks at": ("note: skipped", "note: something-else", True),
    "what nobody looks at, in quotes": ("note: skipped", 'note: "x y"', False),
    "what nobody looks at, quoted plainly": ('quoted: "a-b"', 'quoted: "c-d"', True),
    "what nobody looks at, left open": ("note: skipped", 'note: "open', False),
    "what nobody looks at, a block": ("note: skipped", "note: |", False),
    "what nobody looks at, with a comment": ("note: skipped", "note: a #b", False),
    "what nobody looks at, of other keys": ("note: skipped", "other: skipped", False),
    "what nobody looks at, nothing": ("note: skipped", "note: ", False),
    "an anchor": ("name: web-1", "name: &a web-1", False),
    "flow": ("nodeName: n1", "nodeName: [n1]", False),
    "a comment": ("name: web-1", "name: web-1 # x", False),
    "a dash more": ("  - image: proxy:2", "  - - image: proxy:2", False),
    "a dash less": ("  - image: proxy:2", "    image: proxy:2", False),
    "a key with nothing behind it": ("requests:", "requests: {}", False),
    "a line more": ("priority: 5", "priority: 5\n  hostname: h", False),
    "a line less": ("\n  priority: 5", "", False),
    "an end that differs": ('startTime: "2026-11-15T12:00:00Z"', 'startTime: "2026-11-16T12:00:00Z"', True),
    "a phase": ("phase: Running", "phase: Failed", True),
}


def shape(text: str = BASE) -> ShapeReader:
    return ShapeReader(ViewReader(), text, 0, TypePlan(Pod))


@pytest.mark.parametrize("case", CHANGES)
def test_a_difference_is_read_if_the_shape_is_the_same(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    was, becomes, same = CHANGES[case]
    assert BASE.count(was) == 1
    text = BASE.replace(was, becomes)
    found = shape().read(text)
    assert (found is not None) is same, case
    if found is None:
        return
    assert found == convert(load(text), Pod)
    # Once a line has differed, no text is compared line by line for it any more.
    reader = shape()
    assert reader.read(text) == found
    monkeypatch.setattr(reader, "_compare", lambda text: pytest.fail("compared line by line"))
    assert reader.read(text) == found
    assert reader.read(BASE) == convert(load(BASE), Pod)


def test_every_pair_of_differences_is_read_in_any_order() -> None:
    same = [(was, becomes) for was, becomes, is_same in CHANGES.values() if is_same]
    reader = shape()
    for one, (was, becomes) in enumerate(same):
        for other_was, other_becomes in same[one + 1 :: 3]:
            if was in other_was or other_was in was:
                continue
            text = BASE.replace(was, becomes).replace(other_was, other_becomes)
            assert reader.read(text) == shape().read(text) == convert(load(text), Pod)
    # Where lines of a block have differed, the block is read as a whole, with other keys as well.
    labels = BASE.replace("app: web", "name: web")
    assert reader.read(labels) == convert(load(labels), Pod)
    for was, becomes, is_same in CHANGES.values():
        if not is_same and becomes not in ("name: web", "operator: Exists"):
            assert reader.read(BASE.replace(was, becomes)) is None, becomes


def test_what_did_not_change_is_shared() -> None:
    reader = shape()
    first, second = reader.value, reader.read(BASE.replace("image: web:1", "image: web:2"))
    assert reader.read(BASE) is first
    assert (second.spec.containers[0].image, first.spec.containers[0].image) == ("web:2", "web:1")
    assert second.spec.containers[1] is first.spec.containers[1]
    assert second.spec.containers[0].resources is first.spec.containers[0].resources
    assert second.spec.tolerations is first.spec.tolerations
    assert second.metadata is first.metadata
    assert second.status is first.status


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("metadata:\n  name: a\nmetadata:\n  name: b", False),
        ("metadata:\n  name: a\n  name: b", False),
        ("spec:\n  nodeName: a\n  nodeName: b", False),
        ("spec:\n  nodeName: a\n    folded", False),
        ("spec:\n  containers: []", True),
        ("spec:\n  containers:\n  - name: a\n  containers:\n  - name: b", False),
        ("spec:\n  nodeName: 7", False),
        ("metadata:\n  name:\n  namespace: x", False),
        ("metadata: {}\nspec:\n  nodeName: a", True),
        ("status:\n  unknown: 'open", False),
    ],
)
def test_a_text_that_cannot_be_compared_by_lines_gives_no_shape(text: str, taken: bool) -> None:
    try:
        found = shape(text).value
    except Unusual:
        found = None
    assert (found is not None) is taken
    if taken:
        assert found == convert(load(text), Pod)


@pytest.mark.parametrize("count", [MAX_DIFFERENT - 1, MAX_DIFFERENT, MAX_DIFFERENT + 1])
def test_an_object_that_differs_everywhere_is_read_the_usual_way(count: int) -> None:
    def text(value: str) -> str:
        annotations = "".join(f"\n    a{number:03d}: {value}" for number in range(count))
        return f"metadata:\n  annotations:{annotations}\n  name: {value}"

    found = shape(text("u")).read(text("v"))
    assert (found is not None) is (count + 1 <= MAX_DIFFERENT)


@pytest.mark.parametrize("count", [1, 7, 8, 9, 20])
def test_lists_of_any_length_are_read_when_an_item_differs(count: int) -> None:
    def made(changed: int) -> dict[str, Any]:
        names = [f"c{number}" for number in range(count)]
        containers = [{"image": f"i:{number == changed:d}", "name": name} for number, name in enumerate(names)]
        return {"spec": {"containers": containers, "nodeName": f"n{changed}"}}

    reader = shape(to_yaml(made(-1)).rstrip())
    for changed in (0, count - 1, count // 2):
        text = to_yaml(made(changed)).rstrip()
        assert reader.read(text) == convert(load(text), Pod)
        assert shape(text).value == convert(load(text), Pod)
