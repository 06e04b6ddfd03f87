"""Whatever happened to a set, it comes to rest as the second reading says, and updates keep their limits on the way."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from mooring.features.groups.api import KIND
from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.groups import leader_worker_set
from tests.features.groups.corner import REVISION_HASH, corner_of
from tests.features.groups.reading import P, amount
from tests.features.groups.town import Town

HISTORIES = 12
ROLLOUTS = 8
MINUTE = timedelta(minutes=1)


def a_set(draw: random.Random) -> Object:
    size = draw.choice([1, 2, 2, 3])
    replicas = draw.choice([1, 2, 3, 4])
    template: Object = {"restartPolicy": draw.choice(["None", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart"])}
    if size == 3 and draw.random() < 0.3:
        template["subGroupPolicy"] = {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}
    return leader_worker_set(
        replicas=replicas,
        size=size,
        rolling=limits(draw),
        template=template,
        startupPolicy=draw.choice(["LeaderCreated", "LeaderReady"]),
        networkConfig={"subdomainPolicy": draw.choice(["Shared", "Shared", "UniquePerReplica"])},
        annotations={"example.com/note": "x"},
    )


def limits(draw: random.Random) -> Object:
    surge = draw.choice([0, 0, 1, 2, "50%", 9])
    unavailable = draw.choice([1, 1, 2, "100%", 9]) if surge == 0 else draw.choice([0, 1, 2, "25%"])
    return {"maxUnavailable": unavailable, "maxSurge": surge, "partition": 0}


class History:
    """A town with one set, and what may happen to it."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.tags = 1
        self.town = Town(*(node(f"n{number}", cpu="64") for number in range(3)), a_set(self.draw), seed=seed)
        self.told: list[str] = []

    def go_on(self) -> None:
        acts: list[Callable[[], None]] = [
            self.scale, self.scale, self.update, self.update, self.hold_back, self.other_limits, self.lose_a_pod,
            self.lose_a_pod, self.restart_a_container, self.lose_a_child, self.resize, self.other_subdomain,
        ]  # fmt: skip
        act = self.draw.choice(acts)
        self.told.append(act.__name__)
        act()
        self.town.run(self.draw.choice([None, None, 0.5, 2, 10]))

    def end(self) -> None:
        self.roll(partition=0)
        self.town.run()

    def roll(self, **fields: Any) -> None:
        self.town.change({"rolloutStrategy": {"rollingUpdateConfiguration": fields}})

    def scale(self) -> None:
        self.town.change({"replicas": self.draw.randrange(5)})

    def update(self) -> None:
        self.tags += 1
        self.town.new_image(str(self.draw.randrange(1, self.tags + 1)))

    def hold_back(self) -> None:
        self.roll(partition=self.draw.randrange(4))

    def other_limits(self) -> None:
        chosen = limits(self.draw)
        replicas = self.town.get(KIND)["spec"]["replicas"]
        if amount(chosen["maxUnavailable"], replicas, up=False) or amount(chosen["maxSurge"], replicas, up=True):
            self.roll(**{**chosen, "partition": self.draw.choice([0, 0, 1])})

    def lose_a_pod(self) -> None:
        if pods := self.town.pods():
            self.town.delete("Pod", self.draw.choice(pods))

    def restart_a_container(self) -> None:
        running = [name for name, pod in self.town.all("Pod").items() if pod["status"].get("phase") == "Running"]
        if running:
            self.town.restart(self.draw.choice(sorted(running)))

    def lose_a_child(self) -> None:
        kind = self.draw.choice(["StatefulSet", "Service", "ControllerRevision"])
        if found := sorted(self.town.all(kind)):
            self.town.delete(kind, self.draw.choice(found))

    def resize(self) -> None:
        if "subGroupPolicy" not in self.town.get(KIND)["spec"]["leaderWorkerTemplate"]:
            self.town.change({"leaderWorkerTemplate": {"size": self.draw.randrange(1, 4)}})

    def other_subdomain(self) -> None:
        policy = self.draw.choice(["Shared", "UniquePerReplica"])
        self.town.change({"networkConfig": {"subdomainPolicy": policy}})


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_every_history_ends_as_if_nothing_had_happened(seed: int) -> None:
    history = History(seed)
    for _ in range(8):
        history.go_on()
    history.end()
    corner = corner_of(history.town)
    reading, lws = corner.reading(), corner.lws()
    assert len(corner.revisions()) == 1, history.told
    assert corner.pods() == reading.pods(), history.told
    # Workers are made once, so that what is written about their StatefulSet may be older than the set.
    expected = corner.stored(reading.stateful_sets())
    assert _specs(corner.stateful_sets()) == _specs(expected), history.told
    assert corner.services().items() >= reading.services().items(), history.told
    status = lws["status"]
    assert {key: status.get(key, 0) for key in reading.status()} == reading.status(), history.told
    assert status["observedGeneration"] == lws["metadata"]["generation"]
    conditions = history.town.conditions()
    assert conditions.pop("Available") == "True", history.told
    assert set(conditions.values()) <= {"False"}, history.told


def _specs(sets: dict[str, Object]) -> dict[str, Object]:
    return {name: {"owner": obj["owner"], "spec": obj["spec"]} for name, obj in sets.items()}


