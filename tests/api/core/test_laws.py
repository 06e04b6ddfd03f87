"""Laws that hold for every pod and for everything that is none."""

import contextlib
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mooring.api.core.decoding.decoder import decode, mismatches, unknown_fields
from mooring.api.core.defaults.pods import default_pod, default_pod_spec
from mooring.api.core.validation.nodes import validate_node, validate_taints
from mooring.api.core.validation.pods import answer_validate, invalid_message, validate_pod
from mooring.kube.errors import InvalidObjectError

NAMES = [
    "metadata", "name", "namespace", "labels", "annotations", "ownerReferences", "finalizers", "spec", "containers",
    "initContainers", "image", "resources", "requests", "limits", "cpu", "volumes", "emptyDir", "hostPath", "path",
    "affinity", "nodeAffinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", "matchExpressions", "matchFields", "key",
    "operator", "values", "tolerations", "effect", "topologySpreadConstraints", "maxSkew", "topologyKey",
    "whenUnsatisfiable", "labelSelector", "matchLabels", "matchLabelKeys", "ports", "containerPort", "env",
    "valueFrom", "fieldRef", "livenessProbe", "httpGet", "port", "securityContext", "status", "taints", "capacity",
]  # fmt: skip

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["In", "Exists", "1", "500m", "\ud800"])
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=25,
)
objects = st.dictionaries(st.sampled_from(NAMES), anything, max_size=8)
pods = st.fixed_dictionaries({"metadata": objects, "spec": objects}) | anything


@given(pods)
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_any_json_is_answered(pod: Any) -> None:
    errors = validate_pod(pod)
    assert all(str(error) for error in errors)
    assert invalid_message(pod, errors)
    answer = answer_validate({"id": 7, "pod": pod})
    assert answer["id"] == 7
    assert ("message" in answer) is ("invalid" in answer)
    assert unknown_fields("Pod", pod) is not None


@given(pods)
@settings(max_examples=75, suppress_health_check=[HealthCheck.too_slow])
def test_what_cannot_be_decoded_has_a_path(pod: Any) -> None:
    assert (decode("Pod", pod) is None) is bool(mismatches("Pod", pod))
    assert all(error.path and error.detail for error in mismatches("Pod", pod))


@given(objects)
@settings(max_examples=75, suppress_health_check=[HealthCheck.too_slow])
def test_a_pod_is_defaulted_or_refused_and_never_changed(pod: Any) -> None:
    before = repr(pod)
    for default in (default_pod, default_pod_spec):
        with contextlib.suppress(InvalidObjectError):
            assert default(pod) is not pod
    assert repr(pod) == before


@given(objects, anything)
@settings(max_examples=75, suppress_health_check=[HealthCheck.too_slow])
def test_any_json_is_answered_as_a_node(node: Any, taints: Any) -> None:
    assert all(str(error) for error in validate_node(node))
    assert all(str(error) for error in validate_node({"spec": {"taints": taints}, "status": {"capacity": taints}}))
    assert all(str(error) for error in validate_taints(taints))


names = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
quantities = st.sampled_from(["100m", "1", "1.5", "2Gi", "0.5Gi", "1e3"])
resource_lists = st.dictionaries(st.sampled_from(["cpu", "memory", "ephemeral-storage"]), quantities, max_size=3)


@st.composite
def sound_pods(draw: st.DrawFn) -> dict[str, Any]:
    containers = [
        {"name": name, "image": draw(names), "resources": {"limits": draw(resource_lists)}}
        for name in draw(st.lists(names, min_size=1, max_size=3, unique=True))
    ]
    labels = draw(st.dictionaries(names, names, max_size=3))
    return {
        "metadata": {"name": draw(names), "namespace": draw(names), "labels": labels},
        "spec": {
            "containers": containers,
            "nodeSelector": draw(st.dictionaries(names, names, max_size=2)),
            "tolerations": [{"key": key, "operator": "Exists"} for key in draw(st.lists(names, max_size=2))],
            "topologySpreadConstraints": [
                {
                    "maxSkew": draw(st.integers(1, 5)),
                    "topologyKey": "zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": labels},
                }
            ],
        },
    }


@given(sound_pods())
@settings(max_examples=50)
def test_a_sound_pod_is_accepted_and_stays_so(pod: dict[str, Any]) -> None:
    defaulted = default_pod(pod)
    assert validate_pod(defaulted) == []
    assert default_pod(defaulted) == defaulted
    assert json.loads(json.dumps(defaulted)) == defaulted
    for container in defaulted["spec"]["containers"]:
        assert container["resources"].get("requests") == container["resources"].get("limits")
