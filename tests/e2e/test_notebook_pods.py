"""Notebook jobs on the embedded cluster and on a real control plane: the pod field by field, and what comes of its log.

The node is played: no container runs, and a test says what the kubelet would.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from mooring.api.core.defaults.pods import default_pod
from mooring.catalog import CATALOG
from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.feature import NOTEBOOKS
from mooring.features.notebooks.validation_pod.pod import validation_pod
from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.fixtures import missing
from mooring.testing.homes import HOMES, REAL, Home, whole
from mooring.testing.http import Api
from mooring.testing.notebooks import notebook_job, run_log, run_result, running_status, validator_ended_status
from mooring.testing.processes import ProgramProcess, free_port
from mooring.testing.tools import ToolMissing
from tests.e2e.played_node import PlayedNode, played_node

pytestmark = pytest.mark.slow

JOBS = "/apis/mlops.mlops.dev/v1alpha1/namespaces/default/notebookvalidationjobs"
PODS = "/api/v1/namespaces/default/pods"
SAMPLES = Path(__file__).parents[2] / "config" / "samples"
GPU_NODE = node("gpu-1", gpu=1, labels={"nvidia.com/gpu.present": "true"}, taints=["nvidia.com/gpu=True:NoSchedule"])
GPU_JOB = "gpu-training"
SIMULATED = "simulated=yes:NoSchedule"
PATIENCE_SECONDS = 60.0
EXISTS = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
EQUAL = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule"}
# What API servers add to every pod beside defaults: a token for its account, and time on nodes that are lost.
ADDED_VOLUME = "kube-api-access-"
ADDED_TOLERATIONS = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}


class PodSite:
    def __init__(self, home: Home, api: Api, played: PlayedNode) -> None:
        self.home, self.api, self.played = home, api, played

    def apply(self, job: Object) -> None:
        answer = self.api.post(JOBS, job)
        assert answer.code == 201, answer.body

    def get(self, path: str) -> Object:
        answer = self.api.get(path)
        found: Object = answer.body if answer.code == 200 else {}
        return found

    def status(self, name: str) -> Object:
        return self.get(f"{JOBS}/{name}").get("status") or {}

    def condition(self, name: str, kind: str) -> Object:
        return next((each for each in self.status(name).get("conditions", ()) if each["type"] == kind), {})

    def until(self, look: Callable[[], Any], what: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not look():
            assert time.monotonic() < end, what()
            time.sleep(0.05)

    def landed(self, pod: str) -> Object:
        """The pod, once a scheduler has put it on the node."""
        self.until(lambda: self.get(f"{PODS}/{pod}").get("spec", {}).get("nodeName"), lambda: self.get(f"{PODS}/{pod}"))
        return self.get(f"{PODS}/{pod}")

    def ends(self, name: str, phase: str) -> Object:
        self.until(lambda: self.status(name).get("phase") == phase, lambda: self.status(name))
        return self.status(name)


@pytest.fixture(scope="module", params=HOMES)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PodSite]:
    folder = tmp_path_factory.mktemp(f"{request.param}-notebooks")
    simulated = [node("plain", labels={"simulated": "yes"}, taints=[SIMULATED])]
    try:
        with whole(request.param, folder, simulated) as home, home.api() as api:
            running = beside(home, api) if home.name == REAL else None
            try:
                with played_node(home, api, GPU_NODE) as played:
                    yield PodSite(home, api, played)
            finally:
                if running is not None:
                    running.stop()
    except ToolMissing as error:
        missing(error)


def beside(home: Home, api: Api) -> ProgramProcess:
    """`mooring run` beside a real control plane, once the API server asks its webhooks."""
    for definition in CATALOG.definitions(NOTEBOOKS.names):
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{definition['metadata']['name']}"
        assert api.patch(path, "apply", definition, fieldManager="test", force="true").code in (200, 201)
    command = [sys.executable, "-m", "mooring", "run", "--controllers", ",".join(NOTEBOOKS.names)]
    command += ["--no-leader-elect", "--kubeconfig", str(home.kubeconfig)]
    command += ["--webhook-url", f"https://127.0.0.1:{free_port()}"]
    command += ["--webhook-certificates", str(home.folder / "webhooks")]
    odd = notebook_job(tolerations=[{"operator": "Exists", "value": "x"}])
    process = ProgramProcess(command, home.folder / "notebooks.log")
    process.wait_until(lambda: api.post(JOBS, odd, dryRun="All").code == 422, PATIENCE_SECONDS)
    return process


def differences(path: str, wanted: Any, found: Any) -> Iterator[str]:
    """Where an object is other than what was wanted of it; what was added to a list's end is a difference too."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name in sorted(wanted.keys() | found.keys()):
            if name not in found:
                yield f"{path}.{name} is missing"
            elif name not in wanted:
                yield f"{path}.{name} was added: {found[name]}"
            else:
                yield from differences(f"{path}.{name}", wanted[name], found[name])
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from differences(f"{path}[{number}]", one, other)
    elif wanted != found:
        yield f"{path} is {found}, not {wanted}"


