"""Sets in the hands of busy users, as recorded: updates, restarts, changes of size and of mind that were drawn."""

from __future__ import annotations

from random import Random

import pytest

from mooring.features.groups.api import KIND
from mooring.kube.objects import Object
from mooring.testing.groups import leader_worker_set
from tests.features.chance import Deed, busy_hours
from tests.features.groups.town import CONTROLLERS, Town

P = "leaderworkerset.sigs.k8s.io/"


def drawn_set(dice: Random) -> Object:
    size = dice.choice((1, 2, 3, 5))
    template: Object = {"restartPolicy": dice.choice(("RecreateGroupOnPodRestart", "None", "RecreateGroupAfterStart"))}
    if size > 2 and dice.random() < 0.5:
        template["subGroupPolicy"] = {"subGroupSize": 2 if size % 2 else 1}
    exclusive = {f"{P}exclusive-topology": "kubernetes.io/hostname"} if dice.random() < 0.3 else None
    return leader_worker_set(
        replicas=dice.randint(0, 3),
        size=size,
        template=template,
        annotations=exclusive,
        unique="example.com/group" if dice.random() < 0.2 and not exclusive else "",
        rolling={"maxUnavailable": dice.choice((1, 2, "50%")), "maxSurge": dice.choice((0, 1, "50%"))},
        startupPolicy=dice.choice(("LeaderCreated", "LeaderReady")),
        networkConfig={"subdomainPolicy": dice.choice(("Shared", "UniquePerReplica"))},
    )


class Users:
    def __init__(self, town: Town) -> None:
        self.town = town
        self.tags = 1

    def pod(self, dice: Random) -> str:
        return dice.choice(self.town.pods() or ["nobody"])

    def scale(self, dice: Random) -> None:
        self.town.change({"replicas": dice.randint(0, 4)})

    def resize(self, dice: Random) -> None:
        self.town.change({"leaderWorkerTemplate": {"size": dice.randint(1, 4)}})

    def new_image(self, dice: Random) -> None:
        self.tags += 1
        if self.town.all(KIND):
            self.town.new_image(str(dice.choice((self.tags, 1, 2))))

    def roll(self, dice: Random) -> None:
        rolling = {
            "partition": dice.randint(0, 3),
            "maxSurge": dice.randint(0, 2),
            "maxUnavailable": dice.randint(0, 2),
        }
        self.town.change({"rolloutStrategy": {"rollingUpdateConfiguration": rolling}})

    def change_policies(self, dice: Random) -> None:
        policy = dice.choice(("RecreateGroupOnPodRestart", "None"))
        template = {"restartPolicy": policy}
        self.town.change(
            {"leaderWorkerTemplate": template, "startupPolicy": dice.choice(("LeaderCreated", "LeaderReady"))}
        )

    def restart(self, dice: Random) -> None:
        self.town.restart(self.pod(dice))

    def fail(self, dice: Random) -> None:
        self.town.patch("Pod", self.pod(dice), {"status": {"phase": "Failed", "reason": "Evicted"}}, "status")

    def delete_pod(self, dice: Random) -> None:
        self.town.delete("Pod", self.pod(dice))

    def delete_workers(self, dice: Random) -> None:
        self.town.delete("StatefulSet", dice.choice(sorted(self.town.all("StatefulSet")) or ["nobody"]))

    def delete_revision(self, dice: Random) -> None:
        self.town.delete("ControllerRevision", dice.choice(sorted(self.town.all("ControllerRevision")) or ["nobody"]))

    def take_over(self, dice: Random) -> None:
        name = dice.choice(sorted(self.town.all("StatefulSet")) or ["nobody"])
        self.town.patch("StatefulSet", name, {"spec": {"replicas": dice.randint(0, 3)}})

    def delete(self, dice: Random) -> None:
        self.town.delete(KIND, "serve", propagation=dice.choice(("Background", "Foreground", "Orphan")))

    def make(self, dice: Random) -> None:
        self.town.create(drawn_set(dice))


@pytest.mark.parametrize("seed", range(4))
def test_busy_users_of_a_set_get_what_was_recorded(seed: int) -> None:
    dice = Random(f"groups/{seed}")
    town = Town(drawn_set(dice), nodes=3, controllers=CONTROLLERS, seed=seed, run=False)
    town.run(20)
    users = Users(town)
    deeds: dict[Deed, int] = {
        users.scale: 4, users.resize: 2, users.new_image: 4, users.roll: 3, users.change_policies: 1, users.restart: 3,
        users.fail: 2, users.delete_pod: 2, users.delete_workers: 1, users.delete_revision: 1, users.take_over: 1,
        users.delete: 1, users.make: 1,
    }  # fmt: skip
    busy_hours(dice, deeds, town.run)
    settled = town.run(600)
    assert not settled.moving