class Film:
    """What a rolling update looked like after every single step of anybody."""

    def __init__(self, town: Town) -> None:
        self.town = town
        self.steps: list[tuple[int, int]] = []
        self.fewest = 10**6
        self.mixed: set[str] = set()
        self._seen = -1

    def roll(self) -> Film:
        """Until nothing moves; nobody's polls are waited for."""
        while self.town.simulation.run(MINUTE, until=self.look).moving:
            if self.town.conditions().get("Available") == "True":
                break
        self.town.run()
        self.look()
        return self

    def look(self) -> bool:
        if self.town.registry.revision == self._seen:
            return False
        self._seen = self.town.registry.revision
        sets = self.town.all("StatefulSet")
        pods = self.town.all("Pod")
        spec = sets["serve"]["spec"]
        step = (spec["updateStrategy"]["rollingUpdate"]["partition"], spec["replicas"])
        if not self.steps or self.steps[-1] != step:
            self.steps.append(step)
        leaders = [pod for pod in pods.values() if pod["metadata"]["labels"].get(f"{P}worker-index") == "0"]
        self.fewest = min(self.fewest, sum(self._serves(leader, sets) for leader in leaders))
        self.mixed |= {leader["metadata"]["name"] for leader in leaders if self._is_mixed(leader, sets)}
        return False

    def _serves(self, leader: Object, sets: dict[str, Object]) -> bool:
        conditions = {each["type"]: each["status"] for each in leader["status"].get("conditions", ())}
        if "deletionTimestamp" in leader["metadata"] or conditions.get("Ready") != "True":
            return False
        if leader["metadata"]["annotations"][f"{P}size"] == "1":
            return True
        workers = self._workers(leader, sets)
        return workers is not None and workers["status"].get("availableReplicas", 0) == workers["spec"]["replicas"]

    def _is_mixed(self, leader: Object, sets: dict[str, Object]) -> bool:
        workers = self._workers(leader, sets)
        return (
            workers is not None
            and workers["metadata"]["labels"][REVISION_HASH] != leader["metadata"]["labels"][REVISION_HASH]
        )

    def _workers(self, leader: Object, sets: dict[str, Object]) -> Object | None:
        """The StatefulSet of this very leader."""
        found = sets.get(leader["metadata"]["name"])
        if found is None or found["metadata"]["ownerReferences"][0]["uid"] != leader["metadata"]["uid"]:
            return None
        return found


def filmed(rolling: Object, *, replicas: int, size: int = 2, seed: int = 0, **spec: Any) -> Film:
    lws = leader_worker_set(replicas=replicas, size=size, rolling=rolling, **spec)
    town = Town(*(node(f"n{number}", cpu="64") for number in range(3)), lws, seed=seed)
    film = Film(town)
    film.look()
    town.new_image("2")
    return film.roll()


@pytest.mark.parametrize("seed", range(ROLLOUTS))
def test_an_update_keeps_its_limits_after_every_step(seed: int) -> None:
    draw = random.Random(seed)
    replicas, rolling = draw.randrange(1, 7), limits(draw)
    away = amount(rolling["maxUnavailable"], replicas, up=False)
    more = min(replicas, amount(rolling["maxSurge"], replicas, up=True))
    if not away + more:
        rolling["maxUnavailable"] = away = 1
    film = filmed(rolling, replicas=replicas, size=draw.choice([1, 2, 3]), seed=seed)
    assert film.steps[-1] == (0, replicas)
    assert set(film.town.images().values()) == {"2"}
    assert film.fewest >= replicas - away, film.steps
    assert max(count for _, count in film.steps) <= replicas + more
    assert min(count for _, count in film.steps) >= replicas
    partitions = [partition for partition, _ in film.steps[1:]]
    assert partitions == sorted(partitions, reverse=True)
    assert not film.mixed


def test_one_after_the_other_at_work() -> None:
    film = filmed({"maxUnavailable": 1}, replicas=4)
    assert film.steps == [(0, 4), (4, 4), (3, 4), (2, 4), (1, 4), (0, 4)]
    assert film.fewest == 3


def test_none_away_and_one_more_at_work() -> None:
    film = filmed({"maxUnavailable": 0, "maxSurge": 1}, replicas=4)
    assert film.steps == [(0, 4), (4, 5), (3, 5), (2, 5), (1, 5), (0, 5), (0, 4)]
    assert film.fewest == 4


def test_a_partition_is_lowered_at_work() -> None:
    film = filmed({"partition": 4}, replicas=6)
    assert film.steps == [(4, 6), (6, 6), (5, 6), (4, 6)]
    assert film.town.status()["updatedReplicas"] == 2
    assert film.town.conditions()["Available"] == "True"
    assert len(corner_of(film.town).revisions()) == 2
    film.town.change({"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": 2}}})
    film.roll()
    assert film.steps[4:] == [(3, 6), (2, 6)]
    film.town.change({"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": 0}}})
    film.roll()
    assert film.steps[6:] == [(1, 6), (0, 6)]
    assert len(corner_of(film.town).revisions()) == 1


def test_with_a_partition_the_surge_stays_at_work() -> None:
    film = filmed({"partition": 2, "maxSurge": 1}, replicas=3)
    assert film.steps[-1] == (2, 4)
    film.town.change({"rolloutStrategy": {"rollingUpdateConfiguration": {"partition": 0}}})
    film.roll()
    assert film.steps[-1] == (0, 3)
