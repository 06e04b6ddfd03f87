"""What is taken and said to be of no use: labels that no node has, rules that exclude each other, what is not there."""

from __future__ import annotations

import pytest

from mooring.features.notebooks.webhooks import VALIDATION
from mooring.kube.objects import Object
from mooring.runtime.webhooks.model import Admitted
from mooring.testing.builders import node
from mooring.testing.notebooks import notebook_job
from mooring.testing.webhooks import answered, review
from tests.features.notebooks.objects import REQUIRED, node_affinity


def warnings(obj: Object, *nodes: Object) -> tuple[str, ...]:
    answer = answered(VALIDATION, review(obj), *nodes)
    assert isinstance(answer, Admitted)
    return answer.warnings


GPU = node("gpu-1", labels={"nvidia.com/gpu.present": "true", "pool": "a"})


def test_a_node_selector_that_matches_no_node_is_told_with_the_nearest_label() -> None:
    obj = notebook_job(pod={"nodeSelector": {"nvidia.com/gpu.present": "True"}})
    (told,) = warnings(obj, GPU, node("plain"))
    assert told == (
        "spec.podConfig.nodeSelector: no node has nvidia.com/gpu.present=True; the nearest label is "
        "nvidia.com/gpu.present=true on gpu-1; the job waits for one that has"
    )
    assert warnings(notebook_job(pod={"nodeSelector": {"pool": "a"}}), GPU) == ()
    assert warnings(notebook_job(pod={"nodeSelector": {"pool": "a"}})) != ()
    assert warnings(notebook_job()) == ()


@pytest.mark.parametrize(
    ("expression", "contradicts"),
    [
        ({"key": "pool", "operator": "In", "values": ["a", "b"]}, False),
        ({"key": "pool", "operator": "In", "values": ["b"]}, True),
        ({"key": "pool", "operator": "NotIn", "values": ["a"]}, True),
        ({"key": "pool", "operator": "DoesNotExist"}, True),
        ({"key": "pool", "operator": "Exists"}, False),
        ({"key": "zone", "operator": "In", "values": ["b"]}, False),
    ],
)
def test_a_node_selector_that_the_affinity_rules_out_is_told(expression: Object, contradicts: bool) -> None:
    told = warnings(notebook_job(pod={"nodeSelector": {"pool": "a"}, **node_affinity(expression)}), GPU)
    assert bool(told) == contradicts
    assert all("because of pool=a" in each for each in told)


def test_one_term_that_can_match_is_enough() -> None:
    def terms(*values: str) -> Object:
        wanted = [{"matchExpressions": [{"key": "pool", "operator": "In", "values": [each]}]} for each in values]
        return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": wanted}}}, "nodeSelector": {"pool": "a"}}

    assert warnings(notebook_job(pod=terms("b", "a")), GPU) == ()
    assert warnings(notebook_job(pod=terms("b", "c")), GPU) != ()


def test_terms_without_conditions_are_told() -> None:
    (told,) = warnings(notebook_job(pod=node_affinity()), GPU)
    assert told.endswith("a term without conditions matches no node")


def test_what_is_not_there_is_told() -> None:
    build, models = warnings(
        notebook_job(
            pod={"buildConfig": {"enabled": True, "strategy": "tekton"}},
            modelValidation={"platform": "vllm", "targetModels": ["a"]},
        )
    )
    assert "built with tekton, and Mooring builds none" in build
    assert "models on vllm are not checked" in models
    assert warnings(notebook_job(pod={"buildConfig": {}}, modelValidation={"enabled": False})) == ()


def test_annotations_that_do_nothing_are_told() -> None:
    obj = notebook_job()
    obj["metadata"]["annotations"] = {"mlops.dev/numeric-tolerance": "much", "mlops.dev/ignore-timestamps": "false"}
    (told,) = warnings(obj)
    assert told == (
        'metadata.annotations[mlops.dev/numeric-tolerance] is ignored: "much" is not a number such as 0.001'
    )
    obj["spec"]["comparisonConfig"] = {}
    assert len(warnings(obj)) == 2
