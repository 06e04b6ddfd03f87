"""What is refused and what is filled in when a job is applied, by its fields."""

from __future__ import annotations

import pytest

from mooring.features.notebooks.validation.job import validate_job
from mooring.features.notebooks.webhooks import DEFAULTING, VALIDATION
from mooring.kube.objects import Object
from mooring.runtime.webhooks.model import Admitted
from mooring.testing.notebooks import notebook_job
from mooring.testing.webhooks import admitted, answered, patched_to, review
from tests.features.notebooks.objects import GIT, NOW, REQUIRED, create, node_affinity, registry_with_notebooks, typed

LONG = "x" * 64


def errors(obj: Object) -> list[str]:
    return [f"{error.path}: {error.kind}" for error in validate_job(typed(obj))]


def pod_affinity(**term: object) -> Object:
    return {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "zone", **term}]}}}


TERM = f"spec.podConfig.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]"
APART = f"spec.podConfig.affinity.podAntiAffinity.{REQUIRED}[0]"
TOLERATION = "spec.podConfig.tolerations[0]"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        # Tolerations
        ({"tolerations": [{"key": "a b", "operator": "Exists"}]}, f"{TOLERATION}.key: Invalid value"),
        ({"tolerations": [{"effect": "NoSchedule"}]}, f"{TOLERATION}.operator: Invalid value"),
        ({"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]}, f"{TOLERATION}.operator: Invalid value"),
        ({"tolerations": [{"key": "a", "value": LONG}]}, f"{TOLERATION}.operator: Invalid value"),
        (
            {"tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 5}]},
            f"{TOLERATION}.effect: Invalid value",
        ),
        # nodeSelector
        ({"nodeSelector": {"a b": "c"}}, "spec.podConfig.nodeSelector: Invalid value"),
        ({"nodeSelector": {"a": "-b"}}, "spec.podConfig.nodeSelector: Invalid value"),
        # Conditions on nodes
        (
            node_affinity({"key": "a", "operator": "In", "values": []}),
            f"{TERM}.matchExpressions[0].values: Required value",
        ),
        (
            node_affinity({"key": "a", "operator": "Exists", "values": ["b"]}),
            f"{TERM}.matchExpressions[0].values: Forbidden",
        ),
        (
            node_affinity({"key": "a", "operator": "Gt", "values": ["1", "2"]}),
            f"{TERM}.matchExpressions[0].values: Required value",
        ),
        (
            node_affinity({"key": "a", "operator": "Gt", "values": ["many"]}),
            f"{TERM}.matchExpressions[0].values[0]: Invalid value",
        ),
        (
            node_affinity({"key": "a b", "operator": "Exists"}),
            f"{TERM}.matchExpressions[0].key: Invalid value",
        ),
        (
            node_affinity({"key": "a", "operator": "In", "values": ["b c"]}),
            f"{TERM}.matchExpressions[0].values[0]: Invalid value",
        ),
        (
            node_affinity(fields=({"key": "metadata.uid", "operator": "In", "values": ["n0"]},)),
            f"{TERM}.matchFields[0].key: Invalid value",
        ),
        (
            node_affinity(fields=({"key": "metadata.name", "operator": "Exists"},)),
            f"{TERM}.matchFields[0].operator: Invalid value",
        ),
        (
            node_affinity(fields=({"key": "metadata.name", "operator": "In", "values": ["a", "b"]},)),
            f"{TERM}.matchFields[0].values: Required value",
        ),
        # Other pods
        (pod_affinity(topologyKey="a b"), f"{APART}.topologyKey: Invalid value"),
        (pod_affinity(namespaces=["Not A Name"]), f"{APART}.namespace: Invalid value"),
        (
            pod_affinity(labelSelector={"matchExpressions": [{"key": "a", "operator": "In"}]}),
            f"{APART}.labelSelector.matchExpressions[0].values: Required value",
        ),
        (
            pod_affinity(namespaceSelector={"matchLabels": {"a b": "c"}}),
            f"{APART}.namespaceSelector.matchLabels: Invalid value",
        ),
        # Resources
        ({"resources": {"limits": {"cpu": "lots"}}}, "spec.podConfig.resources.limits[cpu]: Invalid value"),
        ({"resources": {"requests": {"memory": ""}}}, "spec.podConfig.resources.requests[memory]: Invalid value"),
        (
            {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}},
            "spec.podConfig.resources.requests: Invalid value",
        ),
        ({"resources": {"limits": {"cpu": "-1"}}}, "spec.podConfig.resources.limits[cpu]: Invalid value"),
        (
            {"resources": {"requests": {"nvidia.com/gpu": "1"}}},
            "spec.podConfig.resources.limits: Required value",
        ),
        # Image, account, variables
        ({"containerImage": " "}, "spec.podConfig.containerImage: Invalid value"),
        ({"containerImage": ""}, "spec.podConfig.containerImage: Required value"),
        ({"serviceAccountName": "A B"}, "spec.podConfig.serviceAccountName: Invalid value"),
        ({"env": [{"name": ""}]}, "spec.podConfig.env[0].name: Required value"),
        ({"env": [{"name": "A"}, {"name": "=B"}]}, "spec.podConfig.env[1].name: Invalid value"),
        (
            {"env": [{"name": "A", "value": "b", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]},
            "spec.podConfig.env[0].valueFrom: Invalid value",
        ),
        ({"env": [{"name": "A", "valueFrom": {}}]}, "spec.podConfig.env[0].valueFrom: Invalid value"),
        ({"envFrom": [{}]}, "spec.podConfig.envFrom: Invalid value"),
        ({"credentials": ["Not A Name"]}, "spec.podConfig.credentials[0]: Invalid value"),
        # Volumes
        ({"volumes": [{"name": "a"}]}, "spec.podConfig.volumes[0]: Required value"),
        (
            {"volumes": [{"name": "a", "emptyDir": {}, "secret": {"secretName": "s"}}]},
            "spec.podConfig.volumes[0]: Invalid value",
        ),
        ({"volumes": [{"name": "a", "emptyDir": {}}] * 2}, "spec.podConfig.volumes[1].name: Duplicate value"),
        ({"volumeMounts": [{"name": "a", "mountPath": "/a"}]}, "spec.podConfig.volumeMounts[0].name: Not found"),
        (
            {"volumes": [{"name": "a", "configMap": {"name": "c", "items": [{"key": "k", "path": "../k"}]}}]},
            "spec.podConfig.volumes[0].configMap.items[0].path: Invalid value",
        ),
        (
            {
                "volumes": [{"name": "a", "emptyDir": {}}],
                "volumeMounts": [{"name": "a", "mountPath": "/a", "subPath": "/b"}],
            },
            "spec.podConfig.volumeMounts.subPath: Invalid value",
        ),
        (
            {
                "volumes": [{"name": "a", "emptyDir": {}}],
                "volumeMounts": [{"name": "a", "mountPath": "/a"}, {"name": "a", "mountPath": "/a/"}],
            },
            "spec.podConfig.volumeMounts[1].mountPath: Duplicate value",
        ),
    ],
)
def test_what_no_pod_can_have_is_refused_by_the_field_of_the_job(config: Object, expected: str) -> None:
    assert errors(notebook_job(pod=config)) == [expected]


@pytest.mark.parametrize(
    "name",
    [
        "git-clone", "notebook-data", "source", "workspace", "jovyan-home", "mooring-runner",
        "git-credentials", "golden-git-credentials",
    ],
)  # fmt: skip
def test_the_pods_own_volumes_are_reserved(name: str) -> None:
    found = errors(notebook_job(pod={"volumes": [{"name": name, "emptyDir": {}}]}))
    assert found == ["spec.podConfig.volumes[0].name: Invalid value"]


@pytest.mark.parametrize(
    ("path", "is_free"),
    [
        ("/workspace", False), ("/workspace/", False), ("//workspace", False), ("/home/jovyan", False),
        ("/mooring", False), ("/mooring/clone.sh", False), ("/mooring-credentials", False),
        ("/workspace/repo", False), ("/workspace/golden/.", False),
        ("/workspace/data", True), ("/home/jovyan/data", True), ("/data", True), ("/mooring-data", True),
    ],
)  # fmt: skip
def test_the_pods_own_directories_are_reserved(path: str, is_free: bool) -> None:
    volumes = {"volumes": [{"name": "a", "emptyDir": {}}], "volumeMounts": [{"name": "a", "mountPath": path}]}
    found = errors(notebook_job(pod=volumes))
    assert found == ([] if is_free else ["spec.podConfig.volumeMounts[0].mountPath: Invalid value"])


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"timeout": "0s"}, "spec.timeout: Invalid value"),
        ({"timeout": "99999999999999h"}, "spec.timeout: Invalid value"),
        ({"timeout": "8760h1s"}, "spec.timeout: Invalid value"),
        ({"cellTimeout": "0ms"}, "spec.cellTimeout: Invalid value"),
        ({"parameters": {"a b": 1}}, "spec.parameters[a b]: Invalid value"),
        ({"parameters": {"a": "x" * 600_000}}, "spec.parameters: Too long"),
        (
            {"comparisonConfig": {"customTimestampPatterns": [".*", "("]}},
            "spec.comparisonConfig.customTimestampPatterns[1]: Invalid value",
        ),
        (
            {"comparisonConfig": {"customTimestampPatterns": ["[[:digit:]]+"]}},
            "spec.comparisonConfig.customTimestampPatterns[0]: Invalid value",
        ),
        (
            {"comparisonConfig": {"customTimestampPatterns": ["x" * 1001]}},
            "spec.comparisonConfig.customTimestampPatterns[0]: Invalid value",
        ),
        (
            {"comparisonConfig": {"floatingPointTolerance": "1e999"}},
            "spec.comparisonConfig.floatingPointTolerance: Invalid value",
        ),
        (
            {"validationConfig": {"expectedOutputs": [{"cell": 0, "shape": "wide"}]}},
            "spec.validationConfig.expectedOutputs[0].shape: Invalid value",
        ),
        (
            {"validationConfig": {"expectedOutputs": [{"cell": 0, "minValue": "2", "maxValue": "1"}]}},
            "spec.validationConfig.expectedOutputs[0].minValue: Invalid value",
        ),
        (
            {"goldenNotebook": {"git": {**GIT, "credentialsSecret": "A B"}, "path": "g.ipynb"}},
            "spec.goldenNotebook.git.credentialsSecret: Invalid value",
        ),
    ],
)
def test_limits_parameters_and_rules_that_cannot_be_used_are_refused(spec: Object, expected: str) -> None:
    assert errors(notebook_job(**spec)) == [expected]


