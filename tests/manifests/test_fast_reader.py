"""The fast reader must say what the general one says, or say that it cannot tell."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.fleet_nodes import SHAPES, fleet_node, node
from bench.fleet_pods import fill, pod
from bench.fleet_workloads import FleetWorkload
from mooring.api.core.types import Node, Pod
from mooring.manifests.blocks import BlockReader, Unusual, is_regular
from mooring.manifests.emit import to_yaml
from mooring.manifests.errors import ManifestError
from mooring.manifests.loader import load
from mooring.manifests.views import ViewReader, convert

WORDS = [
    "true",
    "null",
    "on",
    "y",
    "1",
    "0755",
    "1e3",
    "22:22",
    "2026-11-15",
    "~",
    "-",
    "a: b",
    "a #b",
    "#",
    "- x",
    "{}",
    "[]",
]
TEXT = st.one_of(
    st.sampled_from(WORDS),
    st.text(alphabet="abz09-._/: #'\"\\{}[]&*!|>%@`,?=\n\té\u2028", max_size=12),
    st.from_regex(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?", fullmatch=True),
)
SCALARS = st.one_of(TEXT, st.integers(-(2**62), 2**62), st.booleans(), st.none(), st.floats(0.25, 0.75))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(TEXT.filter(lambda key: key != "<<"), inner, max_size=4)
    ),
    max_leaves=20,
)
OBJECTS = st.dictionaries(TEXT.filter(lambda key: key != "<<"), VALUES, min_size=1, max_size=5)


def fast(text: str) -> Any:
    """What the fast reader makes of a document, or Unusual."""
    try:
        if not is_regular(text):
            raise Unusual
        return BlockReader().mapping(text.removesuffix("\n"), 0)
    except Unusual:
        return Unusual


def general(text: str) -> Any:
    try:
        return load(text)
    except ManifestError:
        return ManifestError


@given(OBJECTS)
def test_objects_in_kubectls_style_read_back_as_they_were(value: dict[str, Any]) -> None:
    text = to_yaml(value)
    assert general(text) == value
    assert fast(text) in (value, Unusual)


@given(
    OBJECTS,
    st.integers(0, 10_000),
    st.sampled_from([" ", "  ", "-", "- ", ":", "#", '"', "'", "|", "&a ", "*a", "\n", "\t", "x", "[", "? ", ""]),
)
def test_a_damaged_text_is_never_read_differently(value: dict[str, Any], where: int, what: str) -> None:
    text = to_yaml(value)
    where %= len(text)
    damaged = text[:where] + what + text[where + (not what) :]
    answer = fast(damaged)
    assert answer is Unusual or answer == general(damaged)


def test_usual_objects_take_the_fast_way() -> None:
    text = to_yaml(pod(WORKLOADS[0]))
    assert fast(text) == general(text)


WORKLOADS = [
    FleetWorkload(f"{name}-{number:03d}", "search", kind, 3, "general", 500, 512, gpus, style)
    for number, (name, kind, gpus) in enumerate(
        [("api", "ReplicaSet", 0), ("cache", "StatefulSet", 0), ("trainer", "ReplicaSet", 2)]
    )
    for style in range(5)
]


def pods() -> list[str]:
    rng = random.Random(7)
    return [
        fill(to_yaml(pod(workload, bound)), workload, replica, f"node-{replica}", rng)
        for workload in WORKLOADS
        for bound in (True, False)
        for replica in range(3)
    ]


def as_view(reader: ViewReader, text: str, view: type[msgspec.Struct]) -> Any:
    try:
        return reader.read(text.removesuffix("\n"), 0, view)
    except Unusual:
        return Unusual


def test_pods_read_as_views_equal_pods_read_whole() -> None:
    reader = ViewReader()
    for text in pods():
        assert as_view(reader, text, Pod) == convert(load(text), Pod)


def test_nodes_read_as_views_equal_nodes_read_whole() -> None:
    reader, rng = ViewReader(), random.Random(3)
    for number in range(60):
        text = to_yaml(node(fleet_node(number, 60), number, rng))
        assert as_view(reader, text, Node) == convert(load(text), Node)
    assert {shape.pool for shape in SHAPES} == {fleet_node(number, 60).shape.pool for number in range(60)}


def test_pods_of_one_workload_share_what_is_the_same() -> None:
    reader = ViewReader()
    first, second = (as_view(reader, text, Pod) for text in pods()[:2])
    assert first.metadata.name != second.metadata.name
    assert first.metadata.labels is second.metadata.labels
    assert first.spec.tolerations is second.spec.tolerations


def test_replicas_share_even_what_is_too_long_to_be_remembered_by_its_text() -> None:
    workload, rng, reader = WORKLOADS[0], random.Random(7), ViewReader()
    shape = pod(workload)
    shape["spec"]["nodeSelector"] = {f"example.com/label-{number}": "x" * 60 for number in range(200)}
    texts = [fill(to_yaml(shape), workload, replica, f"node-{replica}", rng) for replica in range(2)]
    first, second = (as_view(reader, text, Pod) for text in texts)
    assert first.metadata.name != second.metadata.name
    assert second.spec.node_selector == shape["spec"]["nodeSelector"]
    assert first.spec.node_selector is second.spec.node_selector


def test_replicas_share_a_long_container_beside_one_that_differs() -> None:
    sidecar = {"name": "proxy", "env": [{"name": f"SETTING_{number}", "value": "x" * 60} for number in range(100)]}
    reader = ViewReader()
    first, second = (
        as_view(reader, to_yaml({"spec": {"containers": [{"name": "main", "image": image}, sidecar]}}), Pod)
        for image in ("web:1", "web:2")
    )
    assert [pod.spec.containers[0].image for pod in (first, second)] == ["web:1", "web:2"]
    assert first.spec.containers[1] is second.spec.containers[1]


PODS = pods()
DAMAGE = st.sampled_from(
    [
        " ",
        "  ",
        "- ",
        ":",
        " #",
        '"',
        "'",
        "|",
        "&a ",
        "*a",
        "\n",
        "\t",
        "x",
        "null",
        "7",
        "true",
        "",
        "<<: {}\n",
        "\u2028",
    ]
)


@given(st.integers(0, len(PODS) - 1), st.integers(0, 100_000), DAMAGE, st.integers(0, 3))
def test_a_damaged_pod_is_never_seen_differently(number: int, where: int, what: str, seen_before: int) -> None:
    text = PODS[number]
    reader = ViewReader()
    # Replicas of one workload teach the reader which lines differ, and then it compares instead of reading.
    for replica in range(seen_before):
        as_view(reader, PODS[number - number % 3 + replica], Pod)
    where %= len(text)
    damaged = text[:where] + what + text[where + (not what) :]
    answer = as_view(reader, damaged, Pod)
    if answer is Unusual:
        return
    whole = general(damaged)
    # Text that no view declares is skipped unread, so what is wrong in there stays unnoticed.
    if whole is not ManifestError:
        assert answer == convert(whole, Pod)


@pytest.mark.parametrize(
    "value",
    [
        "7",
        "true",
        "null",
        '"7"',
        "'it''s'",
        '"a\\nb"',
        "|\n      x",
        "a\n      b",
        "&a b",
        "!!str 7",
        "2026-11-15",
        "{}",
        "",
        "# none",
    ],
)
def test_values_of_every_style_in_a_field_of_a_known_shape(value: str) -> None:
    """The shape reader must give the line back where the value is not a plain one."""
    reader = ViewReader()
    text = "metadata:\n  name: x\nspec:\n  nodeName: {}\n  schedulerName: s\n"
    assert as_view(reader, text.format("first"), Pod).spec.node_name == "first"
    answer = as_view(reader, text.format(value), Pod)
    try:
        expected = convert(load(text.format(value)), Pod)
    except msgspec.ValidationError:
        expected = Unusual
    assert answer in (expected, Unusual)
