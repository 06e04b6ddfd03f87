"""KAITO as a provider: the six cases of the upgrade to 0.8.0 by name, and the rules beside them."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.features.installation.api.chart import HelmChart
from mooring.kube.objects import Object
from mooring.runway.problems import DeploymentError
from mooring.runway.providers.provider import InstallationStep, ProviderFacts
from mooring.runway.providers.registry import deployment_manifests, find_provider, read_deployment
from mooring.runway.settings import DEFAULT_SETTINGS, RunwaySettings, runway_settings

KAITO = find_provider("kaito")
ROLLED_BACK = runway_settings("0.6.0")


def manifests(settings: RunwaySettings = DEFAULT_SETTINGS, **fields: Any) -> list[Object]:
    reading = read_deployment({"name": "llama", "provider": "kaito", **fields}, embedded=False)
    return deployment_manifests(reading.config, settings)


def labels(settings: RunwaySettings = DEFAULT_SETTINGS, **fields: Any) -> Object:
    found: Object = manifests(settings, **fields)[0]["resource"]["labelSelector"]["matchLabels"]
    return found


def container(**fields: Any) -> Object:
    found: Object = manifests(**fields)[0]["inference"]["template"]["spec"]["containers"][0]
    return found


CPU: Any = {"modelSource": "premade", "premadeModel": "llama3.2:1b"}
GPU: Any = {**CPU, "computeType": "gpu"}
VLLM: Any = {"modelSource": "vllm", "modelId": "microsoft/phi-4"}
FILE: Any = {"modelSource": "huggingface", "modelId": "org/Model-7B-GGUF", "ggufFile": "model.Q4_K_M.gguf"}


# The six cases


def test_version_is_0_8_0() -> None:
    assert [chart.version for chart in KAITO.helm_charts(DEFAULT_SETTINGS)] == ["0.8.0"]


def test_gpu_workload_generates_the_gpu_present_label_selector() -> None:
    assert labels(**GPU) == {"nvidia.com/gpu.present": "true"}


def test_cpu_workload_generates_the_linux_label_selector() -> None:
    assert labels(**CPU) == {"kubernetes.io/os": "linux"}


def test_vllm_workload_which_is_always_gpu_generates_the_gpu_present_label_selector() -> None:
    assert labels(**VLLM) == labels(**VLLM, computeType="cpu") == {"nvidia.com/gpu.present": "true"}


def test_installation_command_includes_the_flag_that_disables_node_auto_provisioning() -> None:
    command = KAITO.installation_steps(DEFAULT_SETTINGS)[2].command
    assert "--set featureGates.disableNodeAutoProvisioning=true" in command


@pytest.mark.parametrize("fields", [CPU, GPU, VLLM], ids=["cpu", "gpu", "vllm"])
def test_user_provided_label_selector_is_respected_and_not_overwritten(fields: Any) -> None:
    assert labels(**fields, labelSelector={"pool": "mine"}) == {"pool": "mine"}


# The rules beside them


def test_the_three_steps_are_the_plans_character_for_character() -> None:
    assert KAITO.installation_steps(DEFAULT_SETTINGS) == (
        InstallationStep(
            "Add KAITO Helm Repository",
            "helm repo add kaito https://kaito-project.github.io/kaito/charts/kaito",
            "Add the KAITO Helm repository.",
        ),
        InstallationStep("Update Helm Repositories", "helm repo update", "Update local Helm repository cache."),
        InstallationStep(
            "Install KAITO Workspace Operator",
            "helm upgrade --install kaito-workspace kaito/workspace --version 0.8.0 -n kaito-workspace "
            "--create-namespace --set featureGates.disableNodeAutoProvisioning=true --wait",
            "Install the KAITO workspace operator v0.8.0 with Node Auto-Provisioning disabled (BYO nodes mode).",
        ),
    )


def test_the_chart_is_the_plans() -> None:
    assert KAITO.helm_charts(DEFAULT_SETTINGS) == (
        HelmChart(
            name="kaito-workspace",
            chart="kaito/workspace",
            version="0.8.0",
            namespace="kaito-workspace",
            create_namespace=True,
            values={"featureGates": {"disableNodeAutoProvisioning": True}},
        ),
    )


def test_a_rollback_to_0_6_0_is_a_setting() -> None:
    step = KAITO.installation_steps(ROLLED_BACK)[2]
    assert step.command == (
        "helm upgrade --install kaito-workspace kaito/workspace --version 0.6.0 -n kaito-workspace "
        "--create-namespace --wait"
    )
    assert step.description == "Install the KAITO workspace operator v0.6.0."
    assert KAITO.helm_charts(ROLLED_BACK)[0].values is None
    for fields in (CPU, GPU, VLLM):
        assert labels(ROLLED_BACK, **fields) == {"kubernetes.io/os": "linux"}
    assert labels(ROLLED_BACK, **VLLM, labelSelector={"pool": "mine"}) == {"pool": "mine"}


def test_the_url_of_the_repository_is_a_setting() -> None:
    here = runway_settings(kaito_repository="http://127.0.0.1:8879/charts/")
    assert KAITO.installation_steps(here)[0].command == "helm repo add kaito http://127.0.0.1:8879/charts"
    installation = KAITO.installation(here)
    assert installation is not None
    assert installation["spec"]["repository"] == {"name": "kaito", "url": "http://127.0.0.1:8879/charts"}


def test_the_installation_releases_the_chart_that_is_shown() -> None:
    installation = KAITO.installation(DEFAULT_SETTINGS)
    assert installation is not None
    assert installation["metadata"]["name"] == "kaito"
    assert installation["spec"]["conflictsWith"] == ["workspaces"]
    assert installation["spec"]["charts"] == [
        {
            "name": "kaito-workspace",
            "chart": "kaito/workspace",
            "version": "0.8.0",
            "namespace": "kaito-workspace",
            "createNamespace": True,
            "values": {"featureGates": {"disableNodeAutoProvisioning": True}},
            "skipCRDs": False,
        }
    ]


@pytest.mark.parametrize(("version", "text"), [("latest", "is no version of a chart"), ("0.8", "is no version")])
def test_a_version_that_is_none_is_refused_with_its_flag(version: str, text: str) -> None:
    with pytest.raises(Exception, match=f"--kaito-version: .*{text}"):
        runway_settings(version)


def test_count_is_the_replicas_or_one() -> None:
    assert manifests(**VLLM, replicas=3)[0]["resource"]["count"] == 3
    assert manifests(**VLLM)[0]["resource"]["count"] == 1


@pytest.mark.parametrize("empty", [{}, None])
def test_an_empty_selector_counts_as_none(empty: Any) -> None:
    assert labels(**VLLM, labelSelector=empty) == {"nvidia.com/gpu.present": "true"}


def test_preferred_nodes_are_accepted_ignored_and_warned_about() -> None:
    reading = read_deployment({"name": "a", "provider": "kaito", **VLLM, "preferredNodes": ["n1"]}, embedded=False)
    assert [warning.partition(":")[0] for warning in reading.warnings] == ["preferredNodes has no effect"]
    assert "preferredNodes" not in str(deployment_manifests(reading.config, DEFAULT_SETTINGS))


def test_vllm_runs_in_the_base_image_with_one_gpu_unless_told() -> None:
    found = container(**VLLM)
    assert found["name"] == "model"
    assert found["image"] == "mcr.microsoft.com/aks/kaito/kaito-base:0.1.1"
    assert found["command"] == ["python"]
    assert found["args"] == [
        *("-m", "vllm.entrypoints.openai.api_server", "--model", "microsoft/phi-4", "--tensor-parallel-size", "1")
    ]
    assert found["resources"] == {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
    assert found["ports"] == [{"containerPort": 8000, "protocol": "TCP"}]
    assert (found["livenessProbe"]["initialDelaySeconds"], found["readinessProbe"]["initialDelaySeconds"]) == (600, 30)


def test_code_of_a_model_is_trusted_only_when_asked_for() -> None:
    found = container(**VLLM, trustRemoteCode=True, maxModelLen=4096, resources={"gpu": 2})
    assert found["args"][4:] == [*("--tensor-parallel-size", "2", "--trust-remote-code", "--max-model-len", "4096")]


def test_other_arguments_of_vllm_are_one_word_each() -> None:
    found = container(**VLLM, engineArgs={"dtype": "half; rm -rf /", "async": True, "off": False}, enforceEager=True)
    assert found["args"][6:] == ["--enforce-eager", "--async", "--dtype=half; rm -rf /"]


def test_a_token_comes_from_its_secret() -> None:
    reference = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "HF_TOKEN"}}}
    assert container(**VLLM, hfTokenSecret="hf")["env"] == [reference]
    assert "env" not in container(**VLLM)


def test_vllm_has_a_service_of_its_own() -> None:
    service = manifests(**VLLM)[1]
    assert (service["kind"], service["metadata"]["name"]) == ("Service", "llama-vllm")
    assert service["spec"]["selector"] == {"kaito.sh/workspace": "llama"}
    assert (service["spec"]["ports"][0]["port"], service["spec"]["ports"][0]["targetPort"]) == (8000, 8000)
    assert len(manifests(**CPU)) == 1


def test_a_premade_model_is_its_image() -> None:
    found = container(**CPU, resources={"cpu": "2", "memory": "4Gi"})
    assert found["image"] == "ghcr.io/kaito-project/aikit/llama3.2:1b"
    assert found["args"] == ["run", "--address=:5000"]
    assert found["resources"] == {"requests": {"cpu": "2", "memory": "4Gi"}}


def test_llama_cpp_on_a_gpu_asks_for_one_unless_told() -> None:
    assert container(**GPU)["resources"] == {"limits": {"nvidia.com/gpu": "1"}}
    assert container(**GPU, resources={"gpu": 2})["resources"] == {"limits": {"nvidia.com/gpu": "2"}}
    assert "resources" not in container(**CPU, resources={"gpu": 2})


def test_a_file_of_weights_is_fetched_or_comes_in_an_image() -> None:
    direct = container(**FILE)
    assert direct["image"] == "docker.io/sozercan/runner:latest"
    assert direct["args"] == ["huggingface://org/Model-7B-GGUF/model.Q4_K_M.gguf", "--address=:5000"]
    assert container(**FILE, ggufRunMode="build")["image"] == "localhost:30500/aikit-org-model-7b-gguf:Q4_K_M"
    assert container(**FILE, ggufRunMode="build", imageRef="example.com/m:1")["image"] == "example.com/m:1"


def test_a_preset_names_its_model() -> None:
    made = manifests(modelSource="preset", modelId="phi-4", hfTokenSecret="hf")
    assert made[0]["inference"] == {"preset": {"name": "microsoft/phi-4", "presetOptions": {"modelAccessSecret": "hf"}}}
    assert len(made) == 1


def test_nothing_asks_for_the_api_that_is_gone() -> None:
    for fields in (CPU, GPU, VLLM, FILE):
        assert "/query" not in str(manifests(**fields))


def test_a_replica_on_several_nodes_needs_the_other_provider() -> None:
    with pytest.raises(DeploymentError, match="nodes: 2 pods for one replica need provider mooring"):
        manifests(**VLLM, nodes=2)


READY = {
    "spec": {"containers": [{"image": "mcr.microsoft.com/aks/kaito/workspace:0.6.0"}]},
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
}


@pytest.mark.parametrize(
    ("facts", "installed", "text"),
    [
        (ProviderFacts(False), False, "is not installed; install it with mooring install kaito"),
        (ProviderFacts(True), False, "KAITO's operator does not run"),
        (ProviderFacts(True, [{"status": {"phase": "Pending"}}]), False, "none is ready"),
        (ProviderFacts(False, [READY]), False, "runs, and Workspaces are not served"),
        (ProviderFacts(True, [READY]), True, "in version 0.6.0; 0.8.0 is wanted"),
        (ProviderFacts(False, [], {"status": {"phase": "Installing"}}), False, "is being installed: Installing"),
    ],
)
def test_its_status_says_what_was_found(facts: ProviderFacts, installed: bool, text: str) -> None:
    status = KAITO.status(facts, DEFAULT_SETTINGS)
    assert status.installed is installed
    assert text in status.message


def test_from_a_registry_there_is_no_repository_to_add() -> None:
    settings = runway_settings(kaito_repository="oci://registry.example.com/charts")
    (step,) = KAITO.installation_steps(settings)
    assert step.command.startswith(
        "helm upgrade --install kaito-workspace oci://registry.example.com/charts/workspace --version 0.8.0 "
    )
