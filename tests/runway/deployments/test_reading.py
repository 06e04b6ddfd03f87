"""A deployment is read field by field, and every mistake names its field."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.problems import DeploymentError
from mooring.runway.providers.registry import read_deployment

VLLM = {"name": "phi", "modelSource": "vllm", "modelId": "microsoft/phi-4"}


def read(**fields: Any) -> DeploymentConfig:
    return read_deployment({**VLLM, **fields}, embedded=True).config


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "Phi"}, 'name: "Phi" is not allowed: a DNS-1035 label'),
        ({"name": "1a"}, 'name: "1a" is not allowed: a DNS-1035 label'),
        ({"name": "a" * 59}, "name: has 59 characters, 58 is the most"),
        ({"name": 3}, "name: expected str, got int"),
        ({"namespace": "a.b"}, 'namespace: "a.b" is not allowed'),
        ({"provider": "kaitoo"}, 'provider: there is no provider "kaitoo"; choose mooring or kaito'),
        ({"replicas": 0}, "replicas: must be between 1 and 10, not 0"),
        ({"replicas": 11}, "replicas: must be between 1 and 10, not 11"),
        ({"replicas": "2"}, "replicas: expected int, got str"),
        ({"replicas": True}, "replicas: expected int, got bool"),
        ({"nodes": 0}, "nodes: must be between 1 and 64, not 0"),
        ({"resources": {"gpu": 0}}, "resources.gpu: must be between 1 and 64, not 0"),
        ({"resources": {"gpu": "1"}}, r"resources.gpu: expected int \| null, got str"),
        ({"resources": {"memory": "lots"}}, 'resources.memory: "lots" is no quantity above zero, such as 16Gi'),
        ({"resources": {"cpu": "-1"}}, 'resources.cpu: "-1" is no quantity above zero, such as 4'),
        ({"labelSelector": {"a b": "c"}}, 'labelSelector: "a b" is no key of a label'),
        ({"labelSelector": {"a": "b c"}}, r'labelSelector\[a\]: "b c" is no value of a label'),
        ({"labelSelector": {"a": 1}}, "labelSelector: expected str, got int"),
        ({"labelSelector": ["a=b"]}, "labelSelector: expected object, got array"),
        ({"hfTokenSecret": "A_B"}, 'hfTokenSecret: "A_B" is no name of a Secret'),
        ({"imageRef": "not an image"}, 'imageRef: "not an image" is no reference of an image'),
        ({"maxModelLen": 0}, "maxModelLen: must be at least 1, not 0"),
        ({"computeType": "tpu"}, 'computeType: "tpu" is none of cpu, gpu'),
        ({"modelSource": "ollama"}, 'modelSource: "ollama" is none of premade, huggingface, vllm, preset'),
        ({"engine": "sglang"}, "engine: sglang does not serve modelSource vllm; vllm does"),
        ({"mode": "disaggregated"}, "mode: disaggregated serving is not supported; leave the field out"),
        ({"routerMode": "kv"}, "routerMode: kv is not supported"),
        ({"engineArgs": {"--dtype": "half"}}, 'engineArgs: "--dtype" is no argument of vLLM'),
        ({"engineArgs": {"max_model_len": 1}}, r"engineArgs\[max_model_len\]: is set by maxModelLen"),
        ({"labelSelectr": {}}, "labelSelectr: is no field of a deployment; did you mean labelSelector?"),
        ({"modelId": ""}, "modelId: is needed with modelSource vllm, such as microsoft/phi-4"),
        ({"modelId": "phi4"}, 'modelId: there is no model "phi4" in the catalogue; did you mean .*phi-4'),
        ({"modelId": "a/b c"}, 'modelId: there is no model "a/b c" in the catalogue'),
        ({"modelId": "microsoft/phi-2"}, "modelId: microsoft/phi-2 is retired and no longer supported"),
        ({"modelId": "phi-2"}, "modelId: phi-2 is retired and no longer supported"),
        ({"modelSource": "preset", "replicas": 2}, "replicas: a preset is one replica, not 2; choose modelSource vllm"),
        ({"modelSource": "preset", "modelId": "org/unknown"}, 'modelId: there is no model "org/unknown"'),
        ({"modelSource": "premade", "modelId": ""}, "premadeModel: is needed with modelSource premade"),
        (
            {"modelSource": "premade", "premadeModel": "llama3.2:2b"},
            "premadeModel: Unknown premade model: llama3.2:2b; did you mean llama3.2:3b",
        ),
        ({"modelSource": "huggingface", "modelId": "org/m"}, "ggufFile: is needed with modelSource huggingface"),
        (
            {"modelSource": "huggingface", "modelId": "org/m", "ggufFile": "../../etc/passwd"},
            'ggufFile: "../../etc/passwd" is no path of a .gguf file',
        ),
    ],
)
def test_a_mistake_names_its_field(fields: Any, message: str) -> None:
    with pytest.raises(DeploymentError, match=f"^{message}"):
        read(**fields)


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(DeploymentError) as refused:
        read(replicas=0, namespace="A", modelId="nothing-like-it")
    assert [problem.field for problem in refused.value.problems] == ["namespace", "replicas", "modelId"]


@pytest.mark.parametrize("value", [None, [], "phi-4", 3])
def test_what_is_no_object_is_refused(value: Any) -> None:
    with pytest.raises(DeploymentError, match="body: must be an object"):
        read_deployment(value, embedded=True)


def test_a_name_is_needed() -> None:
    with pytest.raises(DeploymentError, match="name: is needed"):
        read_deployment({"modelId": "phi-4"}, embedded=True)


def test_a_short_name_stands_for_the_models_id() -> None:
    assert read(modelId="Phi-4").model_id == "microsoft/phi-4"


def test_a_model_that_is_not_in_the_catalogue_is_taken_by_its_id() -> None:
    assert read(modelId="org/My-Model_1.0").model_id == "org/My-Model_1.0"


@pytest.mark.parametrize(
    ("fields", "source"),
    [
        ({"modelId": "phi-4"}, "vllm"),
        ({"modelId": "llama3.2:1b"}, "premade"),
        ({"modelId": "org/m", "ggufFile": "m.gguf"}, "huggingface"),
        ({"modelId": "org/m"}, "vllm"),
    ],
)
def test_without_a_source_the_model_tells_it(fields: Any, source: str) -> None:
    assert read_deployment({"name": "a", **fields}, embedded=True).config.model_source == source


def test_what_a_client_of_another_provider_sends_is_taken_with_a_warning() -> None:
    body = {**VLLM, "mode": "aggregated", "routerMode": "none", "engine": "vllm", "prefillReplicas": 1}
    reading = read_deployment(body, embedded=True)
    assert reading.warnings == ("prefillReplicas has no effect: every replica answers whole requests",)


def test_a_provider_has_a_namespace_of_its_own_unless_one_is_given() -> None:
    assert read_deployment({**VLLM, "provider": "kaito"}, embedded=True).config.namespace == "kaito-workspace"
    assert read_deployment(VLLM, embedded=True).config.namespace == "default"
    assert read_deployment(VLLM, embedded=True, namespace="team").config.namespace == "team"
    assert read(namespace="mine").namespace == "mine"
