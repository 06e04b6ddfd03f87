"""The cases: a workload each, drawn from a seed, with what people and kubelets do to it one after another."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from mooring.kube.objects import Object
from mooring.testing.workloads import (
    budget,
    claim_template,
    daemon_set,
    deployment,
    job,
    replica_set,
    replication_controller,
    stateful_set,
    template,
)
from tests.support.traces.draws import chosen

AMOUNTS = (0, 1, 2, 3, "25%", "30%", "50%", "100%")
_SIZED: dict[str, Callable[[str, int], Object]] = {
    "Deployment": deployment, "StatefulSet": stateful_set, "ReplicaSet": replica_set
}  # fmt: skip
WAYS = ("Foreground", "Background", "Orphan", None)


class Case(NamedTuple):
    name: str
    steps: tuple[Object, ...]


def made(obj: Object) -> Object:
    return {"do": "create", "obj": obj}


def patched(kind: str, name: str, **spec: Any) -> Object:
    return {"do": "patch", "kind": kind, "name": name, "body": {"spec": spec}}


def quota(count: int) -> Object:
    spec = {"hard": {"pods": str(count)}}
    return made({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": spec})


def usual(draw: Random) -> Object:
    """What may happen to any workload."""
    return draw.choice([
        {"do": "ready", "count": draw.choice([0, 1, 2, 9, 9])},
        {"do": "ready", "count": 9},
        {"do": "gone"},
        {"do": "lose"},
        {"do": "end", "count": 1, "code": draw.choice([0, 1])},
        quota(draw.randrange(1, 4)) if draw.random() < 0.4 else {"do": "gone"},
    ])  # fmt: skip


def ending(draw: Random, kind: str) -> list[Object]:
    if draw.random() < 0.5:
        return []
    return [{"do": "delete", "kind": kind, "name": "web", "propagation": draw.choice(WAYS)}, {"do": "gone"}]


def deployments(draw: Random) -> list[Object]:
    def strategy() -> Object:
        if draw.random() < 0.25:
            return {"type": "Recreate", "rollingUpdate": None}
        surge, unavailable = draw.choice(AMOUNTS), draw.choice(AMOUNTS)
        return {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": surge or (not unavailable) * 1, "maxUnavailable": unavailable},
        }

    more = chosen(draw, 0.4, revisionHistoryLimit=[0, 1], paused=[True, False, False], minReadySeconds=3600)
    if "minReadySeconds" in more:
        more["progressDeadlineSeconds"] = 7200
    steps = [made(deployment("web", draw.randrange(8), strategy=strategy(), **more)), {"do": "ready", "count": 9}]
    version = 1
    for _ in range(6):
        match draw.randrange(10):
            case 0 | 1 | 2:
                version += 1
                steps.append(patched("Deployment", "web", template=template("web", version=version)))
            case 3:
                steps.append(
                    patched("Deployment", "web", template=template("web", version=draw.randrange(1, version + 1)))
                )
            case 4:
                steps.append(patched("Deployment", "web", replicas=draw.randrange(9)))
            case 5:
                steps.append(patched("Deployment", "web", paused=draw.choice([True, False])))
            case 6:
                steps.append(
                    {
                        "do": "patch",
                        "kind": "Deployment",
                        "name": "web",
                        "body": {"metadata": {"annotations": {"by": f"t{draw.randrange(3)}"}}},
                    }
                )
            case _:
                steps.append(usual(draw))
    return [*steps, *ending(draw, "Deployment")]


def replica_sets(draw: Random) -> list[Object]:
    kind = draw.choice(["ReplicaSet", "ReplicaSet", "ReplicationController"])
    build = replica_set if kind == "ReplicaSet" else replication_controller
    orphan = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "orphan", "labels": {"app": "web"}},
        "spec": template("web")["spec"],
    }
    steps = [made(orphan)] if draw.random() < 0.4 else []
    steps += [made(build("web", draw.randrange(6))), {"do": "ready", "count": draw.randrange(5)}]
    for _ in range(5):
        match draw.randrange(6):
            case 0 | 1:
                steps.append(patched(kind, "web", replicas=draw.randrange(7)))
            case 2:
                labels = {"app": draw.choice(["other", "web"]), "more": "yes"}
                steps.append({"do": "touch", "body": {"metadata": {"labels": labels}}})
            case _:
                steps.append(usual(draw))
    return [*steps, *ending(draw, kind)]


def stateful_sets(draw: Random) -> list[Object]:
    def strategy() -> Object:
        if draw.random() < 0.2:
            return {"type": "OnDelete", "rollingUpdate": None}
        rolling = {"maxUnavailable": draw.choice([1, 1, 1, 2, "50%"])} | chosen(draw, 0.5, partition=[0, 1, 2])
        return {"type": "RollingUpdate", "rollingUpdate": rolling}

    more = chosen(draw, 0.4, podManagementPolicy="Parallel", revisionHistoryLimit=[0, 1])
    more |= chosen(draw, 0.3, ordinals={"start": 2})
    if draw.random() < 0.6:
        more["volumeClaimTemplates"] = [claim_template("data")]
    if draw.random() < 0.5:
        keep = ["Retain", "Delete"]
        more["persistentVolumeClaimRetentionPolicy"] = {
            "whenDeleted": draw.choice(keep),
            "whenScaled": draw.choice(keep),
        }
    steps = [made(stateful_set("web", draw.randrange(1, 5), updateStrategy=strategy(), **more))]
    steps += [{"do": "ready", "count": 9}] * 3
    for _ in range(7):
        match draw.randrange(8):
            case 0 | 1:
                steps.append(patched("StatefulSet", "web", template=template("web", version=draw.randrange(1, 4))))
            case 2 | 3:
                steps.append(patched("StatefulSet", "web", replicas=draw.randrange(6)))
            case 4:
                steps.append(patched("StatefulSet", "web", updateStrategy=strategy()))
            case _:
                steps.append(draw.choice([{"do": "gone"}, {"do": "ready", "count": 9}, usual(draw)]))
    return [*steps, *ending(draw, "StatefulSet")]


def daemon_sets(draw: Random) -> list[Object]:
    def strategy() -> Object:
        if draw.random() < 0.2:
            return {"type": "OnDelete", "rollingUpdate": None}
        surge = draw.choice([0, 0, 1, "50%"])
        return {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": surge, "maxUnavailable": 0 if surge else draw.choice([1, 2, "50%"])},
        }

    def pods(version: int) -> Object:
        more = chosen(draw, 0.2, nodeSelector=[{"disk": "ssd"}, {"disk": "none"}])
        return template("web", version=version, **more)

    more = chosen(draw, 0.4, revisionHistoryLimit=[0, 1])
    steps = [made(daemon_set("web", pods=pods(1), updateStrategy=strategy(), **more)), {"do": "ready", "count": 9}]
    for _ in range(6):
        match draw.randrange(6):
            case 0 | 1:
                steps.append(patched("DaemonSet", "web", template=pods(draw.randrange(1, 4))))
            case 2:
                steps.append(patched("DaemonSet", "web", updateStrategy=strategy()))
            case _:
                steps.append(
                    draw.choice(
                        [{"do": "gone"}, {"do": "ready", "count": 9}, {"do": "ready", "count": 1}, {"do": "lose"}]
                    )
                )
    return [*steps, *ending(draw, "DaemonSet")]


def _rules(draw: Random, *, indexed: bool) -> Object:
    found: list[Object] = []
    for _ in range(draw.randrange(1, 4)):
        action = draw.choice(["Ignore", "Count", "FailJob", *(["FailIndex"] if indexed else [])])
        if draw.random() < 0.4:
            found.append({"action": action, "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]})
        else:
            codes: Object = {"operator": draw.choice(["In", "NotIn"]), "values": draw.choice([[1], [3, 137], [1, 3]])}
            found.append({"action": action, "onExitCodes": codes | chosen(draw, 0.3, containerName="main")})
    return {"rules": found}


def jobs(draw: Random) -> list[Object]:
    indexed = draw.random() < 0.5
    spec: dict[str, Any] = {"parallelism": draw.randrange(1, 5)}
    if indexed or draw.random() < 0.7:
        spec["completions"] = draw.randrange(1, 6)
    spec |= chosen(draw, 0.5, backoffLimit=[0, 1, 3])
    spec |= chosen(draw, 0.15, suspend=True)
    if draw.random() < 0.4:
        spec["podFailurePolicy"] = _rules(draw, indexed=indexed)
    if draw.random() < 0.3:
        spec["podReplacementPolicy"] = "Failed"
    if indexed:
        spec["completionMode"] = "Indexed"
        if draw.random() < 0.5:
            spec["backoffLimitPerIndex"] = draw.randrange(3)
            spec |= chosen(draw, 0.5, maxFailedIndexes=[0, 1])
        elif any(rule["action"] == "FailIndex" for rule in spec.get("podFailurePolicy", {}).get("rules", ())):
            del spec["podFailurePolicy"]
        if draw.random() < 0.4:
            spec["successPolicy"] = {"rules": [draw.choice([{"succeededCount": 1}, {"succeededIndexes": "0"}])]}
    steps = [made(job("web", pods=template("web"), **spec)), {"do": "ready", "count": draw.choice([1, 9])}]
    for _ in range(6):
        match draw.randrange(10):
            case 0 | 1 | 2 | 3 | 4 | 5:
                steps.append({"do": "end", "count": draw.choice([1, 1, 2]), "code": draw.choice([0, 0, 1, 3, 137])})
                if steps[-1]["code"] == 137 and draw.random() < 0.6:
                    steps[-1]["lost"] = True
            case 6:
                steps.append(patched("Job", "web", suspend=draw.choice([True, False])))
            case 7:
                steps.append(patched("Job", "web", parallelism=draw.randrange(5)))
            case 8:
                steps.append({"do": "gone"})
            case _:
                steps.append({"do": "ready", "count": draw.choice([0, 9])})
    return [*steps, {"do": "gone"}, *ending(draw, "Job")]


def services(draw: Random) -> list[Object]:
    names = ("http", "https", "dns")

    def ports() -> list[Object]:
        found: list[Object] = []
        for name in draw.sample(names, draw.randrange(1, 3)):
            port: Object = {"name": name, "port": len(found) + 80, "targetPort": draw.choice([8080, 53, name, "other"])}
            found.append(port | chosen(draw, 0.3, protocol=["TCP", "UDP"], appProtocol="kubernetes.io/h2c"))
        return found

    def pod(number: int) -> Object:
        offered = [{"name": name, "containerPort": 9000 + names.index(name)} for name in draw.sample(names, 2)]
        spec = template("web")["spec"]
        spec["containers"][0]["ports"] = offered
        if draw.random() < 0.3:
            spec |= {"hostname": f"h{number}", "subdomain": draw.choice(["web", "db"])}
        meta = {"name": f"p{number}", "labels": {"app": draw.choice(["web", "web", "other"])}}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}

    body: dict[str, Any] = {"selector": {"app": "web"}, "ports": ports()}
    body |= chosen(draw, 0.25, publishNotReadyAddresses=True, clusterIP="None")
    body |= chosen(draw, 0.4, trafficDistribution=["PreferSameZone", "PreferSameNode", "PreferClose"])
    meta = {"name": "web", "labels": {"tier": "front"}}
    steps = [made({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": body})]
    steps += [made(pod(number)) for number in range(draw.randrange(1, 4))]
    steps.append({"do": "ready", "count": draw.choice([1, 9])})
    for number in range(4):
        match draw.randrange(6):
            case 0:
                steps.append(made(pod(10 + number)))
            case 1:
                steps.append(patched("Service", "web", ports=ports()))
            case 2:
                steps.append(patched("Service", "web", publishNotReadyAddresses=draw.choice([True, False])))
            case 3:
                steps.append({"do": "lose"})
            case 4:
                steps.append(
                    {
                        "do": "patch",
                        "kind": "Service",
                        "name": "web",
                        "body": {"metadata": {"labels": {"tier": None, "team": "x"}}},
                    }
                )
            case _:
                steps.append({"do": "ready", "count": draw.choice([0, 1, 9])})
    return steps


def budgets(draw: Random) -> list[Object]:
    kind = draw.choice([*_SIZED, "Job"])
    amount = {draw.choice(["minAvailable", "maxUnavailable"]): draw.choice(AMOUNTS)}
    if kind == "Job":
        workload = job("web", pods=template("web"), parallelism=3)
    else:
        workload = _SIZED[kind]("web", draw.randrange(1, 6))
    steps = [made(budget("web", "web", **amount)), made(workload), {"do": "ready", "count": draw.choice([1, 2, 9])}]
    for _ in range(4):
        # A Job makes another pod for one that is lost, but not at once.
        other = {"do": "gone"} if kind == "Job" else usual(draw)
        steps.append(draw.choice([other, {"do": "ready", "count": draw.choice([1, 9])}]))
    return [*steps, *ending(draw, kind)]


DRAWN: dict[str, tuple[Callable[[Random], list[Object]], int]] = {
    "deployments": (deployments, 32),
    "replica-sets": (replica_sets, 20),
    "stateful-sets": (stateful_sets, 28),
    "daemon-sets": (daemon_sets, 20),
    "jobs": (jobs, 48),
    "services": (services, 24),
    "budgets": (budgets, 16),
}


def cases(subject: str) -> list[Case]:
    draw, count = DRAWN[subject]
    return [Case(f"{subject}-{number}", tuple(draw(Random(f"{subject} {number}")))) for number in range(count)]
