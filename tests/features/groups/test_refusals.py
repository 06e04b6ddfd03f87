"""What cannot work is refused by schema and webhooks together, with the field that is wrong, and nothing is made."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.features.groups.api import API_VERSION, KIND
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import Registry
from mooring.runtime.drivers.simulation import START
from mooring.testing.groups import leader_worker_set
from tests.features.groups.cases import KEY, P, container, parts, pods, unique
from tests.features.groups.town import registry_with_groups

TEMPLATE = "spec.leaderWorkerTemplate"
ROLLING = "spec.rolloutStrategy.rollingUpdateConfiguration"
PART = f"{TEMPLATE}.SubGroupPolicy.subGroupSize"
UNIQUE = f"{TEMPLATE}.schedulingPolicy"


def rolling(replicas: int = 2, **fields: Any) -> Object:
    return leader_worker_set(replicas=replicas, rolling=fields)


# What is refused, and the fields that the refusal names.
CREATED: dict[str, tuple[Object, list[str]]] = {
    "a name with a dot": (leader_worker_set("a.b"), ["metadata.name"]),
    "a name that begins with a digit": (leader_worker_set("1a"), ["metadata.name"]),
    "a name that is no label": (leader_worker_set("a" * 64), ["metadata.name"]),
    "a name whose leaders have none": (leader_worker_set("a" * 62, size=1), ["metadata.name"]),
    "fewer than no replicas": (leader_worker_set(replicas=-1), ["spec.replicas"]),
    "too many replicas": (leader_worker_set(replicas=1_000_001), ["spec.replicas"]),
    "no size": (leader_worker_set(size=0), [f"{TEMPLATE}.size"]),
    "less than no size": (leader_worker_set(size=-3), [f"{TEMPLATE}.size"]),
    "too many pods": (leader_worker_set(replicas=1_000_000, size=2148), ["spec.replicas"]),
    "a partition below zero": (rolling(partition=-1), [f"{ROLLING}.partition"]),
    "fewer than none away": (rolling(maxUnavailable=-1), [f"{ROLLING}.maxUnavailable"]),
    "fewer than none more": (rolling(maxSurge=-1), [f"{ROLLING}.maxSurge"]),
    "away in words": (rolling(maxUnavailable="half"), [f"{ROLLING}.maxUnavailable"]),
    "away as text": (rolling(maxUnavailable="1"), [f"{ROLLING}.maxUnavailable"]),
    "more in fractions": (rolling(maxSurge="2.5%"), [f"{ROLLING}.maxSurge"]),
    "away beyond all": (rolling(maxUnavailable="101%"), [f"{ROLLING}.maxUnavailable"]),
    "more beyond all": (rolling(maxSurge="101%"), [f"{ROLLING}.maxSurge"]),
    "neither away nor more": (rolling(maxUnavailable=0, maxSurge=0), [f"{ROLLING}.maxUnavailable"]),
    "neither away nor more in percent": (rolling(maxUnavailable="0%", maxSurge="0%"), [f"{ROLLING}.maxUnavailable"]),
    "a share that rounds to none": (rolling(5, maxUnavailable="10%"), [f"{ROLLING}.maxUnavailable"]),
    "several things": (
        leader_worker_set("1a", size=0, rolling={"partition": -1}),
        ["metadata.name", f"{TEMPLATE}.size", f"{ROLLING}.partition"],
    ),
    "subgroups without a size": (leader_worker_set(template={"subGroupPolicy": {}}), [PART]),
    "subgroups of none": (parts(4, 0), [PART]),
    "subgroups that do not divide": (parts(6, 4), [PART]),
    "subgroups larger than the group": (parts(2, 3), [PART]),
    "subgroups that divide only with the leader": (parts(4, 2, "LeaderExcluded"), [PART]),
    "a topology for subgroups that are not there": (
        leader_worker_set(annotations={f"{P}subgroup-exclusive-topology": "zone"}),
        [f"metadata.annotations.{P}subgroup-exclusive-topology"],
    ),
    "an empty leader template": (
        leader_worker_set(template={"leaderTemplate": {}}), [f"{TEMPLATE}.leaderTemplate.spec.containers"],
    ),
    "a leader template of metadata alone": (
        leader_worker_set(template={"leaderTemplate": {"metadata": {"labels": {"a": "b"}}}}),
        [f"{TEMPLATE}.leaderTemplate.spec.containers"],
    ),
    "an empty worker template": (
        leader_worker_set(template={"workerTemplate": {}}), [f"{TEMPLATE}.workerTemplate.spec.containers"],
    ),
    "a worker without containers": (
        leader_worker_set(template={"workerTemplate": {"spec": {"containers": []}}}),
        [f"{TEMPLATE}.workerTemplate.spec.containers"],
    ),
    "an unknown effect": (leader_worker_set(**unique(effect="Evict")), [f"{UNIQUE}.replicaUniqueToleration.effect"]),
    "an empty key": (
        leader_worker_set(
            template={"schedulingPolicy": {"replicaUniqueToleration": {"key": "", "effect": "NoExecute"}}}
        ),
        [f"{UNIQUE}.replicaUniqueToleration.key"],
    ),
    "no key": (
        leader_worker_set(template={"schedulingPolicy": {"replicaUniqueToleration": {"effect": "NoExecute"}}}),
        [f"{UNIQUE}.replicaUniqueToleration.key"],
    ),
    "no effect": (
        leader_worker_set(template={"schedulingPolicy": {"replicaUniqueToleration": {"key": KEY}}}),
        [f"{UNIQUE}.replicaUniqueToleration.effect"],
    ),
    "a selector that is no label": (leader_worker_set(**unique("no good")), [f"{UNIQUE}.replicaUniqueNodeSelector"]),
    "a key that is no label": (
        leader_worker_set(**unique(key="/no/good")), [f"{UNIQUE}.replicaUniqueToleration.key"],
    ),
    "a selector that workers have already": (
        leader_worker_set(pod={"nodeSelector": {KEY: "mine"}}, **unique()),
        [f"{TEMPLATE}.workerTemplate.spec.nodeSelector"],
    ),
    "a selector that leaders have already": (
        leader_worker_set(
            template={
                "leaderTemplate": pods(container(), nodeSelector={KEY: "mine"}),
                "schedulingPolicy": {"replicaUniqueNodeSelector": KEY},
            }
        ),
        [f"{TEMPLATE}.leaderTemplate.spec.nodeSelector"],
    ),
}  # fmt: skip
# What it was, what it cannot become, and the fields that the refusal names.
UPDATED: dict[str, tuple[Object, Object, list[str]]] = {
    "other subgroups": (parts(4, 2), parts(4, 4), [PART]),
    "subgroups that come": (leader_worker_set(size=4), parts(4, 2), [PART]),
    "subgroups that go": (parts(4, 2), leader_worker_set(size=4), [PART]),
    "a size that subgroups do not divide": (parts(4, 2), parts(4, 2) | {"spec": parts(8, 3)["spec"]}, [PART]),
    "no size any more": (leader_worker_set(), leader_worker_set(size=0), [f"{TEMPLATE}.size"]),
    "leaders without containers": (
        leader_worker_set(),
        leader_worker_set(template={"leaderTemplate": {}}),
        [f"{TEMPLATE}.leaderTemplate.spec.containers"],
    ),
    "no step forward": (leader_worker_set(), rolling(maxUnavailable=0), [f"{ROLLING}.maxUnavailable"]),
    "fewer than no replicas": (leader_worker_set(), leader_worker_set(replicas=-1), ["spec.replicas"]),
    "an unknown effect": (
        leader_worker_set(), leader_worker_set(**unique(effect="")), [f"{UNIQUE}.replicaUniqueToleration.effect"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def registry() -> Registry:
    return registry_with_groups()


def named(refused: ApiError) -> set[str]:
    """The fields that a refusal is about, as a client reads them."""
    return {cause["field"] for cause in refused.status()["details"]["causes"]}


@pytest.mark.parametrize("case", CREATED)
def test_it_cannot_be_made(registry: Registry, case: str) -> None:
    lws, fields = CREATED[case]
    resource = registry.resource(API_VERSION, KIND)
    with pytest.raises(ApiError) as refused:
        registry.create(resource, lws, now=START)
    assert refused.value.code == 422
    assert named(refused.value) >= set(fields)
    assert all(f"{field}: " in str(refused.value) for field in fields)
    assert registry.find(API_VERSION, KIND, "default", lws["metadata"]["name"]) is None


@pytest.mark.parametrize("case", UPDATED)
def test_it_cannot_become_so(registry: Registry, case: str) -> None:
    old, new, fields = UPDATED[case]
    resource = registry.resource(API_VERSION, KIND)
    made = registry.create(resource, old, now=START)
    try:
        wanted = {**new, "metadata": made["metadata"]}
        with pytest.raises(ApiError) as refused:
            registry.update(resource, wanted, now=START)
        assert refused.value.code == 422
        assert named(refused.value) >= set(fields)
        assert registry.find(API_VERSION, KIND, "default", "serve") == made
    finally:
        registry.delete(resource, "default", "serve", now=START)
