"""Deployments that are drawn as people type them: what is refused of each, or the objects that it becomes."""

from __future__ import annotations

import json
import random
from typing import Any, Final

import msgspec

from mooring.kube.objects import Object
from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.problems import DeploymentError
from mooring.runway.providers.deployment_kinds import selected_labels
from mooring.runway.providers.registry import deployment_manifests, read_deployment
from mooring.runway.settings import RunwaySettings
from tests.support.golden import same_as_recorded

WHOLE: Final[dict[str, Object]] = {
    "vllm": {"name": "phi", "modelId": "microsoft/phi-4"},
    "vllm with all": {
        "name": "phi",
        "provider": "kaito",
        "modelSource": "vllm",
        "modelId": "some/model",
        "servedModelName": "served",
        "maxModelLen": 4096,
        "trustRemoteCode": True,
        "enforceEager": True,
        "enablePrefixCaching": True,
        "hfTokenSecret": "hub",
        "resources": {"gpu": 2, "cpu": "4", "memory": "16Gi"},
        "labelSelector": {"pool": "gpu"},
        "engineArgs": {"dtype": "bfloat16", "seed": 1, "on": True, "off": False, "max_num_seqs": 2.5},
    },
    "groups": {"name": "big", "modelId": "some/model", "nodes": 2, "replicas": 3, "resources": {"gpu": 8}},
    "preset": {"name": "llm", "modelSource": "preset", "modelId": "phi-4", "nodes": 2, "provider": "mooring"},
    "premade": {"name": "llm", "modelSource": "premade", "premadeModel": "llama3.2:1b", "replicas": 2},
    "a file": {"name": "llm", "modelId": "org/Some_Model-GGUF", "ggufFile": "dir/model.Q4_K_M.gguf"},
    "a build": {
        "name": "llm",
        "modelSource": "huggingface",
        "modelId": "org/Model",
        "ggufFile": "model.gguf",
        "ggufRunMode": "build",
        "computeType": "gpu",
        "contextLength": 2048,
    },
}
# What each field is set to besides being left out.
DRAWN: Final[dict[str, tuple[Any, ...]]] = {
    "name": ("", "A", "a" * 58, "a" * 59, "a" * 64, "1a", 7),
    "namespace": ("team", "Team", "a.b", ""),
    "provider": ("kaito", "mooring", "mooringg", "", 3),
    "modelId": ("", "phi-4", "PHI-4", "microsoft/phi-4", "org/none", "org/a/b", "llama3.2:1b", "falcon-7b",
                "phi4", "-/x"),
    "modelSource": ("premade", "huggingface", "vllm", "preset", "none", None),
    "premadeModel": ("llama3.2:1b", "llama3.2", "", "x"),
    "ggufFile": ("a.gguf", "a.IQ2_XS.gguf", "F16-x.gguf", "a.bin", "../a.gguf", "x/bf16.gguf", ""),
    "ggufRunMode": ("build", "direct", "x"),
    "imageRef": ("example.com/model:1", "example.com/model", "x@sha256:0", ""),
    "computeType": ("cpu", "gpu", "tpu"),
    "replicas": (0, 1, 2, 10, 11, -1, "2", 1.5, True, None),
    "nodes": (0, 1, 2, 64, 65, None),
    "resources": ({}, {"gpu": 0}, {"gpu": 1}, {"gpu": 64}, {"gpu": 65}, {"cpu": "0"}, {"cpu": "x", "memory": "x"},
                  {"memory": "1Gi"}, {"cpu": "500m"}, {"gpus": 1}, "x", {"gpu": None}),
    "labelSelector": ({}, {"a": "b", "c": "d"}, {"b b": "x"}, {"a": "b b"}, {"a": 1}, []),
    "hfTokenSecret": ("hub", "Hub_", ""),
    "servedModelName": ("x", "a/b:c-d", "a b", "-x", ""),
    "maxModelLen": (0, 1, 4096, -1),
    "contextLength": (0, 1, 4096),
    "trustRemoteCode": (True, False, "yes"),
    "enforceEager": (True, False),
    "enablePrefixCaching": (True, False),
    "engineArgs": ({"model": "x"}, {"tensor_parallel_size": 2}, {"--dtype": "x"}, {"Dtype": "x"}, {"max-model-len": 1},
                   {"seed": 0}, {"a.b_c-d": "", "off": False}, {"x": [1]}, []),
    "engine": ("vllm", "llamacpp", "sglang", "trtllm", "x"),
    "mode": ("aggregated", "disaggregated", "x"),
    "routerMode": ("none", "kv", "round-robin"),
    "preferredNodes": (["a"],),
    "prefillReplicas": (1,),
    "replica": (1,),
}  # fmt: skip
SETTINGS: Final = (RunwaySettings(), RunwaySettings(kaito_version="0.6.1"))
TOGETHER: Final = 500


def forms() -> dict[str, Any]:
    dice = random.Random("drawn forms")
    found: dict[str, Any] = {"no object": [], "a text": "x", "nothing": {}}
    for name, whole in WHOLE.items():
        found[name] = whole
        for field, values in DRAWN.items():
            found[f"{name} without {field}"] = {key: value for key, value in whole.items() if key != field}
            for value in values:
                found[f"{name} {field}={json.dumps(value)}"] = {**whole, field: value}
    for number in range(TOGETHER):
        whole = WHOLE[dice.choice([*WHOLE])]
        changes = {field: dice.choice(DRAWN[field]) for field in dice.sample([*DRAWN], dice.randint(2, 4))}
        found[f"together {number}"] = {**whole, **changes}
    return found


def answer(form: Any, settings: RunwaySettings, *, embedded: bool) -> str:
    try:
        reading = read_deployment(form, embedded=embedded)
    except DeploymentError as error:
        return "\n".join(map(str, error.problems))
    made = deployment_manifests(reading.config, settings)
    labels = f"nodes {json.dumps(selected_labels(made[0]))}"
    config = f"{reading.config.namespace} {reading.config.served_by} {reading.config.token_limit}"
    return "\n".join(
        [*reading.warnings, config, labels, *(json.dumps(each, sort_keys=True, indent=1) for each in made)]
    )


def test_every_field_of_a_deployment_is_drawn() -> None:
    assert {each.encode_name for each in msgspec.structs.fields(DeploymentConfig)} < DRAWN.keys()


def test_every_drawn_form_is_answered_as_recorded() -> None:
    found = {}
    for number, (name, form) in enumerate(forms().items()):
        embedded, settings = bool(number % 2), SETTINGS[number % 3 == 0]
        found[f"{name}{' embedded' if embedded else ''}"] = answer(form, settings, embedded=embedded)
    same_as_recorded("runway-forms", found)