def without_additions(pod: Object) -> Object:
    """The spec without what admission adds to every pod."""
    spec = dict(pod["spec"])
    spec["volumes"] = [each for each in spec["volumes"] if not each["name"].startswith(ADDED_VOLUME)]
    spec["tolerations"] = [each for each in spec.get("tolerations", ()) if each.get("key") not in ADDED_TOLERATIONS]
    for field in ("initContainers", "containers"):
        spec[field] = [
            {**each, "volumeMounts": [m for m in each["volumeMounts"] if not m["name"].startswith(ADDED_VOLUME)]}
            for each in spec[field]
        ]
    return spec


def full_job() -> Object:
    """One with everything that the pod is made of, for which there is no node."""
    volumes = [
        {"name": "data", "secret": {"secretName": "model-store", "defaultMode": 256}},
        {"name": "scratch", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}},
    ]
    mounts = [{"name": "data", "mountPath": "/data", "readOnly": True}, {"name": "scratch", "mountPath": "/scratch"}]
    env = [{"name": "HOME", "value": "/data"}, {"name": "MODE", "value": "fast"}]
    stays = {"key": "spot", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
    return notebook_job(
        "full",
        secret="git",
        golden="golden/train.ipynb",
        gpu=1,
        cpu="500m",
        tolerations=[stays, {"operator": "Exists"}],
        selector={"here": "never"},
        pod={"env": env, "credentials": ["model-store"], "volumes": volumes, "volumeMounts": mounts},
    )


def test_pods_are_made_field_by_field_as_samples_and_a_full_job_say(site: PodSite) -> None:
    for name in ("git", "model-store", "team-ml-git", "team-ml-registry"):
        assert site.api.post("/api/v1/namespaces/default/secrets", {"metadata": {"name": name}}).code == 201
    samples = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(SAMPLES.glob("notebook-*.yaml"))]
    jobs = [full_job(), *(each for each in samples if each["metadata"]["name"] != GPU_JOB)]
    assert len(jobs) == 4
    for job in jobs:
        site.apply(job)
    for name in (job["metadata"]["name"] for job in jobs):
        path = f"{PODS}/{name}-validation"
        site.until(lambda path=path: site.get(path), lambda name=name: site.status(name))  # type: ignore[misc]
        compare(site, name, site.get(path))
        assert site.api.delete(f"{JOBS}/{name}").code == 200


def compare(site: PodSite, job: str, pod: Object) -> None:
    """Hold a pod, as an API server has it, against the one that the controller makes."""
    made = msgspec.convert(site.get(f"{JOBS}/{job}"), NotebookValidationJob)
    wanted = default_pod(validation_pod(made))
    found = without_additions(pod)
    assert 0 < found.pop("activeDeadlineSeconds") <= 7200
    server_made = {"preemptionPolicy": "PreemptLowerPriority", "priority": 0}
    if "nodeName" in found:
        server_made["nodeName"] = "gpu-1"
    wanted["spec"].setdefault("tolerations", [])
    assert list(differences("spec", {**wanted["spec"], **server_made}, found)) == []
    assert pod["metadata"]["labels"] == wanted["metadata"]["labels"]
    (owner,) = pod["metadata"]["ownerReferences"]
    assert (owner["name"], owner["controller"]) == (job, True)


