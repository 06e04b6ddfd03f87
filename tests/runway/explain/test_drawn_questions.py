"""Questions that are drawn, about manifests and nodes of drawn clusters, and the answers as recorded."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from random import Random
from typing import Any, Final

from mooring.cli.sources.snapshot_source import SnapshotSource
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.runtime.settings import DEFAULTS
from mooring.runway.explain.asked_pods.given import GivenList
from mooring.runway.explain.explain_data import explain_data
from mooring.runway.explain.explain_target import ExplainTarget, parse_target
from mooring.runway.explain.node.data import node_data
from mooring.runway.explain.node.report import report_node
from mooring.runway.explain.pod_answers import PodQuestion, answer_pods
from mooring.runway.proposals import proposal
from mooring.testing.builders import node, pod
from mooring.testing.groups import leader_worker_set
from mooring.testing.notebooks import notebook_job
from mooring.testing.workloads import (
    claim_template,
    cron_job,
    daemon_set,
    deployment,
    job,
    replica_set,
    stateful_set,
    template,
)
from mooring.testing.workspaces import gpu_node, workspace
from tests.support.golden import same_as_recorded

CASES: Final = 150
CLASSES: Final[tuple[Object, ...]] = (
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "usual"},
        "value": 10,
        "globalDefault": True,
        "preemptionPolicy": "Never",
    },
    {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "1", "memory": "1Gi"}},
        "scheduling": {"nodeSelector": {"kata": "yes"}},
    },
)
PARTS: Final[tuple[Object, ...]] = (
    {},
    {"nodeSelector": {"pool": "a"}},
    {"nodeSelector": {"pool": "none"}},
    {"priorityClassName": "high"},
    {"priorityClassName": "none"},
    {"priorityClassName": "none", "priority": 7},
    {"priorityClassName": "system-node-critical"},
    {"runtimeClassName": "kata"},
    {"runtimeClassName": "none"},
    {"overhead": {"cpu": "1"}},
    {"schedulerName": "other"},
    {"nodeName": "n0"},
    {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
    {"nodeSelectors": {"a": "b"}},
    {"hostNetwork": True},
    {"resourceClaims": [{"name": "gpu", "resourceClaimName": "none"}]},
    {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]},
)
CLAIM: Final[Object] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "shared", "namespace": "default", "uid": "shared"},
    "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}},
}


def drawn_cluster(dice: Random) -> list[Object]:
    found: list[Object] = []
    for number in range(dice.randint(1, 4)):
        labels = {"pool": dice.choice("ab"), **({"kata": "yes"} if dice.random() < 0.3 else {})}
        taints = ["gpu=yes:NoSchedule"] if dice.random() < 0.3 else []
        made = node(f"n{number}", cpu=dice.choice("248"), gpu=dice.choice((0, 2)), labels=labels, taints=taints)
        found.append(made)
    found.append(gpu_node("serving", unschedulable=dice.random() < 0.3))
    for number in range(dice.randint(0, 4)):
        owner, claim = dice.choice((None, "ReplicaSet/web")), dice.choice(("", "", "none", "shared"))
        made = pod(f"p{number}", cpu=dice.choice("13"), node=f"n{dice.randint(0, 1)}", owner=owner, priority=0)
        if claim:
            made["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": claim}]
        found.append(made)
    if dice.random() < 0.5:
        found.append(CLAIM)
    if dice.random() < 0.7:
        found += CLASSES
    if dice.random() < 0.7:
        found.append(replica_set("web", 2))
    for number in range(dice.randint(0, 2)):
        found.append(pod(f"waits{number}", cpu=dice.choice("19"), owner=dice.choice((None, "ReplicaSet/web"))))
    return [each for each in found if "nodeName" not in each.get("spec", {}) or _is_there(each, found)]


def _is_there(made: Object, objects: list[Object]) -> bool:
    return made["spec"]["nodeName"] in {each["metadata"]["name"] for each in objects if each["kind"] == "Node"}


def drawn_manifests(dice: Random) -> list[Any]:
    parts = dice.choice(PARTS)
    pods = template("web", **parts)
    pods["spec"]["containers"][0]["resources"] = {"requests": {"cpu": dice.choice(("1", "3", "20"))}}
    good: list[Object] = [
        {**pod("p0" if dice.random() < 0.3 else "small"), "spec": copy.deepcopy(pods["spec"])},
        deployment("web", dice.randint(0, 3), pods=pods),
        replica_set("web", dice.randint(1, 3), pods=pods),
        stateful_set("db", 2, pods=pods, **({"volumeClaimTemplates": [claim_template("d")]} if parts else {})),
        daemon_set("agent", pods=pods),
        job("batch", pods=pods, parallelism=dice.choice((1, 3)), completions=dice.choice((1, 5))),
        cron_job("nightly", "0 3 * * *", pods=pods),
        leader_worker_set("serve", replicas=2, size=dice.randint(1, 3), pod=parts),
        workspace("llm", preset=dice.choice(("", "phi-4")), count=dice.randint(1, 2)),
        notebook_job("train", gpu=dice.choice((0, 2, 9)), tolerations=dice.choice((["gpu=yes:NoSchedule"], []))),
        {**pod("away"), "metadata": {"name": "away", "namespace": "team"}},
    ]
    odd: list[Any] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}},
        {"apiVersion": "apps/v1beta1", "kind": "Deployment", "metadata": {"name": "old"}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "bad"}, "spec": {"replicas": "x"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "Bad"}, "spec": {"containers": []}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": "x", "spec": {}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0"}, "spec": {"taints": "x"}},
        node("more", gpu=8, labels={"pool": "a"}),
        CLASSES[0],
    ]
    more = dice.sample(odd, 1) if dice.random() < 0.25 else dice.sample(odd[-2:], dice.choice((0, 0, 1)))
    return [*dice.sample(good, dice.choice((1, 1, 1, 2))), *more]


def answer(source: SnapshotSource, about: ExplainTarget | GivenList, dice: Random) -> str:
    asked = PodQuestion(
        about,
        DEFAULTS,
        dice.choice(("", "", "", "", "default", "default", "team")),
        everywhere=dice.random() < 0.1,
        thorough=dice.random() < 0.8,
        all_nodes=dice.random() < 0.2,
    )
    try:
        found = answer_pods(source, asked)
    except MooringError as error:
        return f"{type(error).__name__}: {error}"
    data = explain_data(found.snapshot.cluster, found.outcomes, found.notes, found.found.workloads, found.waves)
    proposals = [proposal(each) for outcome in found.outcomes for each in outcome.advice]
    return json.dumps([data, proposals], indent=0, sort_keys=True, default=str)


def test_every_drawn_question_is_answered_as_recorded(tmp_path: Path) -> None:
    found = {}
    for number in range(CASES):
        dice = Random(f"questions/{number}")
        file = tmp_path / "cluster.json"
        file.write_text(
            json.dumps({"apiVersion": "v1", "kind": "List", "items": drawn_cluster(dice)}), encoding="utf-8"
        )
        source = SnapshotSource([str(file)])
        manifests = drawn_manifests(dice)
        named = " ".join(f"{each['kind']}" for each in manifests)
        found[f"{number} {named}"] = answer(source, GivenList("manifest", manifests), dice)
        if number % 4 == 0:
            name = dice.choice(("n0", "n1", "serving", "n00"))
            try:
                told = json.dumps(node_data(report_node(source, name)), indent=0, sort_keys=True, default=str)
            except MooringError as error:
                told = f"{type(error).__name__}: {error}"
            found[f"{number} node {name}"] = told
            about = dice.choice(("pod/p0", "pod/waits0", "replicaset/web", "rs/wep", "pod/p9"))
            found[f"{number} {about}"] = answer(source, parse_target(about), dice)
    same_as_recorded("runway-questions", {name: told.replace(str(tmp_path), "FOLDER") for name, told in found.items()})
