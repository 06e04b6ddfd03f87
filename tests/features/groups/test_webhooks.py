"""What is filled in and what is refused in a LeaderWorkerSet."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.features.groups.api import SUBGROUP_EXCLUSIVE_TOPOLOGY
from mooring.features.groups.defaults import default_leader_worker_set
from mooring.features.groups.webhooks import DEFAULTING, VALIDATION
from mooring.kube.objects import Object
from mooring.testing.groups import leader_worker_set
from mooring.testing.webhooks import admitted, answered, denied_because, patched_to, review

KEY = "example.com/node-group"


def full(**parts: Any) -> Object:
    return default_leader_worker_set(leader_worker_set(**parts))


def refusal(**parts: Any) -> str:
    """The errors of a creation, without the words before them."""
    return denied_because(VALIDATION, review(full(**parts))).partition(" is invalid: ")[2]


def test_whatever_is_left_out_is_filled_in() -> None:
    bare: Object = {"leaderWorkerTemplate": {"workerTemplate": {}}}
    made = patched_to(DEFAULTING, review({**leader_worker_set(), "spec": bare}))["spec"]
    assert made == {
        "replicas": 1,
        "startupPolicy": "LeaderCreated",
        "networkConfig": {"subdomainPolicy": "Shared"},
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0, "partition": 0},
        },
        "leaderWorkerTemplate": {"workerTemplate": {}, "size": 1, "restartPolicy": "RecreateGroupOnPodRestart"},
    }


def test_what_is_written_stays_as_it_is() -> None:
    rolling = {"maxUnavailable": "50%", "maxSurge": 2, "partition": 1}
    written = leader_worker_set(
        replicas=7,
        rolling=rolling,
        startupPolicy="LeaderReady",
        networkConfig={"subdomainPolicy": "UniquePerReplica"},
        template={"restartPolicy": "RecreateGroupAfterStart"},
    )
    assert patched_to(DEFAULTING, review(written)) == written


def test_the_old_restart_policy_default_becomes_none() -> None:
    written = leader_worker_set(template={"restartPolicy": "Default"})
    made = patched_to(DEFAULTING, review(written))
    assert made["spec"]["leaderWorkerTemplate"]["restartPolicy"] == "None"


def test_a_subdomain_policy_that_is_taken_away_comes_back() -> None:
    made = patched_to(DEFAULTING, review(leader_worker_set(networkConfig={}), leader_worker_set()))
    assert made["spec"]["networkConfig"] == {"subdomainPolicy": "Shared"}


ODD = {"leaderWorkerTemplate": 3, "rolloutStrategy": {"rollingUpdateConfiguration": []}}


@pytest.mark.parametrize("spec", [None, "x", ODD])
def test_parts_of_the_wrong_type_are_left_for_the_schema_to_refuse(spec: Any) -> None:
    assert admitted(DEFAULTING, review({**leader_worker_set(), "spec": spec}))


def test_a_usual_set_is_let_pass_without_a_word() -> None:
    answer = answered(VALIDATION, review(full(unique=KEY)))
    assert not answer.warnings
    assert admitted(VALIDATION, review(full(replicas=0, rolling={"maxUnavailable": 0})))


ROLLING = "spec.rolloutStrategy.rollingUpdateConfiguration"
SUBGROUP = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize"
SCHEDULING = "spec.leaderWorkerTemplate.schedulingPolicy"


def sub(size: int | None, kind: str = "LeaderWorker") -> Object:
    return {"subGroupPolicy": {"subGroupPolicyType": kind} | ({} if size is None else {"subGroupSize": size})}


def tolerate(key: str = KEY, effect: str = "NoSchedule") -> Object:
    return {"schedulingPolicy": {"replicaUniqueToleration": {"key": key, "effect": effect}}}


REFUSED: dict[str, tuple[Object, str]] = {
    "negative replicas": (
        {"replicas": -1}, "spec.replicas: Invalid value: -1: replicas must be equal or greater than 0"
    ),
    "a million and one replicas": (
        {"replicas": 1000001}, "spec.replicas: Invalid value: 1000001: replicas must be equal or less than 1000000"
    ),
    "no size": (
        {"size": 0}, "spec.leaderWorkerTemplate.size: Invalid value: 0: size must be equal or greater than 1"
    ),
    "more pods than can be counted": (
        {"replicas": 100000, "size": 100000},
        "spec.replicas: Invalid value: 100000: the product of replicas and worker replicas must not exceed 2147483647",
    ),
    "a negative partition": (
        {"rolling": {"partition": -1}},
        f"{ROLLING}.partition: Invalid value: -1: must be greater than or equal to 0",
    ),
    "a negative number of groups away": (
        {"rolling": {"maxUnavailable": -1}},
        f"{ROLLING}.maxUnavailable: Invalid value: -1: must be greater than or equal to 0",
    ),
    "a negative surge": (
        {"rolling": {"maxSurge": -2}}, f"{ROLLING}.maxSurge: Invalid value: -2: must be greater than or equal to 0"
    ),
    "more than all groups away": (
        {"rolling": {"maxUnavailable": "101%"}},
        f'{ROLLING}.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
    ),
    "no step forward": (
        {"rolling": {"maxUnavailable": 0}},
        f"{ROLLING}.maxUnavailable: Invalid value: 0: must not be 0 when `maxSurge` is 0",
    ),
    "a percentage that rounds down to no step forward": (
        {"replicas": 5, "rolling": {"maxUnavailable": "10%"}},
        f'{ROLLING}.maxUnavailable: Invalid value: "10%": must not be 0 when `maxSurge` is 0',
    ),
    "subgroups of nothing": (
        {"template": sub(0)}, f"{SUBGROUP}: Invalid value: 0: subGroupSize must be equal or greater than 1"
    ),
    "subgroups without a size": (
        {"template": sub(None)}, f"{SUBGROUP}: Required value: subGroupPolicy needs a subGroupSize"
    ),
    "subgroups that do not fit": (
        {"size": 6, "template": sub(4)},
        f"{SUBGROUP}: Invalid value: 4: size or size - 1 must be divisible by subGroupSize",
    ),
    "subgroups without the leader that do not fit": (
        {"size": 4, "template": sub(2, "LeaderExcluded")},
        f"{SUBGROUP}: Invalid value: 2: size-1 must be divisible by subGroupSize when using LeaderExcluded",
    ),
    "a topology of subgroups without subgroups": (
        {"annotations": {SUBGROUP_EXCLUSIVE_TOPOLOGY: "rack"}},
        f'metadata.annotations.{SUBGROUP_EXCLUSIVE_TOPOLOGY}: Invalid value: "rack": '
        "cannot have subgroup-exclusive-topology without subGroupSize set",
    ),
    "a toleration without a key": (
        {"template": tolerate(key="")},
        f"{SCHEDULING}.replicaUniqueToleration.key: Required value: "
        "a toleration without a key would tolerate every taint",
    ),
    "an effect that there is not": (
        {"template": tolerate(effect="Evict")},
        f'{SCHEDULING}.replicaUniqueToleration.effect: Unsupported value: "Evict": '
        'supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ),
    "a selector key that the template uses": (
        {"unique": KEY, "pod": {"nodeSelector": {KEY: "a"}}},
        'spec.leaderWorkerTemplate.workerTemplate.spec.nodeSelector: Invalid value: "a": '
        f"replicaUniqueNodeSelector sets {KEY} to the name of the leader; remove it here",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_it_refuses(case: str) -> None:
    parts, sentence = REFUSED[case]
    assert refusal(**parts) == sentence


def test_a_key_that_cannot_be_a_label_is_refused() -> None:
    said = refusal(template={"schedulingPolicy": {"replicaUniqueNodeSelector": "no good"}})
    assert said.startswith(f'{SCHEDULING}.replicaUniqueNodeSelector: Invalid value: "no good": ')


def test_a_name_that_cannot_be_a_service_is_refused() -> None:
    assert "a DNS-1035 label must consist of" in refusal(name="1st")
    assert "must be no more than 63 characters" in refusal(name="a" * 64)


def test_a_leader_whose_name_is_too_long_is_refused_with_the_groups_of_a_surge_counted() -> None:
    name = "a" * 61
    assert admitted(VALIDATION, review(full(name=name, replicas=10, size=1)))
    said = refusal(name=name, replicas=10, size=1, rolling={"maxSurge": 1})
    assert said.endswith("-10 would have a name of 64 characters; the limit is 63")


def test_a_name_that_may_be_too_long_is_warned_about() -> None:
    (said,) = answered(VALIDATION, review(full(name="a" * 51))).warnings
    assert said.startswith("metadata.name: the pods of StatefulSet ")
    assert not answered(VALIDATION, review(full(name="a" * 50))).warnings
    assert not answered(VALIDATION, review(full(name="a" * 52, size=1))).warnings


def test_a_key_of_kubernetes_itself_is_warned_about() -> None:
    first, second = answered(VALIDATION, review(full(unique="kubernetes.io/hostname"))).warnings
    assert first.startswith(f"{SCHEDULING}.replicaUniqueNodeSelector: kubernetes.io/hostname is a label of Kubernetes")
    assert second.startswith(f"{SCHEDULING}.replicaUniqueToleration.key: ")


def test_an_empty_selector_and_an_empty_policy_ask_for_nothing() -> None:
    for policy in ({}, {"replicaUniqueNodeSelector": ""}, {"replicaUniqueNodeSelector": KEY}):
        assert admitted(VALIDATION, review(full(template={"schedulingPolicy": policy})))


def changed(old: Object, new: Object) -> str:
    return denied_because(VALIDATION, review(new, old)).partition(" is invalid: ")[2]


def test_subgroups_cannot_be_changed_added_or_removed() -> None:
    plain, twos, ones = full(size=4), full(size=4, template=sub(2)), full(size=4, template=sub(1))
    assert changed(twos, ones) == f"{SUBGROUP}: Invalid value: 1: field is immutable"
    assert changed(plain, twos) == (
        f"{SUBGROUP}: Invalid value: 2: cannot enable subGroupSize after the lws is already created"
    )
    assert changed(twos, plain) == f"{SUBGROUP}: Invalid value: 2: cannot remove subGroupSize after enabled"


def test_everything_else_can_be_changed() -> None:
    old = full(size=4, template=sub(2))
    new = full(
        size=6,
        replicas=9,
        template=sub(2) | {"restartPolicy": "None"} | tolerate(),
        rolling={"partition": 20, "maxSurge": "100%"},
        startupPolicy="LeaderReady",
        networkConfig={"subdomainPolicy": "UniquePerReplica"},
    )
    assert changed(old, new) == ""


def test_a_name_that_was_too_long_before_does_not_stop_other_changes() -> None:
    old = full(name="a" * 63, size=1)
    assert changed(old, full(name="a" * 63, size=1, image="registry.example.com/serve:2")) == ""


def test_what_is_being_deleted_may_go_whatever_is_wrong_with_it() -> None:
    broken = full(replicas=-1)
    broken["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert admitted(VALIDATION, review(broken, broken))
