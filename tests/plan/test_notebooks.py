"""Plans of notebook jobs: where each pod would run, and what a job waits for that finds no node.

`MOORING_UPDATE_GOLDEN=1 pytest tests/plan/test_notebooks.py` writes the page anew; look at the difference before
keeping it.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from mooring.cli.main import cli
from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.manifests.emit import to_yaml
from mooring.plan.planner import Plan, PlannedWorkload, make_plan
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.runtime.settings import Configuration
from mooring.testing.builders import node
from mooring.testing.notebooks import notebook_job

GOLDEN = Path(__file__).parent / "golden" / "notebooks.txt"
SAMPLES = Path(__file__).parents[2] / "config" / "samples"
# A node for each of the samples, and one that suits them all but for its labels and size.
HIGH_MEMORY = "workload=high-memory:NoSchedule"
TEAM = {"team": "ml", "environment": "production"}
FLEET = (
    node("cpu-1"),
    node("gpu-1", gpu=4, labels={"nvidia.com/gpu.present": "true"}, taints=["nvidia.com/gpu=True:NoSchedule"]),
    node(
        "memory-1", memory="512Gi", labels={"example.com/memory-gib": "512"}, taints=["workload=high-memory:NoSchedule"]
    ),
    node("spot-1", labels={"node.example.com/lifecycle": "spot"}, taints=["node.example.com/spot:NoSchedule"]),
    node("team-1", labels=TEAM, taints=["team=ml:NoSchedule"]),
    node("team-2", labels=TEAM, taints=["team=ml:NoSchedule"]),
)


def samples(kind: str) -> list[Object]:
    return [yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(SAMPLES.glob(f"{kind}*.yaml"))]


def planned(*objects: Object, **settings: str) -> Plan:
    cluster = SimulatedCluster(FLEET, configuration=Configuration(settings=settings))
    return make_plan(cluster, [PlannedWorkload(each, "work.yaml") for each in objects], "default", timedelta(hours=1))


def test_every_sample_lands_on_the_node_that_it_is_written_for() -> None:
    plan = planned(*samples("notebook"))
    assert {pod.key.partition("/")[2]: pod.node for pod in plan.pods} == {
        "gpu-training-validation": "gpu-1",
        "feature-join-validation": "memory-1",
        "nightly-report-validation": "spot-1",
        "model-evaluation-validation": "team-1",
        "hello-validation": "cpu-1",
    }
    assert (plan.waiting, plan.unfinished) == ([], [])


def test_two_jobs_of_one_team_keep_apart() -> None:
    (team,) = samples("notebook-multi-tenant")
    other = {**team, "metadata": {"name": "second"}}
    assert {pod.node for pod in planned(team, other).pods} == {"team-1", "team-2"}


def test_the_page_of_a_plan_with_a_job_that_finds_no_node(tmp_path: Path) -> None:
    good = notebook_job("good")
    bad = notebook_job("bad", gpu=1, tolerations=[{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}])
    (tmp_path / "work.yaml").write_text("---\n".join(map(to_yaml, (good, bad))), encoding="utf-8")
    (tmp_path / "cluster.yaml").write_text("---\n".join(map(to_yaml, FLEET[:2])), encoding="utf-8")
    files = ["-f", str(tmp_path / "work.yaml"), "--snapshot", str(tmp_path / "cluster.yaml")]
    done = CliRunner().invoke(cli, ["plan", *files, "--unschedulable-grace", "2m"])
    assert done.exit_code == 2, done.stderr
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        GOLDEN.write_text(done.stdout, encoding="utf-8")
    assert done.stdout == GOLDEN.read_text(encoding="utf-8")


def test_a_job_that_still_waits_at_the_horizon_says_for_what() -> None:
    work = [PlannedWorkload(notebook_job("big", gpu=1), "work.yaml")]
    plan = make_plan(SimulatedCluster(FLEET[:1]), work, "default", timedelta(seconds=30))
    (said,) = plan.unfinished
    reason = "no node can take pod big-validation: cpu-1 (needs 1 nvidia.com/gpu, has none); what would help: "
    assert said.startswith(f"NotebookValidationJob default/big: {reason}")


def test_repositories_are_cloned_in_the_image_that_the_flag_names() -> None:
    for settings in ({}, {"git-init-image": "registry.example.com/git:1"}):
        (pod,) = planned(notebook_job(), **settings).pods
        (clone,) = pod.object["spec"]["initContainers"]
        assert clone["image"] == settings.get("git-init-image", "quay.io/takinosh/git-init-rhel9:latest")


def test_an_image_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match=r"--git-init-image: .* is not an image such as"):
        planned(notebook_job(), **{"git-init-image": " "})


def test_a_job_that_is_refused_is_told_in_the_words_of_admission() -> None:
    with pytest.raises(ApiError, match=r"spec\.podConfig\.tolerations\[0\]\.operator: Invalid value"):
        planned(notebook_job(tolerations=[{"effect": "NoSchedule"}]))
