"""Decoding: wrong types get a path and a sentence, unknown fields a warning."""

from typing import Any

import pytest

from mooring.api.core.decoding.decoder import decode, mismatches, unknown_fields
from mooring.api.core.validation.pods import answer_validate, validate_pod


@pytest.mark.parametrize(
    ("pod", "line"),
    [
        ([], "object: Invalid value: []: must be an object, not an array"),
        ({"spec": 5}, "spec: Invalid value: 5: must be an object, not this number"),
        ({"spec": {"containers": "c"}}, 'spec.containers: Invalid value: "c": must be an array, not this string'),
        ({"spec": {"containers": ["c"]}}, 'spec.containers[0]: Invalid value: "c": must be an object, not this string'),
        (
            {"spec": {"topologySpreadConstraints": [{"maxSkew": "1"}]}},
            'spec.topologySpreadConstraints[0].maxSkew: Invalid value: "1": must be a 32-bit integer, not this string',
        ),
        (
            {"spec": {"priority": 2**31}},
            "spec.priority: Invalid value: 2147483648: must be a 32-bit integer, not this number",
        ),
        (
            {"spec": {"priority": 1.5}},
            "spec.priority: Invalid value: 1.5: must be a 32-bit integer, not this number",
        ),
        (
            {"spec": {"terminationGracePeriodSeconds": True}},
            "spec.terminationGracePeriodSeconds: Invalid value: true: must be a 64-bit integer, not a boolean",
        ),
        ({"spec": {"hostPID": "yes"}}, 'spec.hostPID: Invalid value: "yes": must be a boolean, not this string'),
        ({"spec": {"nodeName": {}}}, "spec.nodeName: Invalid value: {}: must be a string, not an object"),
        (
            {"metadata": {"labels": {"a": 1}}},
            "metadata.labels[a]: Invalid value: 1: must be a string, not this number",
        ),
        ({"metadata": {"labels": []}}, "metadata.labels: Invalid value: []: must be an object, not an array"),
        (
            {"metadata": {"labels": {1: "a"}}},
            "metadata.labels: Invalid value: 1: must be an object with string keys, not this number",
        ),
        (
            {"metadata": {"creationTimestamp": "now"}},
            'metadata.creationTimestamp: Invalid value: "now": must be an RFC 3339 time, not this string',
        ),
        (
            {"spec": {"overhead": {"cpu": "a lot"}}},
            'spec.overhead[cpu]: Invalid value: "a lot": quantities must match the regular expression '
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (
            {"spec": {"containers": [{"name": "c", "livenessProbe": {"httpGet": {"port": []}}}]}},
            "spec.containers[0].livenessProbe.httpGet.port: Invalid value: []: must be a number or name, not an array",
        ),
        (
            {"spec": {"nodeName": object}},
            "must be a string, not a value of another kind",
        ),
        ({"spec": {"hostNetwork": ""}}, 'spec.hostNetwork: Invalid value: "": must be a boolean, not an empty string'),
    ],
)  # fmt: skip
def test_wrong_types_are_named(pod: Any, line: str) -> None:
    (error,) = validate_pod(pod)
    assert line in str(error)
    answer = answer_validate({"id": 1, "pod": pod})
    assert answer["invalid"] == [str(error)]
    assert "object" not in answer


def test_every_wrong_type_is_named_at_once() -> None:
    errors = validate_pod({"metadata": {"name": 1}, "spec": {"hostPID": 0, "containers": [{"ports": {}}]}})
    assert [error.path for error in errors] == ["metadata.name", "spec.hostPID", "spec.containers[0].ports"]


def test_null_is_absence_and_whole_floats_are_integers() -> None:
    spec = {"containers": None, "affinity": None, "priority": 5.0, "nodeSelector": None, "tolerations": [None]}
    assert decode("PodSpec", spec) == {"containers": None, "priority": 5, "tolerations": [{}]}
    assert decode("Pod", None) == {"metadata": {}, "spec": {"containers": None}, "status": {}}
    assert decode("ObjectMeta", {"labels": {"a": None}, "finalizers": [None]}) == {
        "labels": {"a": ""},
        "finalizers": [""],
    }
    assert mismatches("PodSpec", spec) == []


def test_empty_values_are_left_out_unless_they_say_something() -> None:
    volume = {"name": "v", "emptyDir": {}, "hostPath": {"path": "", "type": ""}}
    spec = {"containers": [], "volumes": [volume], "nodeSelector": {}, "nodeName": "", "hostUsers": False}
    assert decode("PodSpec", spec) == {"containers": [], "volumes": [volume], "hostUsers": False}


def test_fields_that_nobody_knows_are_told() -> None:
    pod = {
        "metadata": {"labels": {"any": "x"}, "lables": {}},
        "spec": {"affinty": {}, "containers": [{"name": "c", "resource": {}}, "no object"], "tolerations": {}},
    }
    assert unknown_fields("Pod", pod) == [
        'unknown field "metadata.lables"',
        'unknown field "spec.affinty"',
        'unknown field "spec.containers[0].resource"',
    ]
