"""Which models a cluster holds, now or later."""

from __future__ import annotations

import msgspec
import pytest

from mooring.kube.objects import Object
from mooring.runway.model_fit import with_fits
from mooring.runway.models.catalogue import ModelFit, find_catalog_model
from mooring.testing.builders import node, pod
from tests.runway.clusters import gpu_node, snapshot

BUSY = [pod("one", gpu=6, node="h-1"), pod("two", gpu=6, node="h-2")]
NODES = [gpu_node("h-1"), gpu_node("h-2")]


def fit(name: str, *objects: Object) -> object:
    model = find_catalog_model(name)
    assert model is not None
    return with_fits([model], snapshot(*objects).cluster)[0].fit


@pytest.mark.parametrize(
    ("model", "objects", "wanted"),
    [
        ("phi-4", NODES, ModelFit("fits", 1, 1)),
        ("llama-3.3-70b-instruct", NODES, ModelFit("fits", 4, 1)),
        ("llama-3.3-70b-instruct", [*NODES, *BUSY], ModelFit("full", 4, 1)),
        ("deepseek-r1-0528", NODES, ModelFit("fits", 8, 2)),
        ("deepseek-r1-0528", [*NODES, BUSY[0]], ModelFit("full", 8, 2)),
        ("deepseek-r1-0528", NODES[:1], ModelFit("exceeds", 8, 2)),
        ("phi-4", [node("cpu")], ModelFit("exceeds", 1, 1)),
        ("phi-4", [node("bare", gpu=8)], ModelFit("unknown", 1, 1)),
        ("llama3.2:1b", [], ModelFit("fits", 0, 1)),
    ],
)
def test_a_model_fits_by_its_size_and_what_is_free(model: str, objects: list[Object], wanted: ModelFit) -> None:
    assert fit(model, *objects) == wanted


def test_without_a_cluster_nothing_is_said_of_it() -> None:
    assert "fit" not in msgspec.to_builtins(find_catalog_model("phi-4"))
    shown = with_fits([find_catalog_model("phi-4")], snapshot(*NODES).cluster)  # type: ignore[list-item]
    assert msgspec.to_builtins(shown[0])["fit"] == {"verdict": "fits", "gpus": 1, "nodes": 1}
