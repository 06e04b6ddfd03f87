"""A whole feature from one folder: everything that the product can do with it follows from its declaration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mooring.api.crds.resource import definition
from mooring.catalog import CATALOG, Catalog
from mooring.cli.main import cli
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.manifests.emit import to_yaml
from mooring.registry import Registry
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.settings import DEFAULTS
from mooring.supervisor.admission import own_admission
from mooring.supervisor.selection import select_controllers
from mooring.testing import node
from mooring.testing.controllers import whole_control_plane
from mooring.testing.conversions import conversions_round_trip
from mooring.testing.crashes import survives_every_crash
from scripts.crds import texts
from tests.features.sample.api import GROUP, MODEL_IMAGES, MODEL_SERVERS
from tests.features.sample.controller import CONTROLLER
from tests.features.sample.feature import MODEL_SERVING


@pytest.fixture(autouse=True)
def with_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CATALOG, "features", (*CATALOG.features, MODEL_SERVING))


def image(name: str = "llama") -> Object:
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": f"{GROUP}/v1", "kind": "ModelImage", "metadata": meta, "spec": {"image": "llama:1"}}


def server(name: str = "chat", version: str = "v1", **spec: object) -> Object:
    meta = {"name": name, "namespace": "default"}
    named = {"model": "llama"} if version == "v1" else {"modelName": "llama"}
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "ModelServer",
        "metadata": meta,
        "spec": {**named, "replicas": 2, **spec},
    }


def prepared() -> Registry:
    """An API server's registry as `mooring up` prepares it."""
    registry = Registry(now=START)
    own_admission(MODEL_SERVING.names, DEFAULTS)(registry)
    return registry


def put(registry: Registry, obj: Object) -> Object:
    return registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=START)


def run_to_the_end(registry: Registry) -> Simulation:
    simulation = Simulation((*whole_control_plane(), *CATALOG.controllers(("model-server",))), registry=registry)
    simulation.run()
    return simulation


def invoke(tmp_path: Path, *objects: Object, command: str) -> Result:
    manifest, snapshot = tmp_path / "work.yaml", tmp_path / "cluster.yaml"
    manifest.write_text("---\n".join(map(to_yaml, objects)), encoding="utf-8")
    nodes = [node("a", gpu=4), node("b", gpu=4)]
    snapshot.write_text("---\n".join(map(to_yaml, nodes)), encoding="utf-8")
    return CliRunner().invoke(cli, [command, "-f", str(manifest), "--snapshot", str(snapshot), "-o", "json"])


def test_its_controller_and_webhook_are_chosen_by_name() -> None:
    assert select_controllers("model-server,model-server-webhook") == ("model-server", "model-server-webhook")
    assert "model-server" not in select_controllers("-model-server")


def test_it_runs_beside_a_control_plane_unless_told_otherwise() -> None:
    listed = CliRunner().invoke(cli, ["run", "--list"]).stdout
    assert "* model-server " in listed
    assert "* model-server-webhook " in listed


def test_its_definitions_are_written_with_those_of_the_product() -> None:
    assert {f"{GROUP}_modelservers.yaml", f"{GROUP}_modelimages.yaml"} <= texts(CATALOG.resources()).keys()
    assert definition(MODEL_SERVERS)["spec"]["conversion"]["strategy"] == "Webhook"


def test_nothing_is_lost_between_its_versions() -> None:
    for resource in (MODEL_IMAGES, MODEL_SERVERS):
        conversions_round_trip(resource)


def test_both_versions_are_served_as_one_object() -> None:
    registry = prepared()
    put(registry, server("old", "v1alpha1"))
    resource = registry.resource(f"{GROUP}/v1", "ModelServer")
    assert registry.get(resource, "default", "old")["spec"] == {"model": "llama", "replicas": 2, "gpus": 1}


def test_its_webhook_refuses_with_the_path_of_the_field() -> None:
    with pytest.raises(ApiError, match=r"spec\.gpus: Invalid value: 64: no node has more than 16"):
        put(prepared(), server(gpus=64))


def test_a_server_without_its_model_says_what_to_do() -> None:
    registry = prepared()
    put(registry, server())
    run_to_the_end(registry)
    (condition,) = registry.find(f"{GROUP}/v1", "ModelServer", "default", "chat")["status"]["conditions"]  # type: ignore[index]
    assert condition["reason"] == "ModelNotFound"
    assert condition["message"] == "there is no ModelImage llama; create it or correct spec.model"


def test_the_model_is_fetched_and_then_served() -> None:
    registry = prepared()
    for obj in (node("a", gpu=4), image(), server()):
        put(registry, obj)
    run_to_the_end(registry)
    found = registry.find(f"{GROUP}/v1", "ModelServer", "default", "chat")
    assert found is not None
    assert found["status"]["readyReplicas"] == 2
    assert found["status"]["effects"]["fetch"]["phase"] == "Succeeded"
    assert found["status"]["conditions"][0]["reason"] == "AllReady"


def test_it_ends_the_same_after_any_crash() -> None:
    def populate(simulation: Simulation) -> None:
        for obj in (node("a", gpu=4), image(), server()):
            put(simulation.registry, obj)

    controllers = (*whole_control_plane(), *CATALOG.controllers(("model-server",)))
    before = CATALOG.definitions(MODEL_SERVING.names)
    assert survives_every_crash(controllers, populate, before=before, of=(CONTROLLER,)) > 5


def test_explain_says_where_its_pods_land(tmp_path: Path) -> None:
    result = invoke(tmp_path, server(), command="explain")
    assert result.exit_code == 0, result.output
    assert [each["node"] for each in json.loads(result.stdout)["pods"]] in (["a", "b"], ["b", "a"])
    crowded = invoke(tmp_path, server(replicas=1, gpus=8), command="explain")
    assert crowded.exit_code == 2, crowded.output


def test_plan_carries_it_out(tmp_path: Path) -> None:
    result = invoke(tmp_path, image(), server(), command="plan")
    assert result.exit_code == 0, result.output
    assert {pod["pod"] for pod in json.loads(result.stdout)["pods"]} == {"default/chat-0", "default/chat-1"}


def test_a_declaration_that_names_what_it_has_not_is_refused() -> None:
    from dataclasses import replace

    from mooring.kube.errors import MooringError
    from mooring.runtime.feature import Parts

    wrong = replace(MODEL_SERVING, controllers=Parts(("modelserver",), MODEL_SERVING.controllers.load))
    with pytest.raises(MooringError, match="declares modelserver and has model-server; name them alike"):
        Catalog((wrong,)).controllers()
