"""Notebook jobs as `explain` shows them: where the pod lands, and what to change in the job where it does not.

`MOORING_UPDATE_GOLDEN=1 pytest tests/cli/test_notebooks.py` writes the page anew; look at the difference before
keeping it.
"""

from __future__ import annotations

import json
import shlex

import msgspec
import pytest
import yaml

from mooring.cli.snapshot_writer import SnapshotEncoder
from mooring.features.notebooks.editable import EDITABLE
from mooring.features.notebooks.expansion import expand_job
from mooring.features.notebooks.workload import NOTEBOOK_PODS
from mooring.kube.objects import Object
from mooring.kube.patches import json_patch
from mooring.placement.workloads.known_cluster import KnownCluster
from mooring.testing.builders import node
from mooring.testing.notebooks import notebook_job
from tests.cli.test_pages import check
from tests.cli.world import World

TAINT = "nvidia.com/gpu=True:NoSchedule"
GPU = node("gpu-1", gpu=4, labels={"nvidia.com/gpu.present": "true"}, taints=[TAINT])
PLAIN = node("cpu-1")
EXISTS = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
# As the value looks at a glance.
EQUAL = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule"}


def job(*tolerations: Object, **parts: object) -> Object:
    return notebook_job(gpu=1, tolerations=tolerations, **parts)  # type: ignore[arg-type]


def test_a_taint_is_tolerated_by_exists_and_not_by_another_spelling_of_its_value(world: World) -> None:
    world.add(GPU, PLAIN)
    done = world.explain(job(EXISTS))
    assert done.exit_code == 0
    assert done.stdout.startswith("default/train-validation would be scheduled on gpu-1, the only node that fits\n")
    done = world.explain(job(EQUAL))
    check("notebook-taint", done.stdout)
    assert done.exit_code == 2


def test_what_would_help_is_an_edit_of_the_job_and_lets_it_land(world: World) -> None:
    world.add(GPU, PLAIN)
    obj = job(EQUAL, selector={"nvidia.com/gpu.present": "true"})
    advice = world.answer(obj)["advice"][0]
    words = shlex.split(advice["command"])
    operations = json.loads(words[words.index("-p") + 1])
    assert [each["path"] for each in operations] == ["/spec/podConfig/tolerations/0/value"]
    assert world.explain(json_patch(obj, operations)).exit_code == 0


def test_only_what_a_job_can_say_is_advised(world: World) -> None:
    world.add(node("small", cpu="2"), node("gpu-1", gpu=1))
    obj = notebook_job(cpu="64", gpu=2, selector={"disk": "ssd"})
    for advice in world.answer(obj)["advice"]:
        for edit in (each for each in advice["edits"] if each["target"] == "pod"):
            assert edit["path"].startswith(tuple(EDITABLE))


def test_a_job_of_the_cluster_is_explained_by_its_names(world: World) -> None:
    selects_all = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}, "namespaceSelector": {}},
    ]}}  # fmt: skip
    volumes = [{"name": "scratch", "emptyDir": {}}, {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    obj = job(EXISTS, affinity=selects_all, pod={"volumes": volumes, "env": [{"name": "A", "value": "secret"}]})
    world.add(GPU, PLAIN, {**obj, "status": {"phase": "ValidationRunning"}})
    for asked in ("nvj/train", "notebookvalidationjob/train", "notebookvalidationjobs.mlops.mlops.dev/train"):
        done = world.explain(asked)
        assert "train-validation" in done.stdout, done.stderr
        assert "NotebookValidationJob default/train is invalid" not in done.stdout


def test_a_snapshot_keeps_what_decides_where_a_job_lands_and_no_variable() -> None:
    terms = [{"topologyKey": "zone"}, {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {}}]
    affinity = {"podAffinity": {}, "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    secret = {"env": [{"name": "A", "value": "hidden"}], "volumes": [{"name": "scratch", "emptyDir": {}}]}
    obj = job(EXISTS, {**EQUAL, "value": "True"}, affinity=affinity, selector={"pool": "a"}, pod=secret)
    _, text = SnapshotEncoder().item(obj["kind"], msgspec.convert(obj, NOTEBOOK_PODS.view))
    assert "hidden" not in text
    (saved,) = yaml.safe_load(text)
    whole, kept = (expand_job(each, "default", KnownCluster()).pods[0]["spec"] for each in (obj, saved))
    for field in ("tolerations", "nodeSelector", "affinity", "volumes"):
        assert kept[field] == whole[field]
    assert [each.get("resources") for each in kept["containers"]] == [
        each.get("resources") for each in whole["containers"]
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"timeout": "0s"}, 'spec.timeout: Invalid value: "0s": must be more than 0s'),
        ({"url": "file:///srv/a"}, 'spec.notebook.git.url: Invalid value: "file:///srv/a": spec.notebook.git.url'),
        ({"selector": {"a b": "c"}}, 'spec.podConfig.nodeSelector: Invalid value: "a b"'),
        ({"pod": {"tolerations": [{"effect": "NoSchedule"}]}}, "spec.podConfig.tolerations[0].operator: Invalid value"),
        ({"pod": {"resources": {"limits": {"cpu": "lots"}}}}, "spec.podConfig.resources.limits[cpu]: Invalid value"),
    ],
)  # fmt: skip
def test_what_the_api_would_refuse_is_told_in_its_words(world: World, change: Object, said: str) -> None:
    world.add(PLAIN)
    done = world.explain(notebook_job(**change))
    assert said in done.stdout
    assert done.exit_code == 2


def test_what_the_api_would_drop_and_what_is_not_there_is_noted(world: World) -> None:
    world.add(PLAIN)
    done = world.explain(notebook_job(retryPolicy={}, modelValidation={"targetModels": ["fraud"]}))
    assert 'unknown field "spec.retryPolicy"; the API drops it' in done.stdout
    assert "models on kserve are not checked" in done.stdout
    assert done.exit_code == 0


def test_a_job_that_wants_an_image_built_waits_for_ever(world: World) -> None:
    world.add(PLAIN)
    done = world.explain(notebook_job(pod={"buildConfig": {"enabled": True}}))
    assert "built with s2i, and Mooring builds none" in done.stdout
    assert done.exit_code == 2
