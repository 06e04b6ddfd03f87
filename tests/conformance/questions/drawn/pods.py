"""Pods in every state that a table tells apart."""

from __future__ import annotations

from tests.conformance.questions.drawn.templates import many, maybe, one

OLD = "2026-01-05T10:00:00Z"
OLDER = "2025-06-05T10:00:00Z"
TERMINATED = {
    "exitCode": one(0, 0, 1, 137),
    "reason": one("", "Completed", "Error", "OOMKilled"),
    "signal": one(0, 0, 9),
    "startedAt": OLDER,
    "finishedAt": one(OLD, OLDER),
}
STATE = one(
    {"running": {"startedAt": OLD}},
    {"running": {"startedAt": OLD}},
    {"waiting": {"reason": one("", "CrashLoopBackOff", "ImagePullBackOff", "PodInitializing", "ContainerCreating")}},
    {"terminated": TERMINATED},
    {},
)
STATUS = {
    "image": "i",
    "imageID": "x",
    "ready": one(True, True, False),
    "started": one(True, False),
    "restartCount": one(0, 0, 1, 7),
    "state": STATE,
    "lastState": one({}, {"terminated": TERMINATED}),
}
GATES = many((1, 2), {"conditionType": one("example.com/a", "example.com/b")})
CONDITIONS = many(
    (0, 1, 2),
    {
        "type": one("Ready", "Initialized", "PodScheduled", "example.com/a", "DisruptionTarget"),
        "status": one("True", "False"),
        "reason": one("SchedulingGated", "Unschedulable", "x"),
    },
)
POD = {
    "spec": {
        "containers": many((1, 1, 2, 3), {"image": one("i", "registry.example.com/j:1")}, "name"),
        "initContainers": one(
            [],
            [],
            [{"name": "init", "image": "i"}],
            [{"name": "init", "image": "i", "restartPolicy": "Always"}, {"name": "two", "image": "i"}],
        ),
        "nodeName": maybe(one("node-1", "node-2")),
        "readinessGates": one([], [], GATES),
        "schedulingGates": one([], [], [], [{"name": "example.com/wait"}]),
        "restartPolicy": one("Always", "Never"),
    },
    "status": {
        "phase": one("Pending", "Running", "Running", "Succeeded", "Failed", "Unknown"),
        "reason": one("", "", "", "Evicted", "NodeLost", "NodeAffinity", "Shutdown"),
        "nominatedNodeName": maybe("node-3"),
        "podIPs": one([], [{"ip": "10.1.2.3"}], [{"ip": "10.1.2.3"}, {"ip": "fd00::1"}]),
        "conditions": CONDITIONS,
        "containerStatuses": many((0, 1, 2, 3), STATUS, "name"),
        "initContainerStatuses": one(
            [], [{"name": "init", **STATUS}], [{"name": "init", **STATUS}, {"name": "two", **STATUS}]
        ),
    },
}
