"""Upstream's samples of Workspaces, as they are, with auto-provisioning on."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mooring.features.workspaces.webhooks import WEBHOOKS
from mooring.kube.objects import Object
from mooring.runtime.webhooks.direct import install
from tests.features.workspaces.test_webhooks import NOW, PROVISIONING, create, registry_with_workspaces
from tests.features.workspaces.town import WorkspaceTown

HOUR_SECONDS = 3600
SAMPLES = Path(__file__).parents[4] / "shared" / "upstream" / "manifests" / "kaito"


def samples() -> list[Path]:
    # InferenceSets are a kind of their own.
    return sorted(path for path in SAMPLES.glob("*.yaml") if "inferenceset" not in path.name)


def documents(sample: Path) -> list[Object]:
    return [each for each in yaml.safe_load_all(sample.read_text(encoding="utf-8")) if each]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="upstream's samples are not here")
@pytest.mark.parametrize("sample", samples(), ids=lambda path: path.stem.rpartition("__")[2])
def test_a_sample_of_upstream_is_taken_without_a_word(sample: Path) -> None:
    registry = registry_with_workspaces()
    install(registry, WEBHOOKS, clock=lambda: NOW, configuration=PROVISIONING)
    warnings: list[str] = []
    for obj in documents(sample):
        create(registry, obj, namespace=obj["metadata"].get("namespace", "default"), warnings=warnings)
    assert warnings == []


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="upstream's samples are not here")
@pytest.mark.parametrize("sample", samples(), ids=lambda path: path.stem.rpartition("__")[2])
def test_a_sample_of_upstream_serves_on_the_nodes_that_it_asks_for(sample: Path) -> None:
    objects = documents(sample)
    town = WorkspaceTown(*objects, provisions=True, run=False)
    town.run(HOUR_SECONDS)
    (name,) = (each["metadata"]["name"] for each in objects if each["kind"] == "Workspace")
    assert set(town.holds(name).values()) == {"True"}
    status = town.get("Workspace", name)["status"]
    assert len(town.all("NodeClaim")) == len(town.pods()) == status["targetNodeCount"]
    assert set(town.placed().values()) == set(status["workerNodes"])