@pytest.mark.parametrize(
    ("git", "field"),
    [
        ({"url": "https://user:secret@git.example.com/a.git"}, "url: Forbidden"),
        ({"url": "https://token@git.example.com/a.git"}, "url: Forbidden"),
        ({"url": "ssh://git:secret@git.example.com/a.git"}, "url: Forbidden"),
        ({"url": "https://git.example.com"}, "url: Invalid value"),
        ({"url": "https:///a.git"}, "url: Invalid value"),
        ({"url": "ssh://-oProxyCommand=x/a"}, "url: Invalid value"),
        ({"url": "git@git.example.com"}, "url: Invalid value"),
        ({"url": "https://git.example.com/a b.git"}, "url: Invalid value"),
        ({"url": "https://git.example.com:many/a.git"}, "url: Invalid value"),
        ({"ref": ""}, "ref: Required value"),
        ({"ref": "--upload-pack=x"}, "ref: Invalid value"),
        ({"ref": "a b"}, "ref: Invalid value"),
        ({"ref": "main~1"}, "ref: Invalid value"),
        ({"ref": "a..b"}, "ref: Invalid value"),
    ],
)
def test_repositories_that_git_could_not_be_asked_for_are_refused(git: Object, field: str) -> None:
    job = notebook_job(notebook={"git": {**GIT, **git}, "path": "a.ipynb"})
    assert errors(job) == [f"spec.notebook.git.{field}"]
    assert not any("secret@" in str(error) or "token@" in str(error) for error in validate_job(typed(job)))


