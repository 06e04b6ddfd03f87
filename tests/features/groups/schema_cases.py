"""LeaderWorkerSets that only the schema looks at: what it fills in, what it drops, and what it refuses."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object

CONTAINER: Object = {"name": "main", "image": "registry.example.com/serve:1"}
TEMPLATE: Object = {"spec": {"containers": [CONTAINER]}}
CLAIM: Object = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def _template(**fields: Any) -> Object:
    return {"leaderWorkerTemplate": {"workerTemplate": TEMPLATE, **fields}}


def _pod(**fields: Any) -> Object:
    return _template(workerTemplate={"spec": {"containers": [CONTAINER], **fields}})


def _container(**fields: Any) -> Object:
    return _template(workerTemplate={"spec": {"containers": [{**CONTAINER, **fields}]}})


def _rolling(**fields: Any) -> Object:
    return {**_template(), "rolloutStrategy": {"rollingUpdateConfiguration": fields}}


# Specs by what they are about.
CASES: dict[str, Any] = {
    "nothing": {},
    "no worker template": {"leaderWorkerTemplate": {"size": 2}},
    "a spec that is text": "x",
    "the least": _template(),
    "an empty worker template": _template(workerTemplate={}),
    "a pod without containers": _template(workerTemplate={"spec": {}}),
    "a container without a name": _template(workerTemplate={"spec": {"containers": [{"image": "x"}]}}),
    "null for what has a default": {
        **_template(size=None, restartPolicy=None),
        "replicas": None,
        "startupPolicy": None,
        "networkConfig": None,
        "rolloutStrategy": None,
    },
    "null for the leader template": _template(leaderTemplate=None),
    "a leader template": _template(leaderTemplate={"metadata": {"labels": {"role": "leader"}}, **TEMPLATE}),
    "no replicas": {**_template(), "replicas": 0},
    "replicas below zero": {**_template(), "replicas": -1},
    "as many replicas as there may be": {**_template(), "replicas": 1_000_000},
    "more replicas than there may be": {**_template(), "replicas": 1_000_001},
    "replicas in words": {**_template(), "replicas": "three"},
    "replicas beyond 32 bits": {**_template(), "replicas": 2**31},
    "half a replica": {**_template(), "replicas": 1.5},
    "size zero": _template(size=0),
    "size in words": _template(size="two"),
    "size beyond 32 bits": _template(size=2**31),
    "an old restart policy": _template(restartPolicy="Default"),
    "every restart policy": _template(restartPolicy="RecreateGroupAfterStart"),
    "an unknown restart policy": _template(restartPolicy="Always"),
    "an empty restart policy": _template(restartPolicy=""),
    "an empty subgroup policy": _template(subGroupPolicy={}),
    "a subgroup size": _template(size=4, subGroupPolicy={"subGroupSize": 2}),
    "a subgroup size in words": _template(size=4, subGroupPolicy={"subGroupSize": "2"}),
    "an unknown subgroup policy": _template(size=4, subGroupPolicy={"subGroupSize": 2, "subGroupPolicyType": "None"}),
    "an unknown startup policy": {**_template(), "startupPolicy": "LeaderStarted"},
    "leaders first": {**_template(), "startupPolicy": "LeaderReady"},
    "an empty network": {**_template(), "networkConfig": {}},
    "an unknown subdomain policy": {**_template(), "networkConfig": {"subdomainPolicy": "None"}},
    "a subdomain for each": {**_template(), "networkConfig": {"subdomainPolicy": "UniquePerReplica"}},
    "an empty rollout strategy": {**_template(), "rolloutStrategy": {}},
    "an unknown rollout strategy": {**_template(), "rolloutStrategy": {"type": "Recreate"}},
    "an empty rolling update": _rolling(),
    "a rolling update in percent": _rolling(maxUnavailable="20%", maxSurge="30%", partition=2),
    "maxSurge true": _rolling(maxSurge=True),
    "maxSurge in words": _rolling(maxSurge="many"),
    "a partition below zero": _rolling(partition=-1),
    "a partition in words": _rolling(partition="1"),
    "a claim template": _template(volumeClaimTemplates=[CLAIM]),
    "a claim template without a name": _template(volumeClaimTemplates=[{"spec": CLAIM["spec"]}]),
    "a claim that is text": _template(volumeClaimTemplates=["x"]),
    "claims that go": _template(
        volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"}
    ),
    "claims that do something else": _template(persistentVolumeClaimRetentionPolicy={"whenScaled": "Burn"}),
    "metadata that pods cannot have": _template(
        workerTemplate={"metadata": {"labels": {"a": "b"}, "generateName": "x", "uid": "y"}, **TEMPLATE}
    ),
    "a label that is a number": _template(workerTemplate={"metadata": {"labels": {"a": 1}}, **TEMPLATE}),
    "a field that nobody knows": {**_template(size=2, sizes=3), "replica": 2},
    "a field of a pod that nobody knows": _pod(nodeSelectors={"a": "b"}),
    "a port": _container(ports=[{"containerPort": 80}]),
    "two ports of one number": _container(
        ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 80, "name": "b"}]
    ),
    "two ports that are one": _container(ports=[{"containerPort": 80}, {"containerPort": 80}]),
    "two variables of one name": _container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
    "a variable from a field": _container(
        env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    ),
    "a variable without a name": _container(env=[{"value": "1"}]),
    "resources as numbers": _container(resources={"limits": {"google.com/tpu": 4}, "requests": {"cpu": 1}}),
    "resources that are no amounts": _container(resources={"limits": {"cpu": "lots"}}),
    "a probe": _container(readinessProbe={"httpGet": {"path": "/", "port": "http"}}),
    "a probe without a port": _container(readinessProbe={"httpGet": {"path": "/"}}),
    "a volume": _pod(volumes=[{"name": "v", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}]),
    "an old block device": _pod(volumes=[{"name": "v", "rbd": {"image": "i", "monitors": ["m"]}}]),
    "an old network disk": _pod(volumes=[{"name": "v", "iscsi": {"iqn": "q", "lun": 0, "targetPortal": "p"}}]),
    "a cloud disk": _pod(volumes=[{"name": "v", "azureDisk": {"diskName": "d", "diskURI": "u"}}]),
    "two volumes of one name": _pod(volumes=[{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]),
    "tolerations and selectors": _pod(tolerations=[{"operator": "Exists"}], nodeSelector={"gpu": "h200"}),
    "topology spread without its key": _pod(topologySpreadConstraints=[{"maxSkew": 1}]),
}
