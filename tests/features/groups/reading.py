"""A second reading of what a LeaderWorkerSet stands for, to hold the controllers and webhooks against.

It goes from the set straight to the end: every StatefulSet, Service and pod as it has to be when all is at rest. It
shares no code with the product, so that a mistake has to be made twice to go unnoticed.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping

from mooring.kube.objects import Object

P = "leaderworkerset.sigs.k8s.io/"
TPU = "google.com/tpu"
TPU_PORT = 8476


class Reading:
    """One set, with its defaults in, its revision, and the labels of the nodes where its leaders are."""

    def __init__(self, lws: Object, revision: str, places: Mapping[str, Mapping[str, str]]) -> None:
        self.name: str = lws["metadata"]["name"]
        self.namespace: str = lws["metadata"]["namespace"]
        self.labels: Object = lws["metadata"].get("labels") or {}
        self.annotations: Object = lws["metadata"].get("annotations") or {}
        self.spec: Object = lws["spec"]
        self.template: Object = self.spec["leaderWorkerTemplate"]
        self.size: int = self.template["size"]
        self.replicas: int = self.spec["replicas"]
        self.revision = revision
        self.places = places

    @property
    def leader_template(self) -> Object:
        own = self.template.get("leaderTemplate")
        chosen: Object = self.template["workerTemplate"] if own is None else own
        return chosen

    @property
    def unique(self) -> bool:
        return bool(self.spec["networkConfig"]["subdomainPolicy"] == "UniquePerReplica")

    @property
    def part(self) -> int:
        """Pods per subgroup; 0 where there are none."""
        return int((self.template.get("subGroupPolicy") or {}).get("subGroupSize") or 0)

    @property
    def leader_excluded(self) -> bool:
        return bool((self.template.get("subGroupPolicy") or {}).get("subGroupPolicyType") == "LeaderExcluded")

    def leader(self, group: int) -> str:
        return f"{self.name}-{group}"

    def group_key(self, group: int) -> str:
        return _sha1(f"{self.namespace}/{self.leader(group)}")

    # StatefulSets

    def leader_set(self) -> Object:
        rolling = self.spec["rolloutStrategy"]["rollingUpdateConfiguration"]
        away = amount(rolling["maxUnavailable"], self.replicas, up=False)
        away += min(self.replicas, amount(rolling["maxSurge"], self.replicas, up=True))
        template = self._stamped(
            self.leader_template,
            {f"{P}worker-index": "0", f"{P}name": self.name, f"{P}template-revision-hash": self.revision},
            self._shared_annotations() | ({f"{P}subdomainPolicy": "UniquePerReplica"} if self.unique else {}),
        )
        return {
            "metadata": {
                "name": self.name,
                "labels": {**self.labels, f"{P}name": self.name, f"{P}template-revision-hash": self.revision},
                "annotations": {**self.annotations, f"{P}replicas": str(self.replicas)},
                "owner": ("LeaderWorkerSet", self.name),
            },
            "spec": {
                "replicas": self.replicas,
                "serviceName": self.name,
                "podManagementPolicy": "Parallel",
                "selector": {"matchLabels": {f"{P}name": self.name, f"{P}worker-index": "0"}},
                "updateStrategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": {"partition": rolling["partition"], "maxUnavailable": max(1, away)},
                },
                "template": template,
                **self._claims(),
            },
        }

    def worker_set(self, group: int) -> Object:
        leader = self.leader(group)
        selector = {f"{P}group-index": str(group), f"{P}name": self.name, f"{P}group-key": self.group_key(group)}
        labels = {**selector, f"{P}template-revision-hash": self.revision}
        annotations = {**self._shared_annotations(), f"{P}leader-name": leader}
        if _tpu_containers(self.leader_template["spec"]):
            annotations[f"{P}leader-requests-tpus"] = "true"
        template = self._stamped(self.template["workerTemplate"], labels, annotations)
        exclusive = self.annotations.get(f"{P}exclusive-topology")
        if exclusive:
            chosen = template["spec"].setdefault("nodeSelector", {})
            chosen[exclusive] = self.places[leader][exclusive]
        return {
            "metadata": {
                "name": leader,
                "labels": {**self.labels, **labels},
                "annotations": self.annotations,
                "owner": ("Pod", leader),
            },
            "spec": {
                "replicas": self.size - 1,
                "ordinals": {"start": 1},
                "serviceName": leader if self.unique else self.name,
                "podManagementPolicy": "Parallel",
                "selector": {"matchLabels": selector},
                "template": template,
                **self._claims(),
            },
        }

    def stateful_sets(self) -> dict[str, Object]:
        groups = range(self.replicas) if self.size > 1 else ()
        return {self.name: self.leader_set()} | {self.leader(group): self.worker_set(group) for group in groups}

    def _shared_annotations(self) -> Object:
        made = {f"{P}size": str(self.size)}
        if f"{P}exclusive-topology" in self.annotations:
            made[f"{P}exclusive-topology"] = self.annotations[f"{P}exclusive-topology"]
        if self.part:
            made[f"{P}subgroup-size"] = str(self.part)
            made[f"{P}subgroup-policy-type"] = "LeaderExcluded" if self.leader_excluded else "LeaderWorker"
            if f"{P}subgroup-exclusive-topology" in self.annotations:
                made[f"{P}subgroup-exclusive-topology"] = self.annotations[f"{P}subgroup-exclusive-topology"]
        policy = self.template.get("schedulingPolicy") or {}
        toleration = policy.get("replicaUniqueToleration") or {}
        unique = {
            f"{P}replicaUniqueNodeSelector": policy.get("replicaUniqueNodeSelector"),
            f"{P}replicaUniqueTolerationKey": toleration.get("key"),
            f"{P}replicaUniqueTolerationEffect": toleration.get("effect"),
        }
        return made | {key: value for key, value in unique.items() if value}

    @staticmethod
    def _stamped(template: Object, labels: Object, annotations: Object) -> Object:
        made = copy.deepcopy(template)
        metadata = made.setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
        return made

    def _claims(self) -> Object:
        made: Object = {}
        if claims := self.template.get("volumeClaimTemplates"):
            made["volumeClaimTemplates"] = [_claim(claim) for claim in claims]
        if policy := self.template.get("persistentVolumeClaimRetentionPolicy"):
            made["persistentVolumeClaimRetentionPolicy"] = policy
        return made

    # Services

    def services(self) -> dict[str, Object]:
        if not self.unique:
            return {self.name: self._service({f"{P}name": self.name}, ("LeaderWorkerSet", self.name))}
        return {
            self.leader(group): self._service(
                {f"{P}name": self.name, f"{P}group-index": str(group)}, ("Pod", self.leader(group))
            )
            for group in range(self.replicas)
        }

    def _service(self, selector: Object, owner: tuple[str, str]) -> Object:
        return {
            "labels": {f"{P}name": self.name},
            "owner": owner,
            "selector": selector,
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "ports": None,
        }

    # Pods

    def pods(self) -> dict[str, Object]:
        return {
            self.leader(group) + (f"-{worker}" if worker else ""): self._pod(group, worker)
            for group in range(self.replicas)
            for worker in range(self.size)
        }

    def _pod(self, group: int, worker: int) -> Object:
        leader = self.leader(group)
        source = (self.worker_set(group) if worker else self.leader_set())["spec"]["template"]
        metadata, spec = source["metadata"], copy.deepcopy(source["spec"])
        labels = dict(metadata["labels"])
        labels[f"{P}worker-index"] = str(worker)
        labels[f"{P}group-index"] = str(group)
        labels[f"{P}group-key"] = self.group_key(group)
        subdomain = leader if self.unique else self.name
        affinity = spec.get("affinity") or {}
        if worker == 0 and (topology := self.annotations.get(f"{P}exclusive-topology")):
            _keep_apart(affinity, topology, f"{P}group-key", self.group_key(group))
        if self.part and not (worker == 0 and self.leader_excluded):
            index = self._subgroup(worker)
            labels[f"{P}subgroup-index"] = str(index)
            labels[f"{P}subgroup-key"] = key = _sha1(f"{leader}/{index}")
            if topology := self.annotations.get(f"{P}subgroup-exclusive-topology"):
                _keep_apart(affinity, topology, f"{P}subgroup-key", key)
        self._place(spec, leader)
        ours = {
            "LWS_LEADER_ADDRESS": f"{leader}.{subdomain}.{self.namespace}",
            "LWS_GROUP_SIZE": str(self.size),
            "LWS_WORKER_INDEX": str(worker),
        }
        tpu = self._tpu(spec, group, worker, subdomain)
        return {
            "labels": labels,
            "annotations": metadata["annotations"],
            "subdomain": subdomain,
            "nodeSelector": spec.get("nodeSelector") or {},
            "tolerations": spec.get("tolerations") or [],
            "affinity": affinity,
            "env": {
                container["name"]: _env(container, ours, tpu.get(container["name"], {}))
                for kind in ("initContainers", "containers")
                for container in spec.get(kind) or ()
            },
        }

    def _subgroup(self, worker: int) -> int:
        if worker == 0:
            return 0
        leader_beside = (self.size - 1) % self.part == 0 and self.size % self.part != 0
        return (worker - 1) // self.part if leader_beside else worker // self.part

    def _place(self, spec: Object, leader: str) -> None:
        policy = self.template.get("schedulingPolicy") or {}
        if key := policy.get("replicaUniqueNodeSelector"):
            spec.setdefault("nodeSelector", {})[key] = leader
        if wanted := policy.get("replicaUniqueToleration"):
            toleration = {"key": wanted["key"], "operator": "Equal", "value": leader, "effect": wanted["effect"]}
            tolerations = spec.setdefault("tolerations", [])
            if toleration not in tolerations:
                tolerations.append(toleration)

    def _tpu(self, spec: Object, group: int, worker: int, subdomain: str) -> dict[str, dict[str, str]]:
        """What TPU containers get beside the rest."""
        names = _tpu_containers(spec)
        if not names:
            return {}
        leader = self.leader(group)
        led = bool(_tpu_containers(self.leader_template["spec"]))
        members: list[int] = [0] if led else []
        members += range(1, self.size)
        if self.part:
            return {names[0]: self._tpu_of_a_subgroup(leader, worker, subdomain, led=led)}
        hosts = [f"{leader}-{m}.{subdomain}" if m else f"{leader}.{subdomain}" for m in members]
        first = members.index(worker) * len(names)
        every = [host for host in hosts for _ in names]
        addresses = ",".join(f"{host}:{TPU_PORT + k}" for host in hosts for k in range(len(names)))
        return {
            name: {
                "TPU_WORKER_HOSTNAMES": ",".join(every),
                "TPU_WORKER_ID": str(first + k),
                "TPU_NAME": leader,
                "TPU_PROCESS_ADDRESSES": addresses,
                "TPU_PROCESS_PORT": str(TPU_PORT + k),
            }
            for k, name in enumerate(names)
        }

    def _tpu_of_a_subgroup(self, leader: str, worker: int, subdomain: str, *, led: bool) -> dict[str, str]:
        led = led and not self.leader_excluded
        members = [w for w in range(self.size) if self._subgroup(w) == self._subgroup(worker) and (w or led)]
        hosts = [f"{leader}-{m}.{subdomain}" if m else f"{leader}.{subdomain}" for m in members]
        return {
            "TPU_WORKER_HOSTNAMES": ",".join(hosts),
            "TPU_WORKER_ID": str((worker if led else worker - 1) % self.part),
            "TPU_NAME": leader,
            "TPU_PROCESS_ADDRESSES": ",".join(f"{host}:{TPU_PORT}" for host in hosts),
            "TPU_PROCESS_PORT": str(TPU_PORT),
        }

    # Status

    def status(self) -> Object:
        return {
            "replicas": self.replicas,
            "readyReplicas": self.replicas,
            "updatedReplicas": self.replicas,
            "hpaPodSelector": f"{P}name={self.name},{P}worker-index=0",
        }

    def conditions(self) -> dict[str, tuple[str, str, str]]:
        """What nothing had to be waited for was never in progress."""
        there = {"Available": ("True", "AllGroupsReady", "All replicas are ready")}
        if self.replicas:
            there["Progressing"] = ("False", "GroupsProgressing", "Replicas are progressing")
        return there


def _sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def amount(value: int | str, total: int, *, up: bool) -> int:
    if isinstance(value, int):
        return value
    share = int(value.rstrip("%")) * total
    return (share + 99) // 100 if up else share // 100


def _claim(claim: Object) -> Object:
    spec = claim.get("spec") or {}
    kept = {key: spec[key] for key in ("accessModes", "storageClassName", "volumeMode", "resources") if key in spec}
    return {"metadata": {"name": claim["metadata"]["name"]}, "spec": kept}


def _keep_apart(affinity: Object, topology: str, key: str, value: str) -> None:
    """Together with its own, and away from others, unless somebody said both about this topology already."""
    kinds = ("podAffinity", "podAntiAffinity")
    terms = [affinity.get(kind, {}).get("requiredDuringSchedulingIgnoredDuringExecution", []) for kind in kinds]
    if all(any(term["topologyKey"] == topology for term in each) for each in terms):
        return
    own = [{"key": key, "operator": "In", "values": [value]}]
    others = [{"key": key, "operator": "Exists"}, {"key": key, "operator": "NotIn", "values": [value]}]
    for kind, expressions in zip(kinds, (own, others), strict=True):
        term = {"labelSelector": {"matchExpressions": expressions}, "topologyKey": topology}
        where = affinity.setdefault(kind, {})
        where.setdefault("requiredDuringSchedulingIgnoredDuringExecution", []).append(term)


def _tpu_containers(spec: Object) -> list[str]:
    def asks(container: Object) -> bool:
        resources = container.get("resources") or {}
        return any(str((resources.get(kind) or {}).get(TPU, 0)) != "0" for kind in ("limits", "requests"))

    return [c["name"] for kind in ("containers", "initContainers") for c in spec.get(kind) or () if asks(c)]


def _env(container: Object, ours: Mapping[str, str], tpu: Mapping[str, str]) -> list[tuple[str, str]]:
    own = {each["name"]: str(each.get("value", each.get("valueFrom"))) for each in container.get("env") or ()}
    first = list(ours.items())
    rest = [(name, value) for name, value in own.items() if name not in ours]
    if not {"TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID"} & set(own):
        rest += [(name, value) for name, value in tpu.items() if name not in own]
    return first + rest