@pytest.mark.parametrize(
    "git",
    [
        {"url": "git@git.example.com:team/a.git"},
        {"url": "ssh://git@git.example.com:2222/a.git"},
        {"url": "git://127.0.0.1:9418/a"},
        {"url": "http://localhost:8080/git/a.git"},
        {"ref": "feature/x-1"},
        {"ref": "refs/tags/v1.0"},
        {"ref": "0f6f1c5f7e4f4b9ea1f0c3a1f3d2b1a09f8e7d6c"},
    ],
)
def test_repositories_and_refs_that_people_use_are_taken(git: Object) -> None:
    assert errors(notebook_job(notebook={"git": {**GIT, **git}, "path": "a b/ü.ipynb"})) == []


@pytest.mark.parametrize("path", ["/etc/a.ipynb", "../a.ipynb", "a/../../b.ipynb", ".git/a.ipynb", "a\nb.ipynb"])
def test_a_notebook_outside_of_its_repository_is_refused(path: str) -> None:
    assert errors(notebook_job(notebook={"git": GIT, "path": path})) == ["spec.notebook.path: Invalid value"]


def test_a_name_that_is_no_label_is_refused_once() -> None:
    assert errors(notebook_job("x" * 63)) == []
    assert errors(notebook_job("x" * 64)) == ["metadata.name: Invalid value"]


