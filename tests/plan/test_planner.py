"""Plans: workloads carried out on a snapshot, as a user sees them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml
from mooring.testing import deployment, node, pod


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


class Desk:
    """A folder with a snapshot and manifests, and the command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, *objects: Object) -> None:
        (self.folder / name).write_text("---\n".join(map(to_yaml, objects)), encoding="utf-8")

    def plan(self, *more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mooring", "plan", "-f", "work.yaml", "--snapshot", "cluster.yaml", *more]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def data(self, *more: str) -> Object:
        found: Object = json.loads(self.plan("-o", "json", *more).stdout)
        return found


def stateful_set(name: str, replicas: int, cpu: str = "1") -> Object:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "serviceName": name, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": spec}


def test_a_statefulset_lands_one_pod_after_another(desk: Desk) -> None:
    desk.write("cluster.yaml", node("n1", cpu="4"), node("n2", cpu="4"))
    desk.write("work.yaml", stateful_set("db", 3))

    plan = desk.data()

    assert [(p["pod"], p["boundAfterSeconds"], p["runningAfterSeconds"]) for p in plan["pods"]] == [
        ("default/db-0", 0.0, 1.0),
        ("default/db-1", 1.0, 2.0),
        ("default/db-2", 2.0, 3.0),
    ]
    assert plan["settled"]
    assert desk.plan().returncode == 0


def test_what_stays_pending_is_explained_with_what_would_help(desk: Desk) -> None:
    desk.write("cluster.yaml", node("n1", cpu="4"), node("n2", cpu="4", unschedulable=True))
    desk.write("work.yaml", deployment("web", pod("web", cpu="1"), replicas=6))

    done = desk.plan()

    assert done.returncode == 2
    assert "of 6 pods scheduled" in done.stdout
    assert "stay pending" in done.stdout
    assert "kubectl uncordon n2" in done.stdout
    assert not done.stderr


def test_a_kind_that_nothing_acts_on_is_kept_and_said_to_be_inert(desk: Desk) -> None:
    desk.write("cluster.yaml", node("n1", cpu="4"))
    strange = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    desk.write("work.yaml", strange, pod("p", cpu="1"))

    done = desk.plan()

    assert done.returncode == 0
    assert "nothing here acts on Widget w" in done.stdout


def test_an_invalid_object_is_refused_as_the_api_would(desk: Desk) -> None:
    desk.write("cluster.yaml", node("n1", cpu="4"))
    broken = stateful_set("db", 1)
    broken["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    desk.write("work.yaml", broken)

    done = desk.plan()

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith('error: work.yaml: StatefulSet.apps "db" is invalid: spec.template.metadata.labels')
    assert len(done.stderr.splitlines()) == 1


def test_a_plan_that_does_not_settle_is_cut_off_and_says_what_moves(desk: Desk) -> None:
    job: Object = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "long"},
        "spec": {
            "completions": 50,
            "parallelism": 1,
            "template": {
                "metadata": {"annotations": {"mooring.dev/duration": "10m"}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]},
            },
        },
    }
    desk.write("cluster.yaml", node("n1", cpu="4"))
    desk.write("work.yaml", job)

    done = desk.plan("--horizon", "30m")

    assert done.returncode == 2
    assert "cut off after 30m" in done.stdout
    assert "Still moving at the horizon" in done.stdout
    assert "Job default/long: 2 of 50 pods have succeeded" in done.stdout


def test_a_set_that_the_horizon_cuts_off_says_how_far_it_came(desk: Desk) -> None:
    desk.write("cluster.yaml", node("n1", cpu="8"))
    desk.write("work.yaml", stateful_set("db", 5))

    plan = desk.data("--horizon", "2s")

    assert plan["settled"] is False
    assert plan["unfinished"] == ["StatefulSet default/db: 2 of 5 pods are ready"]


def test_without_manifests_it_is_what_waits_in_the_snapshot(desk: Desk) -> None:
    desk.write("cluster.yaml", node("n1", cpu="4"), pod("waits", cpu="1"))
    command = [sys.executable, "-m", "mooring", "plan", "--snapshot", "cluster.yaml"]
    done = subprocess.run(command, cwd=desk.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("1 of 1 pod scheduled")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--horizon", "soon"), '"soon" is not a duration such as 90s, 5m or 1h30m'),
        (("-f", "missing.yaml"), "missing.yaml: no such file"),
    ],
)
def test_bad_input_is_one_line(desk: Desk, arguments: tuple[str, ...], complaint: str) -> None:
    desk.write("cluster.yaml", node("n1", cpu="4"))
    desk.write("work.yaml", pod("p", cpu="1"))
    done = desk.plan(*arguments)
    assert done.returncode == 1
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_snapshot_without_nodes_is_refused(desk: Desk) -> None:
    desk.write("cluster.yaml", pod("p", cpu="1"))
    desk.write("work.yaml", pod("q", cpu="1"))
    done = desk.plan()
    assert done.returncode == 1
    assert "holds no nodes" in done.stderr
