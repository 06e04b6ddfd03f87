"""The story of the seed: this machine's node is labelled and tainted as a GPU node, and notebooks need tolerations."""

from __future__ import annotations

from pathlib import Path

import pytest

from mooring.kube.objects import Object
from mooring.nodes.process.machine_info import machine_info
from tests.e2e.notebooks import HERE, TOLERATION, job, notebook, notebook_site, source
from tests.nodes.process.home import needs_sandbox
from tests.support.git_servers import GitRepository, git_daemon

pytestmark = [pytest.mark.slow, needs_sandbox]

GPU = "nvidia.com/gpu"


def pod(*tolerations: Object) -> Object:
    return {
        "tolerations": [TOLERATION, *tolerations],
        "nodeSelector": {**HERE, "nvidia.com/gpu.present": "true"},
    }


def test_a_tainted_gpu_node_takes_who_tolerates_that_the_taint_exists_and_nobody_else(tmp_path: Path) -> None:
    root = tmp_path / "repositories"
    GitRepository(root, "models.git").commit({"train.ipynb": notebook("print('trained')")})
    with git_daemon(root, tmp_path / "daemon.log") as url, notebook_site(tmp_path, "--ephemeral") as site:
        site.label_node(**{"nvidia.com/gpu.present": "true"})
        site.taint_node({"key": GPU, "value": "True", "effect": "NoSchedule"})
        train = source(f"{url}/models.git", "train.ipynb")
        equal = {"key": GPU, "operator": "Equal", "value": "true", "effect": "NoSchedule"}
        exists = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
        site.apply(
            job("without", train, pod=pod()),
            job("equal", train, pod=pod(equal)),
            job("exists", train, pod=pod(exists)),
        )
        assert site.finished("exists")["phase"] == "Succeeded"
        (ran,) = site.pods("exists")
        assert ran["spec"]["nodeName"] == machine_info().name
        for name in ("without", "equal"):
            told = site.condition(name, "Placeable")
            assert (told["status"], told["reason"]) == ("False", "Unschedulable")
            assert machine_info().name in told["message"]
            assert GPU in told["message"]
            assert not any(each["spec"].get("nodeName") for each in site.pods(name))
            assert site.status(name)["phase"] == "Initializing"
