"""Every set of the table comes to rest as a second, independent reading of the rules says it must."""

from __future__ import annotations

import pytest

from mooring.features.groups.api import KIND
from tests.features.groups.cases import CASES, fleet, home, moved, namespace_of, parts, volumes
from tests.features.groups.corner import REVISION_HASH, Corner, InRegistry
from tests.features.groups.reading import P, Reading
from tests.features.groups.town import Town


@pytest.fixture(scope="module")
def town() -> Town:
    return Town(*fleet(), *volumes(), *map(home, CASES), *map(moved, CASES))


@pytest.fixture(params=CASES)
def corner(request: pytest.FixtureRequest, town: Town) -> Corner:
    return Corner(InRegistry(town.registry, town.simulation.now, namespace_of(request.param)))


def test_the_statefulsets_are_as_read(corner: Corner) -> None:
    assert corner.stateful_sets() == corner.stored(corner.reading().stateful_sets())


def test_the_services_are_as_read(corner: Corner) -> None:
    assert corner.services() == corner.reading().services()


def test_the_pods_are_as_read(corner: Corner) -> None:
    assert corner.pods() == corner.reading().pods()


def test_all_groups_are_ready_and_the_status_says_so(corner: Corner) -> None:
    reading, lws = corner.reading(), corner.lws()
    status = lws["status"]
    assert {key: status.get(key, 0) for key in reading.status()} == reading.status()
    assert status["observedGeneration"] == lws["metadata"]["generation"] == 1
    conditions = {each["type"]: (each["status"], each["reason"], each["message"]) for each in status["conditions"]}
    assert conditions.pop("Placeable")[:2] == ("True", "Fits")
    assert conditions == reading.conditions()


def test_what_happened_is_told(corner: Corner) -> None:
    reading, progress = corner.reading(), corner.told("GroupsProgressing")
    assert f"Created leader statefulset {reading.name}" in progress
    leaders = set(reading.stateful_sets()) - {reading.name}
    workers = {f"Created worker statefulset for leader pod {name}" for name in leaders}
    assert {text for text in progress if text.startswith("Created worker")} == workers
    count = reading.replicas
    assert f"All replicas are ready, with {count} groups ready of total {count} groups" in corner.told("AllGroupsReady")
    assert not corner.told("FailedCreate")
    assert not corner.told("GroupsUpdating")
    assert len(corner.told("CreatingRevision")) == 1
    about = [event for event in corner.all("Event").values() if event["involvedObject"]["kind"] == KIND]
    assert {event["reportingComponent"] for event in about} == {"leaderworkerset"}


def test_the_revision_holds_what_an_update_is_about(corner: Corner) -> None:
    ((name, revision),) = corner.revisions().items()
    revision_hash = revision["metadata"]["labels"][REVISION_HASH]
    assert name == f"{corner.reading().name}-{revision_hash}-1"
    assert revision["revision"] == 1
    assert 1 <= len(revision_hash) <= 10
    assert set(revision_hash) <= set("456789bcdf")
    spec = revision["data"]["spec"]
    assert {part: value["$patch"] for part, value in spec.items()} == {
        "leaderWorkerTemplate": "replace",
        "networkConfig": "replace",
    }


def test_the_keys_of_the_reading_are_those_that_clusters_have() -> None:
    """Known values, so that the reading itself stands on something."""
    lws = parts(4, 2, name="leaderworkerset-sample", replicas=1)
    lws["spec"]["networkConfig"] = {"subdomainPolicy": "Shared"}
    lws["spec"]["rolloutStrategy"] = {
        "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0, "partition": 0}
    }
    labels = Reading(lws, "x", {}).pods()["leaderworkerset-sample-0"]["labels"]
    assert labels[f"{P}group-key"] == "9e1316d2ae590d1547fdcd8e941a83be8889e7d4"
    assert labels[f"{P}subgroup-key"] == "bbcb8915b3fc422b432777ae177705a012ab13d4"
