"""Templates in every spelling that people and tools use: the table of revisions that upstream's controller makes."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.testing.groups import leader_worker_set
from tests.features.groups.cases import CASES, claim, container, pods


def worker(*containers: Object, metadata: Object | None = None, **spec: Any) -> Object:
    """A set of one pod template."""
    template = pods(*containers, **spec) | ({} if metadata is None else {"metadata": metadata})
    return leader_worker_set(template={"workerTemplate": template})


def asks(**amounts: Any) -> Object:
    return worker(container(resources={"requests": amounts, "limits": amounts}))


# Spellings of one thing each: sets that differ in nothing else.
SAME: dict[str, tuple[Object, ...]] = {
    "a core": (asks(cpu="1"), asks(cpu="1000m"), asks(cpu=1)),
    "half a core": (asks(cpu="500m"), asks(cpu="0.5")),
    "a gibibyte": (asks(memory="1Gi"), asks(memory="1024Mi"), asks(memory="1048576Ki")),
    "a bare container": (
        worker(),
        worker(container(resources={})),
        worker(container(env=[], args=[], command=None, stdin=False, workingDir="")),
        worker(metadata={}),
        worker(metadata={"creationTimestamp": None, "labels": {}, "annotations": None}),
        worker(hostNetwork=False, nodeSelector={}, tolerations=[], volumes=None, serviceAccountName=""),
        leader_worker_set(template={"workerTemplate": pods(), "leaderTemplate": None, "volumeClaimTemplates": []}),
    ),
    "a probe": (
        worker(container(livenessProbe={"httpGet": {"port": 80}})),
        worker(container(livenessProbe={"httpGet": {"port": 80, "path": ""}, "initialDelaySeconds": 0})),
    ),
    "a folder for a while": (
        worker(volumes=[{"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}}]),
        worker(volumes=[{"name": "tmp", "emptyDir": {"sizeLimit": "1024Mi", "medium": ""}}]),
    ),
    "a claim": (
        leader_worker_set(template={"volumeClaimTemplates": [claim()]}),
        leader_worker_set(
            template={"volumeClaimTemplates": [{**claim(resources={"requests": {"storage": "1024Mi"}}), "status": {}}]}
        ),
    ),
}
# Where saying nothing and saying "empty" or "zero" are two things.
DIFFERENT: dict[str, tuple[Object, Object]] = {
    "the security of a container": (worker(), worker(container(securityContext={}))),
    "the security of a pod": (worker(), worker(securityContext={})),
    "no time to end": (worker(), worker(terminationGracePeriodSeconds=0)),
    "processes that are not shared": (worker(), worker(shareProcessNamespace=False)),
    "no affinity": (worker(), worker(affinity={})),
    "every pod and no pod": (
        worker(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a"}]}}),
        worker(
            affinity={
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a", "labelSelector": {}}]
                }
            }
        ),
    ),
    "a leader template": (worker(), leader_worker_set(template={"workerTemplate": pods(), "leaderTemplate": pods()})),
}
OTHERS: dict[str, Object] = {
    "a command with signs": worker(container(command=["sh", "-c", "a && b < c > d \u2028 \u00fc"])),
    "what is told of itself": worker(
        container(env=[{"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}])
    ),
    "a core with an exponent": asks(cpu="1e0"),
    "overhead": worker(overhead={"cpu": "1000m"}),
    "ports": worker(container(ports=[{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP"}])),
    "maps and secrets": worker(
        container(envFrom=[{"configMapRef": {}}, {"secretRef": {"name": "s", "optional": False}}])
    ),
}


def _all() -> dict[str, Object]:
    found = {f"set: {name}": case for name, case in CASES.items() if "schedulingPolicy" not in _template(case)}
    for table in (SAME, DIFFERENT):
        for name, spellings in table.items():
            found |= {f"{name} {number}": case for number, case in enumerate(spellings)}
    return found | OTHERS


def _template(case: Object) -> Object:
    template: Object = case["spec"]["leaderWorkerTemplate"]
    return template


ALL = _all()