def test_the_gpu_sample_lands_on_its_node_and_its_result_is_read_from_its_log(site: PodSite) -> None:
    name = GPU_JOB
    site.apply(yaml.safe_load((SAMPLES / "notebook-gpu.yaml").read_text(encoding="utf-8")))
    compare(site, name, site.landed(f"{name}-validation"))
    settings = site.get(f"/api/v1/namespaces/default/configmaps/{name}-validation")
    assert settings["data"].keys() == {"clone.sh", "askpass.sh", "settings.json"}
    assert settings["binaryData"].keys() == {"runner.pyz"}

    site.played.reports(f"{name}-validation", running_status(datetime.now(UTC)))
    site.until(lambda: site.condition(name, "Ready").get("reason") == "PodRunning", lambda: site.status(name))
    assert site.status(name)["phase"] == "ValidationRunning"
    # The first time that its log is asked for, the node has none.
    site.played.refusals = 1
    site.played.logs[f"{name}-validation"] = run_log()
    site.played.reports(f"{name}-validation", validator_ended_status(datetime.now(UTC)))
    status = site.ends(name, "Succeeded")
    assert [cell["status"] for cell in status["results"]] == ["Success", "Success", "Skipped"]
    assert status["effects"]["read-result"]["id"].endswith("/1")
    (event,) = [
        each
        for each in site.get("/api/v1/namespaces/default/events")["items"]
        if each["reason"] == "ValidationSucceeded"
    ]
    assert event["metadata"]["labels"] == {"mlops.dev/notification-type": "validation-success"}


def test_a_cell_that_failed_is_told_with_the_others(site: PodSite) -> None:
    site.apply(notebook_job("failing", tolerations=[EXISTS], selector={"nvidia.com/gpu.present": "true"}))
    site.landed("failing-validation")
    found = run_result("Failed", "NotebookExecutionFailed", "cell 1 failed", cells=("Success", "Failure", "Skipped"))
    site.played.logs["failing-validation"] = run_log(found)
    site.played.reports("failing-validation", validator_ended_status(datetime.now(UTC), 2))
    status = site.ends("failing", "Failed")
    assert (status["message"], status["retryCount"]) == ("cell 1 failed", 0)
    assert [cell["status"] for cell in status["results"]] == ["Success", "Failure", "Skipped"]


def test_a_toleration_of_another_value_is_told_and_a_pod_without_a_result_does_not_succeed(site: PodSite) -> None:
    site.apply(notebook_job("equal", tolerations=[EQUAL], selector={"nvidia.com/gpu.present": "true"}))
    site.until(lambda: site.condition("equal", "Placeable").get("status") == "False", lambda: site.status("equal"))
    told = site.condition("equal", "Placeable")["message"]
    assert "gpu-1 (taint nvidia.com/gpu=True:NoSchedule is not tolerated)" in told
    assert told.endswith('what would help: Correct the value of toleration 0 from "true" to "True"')
    assert site.status("equal")["phase"] == "Initializing"
    # Somebody takes the taint away.
    assert site.api.patch("/api/v1/nodes/gpu-1", "merge", {"spec": {"taints": None}}).code == 200
    site.landed("equal-validation")
    site.played.logs["equal-validation"] = "cell 0 of 3: started\n"
    site.played.reports("equal-validation", validator_ended_status(datetime.now(UTC)))
    site.ends("equal", "Failed")
    assert site.condition("equal", "Ready")["reason"] == "ResultMissing"


def test_a_notebook_never_runs_on_a_simulated_node(site: PodSite) -> None:
    site.apply(notebook_job("pretend", tolerations=[SIMULATED], selector={"simulated": "yes"}))
    site.ends("pretend", "Failed")
    assert site.condition("pretend", "Ready")["reason"] == "SimulatedNode"
    assert site.get(f"{PODS}/pretend-validation") == {}
