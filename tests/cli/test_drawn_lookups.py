"""What `mooring explain` says of pods and workloads that are in a cluster: placed, waiting, ended, of one name in two
namespaces, in more replicas than there is room for, and beside pools that could bring nodes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from mooring.kube.objects import Object
from mooring.testing.builders import node, pod
from mooring.testing.groups import leader_worker_set
from mooring.testing.notebooks import notebook_job
from mooring.testing.scaled_pools import scaled_pool
from mooring.testing.workloads import cron_job, daemon_set, deployment, job, replica_set, stateful_set, template
from mooring.testing.workspaces import workspace
from tests.cli.drawn_commands import said
from tests.support.golden import same_as_recorded
from tests.support.recordings import Draw

WORLDS: Final = 60
QUESTIONS: Final = 3
THEN: Final = "2026-01-01T00:00:00Z"
CPUS: Final = ("1", "3", "7", "40")
# What the pods of a workload may have besides.
PARTS: Final[tuple[Object, ...]] = (
    {},
    {},
    {"nodeSelector": {"pool": "a"}},
    {"nodeSelector": {"purpose": "gpu"}},
    {"priorityClassName": "high", "priority": 1000},
    {"schedulingGates": [{"name": "example.com/quota"}]},
    {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
    {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]},
    {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "none"}}]},
    {"preemptionPolicy": "Never", "priority": 1000},
    {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
            }
        ]
    },
)
TARGETS: Final = (
    *("pods", "pods", "pod/wait-0", "pod/wait-1", "pod/run-0", "pod/ended", "pod/leaving", "pod/other", "pod/twin"),
    *("pod/away", "pod/wiat-0", "pod/gated", "deployment/web", "deploy/web", "deployment/wbe", "rs/web-1", "sts/db"),
    *("job/batch", "cronjob/nightly", "ds/agent", "lws/serve", "workspace/llm", "notebookvalidationjob/train"),
    *("node/n0", "node/n1", "node/n9", "replicaset/none"),
)
OPTIONS: Final[tuple[tuple[str, ...], ...]] = (
    *((), (), (), (), ("-A",), ("-n", "team"), ("-n", "empty"), ("--limit", "1"), ("--all-nodes",)),
    *(("-o", "json"), ("-o", "yaml"), ("-o", "json", "--all-nodes"), ("--percentage-of-nodes-to-score", "50")),
)


def _placed(made: Object, on: str) -> Object:
    return {**made, "spec": {**made["spec"], "nodeName": on}, "status": {"phase": "Running"}}


def _owned(made: Object, owner: Object) -> Object:
    metadata = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"], "uid": "u"}
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [{**reference, "controller": True}]}}


def _in(namespace: str, made: Object, **metadata: object) -> Object:
    return {**made, "metadata": {**made["metadata"], "namespace": namespace, "uid": "u", **metadata}}


def _nodes(draw: Draw) -> Iterator[Object]:
    for number in range(2 + draw.below(4)):
        labels = {"pool": draw.one("ab")}
        taints = draw.one(((), (), ("gpu=yes:NoSchedule",), ("old:NoExecute",), ("slow:PreferNoSchedule",)))
        gone = draw.chance(0.1)
        yield node(
            f"n{number}", cpu=draw.one("48"), gpu=draw.one((0, 2)), labels=labels, taints=taints,
            zone=draw.one(("z1", "z2", None)), unschedulable=gone, pods=draw.one((110, 110, 3)),
        )  # fmt: skip


def _workloads(draw: Draw) -> Iterator[Object]:
    parts = draw.one(PARTS)
    pods = template("web", **parts)
    pods["spec"]["containers"][0]["resources"] = {"requests": {"cpu": draw.one(CPUS)}}
    web = _in("default", deployment("web", draw.one((1, 2, 4, 24)), pods=pods))
    hashed = _owned(_in("default", replica_set("web-1", 2, pods=pods)), web)
    yield from (web, hashed)
    for number in range(draw.below(3)):
        made = {**pod(f"web-1-{number}", labels={"app": "web"}), "spec": pods["spec"]}
        yield _owned(_placed(made, "n0") if draw.chance(0.5) else made, hashed)
    if draw.chance(0.3):
        yield _in("team", deployment("web", 1, pods=pods))
    yield _in("default", stateful_set("db", draw.one((2, 3)), pods=pods))
    batch = {"parallelism": draw.one((2, 5)), "completions": draw.one((2, 9)), "completionMode": "Indexed"}
    yield _in("default", job("batch", pods=pods, **batch))
    yield _in("default", cron_job("nightly", "0 3 * * *", pods=pods))
    yield _in("default", daemon_set("agent", pods=pods))
    yield _in("default", leader_worker_set("serve", replicas=draw.one((1, 2)), size=draw.one((1, 3)), pod=parts))
    yield _in("default", workspace("llm", preset=draw.one(("", "phi-4")), count=1))
    yield _in("default", notebook_job("train", gpu=draw.one((0, 2, 9))))


def _pods(draw: Draw) -> Iterator[Object]:
    for number in range(draw.below(4)):
        owner = draw.one((None, "ReplicaSet/other", "StatefulSet/db", "DaemonSet/agent"))
        made = pod(f"run-{number}", cpu=draw.one("123"), owner=owner, priority=draw.one((0, 100)))
        yield _placed(made, f"n{draw.below(2)}")
    for number in range(2):
        made = pod(f"wait-{number}", cpu=draw.one(CPUS), priority=draw.one((0, 50, 2000)))
        yield {**made, "spec": {**made["spec"], **_without_priority(draw)}}
    yield {**pod("ended", cpu="1", node="n0"), "status": {"phase": draw.one(("Succeeded", "Failed"))}}
    yield _in("default", pod("leaving", cpu="1", node="n1"), deletionTimestamp=THEN, deletionGracePeriodSeconds=30)
    yield pod("other", cpu="1", schedulerName="their-scheduler")
    yield pod("gated", cpu="1", schedulingGates=[{"name": "example.com/quota"}])
    for namespace in ("default", "team"):
        yield pod("twin", cpu="1", namespace=namespace, node=draw.one((None, "n0")))
    yield pod("away", cpu=draw.one(CPUS), namespace="team")


def _without_priority(draw: Draw) -> Object:
    return {name: value for name, value in draw.one(PARTS).items() if not name.startswith("p")}


def _rest(draw: Draw) -> Iterator[Object]:
    classes = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    yield {**classes, "metadata": {"name": "high"}, "value": 1000}
    if draw.chance(0.6):
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        metadata = {"name": "data", "namespace": "default"}
        yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": claim}
    if draw.chance(0.5):
        yield _in("default", scaled_pool("gpu", 1, most=draw.one((1, 3))))


def drawn(draw: Draw) -> list[Object]:
    return [*_nodes(draw), *_workloads(draw), *_pods(draw), *_rest(draw)]


def test_what_is_in_a_cluster_is_explained_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = {}
    for number in range(WORLDS):
        draw = Draw(f"lookup {number}")
        items = drawn(draw)
        Path("c.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
        for turn in range(QUESTIONS):
            # Every target comes by, each in several worlds.
            target = TARGETS[(number * QUESTIONS + turn) % len(TARGETS)]
            asked = ["explain", target, *draw.one(OPTIONS), "--snapshot", "c.json"]
            code, out, err = said(asked, draw.one((0, 0, 0, 90)))
            found[f"{number} {' '.join(asked[1:-2])}"] = f"{code}\n{err}{out}"
    same_as_recorded("cli-lookups", found)
