"""LeaderWorkerSets of every kind, by what they are about: the table that the second reading is held against."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.groups import leader_worker_set
from mooring.testing.workloads import volume

P = "leaderworkerset.sigs.k8s.io/"
RACK = "example.com/rack"
SLOT = "example.com/slot"
KEY = "example.com/node-group"
TPUS: Object = {"resources": {"limits": {"google.com/tpu": "4"}}}


def container(name: str = "main", **fields: Any) -> Object:
    return {"name": name, "image": "registry.example.com/serve:1", **fields}


def pods(*containers: Object, **spec: Any) -> Object:
    """A pod template."""
    return {"spec": {"containers": list(containers) or [container()], **spec}}


def claim(name: str = "data", **spec: Any) -> Object:
    body = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return {"metadata": {"name": name, "labels": {"dropped": "yes"}}, "spec": body}


def parts(size: int, each: int, kind: str = "", **fields: Any) -> Object:
    policy: Object = {"subGroupSize": each} | ({"subGroupPolicyType": kind} if kind else {})
    return leader_worker_set(size=size, template={"subGroupPolicy": policy, **fields.pop("template", {})}, **fields)


def labelled(lws: Object, **metadata: Any) -> Object:
    return {**lws, "metadata": {**lws["metadata"], **metadata}}


def exclusive(group: str = "", subgroup: str = "") -> Object:
    keys = {f"{P}exclusive-topology": group, f"{P}subgroup-exclusive-topology": subgroup}
    return {"annotations": {key: value for key, value in keys.items() if value}}


def own_terms(topology: str) -> Object:
    """Affinity that somebody wrote about a topology."""
    term = {"labelSelector": {"matchLabels": {"no": "pod"}}, "topologyKey": topology}
    apart = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"podAntiAffinity": apart}


def unique(selector: str = KEY, key: str = KEY, effect: str = "NoSchedule") -> Object:
    policy: Object = {"replicaUniqueNodeSelector": selector} if selector else {}
    if key:
        policy["replicaUniqueToleration"] = {"key": key, "effect": effect}
    return {"template": {"schedulingPolicy": policy}}


CASES: dict[str, Object] = {
    "the least": leader_worker_set(replicas=None, size=None),
    "no replicas": leader_worker_set(replicas=0, size=3),
    "one of one": leader_worker_set(replicas=1, size=1),
    "three of one": leader_worker_set(replicas=3, size=1),
    "one of two": leader_worker_set(replicas=1, size=2),
    "three of four": leader_worker_set(replicas=3, size=4),
    "eleven of two": leader_worker_set(replicas=11, size=2),
    "two of twelve": leader_worker_set(replicas=2, size=12),
    "another name": leader_worker_set("another-name", size=2),
    "labels and annotations of its own": labelled(
        leader_worker_set(), labels={"team": "ml", f"{P}name": "lies"}, annotations={"note": "x", f"{P}replicas": "9"}
    ),
    "labels and annotations on pods": leader_worker_set(
        template={
            "workerTemplate": {
                "metadata": {"labels": {"app": "w", f"{P}name": "lies"}, "annotations": {"a": "b", f"{P}size": "9"}},
                **pods(),
            }
        }
    ),
    "a leader template": leader_worker_set(
        template={"leaderTemplate": {"metadata": {"labels": {"app": "l"}}, **pods(container("lead"))}}
    ),
    "a leader template and size one": leader_worker_set(size=1, template={"leaderTemplate": pods(container("lead"))}),
    "leaders first": leader_worker_set(size=3, startupPolicy="LeaderReady"),
    "nothing is made again": leader_worker_set(template={"restartPolicy": "None"}),
    "the old word for nothing": leader_worker_set(template={"restartPolicy": "Default"}),
    "made again after the start": leader_worker_set(template={"restartPolicy": "RecreateGroupAfterStart"}),
    "a subdomain for all": leader_worker_set(networkConfig={"subdomainPolicy": "Shared"}),
    "a subdomain for each": leader_worker_set(size=3, networkConfig={"subdomainPolicy": "UniquePerReplica"}),
    "a subdomain for each of one": leader_worker_set(size=1, networkConfig={"subdomainPolicy": "UniquePerReplica"}),
    "two away": leader_worker_set(replicas=4, rolling={"maxUnavailable": 2}),
    "two more": leader_worker_set(replicas=4, rolling={"maxSurge": 2}),
    "none away and one more": leader_worker_set(replicas=3, rolling={"maxUnavailable": 0, "maxSurge": 1}),
    "more than there are": leader_worker_set(replicas=2, rolling={"maxUnavailable": 5, "maxSurge": 7}),
    "percentages": leader_worker_set(replicas=5, rolling={"maxUnavailable": "45%", "maxSurge": "45%"}),
    "a percentage that rounds to none": leader_worker_set(replicas=3, rolling={"maxUnavailable": "10%", "maxSurge": 1}),
    "all of them": leader_worker_set(replicas=3, rolling={"maxUnavailable": "100%", "maxSurge": "100%"}),
    "a partition": leader_worker_set(replicas=4, rolling={"partition": 2}),
    "a partition beyond": leader_worker_set(replicas=2, rolling={"partition": 9}),
    "subgroups": parts(4, 2),
    "subgroups of all": parts(4, 4),
    "subgroups of one": parts(3, 1),
    "subgroups with the leader beside": parts(5, 2),
    "one subgroup with the leader beside": parts(5, 4),
    "subgroups without the leader": parts(5, 2, "LeaderExcluded"),
    "subgroups of one without the leader": parts(4, 1, "LeaderExcluded"),
    "subgroups and a subdomain for each": parts(4, 2, networkConfig={"subdomainPolicy": "UniquePerReplica"}),
    "exclusive": leader_worker_set(size=3, **exclusive(RACK)),
    "exclusive of one": leader_worker_set(size=1, **exclusive(RACK)),
    "exclusive and leaders first": leader_worker_set(size=3, startupPolicy="LeaderReady", **exclusive(RACK)),
    "exclusive with a selector of its own": leader_worker_set(pod={"nodeSelector": {"pool": "a"}}, **exclusive(RACK)),
    "exclusive with terms of its own": leader_worker_set(pod={"affinity": own_terms(SLOT)}, **exclusive(RACK)),
    "exclusive with half a term of its own": leader_worker_set(pod={"affinity": own_terms(RACK)}, **exclusive(RACK)),
    "exclusive subgroups": parts(4, 2, **exclusive("", SLOT)),
    "exclusive subgroups without the leader": parts(5, 2, "LeaderExcluded", **exclusive("", SLOT)),
    "exclusive groups and subgroups": parts(4, 2, **exclusive(RACK, SLOT)),
    "exclusive groups and subgroups without the leader": parts(5, 2, "LeaderExcluded", **exclusive(RACK, SLOT)),
    "exclusive in one and the same": parts(2, 2, **exclusive(RACK, RACK)),
    "variables": leader_worker_set(
        template={
            "workerTemplate": pods(
                container(
                    env=[
                        {"name": "ADDRESS", "value": "$(LWS_LEADER_ADDRESS):80"},
                        {"name": "LWS_GROUP_SIZE", "value": "lies"},
                    ]
                ),
                container("side"),
                initContainers=[container("before", env=[{"name": "A", "value": "1"}])],
            )
        }
    ),
    "tpus": leader_worker_set(size=3, template={"workerTemplate": pods(container(**TPUS))}),
    "tpus of workers alone": leader_worker_set(
        size=3, template={"workerTemplate": pods(container(**TPUS)), "leaderTemplate": pods()}
    ),
    "tpus of leaders alone": leader_worker_set(
        template={"workerTemplate": pods(), "leaderTemplate": pods(container(**TPUS))}
    ),
    "tpus of two containers": leader_worker_set(
        template={"workerTemplate": pods(container("one", **TPUS), container("no"), container("two", **TPUS))}
    ),
    "tpus and a subdomain for each": leader_worker_set(
        template={"workerTemplate": pods(container(**TPUS))}, networkConfig={"subdomainPolicy": "UniquePerReplica"}
    ),
    "tpus in subgroups": parts(4, 2, template={"workerTemplate": pods(container(**TPUS))}),
    "tpus of workers in subgroups": parts(
        5, 2, template={"workerTemplate": pods(container(**TPUS)), "leaderTemplate": pods()}
    ),
    "tpus in subgroups without the leader": parts(
        5, 2, "LeaderExcluded", template={"workerTemplate": pods(container(**TPUS)), "leaderTemplate": pods()}
    ),
    "tpus that know their place": leader_worker_set(
        template={"workerTemplate": pods(container(env=[{"name": "TPU_WORKER_ID", "value": "7"}], **TPUS))}
    ),
    "no tpus at all": leader_worker_set(
        template={"workerTemplate": pods(container(resources={"limits": {"google.com/tpu": "0"}}))}
    ),
    "claims": leader_worker_set(
        template={"volumeClaimTemplates": [claim(), claim("more", storageClassName="fast", volumeMode="Filesystem")]}
    ),
    "claims that go": leader_worker_set(
        template={
            "volumeClaimTemplates": [claim(volumeName="dropped")],
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Delete"},
        }
    ),
    "a node group for each": leader_worker_set(size=3, **unique()),
    "a node group for each of one": leader_worker_set(size=1, **unique()),
    "a node group for each by label alone": leader_worker_set(**unique(key="")),
    "a node group for each by taint alone": leader_worker_set(**unique(selector="", effect="NoExecute")),
    "a node group for each in two words": leader_worker_set(
        **unique(key="example.com/other", effect="PreferNoSchedule")
    ),
    "an empty scheduling policy": leader_worker_set(template={"schedulingPolicy": {}}),
    "a node group for each beside selectors and tolerations": leader_worker_set(
        pod={"nodeSelector": {"pool": "a"}, "tolerations": [{"key": KEY, "operator": "Exists"}]}, **unique()
    ),
    "a node group for each and exclusive": leader_worker_set(size=3, **unique(), **exclusive(RACK)),
    "a node group for each and exclusive in it": leader_worker_set(size=3, **unique(), **exclusive(KEY)),
    "a node group for each with subgroups": parts(
        5, 2, "LeaderExcluded", template=unique()["template"], **exclusive("", SLOT)
    ),
}


# Where they are: all of them in one cluster, each in a namespace of its own.


def namespace_of(case: str) -> str:
    return case.replace(" ", "-")


def home(case: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace_of(case)}}


def moved(case: str) -> Object:
    """The set of a case in its namespace."""
    lws = CASES[case]
    return {**lws, "metadata": {**lws["metadata"], "namespace": namespace_of(case)}}


def fleet() -> list[Object]:
    """Racks of three nodes. Those of the first two are also the node groups of the first two replicas."""
    made = []
    for number in range(12):
        rack = number // 3
        labels = {RACK: f"rack-{rack}", SLOT: f"slot-{number}", "pool": "a", KEY: f"serve-{rack}"}
        each = node(f"n{number}", cpu="64", labels=labels)
        each["status"]["allocatable"]["google.com/tpu"] = each["status"]["capacity"]["google.com/tpu"] = "100"
        made.append(each)
    return made


def volumes() -> list[Object]:
    """Enough for every claim."""
    return [
        volume(f"volume-{kind or 'none'}-{number}", storage_class=kind) for kind in ("", "fast") for number in range(16)
    ]
