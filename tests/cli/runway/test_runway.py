"""The commands of runway, on a cluster without controllers: what they ask, say and write, and how they end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from mooring.cli.main import cli
from mooring.cli.runway.asked_deployment import default_name
from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml
from mooring.runway.providers.registry import deployment_manifests, read_deployment
from mooring.runway.settings import DEFAULT_SETTINGS
from mooring.testing.builders import node, pod
from mooring.testing.http import Api
from tests.cli.served import ServedCluster, served
from tests.runway.clusters import gpu_node


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ServedCluster]:
    with served(tmp_path) as running:
        running.serve_features()
        yield running


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    items = [gpu_node("h-1"), gpu_node("h-2"), node("cpu", labels={"kubernetes.io/os": "linux"})]
    file = tmp_path / "cluster.yaml"
    file.write_text(to_yaml({"apiVersion": "v1", "kind": "List", "items": [*items, pod("busy", gpu=6, node="h-1")]}))
    return str(file)


def mooring(*words: str, cluster: ServedCluster | None = None) -> Result:
    access = () if cluster is None else ("--kubeconfig", cluster.kubeconfig())
    return CliRunner().invoke(cli, [*words, *access])


def data(done: Result) -> Any:
    assert done.exit_code in (0, 2), done.stderr
    return json.loads(done.stdout)


# Before anything is created


def test_a_dry_run_says_where_a_model_would_land_and_what_would_be_created(snapshot: str) -> None:
    done = mooring("deploy", "phi-4", "--dry-run", "--snapshot", snapshot)
    assert done.exit_code == 0
    first, second, *_ = done.stdout.splitlines()
    assert first == "# microsoft/phi-4 by kaito, 1 GPU for each of its pods: would be scheduled: phi-4-0 on h-2"
    assert second == "# nodes that match: 2, of these ready: 2, with room for a pod: 2"
    assert "kind: Workspace" in done.stdout
    assert "name: phi-4-vllm" in done.stdout
    assert [each["kind"] for each in yaml.safe_load_all(done.stdout) if each] == ["Workspace", "Service"]


def test_a_model_gets_as_many_gpus_as_hold_it_unless_told(snapshot: str) -> None:
    done = data(mooring("deploy", "llama-3.3-70b-instruct", "--dry-run", "--snapshot", snapshot, "-o", "json"))
    assert done["deployment"]["resources"] == {"gpu": 4}
    assert done["fit"]["verdict"] == "lands"
    told = mooring("deploy", "llama-3.3-70b-instruct", "--gpus", "2", "--dry-run", "--snapshot", snapshot, "-o", "json")
    assert data(told)["deployment"]["resources"] == {"gpu": 2}
    assert "does not fit into 2 GPUs of 80 GiB" in data(told)["fit"]["warnings"][0]


def test_a_model_that_cannot_land_ends_with_2_and_what_would_help(snapshot: str) -> None:
    done = mooring("deploy", "deepseek-r1-0528", "--provider", "mooring", "--dry-run", "--snapshot", snapshot)
    assert done.exit_code == 2
    assert "1 of 2 pods can be scheduled" in done.stdout
    assert "# what would help:" in done.stdout
    assert "kind: LeaderWorkerSet" in done.stdout


def test_options_and_other_fields_go_into_the_deployment(snapshot: str) -> None:
    words = ["--name", "mine", "-n", "team", "--replicas", "2", "-l", "pool=a", "-l", "zone=b", "--gpus", "1"]
    fields = ["--set", "maxModelLen=4096", "--set", "resources.memory=16Gi", "--set", "trustRemoteCode=true"]
    done = mooring("deploy", "llama3.2:1b", *words, *fields[2:4], "--dry-run", "--snapshot", snapshot, "-o", "json")
    told = data(done)["deployment"]
    assert told["computeType"] == "gpu"
    assert (told["name"], told["namespace"], told["replicas"]) == ("mine", "team", 2)
    assert told["labelSelector"] == {"pool": "a", "zone": "b"}
    assert told["resources"] == {"gpu": 1, "memory": "16Gi"}
    vllm = data(mooring("deploy", "phi-4", *fields, "--dry-run", "--snapshot", snapshot, "-o", "json"))["deployment"]
    assert (vllm["maxModelLen"], vllm["trustRemoteCode"]) == (4096, True)


def test_an_old_kaito_is_an_option_or_a_variable(snapshot: str) -> None:
    words = ["deploy", "phi-4", "--dry-run", "--snapshot", snapshot, "-o", "json"]
    for done in (
        mooring(*words, "--kaito-version", "0.6.0"),
        CliRunner(env={"MOORING_KAITO_VERSION": "0.6.0"}).invoke(cli, words),
    ):
        selector = data(done)["resources"][0]["resource"]["labelSelector"]
        assert selector == {"matchLabels": {"kubernetes.io/os": "linux"}}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["phi4"], 'modelId: there is no model "phi4" in the catalogue; did you mean'),
        (["phi-2"], "modelId: phi-2 is retired"),
        (["phi-4", "--replicas", "0"], "replicas: must be between 1 and 10, not 0"),
        (["phi-4", "--gpus", "0"], "resources.gpu: must be between 1 and 64, not 0"),
        (["phi-4", "--provider", "dynamo"], 'provider: there is no provider "dynamo"; choose mooring or kaito'),
        (["phi-4", "--name", "A"], 'name: "A" is not allowed'),
        (["phi-4", "--selector", "pool"], '--selector "pool" must be KEY=VALUE'),
        (["phi-4", "--selector", "a b=c"], 'labelSelector: "a b" is no key of a label'),
        (["phi-4", "--set", "maxModelLen"], '--set "maxModelLen" must be FIELD=VALUE'),
        (["phi-4", "--set", "maxModelLength=1"], "maxModelLength: is no field of a deployment; did you mean"),
        (
            ["phi-4", "--set", "replicas=1", "--set", "replicas.x=2"],
            "--set replicas.x: replicas is set to a plain value",
        ),
        (["phi-4", "--wait"], "--dry-run creates nothing to --wait for"),
        (["phi-4", "--kaito-version", "new"], '--kaito-version: "new" is no version of a chart; write it as 0.8.0'),
        (["deepseek-r1-0528"], "nodes: 2 pods for one replica need provider mooring"),
    ],
)
def test_what_is_wrong_is_told_with_its_field(words: list[str], error: str, snapshot: str) -> None:
    done = mooring("deploy", *words, "--dry-run", "--snapshot", snapshot)
    assert done.exit_code == 1
    assert error in done.stderr
    assert done.stdout == ""


def test_nothing_is_created_in_a_snapshot(snapshot: str) -> None:
    done = mooring("deploy", "phi-4", "--snapshot", snapshot)
    assert done.exit_code == 1
    assert "give --dry-run with --snapshot" in done.stderr


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("phi-4", "phi-4"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3-1-8b-instruct"),
        ("llama3.2:1b", "llama3-2-1b"),
        ("org/7B", "model-7b"),
        ("org/" + "x" * 50, "x" * 40),
    ],
)
def test_a_name_follows_from_the_model(model: str, name: str) -> None:
    assert default_name(model) == name


def test_capacity_counts_what_is_free(snapshot: str) -> None:
    done = mooring("capacity", "--snapshot", snapshot)
    assert done.exit_code == 0
    assert done.stdout.startswith("10 of 16 GPUs are free, 6 are allocated\nthe largest pod that fits: 8 GPUs")
    told = data(mooring("capacity", "--snapshot", snapshot, "-o", "json"))
    assert told["gpus"]["largestFreeBlock"] == 8
    assert told["preflight"]["warnings"] == []


def test_capacity_warns_of_gpus_without_the_label(tmp_path: Path) -> None:
    file = tmp_path / "bare.yaml"
    file.write_text(to_yaml(node("gpu", gpu=4)))
    done = mooring("capacity", "--snapshot", str(file))
    assert "kubectl label node gpu nvidia.com/gpu.present=true" in done.stdout


# In a cluster


def test_a_deployment_is_created_listed_shown_and_deleted(cluster: ServedCluster) -> None:
    cluster.add(gpu_node("h-1"))
    done = mooring("deploy", "phi-4", cluster=cluster)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["workspace.kaito.sh/phi-4 created", "service/phi-4-vllm created"]
    (told,) = data(mooring("deployments", "-o", "json", cluster=cluster))["deployments"]
    assert (told["name"], told["phase"], told["provider"]) == ("phi-4", "Pending", "mooring")
    assert "microsoft/phi-4" in mooring("deployments", cluster=cluster).stdout
    shown = mooring("deployments", "show", "phi-4", cluster=cluster)
    assert "kubectl port-forward -n default service/phi-4-vllm 8080:8000" in shown.stdout
    none = mooring("deployments", "metrics", "phi-4", cluster=cluster)
    assert (none.exit_code, none.stdout) == (2, "")
    assert "no pod of deployment phi-4 is ready" in none.stderr
    told = data(mooring("deployments", "metrics", "phi-4", "-o", "json", cluster=cluster))
    assert (told["available"], told["metrics"]) == (False, [])
    again = mooring("deploy", "phi-4", cluster=cluster)
    assert again.exit_code == 1
    assert "already exists; delete it with mooring deployments delete phi-4, or choose another --name" in again.stderr
    gone = mooring("deployments", "delete", "phi-4", cluster=cluster)
    assert gone.stdout == 'deployment "phi-4" deleted from default namespace\n'
    assert mooring("deployments", cluster=cluster).stdout.startswith("No models are deployed")


@pytest.mark.parametrize(
    "fields",
    [
        {"modelId": "phi-4", "hfTokenSecret": "hf", "engineArgs": {"dtype": "half"}},
        {"modelId": "phi-4", "modelSource": "preset"},
        {"modelId": "llama3.2:1b", "computeType": "gpu", "resources": {"memory": "4Gi"}},
        {"modelId": "org/m", "ggufFile": "m.gguf"},
        {"modelId": "deepseek-r1-0528", "nodes": 2, "resources": {"gpu": 8}},
    ],
)
def test_the_api_takes_every_field_of_what_is_created(cluster: ServedCluster, fields: Any) -> None:
    config = read_deployment({"name": "model", **fields}, embedded=True).config
    with Api(cluster.url) as api:
        for manifest in deployment_manifests(config, DEFAULT_SETTINGS):
            base = "/api/v1" if manifest["apiVersion"] == "v1" else f"/apis/{manifest['apiVersion']}"
            path = f"{base}/namespaces/default/{manifest['kind'].lower()}s"
            answer = api.post(path, manifest, fieldValidation="Strict", dryRun="All")
            assert answer.code == 201, answer.body


def test_a_dry_run_writes_nothing(cluster: ServedCluster) -> None:
    cluster.add(gpu_node("h-1"))
    cluster.front.asked.clear()
    assert mooring("deploy", "phi-4", "--dry-run", cluster=cluster).exit_code == 0
    assert cluster.verbs == {"GET"}


def test_waiting_ends_when_the_model_answers_and_when_it_takes_too_long(cluster: ServedCluster) -> None:
    cluster.add(gpu_node("h-1"))
    late = mooring("deploy", "phi-4", "--wait", "--timeout", "1ms", cluster=cluster)
    assert late.exit_code == 2
    state, end = late.stderr.splitlines()[-2:]
    assert state.startswith("phi-4: Pending, 0/1 ready")
    assert end == "phi-4 does not answer after 0.001 s; it goes on without this command"
    (made,) = data(mooring("deployments", "-o", "json", cluster=cluster))["deployments"]
    assert made["phase"] == "Pending"


def test_a_namespace_that_is_not_there_is_told_with_the_command(cluster: ServedCluster) -> None:
    cluster.add(gpu_node("h-1"))
    done = mooring("deploy", "phi-4", "-n", "team", cluster=cluster)
    assert done.exit_code == 1
    assert "create it with kubectl create namespace team" in done.stderr


def test_without_the_kinds_there_is_no_provider(tmp_path: Path) -> None:
    with served(tmp_path) as bare:
        bare.add(gpu_node("h-1"))
        done = mooring("deploy", "phi-4", cluster=bare)
        assert done.exit_code == 1
        assert "provider mooring is not installed; see mooring providers" in done.stderr
        assert mooring("deployments", cluster=bare).stdout.startswith("No models are deployed")


def test_a_deployment_for_an_operator_that_does_not_run_is_warned_about(cluster: ServedCluster) -> None:
    cluster.add(gpu_node("h-1"))
    done = mooring("deploy", "phi-4", "--provider", "kaito", cluster=cluster)
    assert done.exit_code == 0
    assert "warning: Workspaces are served, and KAITO's operator does not run" in done.stderr


def test_providers_say_what_is_there_and_how_the_rest_is_installed(cluster: ServedCluster) -> None:
    done = mooring("providers", cluster=cluster)
    assert "mooring   yes    yes" in done.stdout
    assert "--set featureGates.disableNodeAutoProvisioning=true --wait" in done.stdout
    kaito: Object = {
        each["id"]: each for each in data(mooring("providers", "-o", "json", cluster=cluster))["providers"]
    }["kaito"]
    assert kaito["status"]["crdFound"]
    assert not kaito["status"]["installed"]
    assert kaito["helmCharts"][0]["version"] == "0.8.0"


@pytest.mark.parametrize(
    ("plural", "words", "error"),
    [
        ("workspaces", ["deployments"], "does not let you list deployments"),
        ("nodes", ["capacity"], "does not let you list Node objects"),
        ("workspaces", ["deploy", "phi-4"], "does not let you create deployment phi-4"),
    ],
)
def test_a_refusal_says_what_was_tried(cluster: ServedCluster, plural: str, words: list[str], error: str) -> None:
    cluster.add(gpu_node("h-1"))
    cluster.front.forbidden.add(plural)
    done = mooring(*words, cluster=cluster)
    assert done.exit_code == 1
    assert error in done.stderr


def test_a_deployment_that_is_not_there_is_said_to_be(cluster: ServedCluster) -> None:
    for words in (["show", "none"], ["delete", "none"], ["logs", "none"]):
        done = mooring("deployments", *words, cluster=cluster)
        assert done.exit_code == 1
        assert 'there is no deployment "none"' in done.stderr
