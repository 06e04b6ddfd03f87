"""The pods of notebook jobs on a real API server and on ours: alike in every field, as each has filled them in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from mooring.catalog import CATALOG
from mooring.features.notebooks.feature import NOTEBOOKS
from mooring.kube.objects import Object
from mooring.testing.homes import EMBEDDED, HOMES, REAL, Home, api_only
from mooring.testing.http import Api
from mooring.testing.notebooks import notebook_job
from mooring.testing.processes import ProgramProcess
from tests.e2e.normal import normal
from tests.e2e.notebooks import CORE, JOBS

pytestmark = pytest.mark.slow

SAMPLES = Path(__file__).parents[2] / "config" / "samples"
NOWHERE = {"here": "never"}
READY_SECONDS = 60.0
SECRETS = ("git", "model-store", "team-ml-git", "team-ml-registry")


def full_job() -> Object:
    """One with everything that the pod is made of."""
    mounts = [{"name": "data", "mountPath": "/data", "readOnly": True}, {"name": "scratch", "mountPath": "/scratch"}]
    pod = {
        "env": [{"name": "HOME", "value": "/data"}, {"name": "MODE", "value": "fast"}],
        "credentials": ["model-store"],
        "serviceAccountName": "default",
        "volumes": [
            {"name": "data", "secret": {"secretName": "model-store", "defaultMode": 256}},
            {"name": "scratch", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
        ],
        "volumeMounts": mounts,
    }
    return notebook_job(
        "full",
        secret="git",
        golden="golden/train.ipynb",
        gpu=1,
        cpu="500m",
        timeout="1h30m",
        tolerations=[
            {"key": "spot", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},
            {"operator": "Exists"},
        ],
        selector=NOWHERE,
        pod=pod,
        parameters={"epochs": 2},
        cellTimeout="90s",
    )


def jobs() -> list[Object]:
    """Of the samples too. None of them finds a node, so that their pods stay as they were created."""
    samples = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(SAMPLES.glob("notebook*.yaml"))]
    made = [full_job(), *samples]
    for each in made:
        each["metadata"]["namespace"] = "default"
    return made


@contextmanager
def controllers(home: Home, api: Api) -> Iterator[None]:
    for definition in CATALOG.definitions(NOTEBOOKS.names):
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{definition['metadata']['name']}"
        assert api.patch(path, "apply", definition, fieldManager="test", force="true").code in (200, 201)
    command = [sys.executable, "-m", "mooring", "run", "--controllers", "notebook-validation", "--no-leader-elect"]
    process = ProgramProcess([*command, "--kubeconfig", str(home.kubeconfig)], home.folder / "run.log")
    try:
        process.wait_until(lambda: api.get(JOBS).code == 200, READY_SECONDS)
        api.post(f"{CORE}/serviceaccounts", {"metadata": {"name": "default"}})
        for name in SECRETS:
            assert api.post(f"{CORE}/secrets", {"metadata": {"name": name}}).code == 201
        for each in jobs():
            answer = api.post(JOBS, each)
            assert answer.code == 201, answer.body
        process.wait_until(lambda: len(api.get(f"{CORE}/pods").body["items"]) == len(jobs()), READY_SECONDS)
        yield
    finally:
        process.stop()


def made_by(home: Home) -> Object:
    """The pods and ConfigMaps, by name."""
    with home.api() as api, controllers(home, api):
        pods = api.get(f"{CORE}/pods").body["items"]
        maps = [each for each in api.get(f"{CORE}/configmaps").body["items"] if "ownerReferences" in each["metadata"]]
        for pod in pods:
            pod.pop("status")
            # What was left of the time when the pod was made.
            assert 0 < pod["spec"].pop("activeDeadlineSeconds") <= 7200
            _name_token_volume(pod)
        return normal({"Pod": pods, "ConfigMap": maps})


def _name_token_volume(pod: Object) -> None:
    """The name of the token's volume ends in letters that are drawn."""
    parts: list[Any] = pod["spec"]["volumes"]
    for container in (*pod["spec"]["initContainers"], *pod["spec"]["containers"]):
        parts = [*parts, *container["volumeMounts"]]
    for part in parts:
        if part["name"].startswith("kube-api-access-"):
            part["name"] = "kube-api-access"


def test_pods_and_config_maps_are_the_same_on_both_servers(tmp_path: Path) -> None:
    found = {}
    for name in HOMES:
        with api_only(name, tmp_path / name) as home:
            found[name] = made_by(home)
    assert len(found[REAL]["Pod"]) == len(jobs())
    assert found[EMBEDDED] == found[REAL]
    full = next(each for each in found[REAL]["Pod"] if each["metadata"]["name"] == "full-validation")
    spec = full["spec"]
    assert spec["nodeSelector"] == NOWHERE
    assert spec["tolerations"][:2] == full_job()["spec"]["podConfig"]["tolerations"]
    (validator,) = spec["containers"]
    assert {each["name"]: each.get("value") for each in validator["env"]}["HOME"] == "/data"
    assert validator["securityContext"]["runAsNonRoot"] is True
