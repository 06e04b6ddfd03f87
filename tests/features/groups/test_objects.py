"""The objects that a LeaderWorkerSet is made of, field by field."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.apps.views import ControllerRevision
from mooring.api.core.views import Pod
from mooring.features.groups import api
from mooring.features.groups.api import LeaderWorkerSet
from mooring.features.groups.defaults import default_leader_worker_set
from mooring.features.groups.objects import group_service, leaders_of, shared_service, workers_of
from mooring.features.groups.revision_data import data_of
from mooring.features.groups.revisions import Blueprint, blueprint_of, data_hash, equal_revision, new_revision
from mooring.features.groups.rollout import Step, limits_of
from mooring.kube.objects import Object
from mooring.testing.groups import leader_worker_set

KEY = "example.com/node-group"


def typed(**parts: Any) -> LeaderWorkerSet:
    obj = default_leader_worker_set(leader_worker_set(**parts))
    obj["metadata"] = {"uid": "u1", **obj["metadata"]}
    return msgspec.convert(obj, LeaderWorkerSet)


def revision(lws: LeaderWorkerSet) -> ControllerRevision:
    return msgspec.convert(new_revision(lws, ()).object, ControllerRevision)


def blueprint(lws: LeaderWorkerSet) -> Blueprint:
    return blueprint_of(revision(lws))


def leader(name: str = "serve-1") -> Pod:
    labels = {api.GROUP_INDEX: name.rpartition("-")[2], api.GROUP_KEY: "k1", api.REVISION: "w1"}
    return msgspec.convert({"metadata": {"name": name, "namespace": "default", "uid": "p1", "labels": labels}}, Pod)


def leaders(**parts: Any) -> Object:
    lws = typed(**parts)
    return leaders_of(
        lws, blueprint(lws)._replace(revision_hash="w1"), limits_of(lws.spec), Step(0, lws.spec.replicas)
    ).object


def workers(domain: dict[str, str] | None = None, **parts: Any) -> Object:
    lws = typed(**parts)
    return workers_of(lws, leader(), blueprint(lws)._replace(revision_hash="w1"), domain or {}).object


CONTAINERS = [
    {"name": "main", "image": "registry.example.com/serve:1", "resources": {"requests": {"cpu": "100m"}}}
]  # fmt: skip


def test_the_leaders_are_one_stateful_set() -> None:
    assert leaders(replicas=3, size=4) == {
        "metadata": {
            "name": "serve",
            "namespace": "default",
            "labels": {api.NAME: "serve", api.REVISION: "w1"},
            "annotations": {api.REPLICAS: "3"},
            "ownerReferences": [
                {
                    "apiVersion": "leaderworkerset.x-k8s.io/v1",
                    "kind": "LeaderWorkerSet",
                    "name": "serve",
                    "uid": "u1",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "replicas": 3,
            "serviceName": "serve",
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {api.NAME: "serve", api.WORKER_INDEX: "0"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": 1}},
            "template": {
                "metadata": {
                    "labels": {api.WORKER_INDEX: "0", api.NAME: "serve", api.REVISION: "w1"},
                    "annotations": {api.SIZE: "4"},
                },
                "spec": {"containers": CONTAINERS},
            },
        },
    }


def test_the_workers_of_a_group_are_one_stateful_set() -> None:
    identity = {api.GROUP_INDEX: "1", api.NAME: "serve", api.GROUP_KEY: "k1"}
    assert workers(size=4) == {
        "metadata": {
            "name": "serve-1",
            "namespace": "default",
            "labels": {**identity, api.REVISION: "w1"},
            "ownerReferences": [
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": "serve-1",
                    "uid": "p1",
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "replicas": 3,
            "ordinals": {"start": 1},
            "serviceName": "serve",
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": identity},
            "template": {
                "metadata": {
                    "labels": {**identity, api.REVISION: "w1"},
                    "annotations": {api.SIZE: "4", api.LEADER_NAME: "serve-1"},
                },
                "spec": {"containers": CONTAINERS},
            },
        },
    }


def test_leaders_have_a_template_of_their_own_if_there_is_one() -> None:
    own = {"metadata": {"labels": {"role": "leader"}}, "spec": {"containers": [{"name": "lead"}]}}
    made = leaders(template={"leaderTemplate": own})["spec"]["template"]
    assert made["spec"]["containers"][0]["name"] == "lead"
    assert made["metadata"]["labels"]["role"] == "leader"
    assert workers(template={"leaderTemplate": own})["spec"]["template"]["spec"]["containers"] == CONTAINERS


def test_labels_and_annotations_of_the_set_go_to_its_stateful_sets_and_not_to_pods() -> None:
    last = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    for made in (leaders(annotations={"team": "a", **last}), workers(annotations={"team": "a", **last})):
        assert made["metadata"]["annotations"]["team"] == "a"
        assert not last.keys() & made["metadata"]["annotations"].keys()
        assert "team" not in made["spec"]["template"]["metadata"]["annotations"]


def both(**parts: Any) -> list[Object]:
    """The annotations of both pod templates."""
    return [made(**parts)["spec"]["template"]["metadata"]["annotations"] for made in (leaders, workers)]


def test_what_the_pod_webhook_must_know_stands_on_both_templates() -> None:
    said = {api.EXCLUSIVE_TOPOLOGY: "rack", api.SUBGROUP_EXCLUSIVE_TOPOLOGY: "host"}
    policy = {"subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}}
    for notes in both(size=5, annotations=said, template=policy):
        assert notes[api.EXCLUSIVE_TOPOLOGY] == "rack"
        assert notes[api.SUBGROUP_EXCLUSIVE_TOPOLOGY] == "host"
        assert notes[api.SUBGROUP_SIZE] == "2"
        assert notes[api.SUBGROUP_TYPE] == "LeaderExcluded"


def test_nodes_of_its_own_are_three_annotations_on_both_templates() -> None:
    for notes in both(unique=KEY):
        assert notes[api.UNIQUE_SELECTOR] == KEY
        assert notes[api.UNIQUE_TOLERATION_KEY] == KEY
        assert notes[api.UNIQUE_TOLERATION_EFFECT] == "NoSchedule"
    assert "nodeSelector" not in leaders(unique=KEY)["spec"]["template"]["spec"]
    assert not {name for name in leaders(unique=KEY)["metadata"]["annotations"] if "Unique" in name}


@pytest.mark.parametrize("policy", [None, {}, {"replicaUniqueNodeSelector": ""}])
def test_who_asks_for_nothing_gets_the_same_bytes(policy: Object | None) -> None:
    template = {} if policy is None else {"schedulingPolicy": policy}
    assert both(template=template) == both()
    for made in (leaders, workers):
        assert msgspec.json.encode(made(template=template)) == msgspec.json.encode(made())
    assert data_of(typed(template=template)) == data_of(typed())


def test_a_set_without_the_policy_has_the_revision_it_always_had() -> None:
    # Pinned: sets that run keep their revisions in any spelling, but plans and tests would see another hash.
    assert data_hash(data_of(typed())) == "67fb6fc6b4"


def test_annotations_on_the_set_itself_mean_nothing_to_pods() -> None:
    for notes in both(annotations={api.UNIQUE_SELECTOR: KEY}):
        assert api.UNIQUE_SELECTOR not in notes


def test_annotations_in_a_template_are_kept_and_the_field_overrules_them() -> None:
    def template(value: str) -> Object:
        metadata = {"annotations": {api.UNIQUE_SELECTOR: value}}
        return {"workerTemplate": {"metadata": metadata, "spec": {"containers": CONTAINERS}}}

    for notes in both(template=template("mine")):
        assert notes[api.UNIQUE_SELECTOR] == "mine"
    policy = {"schedulingPolicy": {"replicaUniqueNodeSelector": KEY}}
    for notes in both(template=template("mine") | policy):
        assert notes[api.UNIQUE_SELECTOR] == KEY


def test_workers_stay_in_the_domain_of_their_leader() -> None:
    made = workers({"rack": "r1"}, pod={"nodeSelector": {"gpu": "h200"}})
    assert made["spec"]["template"]["spec"]["nodeSelector"] == {"gpu": "h200", "rack": "r1"}


def test_a_group_with_a_service_of_its_own_is_found_there() -> None:
    apart = {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}
    assert workers(**apart)["spec"]["serviceName"] == "serve-1"
    assert leaders(**apart)["spec"]["serviceName"] == "serve"
    assert leaders(**apart)["spec"]["template"]["metadata"]["annotations"][api.SUBDOMAIN] == "UniquePerReplica"
    assert api.SUBDOMAIN not in workers(**apart)["spec"]["template"]["metadata"]["annotations"]


def test_services_have_no_address_and_name_everybody() -> None:
    shared = shared_service(typed()).object
    own = group_service(typed(), leader()).object
    for made in (shared, own):
        assert made["spec"]["clusterIP"] == "None"
        assert made["spec"]["publishNotReadyAddresses"] is True
        assert made["metadata"]["labels"] == {api.NAME: "serve"}
    assert shared["spec"]["selector"] == {api.NAME: "serve"}
    assert shared["metadata"]["ownerReferences"][0]["kind"] == "LeaderWorkerSet"
    assert own["spec"]["selector"] == {api.NAME: "serve", api.GROUP_INDEX: "1"}
    assert own["metadata"]["ownerReferences"][0]["uid"] == "p1"


def test_workers_know_whether_their_leader_has_tpus() -> None:
    pod = {"containers": [{"name": "main", "resources": {"limits": {"google.com/tpu": 4}}}]}
    notes = workers(pod=pod)["spec"]["template"]["metadata"]["annotations"]
    assert notes[api.LEADER_REQUESTS_TPUS] == "true"
    plain = {"leaderTemplate": {"spec": {"containers": [{"name": "lead"}]}}}
    notes = workers(pod=pod, template=plain)["spec"]["template"]["metadata"]["annotations"]
    assert api.LEADER_REQUESTS_TPUS not in notes


def test_claims_are_copied_field_by_field() -> None:
    claim = {
        "metadata": {"name": "data", "labels": {"a": "b"}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "volumeName": "pv-1",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    policy = {"whenDeleted": "Delete", "whenScaled": "Retain"}
    template = {"volumeClaimTemplates": [claim], "persistentVolumeClaimRetentionPolicy": policy}
    for made in (leaders(template=template), workers(template=template)):
        assert made["spec"]["persistentVolumeClaimRetentionPolicy"] == policy
        assert made["spec"]["volumeClaimTemplates"] == [
            {
                "metadata": {"name": "data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "fast",
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            }
        ]


@pytest.mark.parametrize(
    ("rolling", "away"),
    [
        ({}, 1),
        ({"maxUnavailable": 2, "maxSurge": 2}, 4),
        ({"maxUnavailable": 0, "maxSurge": 9}, 4),
        ({"maxUnavailable": "50%", "maxSurge": "30%"}, 4),
    ],
)
def test_so_many_leaders_are_replaced_at_once(rolling: Object, away: int) -> None:
    made = leaders(replicas=4, rolling=rolling)
    assert made["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] == away


def test_a_revision_holds_templates_and_network_and_nothing_else() -> None:
    lws = typed(replicas=9, startupPolicy="LeaderReady")
    made = new_revision(lws, ()).object
    assert made["data"]["spec"].keys() == {"leaderWorkerTemplate", "networkConfig"}
    assert made["data"]["spec"]["networkConfig"] == {"subdomainPolicy": "Shared", "$patch": "replace"}
    revision_hash = made["metadata"]["labels"][api.REVISION]
    assert made["metadata"]["name"] == f"serve-{revision_hash}-1"
    assert made["metadata"]["labels"][api.NAME] == "serve"
    assert data_hash(data_of(typed(replicas=1))) == revision_hash


@pytest.mark.parametrize(
    "change",
    [
        {"image": "registry.example.com/serve:2"},
        {"size": 3},
        {"unique": KEY},
        {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}},
        {"template": {"restartPolicy": "None"}},
    ],
)
def test_a_change_of_these_is_another_revision(change: Object) -> None:
    old = revision(typed())
    assert equal_revision([old], typed(**change)) is None
    assert equal_revision([old], typed()) is old


def test_a_word_that_stands_for_something_else_is_not_taken_twice() -> None:
    data = data_of(typed())
    assert data_hash(data, [data_hash(data)]) != data_hash(data)


def test_words_are_short_and_spell_nothing() -> None:
    # FNV-1 of the empty text is its offset basis, 2166136261.
    assert set(data_hash(data_of(typed()))) <= set("456789bcdf")
    assert len(data_hash(data_of(typed()))) <= 10
