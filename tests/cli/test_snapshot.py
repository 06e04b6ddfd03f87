"""`mooring snapshot`: what a file holds, and that `explain` and `plan` answer from it as from the cluster."""

from __future__ import annotations

import gzip
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from click.testing import CliRunner

from mooring.cli.main import cli
from mooring.manifests import read_manifests
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing.builders import node
from mooring.testing.controllers import whole_control_plane
from mooring.testing.groups import leader_worker_set
from tests.cli.live import Live, owned
from tests.cli.world import requests
from tests.features.groups.town import Town


def test_a_snapshot_gives_the_answers_that_the_cluster_gives(town: Live) -> None:
    world = town.world
    spread = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}
    claims = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "c", "configMap": {"name": "x"}},
    ]
    world.add(world.pod("complex", resources=requests(gpu=2), topologySpreadConstraints=[spread], volumes=claims))
    world.add(world.workload("StatefulSet", "db", requests(cpu=1), replicas=3, pod={"priorityClassName": "gold"}))
    world.add({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "gold"}, "value": 7})
    world.add(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "db", "namespace": "default"},
            "spec": {"selector": {"app": "db"}},
        }
    )
    town.settle()
    assert town.run("snapshot", "-o", "cluster.yaml.gz").exit_code == 0
    for question in (
        ("pod/llm-5d4f-x7x7x",),
        ("pod/web",),
        ("pod/complex",),
        ("deployment/llm",),
        ("statefulset/db",),
        ("pods", "-A"),
        ("-f", world.manifest(world.workload("Job", "night", requests(cpu=1), parallelism=2))),
    ):
        alive = town.run("explain", *question, "-o", "json")
        saved = CliRunner().invoke(cli, ["explain", *question, "-o", "json", "--snapshot", "cluster.yaml.gz"])
        assert json.loads(saved.stdout) == json.loads(alive.stdout), question
        assert saved.exit_code == alive.exit_code


def test_a_snapshot_holds_the_workloads_of_features_that_the_cluster_serves(live: Live) -> None:
    """A LeaderWorkerSet can be explained from the file, and a plan scales it and leaves its groups alone."""
    simulated, folder = Town(leader_worker_set(replicas=2, size=2), nodes=2), live.world.folder
    live.cluster.serve_features()
    for kind in ("Node", "Pod", "Service", "StatefulSet", "LeaderWorkerSet"):
        live.cluster.add(*simulated.all(kind).values())
    assert live.run("snapshot", "-o", "cluster.yaml").stderr == ""
    alive = live.run("explain", "lws/serve", "-o", "json")
    saved = CliRunner().invoke(cli, ["explain", "lws/serve", "-o", "json", "--snapshot", "cluster.yaml"])
    assert (saved.exit_code, json.loads(saved.stdout)) == (0, json.loads(alive.stdout))

    (folder / "more.yaml").write_text(json.dumps(leader_worker_set(replicas=3, size=2)))
    plan = CliRunner().invoke(cli, ["plan", "-f", "more.yaml", "-o", "json", "--snapshot", "cluster.yaml"])
    found = json.loads(plan.stdout)
    assert {pod["pod"] for pod in found["pods"]} == {"default/serve-2", "default/serve-2-1"}
    assert found["evicted"] == []


def test_a_snapshot_of_a_cluster_without_a_features_kinds_says_nothing_about_them(town: Live) -> None:
    assert town.run("snapshot", "-o", "cluster.yaml").stderr == ""


def test_a_plan_begins_with_what_a_snapshot_saved_of_a_deployment(live: Live) -> None:
    world = live.world
    apps = [world.workload("Deployment", "web", requests(cpu=1), replicas=count) for count in (2, 3)]
    nodes = [node("n0"), node("n1")]
    simulated = Simulation(whole_control_plane())
    for obj in (*nodes, apps[0]):
        resource = simulated.registry.resource(obj["apiVersion"], obj["kind"])
        simulated.registry.create(
            resource, obj, now=simulated.now, namespace="default" if resource.namespaced else None
        )
    simulated.run()
    for version, kind in (("v1", "Node"), ("v1", "Pod"), ("apps/v1", "Deployment"), ("apps/v1", "ReplicaSet")):
        live.cluster.add(*simulated.registry.list(simulated.registry.resource(version, kind)).items)
    live.run("snapshot", "-o", "cluster.yaml")
    plan = CliRunner().invoke(cli, ["plan", "-f", world.manifest(apps[1]), "-o", "json", "--snapshot", "cluster.yaml"])
    found = json.loads(plan.stdout)
    assert (len(found["pods"]), found["evicted"]) == (1, [])


def test_a_snapshot_is_the_same_bytes_each_time(town: Live) -> None:
    for name in ("1.yaml", "2.yaml", "1.yaml.gz", "2.yaml.gz"):
        assert town.run("snapshot", "-o", name).exit_code == 0
    folder = town.world.folder
    assert (folder / "1.yaml").read_bytes() == (folder / "2.yaml").read_bytes()
    assert (folder / "1.yaml.gz").read_bytes() == (folder / "2.yaml.gz").read_bytes()
    assert gzip.decompress((folder / "1.yaml.gz").read_bytes()) == (folder / "1.yaml").read_bytes()
    assert town.run("snapshot").stdout_bytes == (folder / "1.yaml").read_bytes()


