"""Plans with pools of hosts: a claim makes a node for the pod that waits, and a pool without a host says why.

`MOORING_UPDATE_GOLDEN=1 pytest tests/plan/test_hosts.py` writes the page anew; look at the difference before keeping
it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml
from mooring.testing.builders import node, pod
from mooring.testing.hosts import bootstrap_kubeconfig, byo_cluster, byo_host, byo_machine_template, machine_cluster
from mooring.testing.machines import BOOTSTRAP, machine_deployment, machine_template
from mooring.testing.scaled_pools import scaled_pool

GOLDEN = Path(__file__).parent / "golden"


def pools(purpose: str) -> list[Object]:
    """A pool of one worker, and a host of some purpose."""
    return [
        byo_cluster(),
        machine_cluster(),
        bootstrap_kubeconfig(BOOTSTRAP),
        byo_machine_template("worker-template", {"purpose": "worker"}),
        byo_host("node10", labels={"purpose": purpose}),
        machine_deployment(
            "worker-pool", 1, template=machine_template("worker-template", labels={"purpose": "worker"})
        ),
    ]


def answered(folder: Path, command: list[str], *files: tuple[str, list[Object]]) -> str:
    for name, objects in files:
        (folder / name).write_text("---\n".join(map(to_yaml, objects)), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "mooring", *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert not ran.stderr, ran.stderr
    # The last part of a Machine's name follows from a uid.
    return re.sub(r"(worker-pool-\w+)-\w{5}\b", r"\1-xxxxx", ran.stdout)


@pytest.fixture
def waiting() -> Object:
    made = pod("web", cpu="2")
    made["spec"]["nodeSelector"] = {"purpose": "worker"}
    return made


@pytest.mark.parametrize(("purpose", "page"), [("worker", "pools.txt"), ("wroker", "pools-short.txt")])
def test_the_page_of_a_pod_that_waits_for_a_pool(tmp_path: Path, waiting: Object, purpose: str, page: str) -> None:
    work = ("work.yaml", [*pools(purpose), waiting])
    command = ["plan", "-f", "work.yaml", "--snapshot", "cluster.yaml"]
    found = answered(tmp_path, command, work, ("cluster.yaml", [node("other")]))
    golden = GOLDEN / page
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")


def test_a_pool_grows_in_a_plan_and_nothing_that_is_idle_goes(tmp_path: Path, waiting: Object) -> None:
    hosts = [byo_host(name, labels={"purpose": "worker"}) for name in ("node11", "node12")]
    big = [{**waiting, "metadata": {"name": name}} for name in ("one", "two")]
    for each in big:
        each["spec"] = {**pod("big", cpu="6")["spec"], "nodeSelector": {"purpose": "worker"}}
    cluster = [node("other"), *pools("worker")[:-1], *hosts, scaled_pool(replicas=0)]
    command = ["plan", "-f", "work.yaml", "--snapshot", "cluster.yaml"]
    found = answered(tmp_path, command, ("work.yaml", big), ("cluster.yaml", cluster))
    assert "2 of 2 pods" in found
    assert "2 nodes come" in found


def test_explain_tells_of_the_pool_that_a_pod_waits_for(tmp_path: Path, waiting: Object) -> None:
    cluster = ("cluster.yaml", [node("other"), *pools("worker")])
    command = ["explain", "-f", "work.yaml", "--snapshot", "cluster.yaml"]
    found = answered(tmp_path, command, ("work.yaml", [waiting]), cluster)
    assert "MachineDeployment default/worker-pool brings nodes that web suits, and waits: 0 of 1 Machines" in found


def test_a_plan_makes_a_pool_for_every_replica_where_a_policy_allows_it(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples" / "replica-pools"
    command = ["plan", "-f", f"{examples}/set.yaml", "--snapshot", f"{examples}/fleet.yaml"]
    found = answered(tmp_path, [*command, "--snapshot", f"{examples}/policy.yaml"])
    assert "4 of 4 pods scheduled" in found
    assert "4 nodes come" in found
    without = answered(tmp_path, command)
    assert "0 of 4 pods scheduled" in without
    assert "no nodes are added for example.com/node-group=deepseek-0: there is no ConfigMap" in without
