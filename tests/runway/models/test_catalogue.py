"""The catalogue of models: one entry each, with the GPUs that it needs."""

from __future__ import annotations

import msgspec
import pytest

from mooring.features.workspaces.sizing.gpus import NodeGpus
from mooring.runway.models.catalogue import all_models, find_catalog_model
from mooring.runway.models.sizing import Recommended, recommended_for


def test_every_model_tells_its_size_and_its_needs() -> None:
    models = all_models()
    assert len(models) > 60
    assert len({model.id for model in models}) == len(models)
    for model in models:
        assert model.weights_gib > 0
        assert model.context_length > 0
        assert model.gpu.memory_gib >= model.weights_gib
        assert model.sources
        assert model.engines


def test_phi_2_is_gone() -> None:
    assert find_catalog_model("phi-2") is None
    assert not any("phi-2" in name.lower() for model in all_models() for name in (model.id, model.alias))


def test_a_model_answers_to_its_id_and_its_short_name() -> None:
    assert find_catalog_model("PHI-4") == find_catalog_model("microsoft/phi-4")
    assert find_catalog_model("no-such-model") is None


@pytest.mark.parametrize(
    ("model", "node", "wanted"),
    [
        ("phi-4", NodeGpus(8, 640), Recommended(1)),
        ("phi-4", NodeGpus(4, 96), Recommended(2)),
        ("llama-3.3-70b-instruct", NodeGpus(8, 640), Recommended(4)),
        ("deepseek-r1-0528", NodeGpus(8, 640), Recommended(8, 2)),
        ("deepseek-r1-0528", NodeGpus(8, 1128), Recommended(8)),
    ],
)
def test_gpus_are_recommended_for_the_nodes_there_are(model: str, node: NodeGpus, wanted: Recommended) -> None:
    assert recommended_for(model, node) == wanted


def test_the_size_of_a_model_that_is_not_in_the_catalogue_is_not_known() -> None:
    assert recommended_for("org/unknown", NodeGpus(8, 640)) is None


def test_it_is_written_with_the_names_of_the_rest_api() -> None:
    written = msgspec.to_builtins(find_catalog_model("llama-3.1-8b-instruct"))
    assert written["weightsGiB"] == 14.96
    assert written["parameters"] == "8B"
    assert written["gpu"] == {"memoryGiB": 23, "recommended": {"gpus": 1, "nodes": 1}}