def test_nothing_that_placement_does_not_read_gets_into_a_snapshot(town: Live) -> None:
    secret = "hunter2"
    pod = town.world.pod("secretive", resources=requests(cpu=1), imagePullSecrets=[{"name": secret}])
    pod["metadata"]["annotations"] = {"note": secret}
    pod["metadata"]["managedFields"] = [{"manager": secret}]
    pod["spec"]["containers"][0] |= {
        "env": [{"name": "PASSWORD", "value": secret}],
        "command": ["sh", "-c", secret],
        "args": [secret],
        "envFrom": [{"secretRef": {"name": secret}}],
    }
    pod["spec"]["volumes"] = [
        {"name": "s", "secret": {"secretName": secret}},
        {"name": "d", "rbd": {"image": "disk", "monitors": ["m"], "user": secret, "secretRef": {"name": secret}}},
    ]
    pod["status"] = {"conditions": [{"type": "PodScheduled", "status": "False", "message": secret}]}
    job = town.world.workload("Job", "night", requests(cpu=1))
    job["spec"]["template"]["spec"] = pod["spec"]
    job["spec"]["template"]["metadata"]["annotations"] = {"note": secret}
    lws = leader_worker_set()
    lws["spec"]["leaderWorkerTemplate"]["workerTemplate"] = job["spec"]["template"]
    lws["metadata"]["annotations"] = {"note": secret}
    town.cluster.serve_features()
    town.cluster.add(pod, job, lws)
    assert town.run("snapshot", "-o", "cluster.yaml").exit_code == 0
    text = (town.world.folder / "cluster.yaml").read_text()
    assert "secretive" in text
    assert "kind: LeaderWorkerSet" in text
    assert "image: disk" in text
    assert secret not in text


def test_a_snapshot_holds_what_its_page_says(town: Live) -> None:
    old = town.world.workload("ReplicaSet", "llm-old", requests(gpu=4), replicas=0)
    owned(town.world, "Deployment", "llm", {**old, "kind": "ReplicaSet"})
    town.settle()
    town.run("snapshot", "-o", "cluster.yaml")
    objects = [document.value for document in read_manifests("cluster.yaml")]
    kinds = [obj["kind"] for obj in objects]
    order = ["SnapshotContents", "Namespace", "PriorityClass", "Node", "Service", "Deployment", "ReplicaSet", "Pod"]
    assert kinds == sorted(kinds, key=order.index)
    sets = {obj["metadata"]["name"]: obj["spec"] for obj in objects if obj["kind"] == "ReplicaSet"}
    assert {name: "template" in spec for name, spec in sets.items()} == {"llm-5d4f": True, "llm-old": False}


def test_a_snapshot_says_what_it_could_not_read(town: Live) -> None:
    town.cluster.front.forbidden = {"jobs"}
    result = town.run("snapshot", "-o", "cluster.yaml")
    assert result.exit_code == 0
    assert result.stderr == "note: you may not list Job objects: none can be explained from it\n"


def test_a_folder_that_is_not_there_is_one_line(town: Live) -> None:
    complaint = town.complaint("snapshot", "-o", "absent/cluster.yaml")
    assert complaint == "absent/cluster.yaml: No such file or directory"


def test_a_name_that_ends_in_json_gives_json_with_the_same_objects(town: Live) -> None:
    for name in ("cluster.yaml", "cluster.json", "cluster.json.gz"):
        assert town.run("snapshot", "-o", name).exit_code == 0
    plain = (town.world.folder / "cluster.json").read_bytes()
    assert gzip.decompress((town.world.folder / "cluster.json.gz").read_bytes()) == plain
    objects = [document.value for document in read_manifests("cluster.yaml")]
    assert json.loads(plain) == {"apiVersion": "v1", "kind": "List", "items": objects}
    saved = CliRunner().invoke(cli, ["explain", "pod/web", "--snapshot", "cluster.json"])
    assert (saved.exit_code, saved.stdout) == (0, town.run("explain", "pod/web").stdout)


def test_a_symlink_stays_one_and_what_it_points_to_is_written(town: Live) -> None:
    folder = town.world.folder
    (folder / "link.yaml").symlink_to("cluster.yaml")
    assert town.run("snapshot", "-o", "link.yaml").exit_code == 0
    assert (folder / "link.yaml").is_symlink()
    assert (folder / "cluster.yaml").read_bytes() == town.run("snapshot").stdout_bytes


def test_a_fifo_is_written_through(town: Live) -> None:
    fifo = town.world.folder / "fifo.yaml"
    os.mkfifo(fifo)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(fifo.read_bytes)
        result = town.run("snapshot", "-o", "fifo.yaml")
        assert fifo.is_fifo()
        assert (result.exit_code, result.stdout.endswith(" objects\n")) == (0, True)
        assert read.result(10) == town.run("snapshot").stdout_bytes


def test_a_full_device_is_named_and_stays_a_device(town: Live) -> None:
    (town.world.folder / "full.yaml").symlink_to("/dev/full")
    assert town.complaint("snapshot", "-o", "full.yaml") == "full.yaml: No space left on device"
    assert Path("/dev/full").is_char_device()


def test_a_packed_file_that_is_cut_off(town: Live) -> None:
    town.run("snapshot", "-o", "cluster.yaml.gz")
    whole = (town.world.folder / "cluster.yaml.gz").read_bytes()
    (town.world.folder / "cut.yaml.gz").write_bytes(whole[: len(whole) // 2])
    result = CliRunner().invoke(cli, ["explain", "pod/web", "--snapshot", "cut.yaml.gz"])
    assert result.stderr == "error: cut.yaml.gz: ends in .gz but is not a whole gzip file\n"
