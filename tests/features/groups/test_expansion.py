"""The pods of a LeaderWorkerSet as `mooring explain` places them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mooring.features.groups.api import EXCLUSIVE_TOPOLOGY, GROUP_INDEX
from mooring.features.groups.expansion import expand_groups
from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml
from mooring.placement.workloads.expansion import WorkloadError
from mooring.testing.builders import node
from mooring.testing.groups import leader_worker_set

KEY = "example.com/node-group"


def names(**parts: Any) -> list[str]:
    return [pod["metadata"]["name"] for pod in expand_groups(leader_worker_set(**parts)).pods]


def test_leaders_come_before_workers() -> None:
    assert names(replicas=2, size=3) == ["serve-0", "serve-1", "serve-0-1", "serve-0-2", "serve-1-1", "serve-1-2"]
    assert names(replicas=1, size=1) == ["serve-0"]


def test_every_pod_is_what_the_webhook_makes_of_it() -> None:
    for pod in expand_groups(leader_worker_set(replicas=2, unique=KEY)).pods:
        leader = f"serve-{pod['metadata']['labels'][GROUP_INDEX]}"
        assert pod["spec"]["nodeSelector"] == {KEY: leader}
        assert pod["spec"]["tolerations"][-1]["value"] == leader


def test_every_pod_has_claims_of_its_own() -> None:
    data = {"metadata": {"name": "data"}, "spec": {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]}}
    found = expand_groups(leader_worker_set(replicas=1, size=2, template={"volumeClaimTemplates": [data]}))
    names = ["data-serve-0", "data-serve-0-1"]
    assert [pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] for pod in found.pods] == names
    assert [(claim["metadata"]["name"], claim["spec"]) for claim in found.claims] == [
        (name, data["spec"]) for name in names
    ]


def test_pods_without_claims_keep_their_volumes() -> None:
    (pod,) = expand_groups(leader_worker_set(replicas=1, size=1, pod={"volumes": [{"name": "tmp"}]})).pods
    assert pod["spec"]["volumes"] == [{"name": "tmp"}]


def test_workers_of_an_exclusive_group_are_tied_to_their_leader() -> None:
    *_, worker = expand_groups(leader_worker_set(replicas=1, annotations={EXCLUSIVE_TOPOLOGY: "rack"})).pods
    (term,) = worker["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "rack"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"replicas": -1}, "spec.replicas"),
        ({"name": ""}, "metadata.name"),
        ({"replicas": 100_000, "size": 9}, "spec.replicas"),
        ({"template": {"workerTemplate": {}}}, "spec.leaderWorkerTemplate.workerTemplate"),
    ],
)
def test_what_cannot_be_made_is_refused_with_its_field(change: Object, path: str) -> None:
    with pytest.raises(WorkloadError) as refused:
        expand_groups(leader_worker_set(**change))
    assert refused.value.path == path


def explained(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mooring", "explain", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_explain_speaks_of_groups(tmp_path: Path) -> None:
    nodes = [node("n0", cpu="1"), node("n1", cpu="2")]
    lws = leader_worker_set(replicas=2, size=2, cpu="900m")
    (tmp_path / "cluster.yaml").write_text("---\n".join(map(to_yaml, [*nodes, lws])), encoding="utf-8")
    (tmp_path / "lws.yaml").write_text(to_yaml(lws), encoding="utf-8")
    for asked in (("lws/serve",), ("leaderworkerset.leaderworkerset.x-k8s.io/serve",), ("-f", "lws.yaml")):
        ran = explained(tmp_path, *asked, "--snapshot", "cluster.yaml")
        assert ran.returncode == 2, ran.stderr
        assert ran.stdout.startswith("LeaderWorkerSet default/serve: 1 of 2 groups would be scheduled, 3 of 4 pods\n")


def test_a_set_that_is_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(to_yaml(node("n0")), encoding="utf-8")
    ran = explained(tmp_path, "lws/serve", "--snapshot", "cluster.yaml")
    assert ran.returncode == 1
    assert ran.stderr.strip().endswith('LeaderWorkerSet "serve" not found in namespace "default" of cluster.yaml')
