"""The pod and the ConfigMap of a job: names, labels, containers, volumes and variables are a contract.

`MOORING_UPDATE_GOLDEN=1 pytest tests/features/notebooks/test_pods.py` writes the pods anew; look at the difference
before keeping it.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from mooring.features.notebooks.validation_pod.config_map import runner_config_map, runner_settings
from mooring.features.notebooks.validation_pod.pod import validation_pod
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml
from mooring.nodes.process.containers.environment.expansion import expand
from mooring.testing.notebooks import notebook_job
from tests.features.notebooks.objects import GIT, SAMPLES, sample, typed

GOLDEN = Path(__file__).parent / "golden"
SCHEDULING = ("tolerations", "nodeSelector", "affinity")


@pytest.mark.parametrize("name", sorted(path.stem for path in SAMPLES.glob("*.yaml")))
def test_the_pod_of_a_sample_is_the_one_that_is_kept(name: str) -> None:
    pod = validation_pod(typed(sample(name)))
    page = GOLDEN / f"{name}.yaml"
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        page.write_text(to_yaml(pod), encoding="utf-8")
    assert pod == yaml.safe_load(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["notebook-gpu", "notebook-high-memory", "notebook-spot", "notebook-multi-tenant"])
def test_scheduling_fields_add_to_the_pod_and_change_nothing_else(name: str) -> None:
    obj = sample(name)
    config = {key: value for key, value in obj["spec"]["podConfig"].items() if key not in SCHEDULING}
    without = validation_pod(typed({**obj, "spec": {**obj["spec"], "podConfig": config}}))
    whole = validation_pod(typed(obj))
    assert not {*SCHEDULING} & without["spec"].keys()
    assert {key: value for key, value in whole["spec"].items() if key not in SCHEDULING} == without["spec"]


def test_the_first_pod_has_the_name_that_people_know_and_a_replacement_another() -> None:
    names = [validation_pod(typed(notebook_job("x")), attempt)["metadata"]["name"] for attempt in range(3)]
    assert names == ["x-validation", "x-validation-1", "x-validation-2"]


def test_a_pod_belongs_to_its_job() -> None:
    (owner,) = validation_pod(typed(notebook_job()))["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("NotebookValidationJob", "train", True)


def env(obj: Object) -> dict[str, Any]:
    (container,) = validation_pod(typed(obj))["spec"]["containers"]
    assert len({each["name"] for each in container["env"]}) == len(container["env"])
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in container["env"]}


def test_variables_are_merged_by_name_and_a_persons_count_most() -> None:
    source = {"secretKeyRef": {"name": "keys", "key": "token"}}
    mine = [{"name": "HOME", "value": "/data"}, {"name": "TOKEN", "valueFrom": source}, {"name": "A", "value": "1"}]
    found = env(notebook_job(pod={"env": [*mine, {"name": "A", "value": "2"}]}))
    assert (found["HOME"], found["TOKEN"], found["A"]) == ("/data", source, "2")
    assert (found["PIP_USER"], found["PYTHONUSERBASE"]) == ("1", "/workspace/.local")
    assert found["VALIDATION_LEVEL"] == "development"


def test_settings_of_validation_are_told_as_variables() -> None:
    found = env(notebook_job(validationConfig={"level": "production", "failOnStderr": True}))
    assert {name: value for name, value in found.items() if name.startswith("VALIDATION_")} == {
        "VALIDATION_LEVEL": "production",
        "VALIDATION_STRICT_MODE": "false",
        "VALIDATION_FAIL_ON_STDERR": "true",
        "VALIDATION_FAIL_ON_WARNINGS": "false",
        "VALIDATION_DETECT_SILENT_FAILURES": "true",
    }


def test_models_are_told_as_variables() -> None:
    models = {
        "platform": "custom",
        "targetModels": ["fraud", "shared/churn", "shared/price"],
        "predictionValidation": {"testData": "[1]", "expectedOutput": "[2]"},
        "customPlatform": {"apiGroup": "example.com", "healthCheckEndpoint": "/health"},
    }
    found = env(notebook_job(modelValidation=models))
    assert {name.removeprefix("MODEL_VALIDATION_"): value for name, value in found.items() if "MODEL_" in name} == {
        "ENABLED": "true",
        "PLATFORM": "custom",
        "NAMESPACE": "default",
        "PHASE": "both",
        "TARGET_MODELS": "default/fraud,shared/churn,shared/price",
        "TARGET_MODELS_ORIGINAL": "fraud,shared/churn,shared/price",
        "TARGET_NAMESPACES": "default,shared",
        "PREDICTION_ENABLED": "true",
        "PREDICTION_TEST_DATA": "[1]",
        "PREDICTION_EXPECTED_OUTPUT": "[2]",
        "PREDICTION_TOLERANCE": "0.01",
        "CUSTOM_API_GROUP": "example.com",
        "CUSTOM_HEALTH_ENDPOINT": "/health",
        "TIMEOUT": "5m",
    }
    assert not any("MODEL_" in name for name in env(notebook_job(modelValidation={**models, "enabled": False})))


def test_credentials_follow_what_is_taken_from_other_objects() -> None:
    config = {"envFrom": [{"configMapRef": {"name": "settings"}}], "credentials": ["aws", "mlflow"]}
    (container,) = validation_pod(typed(notebook_job(pod=config)))["spec"]["containers"]
    assert container["envFrom"] == [
        {"configMapRef": {"name": "settings"}},
        {"secretRef": {"name": "aws"}},
        {"secretRef": {"name": "mlflow"}},
    ]


def test_credentials_of_git_are_files_of_the_container_that_clones_and_of_no_other() -> None:
    golden = {"git": {**GIT, "credentialsSecret": "golden-key"}, "path": "golden.ipynb"}
    main = {"git": {**GIT, "credentialsSecret": "key"}, "path": "hello.ipynb"}
    pod = validation_pod(typed(notebook_job(notebook=main, goldenNotebook=golden)))
    secrets = {each["name"]: each["secret"]["secretName"] for each in pod["spec"]["volumes"] if "secret" in each}
    assert secrets == {"git-credentials": "key", "golden-git-credentials": "golden-key"}
    containers = [*pod["spec"]["initContainers"], *pod["spec"]["containers"]]
    mounted = {each["name"]: [m["name"] for m in each["volumeMounts"] if m["name"] in secrets] for each in containers}
    assert mounted == {
        "git-clone": ["git-credentials"],
        "golden-git-clone": ["golden-git-credentials"],
        "validator": [],
    }
    assert not any("credentials" in json.dumps(each.get("env")) for each in containers)


def test_a_clone_takes_no_longer_than_the_job() -> None:
    def limit(timeout: str) -> str:
        (clone,) = validation_pod(typed(notebook_job(timeout=timeout)))["spec"]["initContainers"]
        return str(next(each["value"] for each in clone["env"] if each["name"] == "GIT_TIMEOUT_SECONDS"))

    assert (limit("2h"), limit("90s"), limit("10ms")) == ("600", "90", "1")


def test_what_a_node_would_expand_in_a_path_is_taken_literally() -> None:
    source = {"git": GIT, "path": "$(HOME)/a$$b.ipynb"}
    (clone,) = validation_pod(typed(notebook_job(notebook=source)))["spec"]["initContainers"]
    variables = {each["name"]: each["value"] for each in clone["env"]}
    assert expand(variables["GIT_NOTEBOOK_PATH"], {"HOME": "/tmp"}) == source["path"]


def test_volumes_of_a_person_are_mounted_where_the_notebook_runs() -> None:
    volumes: list[Object] = [
        {"name": "models", "persistentVolumeClaim": {"claimName": "models", "readOnly": True}},
        {"name": "config", "configMap": {"name": "c", "items": [{"key": "a", "path": "b"}], "defaultMode": 0}},
        {"name": "scratch", "emptyDir": {}},
    ]
    mounts = [{"name": each["name"], "mountPath": f"/{each['name']}"} for each in volumes]
    pod = validation_pod(typed(notebook_job(pod={"volumes": volumes, "volumeMounts": mounts})))
    assert pod["spec"]["volumes"][-3:] == volumes
    assert pod["spec"]["containers"][0]["volumeMounts"][-3:] == mounts
    assert len(pod["spec"]["initContainers"][0]["volumeMounts"]) == 2


def test_a_job_without_a_spec_makes_no_pod() -> None:
    with pytest.raises(MooringError, match="spec: a job needs a notebook"):
        validation_pod(typed({key: value for key, value in notebook_job().items() if key != "spec"}))


# The ConfigMap


def test_the_config_map_holds_the_runner_its_scripts_and_its_settings() -> None:
    made = runner_config_map(typed(notebook_job("x")), b"PK")
    assert made["metadata"]["name"] == "x-validation"
    assert made["metadata"]["ownerReferences"][0]["controller"]
    assert base64.b64decode(made["binaryData"]["runner.pyz"]) == b"PK"
    assert set(made["data"]) == {"clone.sh", "askpass.sh", "settings.json"}
    assert json.loads(made["data"]["settings.json"]) == runner_settings(typed(notebook_job("x")))


def test_the_runner_is_told_what_the_job_says() -> None:
    spec: Object = {
        "goldenNotebook": {"git": GIT, "path": "a b/golden.ipynb"},
        "timeout": "1h30m",
        "cellTimeout": "500ms",
        "parameters": {"day": "2026-01-31", "n": [1, {"a": None}]},
        "comparisonConfig": {"strategy": "exact", "relativeTolerance": "0.01", "normalizers": ["uuids"]},
        "validationConfig": {"expectedOutputs": [{"cell": 2, "minValue": "0.5"}]},
    }
    told = runner_settings(typed(notebook_job(**spec)))
    assert told["notebook"] == "/workspace/repo/notebooks/train.ipynb"
    assert told["golden"] == "/workspace/golden/a b/golden.ipynb"
    assert (told["timeoutSeconds"], told["cellTimeoutSeconds"], told["output"]) == (5400, 0.5, "/workspace")
    assert told["parameters"] == spec["parameters"]
    assert told["comparison"] == {
        "strategy": "exact",
        "floatingPointTolerance": "0.0001",
        "ignoreTimestamps": True,
        "ignoreExecutionCount": True,
        "customTimestampPatterns": [],
        "ignoreOutputTypes": [],
        "relativeTolerance": "0.01",
        "normalizers": ["uuids"],
    }
    assert told["validation"]["expectedOutputs"] == [{"cell": 2, "minValue": "0.5"}]


def test_what_a_job_leaves_out_the_runner_is_not_told() -> None:
    assert set(runner_settings(typed(notebook_job()))) == {
        "notebook",
        "parameters",
        "timeoutSeconds",
        "comparison",
        "output",
    }


@pytest.mark.parametrize(
    ("annotations", "field", "expected"),
    [
        ({"mlops.dev/comparison-strategy": "exact"}, "strategy", "exact"),
        ({"mlops.dev/comparison-strategy": "vague"}, "strategy", "normalized"),
        ({"mlops.dev/numeric-tolerance": "0.5"}, "floatingPointTolerance", "0.5"),
        ({"mlops.dev/numeric-tolerance": "much"}, "floatingPointTolerance", "0.0001"),
        ({"mlops.dev/ignore-timestamps": "false"}, "ignoreTimestamps", False),
        ({"mlops.dev/ignore-execution-count": "false"}, "ignoreExecutionCount", False),
        ({"mlops.dev/ignore-execution-counts": "false"}, "ignoreExecutionCount", False),
        ({"mlops.dev/timestamp-patterns": "\\d{1,2}s\nat .*"}, "customTimestampPatterns", ["\\d{1,2}s", "at .*"]),
        ({"mlops.dev/timestamp-patterns": "("}, "customTimestampPatterns", []),
    ],
)
def test_annotations_count_where_there_is_no_comparison_config(
    annotations: Object, field: str, expected: object
) -> None:
    obj = notebook_job()
    obj["metadata"]["annotations"] = annotations
    told = json.loads(json.dumps(runner_settings(typed(obj))["comparison"]))
    assert told[field] == expected
    obj["spec"]["comparisonConfig"] = {}
    ruled = runner_settings(typed(notebook_job(comparisonConfig={})))["comparison"]
    assert runner_settings(typed(obj))["comparison"] == ruled
