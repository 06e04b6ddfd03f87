"""The pods that workloads make: how many, by what names, with which labels and owners."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.api.core.types import LabelSelector
from mooring.kube.objects import Object
from mooring.placement.workloads.expansion import Expansion, WorkloadError, expand, template_hash
from mooring.placement.workloads.known_cluster import KnownCluster

TEMPLATE: Object = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def workload(kind: str, **spec: Any) -> Object:
    spec.setdefault("template", TEMPLATE)
    if kind != "Job":
        spec.setdefault("selector", {"matchLabels": {"app": "web"}})
    return {"kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}


def names(expansion: Expansion) -> list[str]:
    return [pod["metadata"]["name"] for pod in expansion.pods]


def owner(expansion: Expansion) -> tuple[str, str]:
    reference = expansion.pods[0]["metadata"]["ownerReferences"][0]
    assert reference["controller"] is True
    return reference["kind"], reference["name"]


def test_a_deployment_makes_pods_through_a_replica_set_that_selects_them() -> None:
    made = expand(workload("Deployment", replicas=3))
    version = template_hash(TEMPLATE)
    assert names(made) == ["web-1", "web-2", "web-3"]
    assert owner(made) == ("ReplicaSet", f"web-{version}")
    assert made.pods[0]["metadata"]["labels"] == {"app": "web", "pod-template-hash": version}
    assert made.owner is not None
    assert made.owner.metadata.name == f"web-{version}"
    assert isinstance(made.owner.spec.selector, LabelSelector)
    assert made.owner.spec.selector.match_labels == {"app": "web", "pod-template-hash": version}


def test_another_template_is_another_replica_set() -> None:
    other = {**TEMPLATE, "spec": {"containers": [{"name": "c", "image": "j"}]}}
    assert owner(expand(workload("Deployment"))) != owner(expand(workload("Deployment", template=other)))


def test_names_that_are_taken_are_passed_over() -> None:
    assert names(expand(workload("ReplicaSet", replicas=2), cluster=KnownCluster(taken={"shop/web-1"}))) == [
        "web-2",
        "web-3",
    ]


def test_a_replica_set_owns_its_pods_itself() -> None:
    assert owner(expand(workload("ReplicaSet"))) == ("ReplicaSet", "web")


def test_stateful_pods_count_from_their_start() -> None:
    made = expand(workload("StatefulSet", replicas=2, ordinals={"start": 5}, serviceName="peers"))
    assert names(made) == ["web-5", "web-6"]
    assert owner(made) == ("StatefulSet", "web")
    labels = made.pods[1]["metadata"]["labels"]
    assert labels["apps.kubernetes.io/pod-index"] == "6"
    assert labels["statefulset.kubernetes.io/pod-name"] == "web-6"
    assert made.pods[1]["spec"]["hostname"] == "web-6"
    assert made.pods[1]["spec"]["subdomain"] == "peers"
    assert any("one by one" in note for note in made.notes)


def test_claim_templates_become_volumes_of_each_pod() -> None:
    made = expand(workload("StatefulSet", replicas=2, volumeClaimTemplates=[{"metadata": {"name": "data"}}]))
    assert [pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] for pod in made.pods] == [
        "data-web-0",
        "data-web-1",
    ]
    assert "volumes" not in TEMPLATE["spec"]


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({}, 1),
        ({"parallelism": 3}, 3),
        ({"parallelism": 3, "completions": 2}, 2),
        ({"completions": 5}, 1),
        ({"parallelism": 0}, 0),
    ],
    ids=["one by default", "as many as run at a time", "no more than are needed", "one at a time", "none"],
)
def test_how_many_pods_a_job_runs_at_a_time(spec: Object, count: int) -> None:
    assert len(expand(workload("Job", **spec)).pods) == count


def test_an_indexed_job_numbers_its_pods() -> None:
    made = expand(workload("Job", parallelism=2, completions=2, completionMode="Indexed"))
    assert names(made) == ["web-0", "web-1"]
    assert made.pods[1]["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == "1"


def test_a_pod_is_itself_and_gets_the_namespace() -> None:
    made = expand({"kind": "Pod", "metadata": {"name": "web"}, "spec": {}}, "shop")
    assert made.pods == [{"kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}, "spec": {}}]
    assert made.template_path == ""


def test_a_generated_name_is_made_up() -> None:
    made = expand({"kind": "Pod", "metadata": {"generateName": "web-"}, "spec": {}})
    assert names(made) == ["web-1"]


def test_a_selector_that_misses_the_template_is_an_error_of_the_workload() -> None:
    made = expand(workload("Deployment", selector={"matchLabels": {"app": "other"}}))
    assert [str(error) for error in made.errors] == [
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`'
    ]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (workload("Deployment", template=None), "spec.template: a Deployment needs a pod template"),
        (workload("Deployment", replicas=-2), "spec.replicas: must be greater than or equal to 0, not -2"),
        (workload("Job", parallelism=10**6), "spec.parallelism: 1000000 pods are more than the 100000"),
        (workload("StatefulSet", template={"spec": 3}), "spec.template.spec: must be an object, not 3"),
        (workload("StatefulSet", volumeClaimTemplates=[{}]), "spec.volumeClaimTemplates[0].metadata.name: a claim"),
        ({"kind": "Deployment", "spec": {}}, "metadata.name: a Deployment needs a name"),
    ],
)
def test_workloads_whose_pods_cannot_be_told(value: Object, problem: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        expand(value)
    assert str(caught.value).startswith(problem)
