"""What the controllers of groups decide in a cluster in which something is not as it came to be, as recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mooring.features.groups.feature import GROUPS
from mooring.testing.groups import leader_worker_set
from tests.features.altered import Change, decided_as_recorded
from tests.features.groups.town import Town

P = "leaderworkerset.sigs.k8s.io/"
ALSO = {
    "LeaderWorkerSet": [
        *(Change(("spec", "replicas"), number) for number in (0, 1, 4)),
        *(Change(("spec", "leaderWorkerTemplate", "size"), number) for number in (1, 3)),
        *(
            Change(("spec", "leaderWorkerTemplate", "restartPolicy"), policy)
            for policy in ("None", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart")
        ),
        Change(("spec", "startupPolicy"), "LeaderReady"),
        Change(("spec", "networkConfig"), {"subdomainPolicy": "UniquePerReplica"}),
        *(
            Change(
                ("spec", "rolloutStrategy"),
                {"rollingUpdateConfiguration": {"maxUnavailable": least, "maxSurge": most, "partition": part}},
            )
            for least, most, part in ((1, 0, 0), (0, 1, 1), ("50%", "50%", 0), (2, 2, 3))
        ),
        Change(("metadata", "annotations", f"{P}exclusive-topology"), "kubernetes.io/hostname"),
    ],
    "Pod": [
        Change(("status", "phase"), "Failed"),
        Change(("status", "phase"), "Pending"),
        *(
            Change(("status", "containerStatuses"), [{"name": "main", "restartCount": times, "ready": ready}])
            for times, ready in ((1, True), (0, False))
        ),
    ],
}


def at_rest() -> Town:
    return Town(leader_worker_set(replicas=2, size=3), nodes=2)


def rolling_out() -> Town:
    rolling = {"maxUnavailable": 1, "maxSurge": 1}
    town = Town(leader_worker_set(replicas=3, rolling=rolling, startupPolicy="LeaderReady"), nodes=2)
    town.new_image()
    town.run(4)
    return town


def restarting() -> Town:
    template = {"restartPolicy": "RecreateGroupOnPodRestart", "subGroupPolicy": {"subGroupSize": 2}}
    policy = {"subdomainPolicy": "UniquePerReplica"}
    town = Town(leader_worker_set(replicas=2, size=4, template=template, networkConfig=policy), nodes=2)
    town.restart("serve-0-1")
    town.run(0.1)
    return town


@pytest.mark.parametrize("story", [at_rest, rolling_out, restarting])
def test_groups_are_decided_on_as_recorded_whatever_is_otherwise(story: Callable[[], Town]) -> None:
    decided_as_recorded("groups", story, GROUPS.controllers.load(), cases=150, also=ALSO)
