"""Replicas as their pods tell of them: whose they are, how many are to come, and which taints their nodes may have."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from mooring.features.autoscaler.replica_pools.names import pool_name
from mooring.features.autoscaler.replica_pools.replicas import Replica, ReplicaLabel, looks_unique, read_replicas
from mooring.features.autoscaler.views import AutoscalerPod
from mooring.kube.objects import Object
from mooring.testing.builders import pod
from mooring.testing.replica_pools import KEY, SIZE, replica_pod


def replicas(*pods: Object) -> list[Replica]:
    return read_replicas(msgspec.convert(pods, tuple[AutoscalerPod, ...]), (KEY,), SIZE)


def taints(*pods: Object) -> list[str]:
    (replica,) = replicas(*pods)
    return [f"{each.key}={each.value}:{each.effect}" for each in replica.taints]


def test_pods_are_told_apart_by_value_and_namespace() -> None:
    pods = [replica_pod("a"), replica_pod("a", 1), replica_pod("a", namespace="other"), replica_pod("b"), pod("plain")]
    found = {each.name: len(each.pods) for each in replicas(*pods)}
    assert found == {"default/a": 2, "other/a": 1, "default/b": 1}


def test_pods_that_have_ended_are_no_part_of_a_replica() -> None:
    ended = replica_pod("a")
    ended["status"]["phase"] = "Failed"
    assert replicas(ended) == []


def test_those_that_are_to_come_are_as_large_as_the_largest_that_is_there() -> None:
    (replica,) = replicas(replica_pod("a", size=4, gpu=8), replica_pod("a", 1, size=4, gpu=1))
    assert [each.metadata.name for each in replica.expected] == ["a-expected-0", "a-expected-1"]
    assert "'8'" in str(msgspec.to_builtins(replica.expected[0]))


def test_a_size_that_cannot_be_read_says_nothing() -> None:
    odd = replica_pod("a")
    odd["metadata"]["annotations"] = {SIZE: "many"}
    (replica,) = replicas(odd)
    assert replica.expected == []


def test_nodes_are_tainted_with_what_all_pods_tolerate_of_the_value() -> None:
    both = [f"{KEY}=a:NoSchedule", "example.com/more=a:NoExecute"]
    assert sorted(taints(replica_pod("a", tolerations=both))) == sorted(both)
    assert taints(replica_pod("a", tolerations=both), replica_pod("a", 1)) == [f"{KEY}=a:NoSchedule"]
    assert taints(replica_pod("a", tolerations=[f"{KEY}=other:NoSchedule"])) == []
    assert taints(replica_pod("a", tolerations=[])) == []


@pytest.mark.parametrize(
    ("asks", "found"),
    [
        ({}, ReplicaLabel(KEY, "a")),
        ({"index": 3}, ReplicaLabel(KEY, "a")),
        ({"tolerations": []}, None),
        ({"nodeSelector": {"team": "blue"}, "tolerations": ["team=blue:NoSchedule"]}, None),
    ],
    ids=["a leader", "a worker", "without a toleration", "nodes of a team"],
)
def test_without_a_policy_a_replica_is_known_by_its_leaders_name(
    asks: dict[str, Any], found: ReplicaLabel | None
) -> None:
    made = replica_pod("a", asks.pop("index", 0), **asks)
    assert looks_unique(msgspec.convert(made, AutoscalerPod)) == found


@pytest.mark.parametrize(
    ("value", "key", "name"),
    [
        ("deepseek-0", KEY, "deepseek-0"),
        ("deepseek-0", "example.com/rack", r"deepseek-0-[a-z0-9]+"),
        ("Serve.v1_0", KEY, r"serve-v1-0-[a-z0-9]+"),
        ("a" * 63, KEY, "a" * 63),
    ],
)
def test_a_pool_is_named_after_the_leader(value: str, key: str, name: str) -> None:
    assert re.fullmatch(name, pool_name(ReplicaLabel(key, value), KEY))