def test_a_generated_name_counts_with_its_suffix() -> None:
    obj = notebook_job("")
    obj["metadata"] = {"generateName": "x" * 58, "namespace": "default"}
    assert admitted(VALIDATION, review(obj))
    obj["metadata"]["generateName"] += "x"
    assert not admitted(VALIDATION, review(obj))


def test_all_errors_come_at_once() -> None:
    config = {
        "nodeSelector": {"a b": "c"},
        "tolerations": [{"effect": "NoSchedule"}, {"key": "a", "operator": "Exists", "value": "b"}],
        "resources": {"limits": {"cpu": "lots", "memory": "-1"}},
    }
    assert errors(notebook_job(timeout="0s", pod=config)) == [
        "spec.timeout: Invalid value",
        "spec.podConfig.resources.limits[cpu]: Invalid value",
        "spec.podConfig.resources.limits[memory]: Invalid value",
        "spec.podConfig.nodeSelector: Invalid value",
        "spec.podConfig.tolerations[0].operator: Invalid value",
        "spec.podConfig.tolerations[1].operator: Invalid value",
    ]


def test_a_place_without_a_key_is_refused() -> None:
    assert f"{APART}.topologyKey: Required value" in errors(notebook_job(pod=pod_affinity(topologyKey="")))


def test_a_job_without_a_spec_is_refused() -> None:
    obj = notebook_job()
    del obj["spec"]
    assert errors(obj) == ["spec: Required value"]


# Changes


def test_what_was_wrong_before_keeps_nobody_from_changing_anything_else() -> None:
    old = notebook_job(pod={"nodeSelector": {"a b": "c"}})
    labelled = {**old, "metadata": {**old["metadata"], "labels": {"team": "ml"}}}
    assert admitted(VALIDATION, review(labelled, old))
    worse = notebook_job(timeout="0s", pod={"nodeSelector": {"a b": "c"}})
    assert not admitted(VALIDATION, review(worse, old))


def test_what_goes_away_may_go() -> None:
    gone = notebook_job(timeout="0s")
    gone["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert admitted(VALIDATION, review(gone, gone))
    assert admitted(VALIDATION, review(None, gone))


# Defaults


def test_credentials_become_sources_of_variables_and_go() -> None:
    config = {"credentials": ["aws", "mlflow", "aws"], "envFrom": [{"secretRef": {"name": "mlflow"}}]}
    made = patched_to(DEFAULTING, review(notebook_job(pod=config)))
    expected = [{"secretRef": {"name": "mlflow"}}, {"secretRef": {"name": "aws"}}]
    assert made["spec"]["podConfig"]["envFrom"] == expected
    assert "credentials" not in made["spec"]["podConfig"]
    assert answered(DEFAULTING, review(made)) == Admitted(made)


def test_a_job_in_a_cluster_has_its_defaults() -> None:
    made = create(registry_with_notebooks(), notebook_job(pod={"credentials": ["aws"]}))
    config = made["spec"]["podConfig"]
    assert (config["envFrom"], config.get("credentials")) == ([{"secretRef": {"name": "aws"}}], None)


def test_a_manifest_with_credentials_can_be_applied_again() -> None:
    registry = registry_with_notebooks()
    obj = notebook_job(pod={"credentials": ["aws"], "envFrom": [{"configMapRef": {"name": "settings"}}]})
    resource = registry.resource(obj["apiVersion"], obj["kind"])
    _, again = (
        registry.patch(resource, "default", "train", "apply", obj, now=NOW, manager="kubectl") for _ in range(2)
    )
    assert again["spec"]["podConfig"]["envFrom"] == [
        {"configMapRef": {"name": "settings"}},
        {"secretRef": {"name": "aws"}},
    ]
