"""What the control plane decides in a cluster in which something is otherwise than it came to be, as recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mooring.builtin.controllers import control_plane
from mooring.nodes.storage.default_class import default_class
from mooring.testing import node
from mooring.testing.controllers import whole_control_plane
from mooring.testing.workloads import (
    budget,
    claim_template,
    cron_job,
    daemon_set,
    deployment,
    job,
    replica_set,
    replication_controller,
    service,
    stateful_set,
    template,
)
from tests.builtin.town import Town
from tests.features.traces import told
from tests.support.altered import Change, decided_if_altered
from tests.support.golden import same_as_recorded

# Those that read everything there is, and those that decide for many objects at once, have tests of their own.
LEFT_OUT = ("scheduler", "garbage-collector", "namespace")
CONTROLLERS = [each for each in control_plane() if each.name not in LEFT_OUT]
SIZES = [Change(("spec", "replicas"), number) for number in (0, 1, 5)]
ENDED = {"terminated": {"exitCode": 3, "reason": "Error", "finishedAt": "2026-01-01T00:00:30Z"}}
ALSO = {
    "Deployment": [
        *SIZES,
        Change(("spec", "strategy"), {"type": "Recreate"}),
        Change(
            ("spec", "strategy"), {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": "50%"}}
        ),
        Change(("spec", "paused"), True),
        Change(("spec", "progressDeadlineSeconds"), 5),
        Change(("spec", "revisionHistoryLimit"), 0),
        Change(("spec", "minReadySeconds"), 3600),
    ],
    "ReplicaSet": [*SIZES, Change(("spec", "minReadySeconds"), 3600)],
    "StatefulSet": [
        *SIZES,
        Change(("spec", "podManagementPolicy"), "Parallel"),
        Change(("spec", "updateStrategy"), {"type": "OnDelete"}),
        Change(("spec", "updateStrategy"), {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}),
        Change(("spec", "ordinals"), {"start": 2}),
        Change(("spec", "persistentVolumeClaimRetentionPolicy"), {"whenDeleted": "Delete", "whenScaled": "Delete"}),
    ],
    "DaemonSet": [
        Change(("spec", "updateStrategy"), {"type": "OnDelete"}),
        Change(
            ("spec", "updateStrategy"), {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
        ),
    ],
    "Job": [
        *(
            Change(("spec", field), number)
            for field in ("parallelism", "completions", "backoffLimit")
            for number in (0, 1, 9)
        ),
        Change(("spec", "suspend"), True),
        Change(("spec", "activeDeadlineSeconds"), 1),
        Change(("spec", "ttlSecondsAfterFinished"), 0),
        Change(("spec", "podReplacementPolicy"), "Failed"),
        Change(("spec", "completionMode"), "Indexed"),
    ],
    "CronJob": [
        Change(("spec", "schedule"), "@hourly"),
        Change(("spec", "suspend"), True),
        *(Change(("spec", "concurrencyPolicy"), policy) for policy in ("Forbid", "Replace")),
        *(Change(("spec", f"{end}JobsHistoryLimit"), 0) for end in ("successful", "failed")),
        Change(("spec", "startingDeadlineSeconds"), 10),
        Change(("spec", "timeZone"), "Europe/Berlin"),
    ],
    "PodDisruptionBudget": [
        *(Change(("spec", "maxUnavailable"), amount) for amount in (0, 1, "50%")),
        Change(("spec", "minAvailable"), "100%"),
    ],
    "Service": [
        Change(("spec", "publishNotReadyAddresses"), True),
        Change(("spec", "clusterIP"), "None"),
        Change(("spec", "type"), "ExternalName"),
        Change(("spec", "ports"), [{"port": 1, "targetPort": "http", "protocol": "UDP"}]),
    ],
    "Pod": [
        *(Change(("status", "phase"), phase) for phase in ("Pending", "Succeeded", "Failed", "Unknown")),
        Change(("status", "conditions"), []),
        Change(("status", "containerStatuses"), [{"name": "main", "restartCount": 3, "ready": False, "state": ENDED}]),
        Change(("spec", "nodeName"), "gone"),
        Change(("metadata", "labels", "app"), "other"),
        Change(("metadata", "ownerReferences"), []),
    ],
    "Node": [
        Change(("spec", "taints"), [{"key": "k", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}]),
        Change(("spec", "unschedulable"), True),
        *(Change(("status", "conditions"), [{"type": "Ready", "status": state}]) for state in ("False", "Unknown")),
    ],
}


def replicas() -> Town:
    town = Town(
        node("a"), node("b"),
        deployment("web", 3), replica_set("alone", 2), replication_controller("old", 1), daemon_set("agent"),
        service("web", "web"), budget("web", "web", minAvailable=2),
        controllers=whole_control_plane(), settled=True,
    )  # fmt: skip
    town.patch("Deployment", "web", {"spec": {"template": {"metadata": {"labels": {"tier": "x"}}}}})
    town.run(0.3)
    return town


def ordered() -> Town:
    town = Town(
        default_class(), node("a"), node("b"),
        stateful_set("db", 3, volumeClaimTemplates=[claim_template("data")]), service("db", "db", clusterIP="None"),
        controllers=whole_control_plane(), settled=True,
    )  # fmt: skip
    town.patch("StatefulSet", "db", {"spec": {"template": {"metadata": {"labels": {"tier": "x"}}}}})
    town.run(0.5)
    return town


def batches() -> Town:
    town = Town(
        node("a"), node("b"),
        job("done"), job("long", parallelism=2, completions=3, pods=template("long", duration="1h")),
        job("indexed", parallelism=2, completions=2, completionMode="Indexed", pods=template("indexed", duration="1h")),
        job("fails", backoffLimit=2, pods=template("fails", duration="1s", exit_code=3)),
        cron_job("nightly", "*/1 * * * *", pods=template("nightly", duration="50s")),
        controllers=whole_control_plane(),
    )  # fmt: skip
    town.run(65)
    return town


@pytest.mark.parametrize("story", [replicas, ordered, batches])
def test_the_control_plane_decides_as_recorded_whatever_is_otherwise(story: Callable[[], Town]) -> None:
    name = f"control-plane-{story.__name__}"
    said = decided_if_altered(story().simulation, CONTROLLERS, told, seed=name, cases=160, also=ALSO)
    same_as_recorded(f"altered-{name}", said)
