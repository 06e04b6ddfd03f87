"""Drawn stories of what keeps a cluster tidy: budgets, owners and what they own, namespaces, rights and credentials."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from mooring.builtin.apps.deployment.controller import CONTROLLER as DEPLOYMENTS
from mooring.builtin.apps.replicaset.controller import CONTROLLER as REPLICA_SETS
from mooring.builtin.apps.replicaset.controller import REPLICATION
from mooring.builtin.apps.statefulset.controller import CONTROLLER as STATEFUL_SETS
from mooring.builtin.authentication import bootstrap_signer, root_ca, token_cleaner
from mooring.builtin.certificates import approver, cleaner
from mooring.builtin.clusterroleaggregation.controller import CONTROLLER as AGGREGATION
from mooring.builtin.disruption import CONTROLLER as DISRUPTION
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.drivers.simulation import START
from mooring.testing import pod
from mooring.testing.workloads import (
    budget,
    deployment,
    job,
    replica_set,
    replication_controller,
    service,
    stateful_set,
)
from tests.builtin.access_objects import AUTHORITY, cluster_role
from tests.builtin.authentication.test_bootstrap_tokens import INFO, secret
from tests.builtin.certificates.requests import NODE_CLIENT, pem, signing_request
from tests.builtin.town import GARBAGE, NAMESPACES
from tests.support.traces.draws import anyone, chosen
from tests.support.traces.golden import agrees
from tests.support.traces.kubelet import Kubelet
from tests.support.traces.story import Story

KINDS = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")
BUILDERS = (deployment, replica_set, stateful_set, replication_controller)


def limits(draw: Random) -> Object:
    amount = draw.choice([0, 1, 2, "30%", "100%"])
    return {draw.choice(["maxUnavailable", "minAvailable"]): amount}


def budgets(number: int) -> str:
    draw = Random(f"budgets {number}")
    story = Story((DISRUPTION, DEPLOYMENTS, REPLICA_SETS, REPLICATION, STATEFUL_SETS), seed=number, silent=OTHERS)
    kubelet = Kubelet(story, draw=draw)
    at = draw.randrange(4)
    story.create(BUILDERS[at]("web", draw.randrange(1, 6)))
    story.create(budget("web", "web", **limits(draw)))
    for step in range(14):
        kubelet.tick(start=0.7, fail=0.05, unready=0.1)
        story.run(draw.choice([1, 1, 30, 130]))
        some = anyone(story, draw, "Pod")
        name = some["metadata"]["name"] if some else ""
        match draw.randrange(11):
            case 0 | 1 | 2 if name:
                story.evict(name)
            case 3:
                story.patch(KINDS[at], "web", {"spec": {"replicas": draw.randrange(6)}})
            case 4:
                story.patch(
                    "PodDisruptionBudget",
                    "web",
                    {"spec": {"maxUnavailable": None, "minAvailable": None} | limits(draw)},
                )
            case 5:
                other = draw.randrange(4)
                story.create(BUILDERS[other]("more", 2, pods=None))
                story.patch(
                    "PodDisruptionBudget",
                    "web",
                    {"spec": {"selector": draw.choice([{"matchLabels": {"app": "web"}}, {}])}},
                )
            case 6:
                story.create(pod(f"alone-{step}", labels={"app": "web"}))
            case 7:
                owner = draw.choice([("batch/v1", "Job"), ("example.com/v1", "Farm"), ("apps/v1", "ReplicaSet")])
                made = pod(f"of-{step}", labels={"app": "web"})
                reference = {"apiVersion": owner[0], "kind": owner[1], "name": "x", "uid": "x", "controller": True}
                made["metadata"]["ownerReferences"] = [reference]
                story.create(made)
            case 8:
                story.delete(KINDS[at], "web", propagation="Orphan")
            case 9 if name:
                story.delete("Pod", name)
            case 10:
                template = {"metadata": {"annotations": {"version": str(step)}}}
                story.patch(KINDS[at], "web", {"spec": {"template": template}})
        story.run(1)
    return story.text()


OTHERS = tuple(
    f"mooring-{name}" for name in ("deployment", "replicaset", "replicationcontroller", "statefulset")
) + tuple(f"mooring-{name}-controller" for name in ("deployment", "replicaset", "replication", "statefulset"))


@pytest.mark.parametrize("number", range(10))
def test_a_drawn_budget_goes_as_it_did(number: int) -> None:
    agrees("budgets", f"drawn {number}", budgets(number))


def owners(number: int) -> str:
    """Objects that own each other, in two namespaces, and what goes when one of them does."""
    draw = Random(f"owners {number}")
    story = Story((GARBAGE, NAMESPACES), seed=number)
    story.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    kubelet = Kubelet(story, draw=draw)
    known: list[Object] = [{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "gone", "uid": "of-none"}}]
    for step in range(18):
        where = draw.choice(["default", "team"])
        match draw.randrange(10):
            case 0 | 1 | 2 | 3:
                name = f"o{step}"
                made = draw.choice([pod(name), replica_set(name, 0), service(name, name), job(name, suspend=True)])
                finalizers = draw.choice([None, None, None, ["example.com/hold"]])
                made["metadata"] |= {"namespace": where} | ({"finalizers": finalizers} if finalizers else {})
                above = draw.sample(known, min(len(known), draw.randrange(3)))
                made["metadata"]["ownerReferences"] = [
                    {
                        "apiVersion": each["apiVersion"], "kind": each["kind"], "name": each["metadata"]["name"],
                        "uid": each["metadata"]["uid"], **chosen(draw, 0.6, blockOwnerDeletion=True),
                    }
                    for each in above
                ]  # fmt: skip
                found = story.create(made)
                if found is not None:
                    known.append(found)
            case 4 | 5 | 6:
                kind = draw.choice(["Pod", "ReplicaSet", "Service", "Job"])
                some = anyone(story, draw, kind)
                if some is not None:
                    way = draw.choice(["Foreground", "Background", "Orphan", None])
                    meta = some["metadata"]
                    story.delete(kind, meta["name"], meta["namespace"], propagation=way)
            case 7:
                kind = draw.choice(["Pod", "ReplicaSet", "Service"])
                some = anyone(story, draw, kind)
                if some is not None:
                    meta = some["metadata"]
                    story.patch(kind, meta["name"], {"metadata": {"finalizers": None}}, namespace=meta["namespace"])
            case 8:
                # Two that own each other.
                pair = [each for each in known[-2:] if each["kind"] != "Node"]
                for one, other in zip(pair, reversed(pair), strict=True):
                    reference = {key: other[key] for key in ("apiVersion", "kind")}
                    reference |= {key: other["metadata"][key] for key in ("name", "uid")}
                    body = {"metadata": {"ownerReferences": [{**reference, "blockOwnerDeletion": True}]}}
                    story.patch(one["kind"], one["metadata"]["name"], body, namespace=one["metadata"]["namespace"])
            case 9 if step > 9:
                story.delete("Namespace", "team")
        story.run(draw.choice([0, 1, 40]))
        for each in kubelet.pods():
            if "deletionTimestamp" in each["metadata"]:
                kubelet.remove(each)
    story.run(100)
    return story.text()


@pytest.mark.parametrize("number", range(16))
def test_drawn_owners_and_owned_go_as_they_did(number: int) -> None:
    agrees("owners", f"drawn {number}", owners(number))


def rights(number: int) -> str:
    draw = Random(f"rights {number}")
    controllers = (AGGREGATION, root_ca.CONTROLLER, bootstrap_signer.CONTROLLER, token_cleaner.CONTROLLER)
    story = Story((*controllers, approver.CONTROLLER, cleaner.CONTROLLER), AUTHORITY, INFO, seed=number)
    for step in range(16):
        rule = {
            "verbs": [draw.choice(["get", "list"])],
            "apiGroups": [""],
            "resources": [draw.choice(["pods", "nodes"])],
        }
        match draw.randrange(13):
            case 0 | 1:
                story.create(cluster_role(f"part-{draw.randrange(4)}", rules=[rule]))
            case 2:
                selectors = [{"matchLabels": {"example.com/part": "true"}}, {"matchLabels": {"tier": "x"}}]
                rule_of = {"clusterRoleSelectors": selectors[: draw.randrange(1, 3)]}
                made = cluster_role(f"whole-{draw.randrange(2)}", rules=[], aggregationRule=rule_of)
                made["metadata"]["labels"] = {"tier": draw.choice(["x", "y"])}
                story.create(made)
            case 3:
                story.patch("ClusterRole", f"part-{draw.randrange(4)}", {"rules": [rule]})
            case 4:
                labels = {"example.com/part": draw.choice(["true", "false"])}
                story.patch("ClusterRole", f"part-{draw.randrange(4)}", {"metadata": {"labels": labels}})
            case 5:
                story.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"team-{step}"}})
            case 6:
                said = draw.choice([{"ca.crt": "wrong"}, {"more": "x"}, None])
                story.patch(
                    "ConfigMap", "kube-root-ca.crt", {"data": said}, namespace=draw.choice(["default", "kube-system"])
                )
            case 7:
                story.delete("ConfigMap", "kube-root-ca.crt")
            case 8 | 9:
                ends = timestamp(START + timedelta(seconds=story.elapsed() + draw.choice([-5, 30, 4000])))
                more = chosen(draw, 0.6, expiration=[ends, "never"]) | chosen(
                    draw, 0.2, usage_bootstrap_signing="false"
                )
                story.create(secret(f"joshu{step % 10}", **{key: str(value) for key, value in more.items()}))
            case 10:
                story.patch(
                    "ConfigMap", "cluster-info", {"data": {"kubeconfig": f"payload {step}"}}, namespace="kube-public"
                )
            case 11:
                signer = draw.choice(["kubernetes.io/kube-apiserver-client-kubelet", "example.com/mine"])
                asked = pem(draw.choice(["system:node:a", "somebody"]))
                usages = draw.choice([NODE_CLIENT, ("client auth",), ("server auth",)])
                made = signing_request(asked, signer, usages, name=f"csr-{step}")
                del made["metadata"]["creationTimestamp"]
                story.create(made)
            case 12:
                some = anyone(story, draw, "CertificateSigningRequest")
                if some is not None:
                    now = timestamp(story.simulation.now)
                    said = {"type": draw.choice(["Approved", "Denied", "Failed"]), "status": "True", "reason": "R"}
                    body = {"status": {"conditions": [{**said, "lastUpdateTime": now}]}}
                    story.patch("CertificateSigningRequest", some["metadata"]["name"], body, "approval")
        story.run(draw.choice([0, 1, 40, 3700, 90000]))
        story.show("CertificateSigningRequest", "status")
    return story.text()


@pytest.mark.parametrize("number", range(12))
def test_drawn_rights_and_credentials_go_as_they_did(number: int) -> None:
    agrees("rights", f"drawn {number}", rights(number))
