"""Nodes: taints, metadata and resources."""

from typing import Any

import pytest

from mooring.api.core.validation.nodes import validate_node, validate_taints


def texts(taints: Any) -> list[str]:
    return [str(error) for error in validate_taints(taints)]


def test_sound_taints_are_accepted() -> None:
    assert texts([]) == []
    assert texts([{"key": "gpu", "value": "yes", "effect": effect} for effect in ("NoSchedule", "NoExecute")]) == []


@pytest.mark.parametrize(
    ("taints", "line"),
    [
        ([{"key": "gpu"}], "metadata.taints[0].effect: Required value"),
        (
            [{"key": "gpu", "effect": "Never"}],
            'metadata.taints[0].effect: Unsupported value: "Never": supported values: '
            '"NoSchedule", "PreferNoSchedule", "NoExecute"',
        ),
        ([{"key": "-", "effect": "NoSchedule"}], 'metadata.taints[0].key: Invalid value: "-": name part must consist'),
        (
            [{"key": "a", "value": "-", "effect": "NoSchedule"}],
            'metadata.taints[0].value: Invalid value: "-": a valid label must be',
        ),
        (
            [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "x", "effect": "NoSchedule"}],
            'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"x","Effect":"NoSchedule","TimeAdded":null}: '
            "taints must be unique by key and effect pair",
        ),
        ("gpu", 'metadata.taints: Invalid value: "gpu": must be an array of taints'),
        (["gpu"], 'metadata.taints[0]: Invalid value: "gpu": must be an object'),
        ([{"key": 5, "effect": "NoSchedule"}], "metadata.taints[0].key: Invalid value: 5: must be a string"),
    ],
)
def test_taints_are_refused_with_the_words_of_the_api(taints: Any, line: str) -> None:
    (found,) = texts(taints)
    assert found.startswith(line)


@pytest.mark.parametrize(
    ("node", "line"),
    [
        ({}, "metadata.name: Required value: name or generateName is required"),
        (
            {"metadata": {"name": "n", "namespace": "x"}},
            "metadata.namespace: Forbidden: not allowed on this type",
        ),
        (
            {"metadata": {"name": "n", "labels": {"a": "-"}}},
            'metadata.labels: Invalid value: "-": a valid label must be',
        ),
        ({"metadata": {"name": 5}}, "metadata.name: Invalid value: 5: must be a string"),
        (
            {"metadata": {"name": "n"}, "spec": {"taints": [{"key": "a"}]}},
            "metadata.taints[0].effect: Required value",
        ),
        (
            {"metadata": {"name": "n"}, "status": {"capacity": {"nvidia.com/gpu": "500m"}}},
            'status.capacity.nvidia.com/gpu: Invalid value: "500m": must be an integer',
        ),
        (
            {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "-1"}}},
            'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
        ),
        (
            {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "many"}}},
            'status.allocatable.cpu: Invalid value: "many": quantities must match',
        ),
        ({"metadata": {"name": "n"}, "status": []}, "status: Invalid value: []: must be an object"),
        ("n", 'object: Invalid value: "n": must be an object'),
    ],
)
def test_nodes_are_refused_with_the_words_of_the_api(node: Any, line: str) -> None:
    (found,) = (str(error) for error in validate_node(node))
    assert found.startswith(line)


def test_a_sound_node_is_accepted() -> None:
    node = {
        "metadata": {"name": "n1", "labels": {"zone": "a"}},
        "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
        "status": {"capacity": {"cpu": 8, "nvidia.com/gpu": "8"}},
    }
    assert validate_node(node) == []
