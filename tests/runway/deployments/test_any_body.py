"""Whatever a client sends as a deployment is taken or refused by field; what is taken makes manifests."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.problems import DeploymentError, Problem
from mooring.runway.providers.registry import deployment_manifests, read_deployment
from mooring.runway.settings import DEFAULT_SETTINGS

FIELDS = [
    *("name", "namespace", "provider", "modelId", "modelSource", "premadeModel", "ggufFile", "ggufRunMode", "imageRef"),
    *("computeType", "replicas", "nodes", "resources", "labelSelector", "hfTokenSecret", "servedModelName"),
    *("maxModelLen", "contextLength", "trustRemoteCode", "enforceEager", "enablePrefixCaching", "engineArgs"),
    *("engine", "mode", "routerMode", "preferredNodes", "anything"),
]
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=80)
WORDS = st.sampled_from(
    [
        "vllm",
        "preset",
        "premade",
        "huggingface",
        "gpu",
        "cpu",
        "phi-4",
        "org/model",
        "llama3.2:1b",
        "kaito",
        "m.gguf",
        "1Gi",
    ]
)
VALUES = st.recursive(
    PLAIN | WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=20), inner, max_size=3)
)
NEARLY = st.fixed_dictionaries(
    {"name": st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True), "modelId": WORDS},
    optional={
        "resources": st.fixed_dictionaries(
            {}, optional={"gpu": st.integers(-1, 9), "cpu": st.text(max_size=8), "memory": WORDS}
        ),
        "labelSelector": st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=2),
        "engineArgs": st.dictionaries(st.text(max_size=20), PLAIN, max_size=2),
        "replicas": st.integers(0, 11),
        "nodes": st.integers(0, 3),
        "modelSource": WORDS,
        "hfTokenSecret": st.text(max_size=20),
    },
)


def test_the_fields_are_all_of_them() -> None:
    known = {each.encode_name for each in msgspec.structs.fields(DeploymentConfig)}
    assert known <= {*FIELDS}


def problems_of(body: Any) -> tuple[Problem, ...] | DeploymentConfig:
    try:
        return read_deployment(body, embedded=True).config
    except DeploymentError as error:
        return error.problems


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=20), VALUES, max_size=8) | NEARLY | VALUES)
def test_it_is_taken_or_refused_by_field(body: Any) -> None:
    found = problems_of(body)
    if isinstance(found, tuple):
        assert found
        assert all(problem.field and problem.message for problem in found)
        return
    for manifest in deployment_manifests(found, DEFAULT_SETTINGS):
        assert json.loads(json.dumps(manifest)) == manifest
        assert manifest["metadata"]["name"].startswith(found.name)
