"""Samples: upstream's apply as they are, and ours land on the nodes that they are written for."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mooring.api.core.defaults.pods import default_pod
from mooring.api.core.validation.pods import validate_pod
from mooring.features.notebooks.api.names import KIND
from mooring.features.notebooks.validation_pod.pod import validation_pod
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from tests.features.notebooks.objects import SAMPLES, create, registry_with_notebooks, typed

UPSTREAM = Path(__file__).parents[4] / "shared" / "upstream" / "manifests" / "notebooks"
here = pytest.mark.skipif(not UPSTREAM.is_dir(), reason="upstream's samples are not here")
# Samples with fields that the API does not have.
UNKNOWN = {"model-training-job", "model-training-with-deployment", "test-papermill-permission"}


def samples(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.yaml"))


def jobs(path: Path) -> list[Object]:
    documents = yaml.safe_load_all(path.read_text(encoding="utf-8"))
    return [each for each in documents if each and each["kind"] == KIND]


def title(path: Path) -> str:
    return path.stem.rpartition("__")[2]


def applied(path: Path, **options: str) -> tuple[list[Object], list[str]]:
    found, warnings = jobs(path), list[str]()
    namespaces = {each["metadata"].get("namespace", "default") for each in found} - {"default"}
    registry = registry_with_notebooks(
        *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in namespaces)
    )
    return [create(registry, each, warnings=warnings, **options) for each in found], warnings


@here
@pytest.mark.parametrize("path", [path for path in samples(UPSTREAM) if title(path) not in UNKNOWN], ids=title)
def test_a_sample_of_upstream_is_taken_as_it_is(path: Path) -> None:
    made, warnings = applied(path, field_validation="Strict")
    assert made
    # What is not there is told when it is asked for.
    assert all("Mooring builds none" in each or "are not checked" in each for each in warnings)
    for job in made:
        assert validate_pod(default_pod(validation_pod(typed(job)))) == []


@here
@pytest.mark.parametrize("path", [path for path in samples(UPSTREAM) if title(path) in UNKNOWN], ids=title)
def test_a_sample_with_unknown_fields_is_refused_or_loses_them_with_a_warning(path: Path) -> None:
    with pytest.raises(ApiError, match=r'unknown field "spec\.'):
        applied(path, field_validation="Strict")
    _, warnings = applied(path, field_validation="Warn")
    assert any(each.startswith('unknown field "spec.') for each in warnings)


@pytest.mark.parametrize("path", samples(SAMPLES), ids=title)
def test_a_sample_of_ours_is_taken_and_so_is_its_pod(path: Path) -> None:
    (job,) = jobs(path)
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    registry, warnings = registry_with_notebooks(account), list[str]()
    made = create(registry, job, warnings=warnings, field_validation="Strict")
    # There are no nodes here.
    assert all(each.startswith("spec.podConfig.nodeSelector: no node has") for each in warnings)
    pod = create(registry, validation_pod(typed(made)), field_validation="Strict")
    assert pod["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"]


def test_there_is_a_sample_of_every_use_case() -> None:
    assert {path.stem for path in samples(SAMPLES)} == {
        "notebook",
        "notebook-gpu",
        "notebook-high-memory",
        "notebook-multi-tenant",
        "notebook-spot",
    }
