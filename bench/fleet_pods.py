"""The pods of a generated fleet: one text per workload, filled in for each replica."""

from __future__ import annotations

import random
import re

from bench.fleet_nodes import ZONES
from bench.fleet_workloads import START, FleetWorkload, controller_reference, hash_of, labels_of, name_of_revision, uid
from mooring.kube.objects import Object

# Words that stand in a rendered template for what differs between replicas.
SLOTS = re.compile(r"slot(Name|Uid|Node|Ip|Suffix|Second|Version|Container|Index)tols")


def slot(name: str) -> str:
    return f"slot{name}tols"


def fill(template: str, workload: FleetWorkload, replica: int, host: str, rng: random.Random) -> str:
    suffix = "".join(rng.choices("bcdfghjklmnpqrstvwxz2456789", k=5))
    stateful = workload.kind == "StatefulSet"
    name = f"{workload.name}-{replica}" if stateful else f"{workload.name}-{hash_of(workload)}-{suffix}"
    values = {
        "Name": name,
        "Uid": uid(rng),
        "Node": host,
        "Ip": f"10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)}",
        "Suffix": suffix,
        "Second": f"{rng.randrange(60):02d}",
        "Version": f'"{rng.randrange(10**8, 10**9)}"',
        "Container": rng.randbytes(32).hex(),
        "Index": f'"{replica}"',
    }
    return SLOTS.sub(lambda found: values[found[1]], template)


def pod(workload: FleetWorkload, bound: bool = True) -> Object:
    labels = labels_of(workload)
    stateful = workload.kind == "StatefulSet"
    labels["pod-template-hash" if not stateful else "apps.kubernetes.io/pod-index"] = (
        slot("Index") if stateful else hash_of(workload)
    )
    if stateful:
        labels["controller-revision-hash"] = name_of_revision(workload)
    owner = controller_reference(workload)
    spec: Object = {
        "containers": [container(workload)],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "priority": 0,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {"fsGroup": 2000, "runAsNonRoot": True},
        "serviceAccount": workload.name,
        "serviceAccountName": workload.name,
        "terminationGracePeriodSeconds": 30,
        "tolerations": tolerations(workload),
        "volumes": [
            {
                "name": f"kube-api-access-{slot('Suffix')}",
                "projected": {
                    "defaultMode": 420,
                    "sources": [
                        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
                    ],
                },
            }
        ],
    }
    spec |= placement(workload)
    if not bound:
        # A template has no token: each pod gets its own.
        del spec["volumes"]
        spec["containers"] = [{k: v for k, v in c.items() if k != "volumeMounts"} for c in spec["containers"]]
    if bound:
        spec["nodeName"] = slot("Node")
    if stateful:
        spec["hostname"] = slot("Name")
        spec["subdomain"] = workload.name
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": {"prometheus.io/scrape": "true", "kubectl.kubernetes.io/restartedAt": START.format(9)},
            "creationTimestamp": f"2026-03-02T08:15:{slot('Second')}Z",
            "generateName": f"{owner['name']}-",
            "labels": labels,
            "name": slot("Name"),
            "namespace": workload.namespace,
            "ownerReferences": [owner],
            "resourceVersion": slot("Version"),
            "uid": slot("Uid"),
        },
        "spec": spec,
        "status": running(workload) if bound else pending_status(),
    }


def container(workload: FleetWorkload) -> Object:
    amounts = {"cpu": f"{workload.cpu_m}m", "memory": f"{workload.memory_mi}Mi"}
    if workload.gpus:
        amounts["nvidia.com/gpu"] = str(workload.gpus)
    probe = {
        "failureThreshold": 3,
        "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
        "periodSeconds": 10,
        "successThreshold": 1,
        "timeoutSeconds": 1,
    }
    return {
        "args": ["--listen=:8080", f"--team={workload.namespace}"],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
            {"name": "LOG_LEVEL", "value": "info"},
            {"name": "CONCURRENCY", "value": "8"},
        ],
        "image": f"registry.example.com/{workload.namespace}/{workload.name.split('-')[0]}:1.{workload.style}.0",
        "imagePullPolicy": "IfNotPresent",
        "livenessProbe": probe,
        "name": "main",
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "readinessProbe": probe,
        "resources": {"limits": amounts, "requests": amounts},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            {
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                "name": f"kube-api-access-{slot('Suffix')}",
                "readOnly": True,
            }
        ],
    }


def tolerations(workload: FleetWorkload) -> list[Object]:
    usual = [
        {"effect": "NoExecute", "key": f"node.kubernetes.io/{key}", "operator": "Exists", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]
    return [*usual, {"effect": "NoSchedule", "key": "nvidia.com/gpu", "operator": "Exists"}] if workload.gpus else usual


def placement(workload: FleetWorkload) -> Object:
    """Of eight workloads, two spread over zones, one keeps apart by host, one insists on a zone by affinity."""
    fields: Object = {"nodeSelector": {"mooring.example.com/pool": workload.pool}}
    selector = {"matchLabels": {"app.kubernetes.io/name": workload.name}}
    if workload.style in (1, 2):
        fields["topologySpreadConstraints"] = [
            {
                "labelSelector": selector,
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule" if workload.style == 1 else "ScheduleAnyway",
            }
        ]
    if workload.style == 3:
        term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
        preferred = [{"podAffinityTerm": term, "weight": 100}]
        fields["affinity"] = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    if workload.style == 4:
        zones = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": list(ZONES[:2])}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [zones]}]}
        fields["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return fields


def running(workload: FleetWorkload) -> Object:
    return {
        "conditions": [
            {"lastProbeTime": None, "lastTransitionTime": START.format(11), "status": "True", "type": kind}
            for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        ],
        "containerStatuses": [
            {
                "containerID": f"containerd://{slot('Container')}",
                "image": container(workload)["image"],
                "imageID": f"registry.example.com/{workload.namespace}@sha256:{'ab' * 32}",
                "lastState": {},
                "name": "main",
                "ready": True,
                "restartCount": 0,
                "started": True,
                "state": {"running": {"startedAt": START.format(10)}},
            }
        ],
        "hostIP": "10.0.3.7",
        "hostIPs": [{"ip": "10.0.3.7"}],
        "phase": "Running",
        "podIP": slot("Ip"),
        "podIPs": [{"ip": slot("Ip")}],
        "qosClass": "Guaranteed",
        "startTime": f"2026-03-02T08:15:{slot('Second')}Z",
    }


def pending_status() -> Object:
    return {
        "conditions": [
            {
                "lastProbeTime": None,
                "lastTransitionTime": START.format(11),
                "message": "no nodes available to schedule pods",
                "reason": "Unschedulable",
                "status": "False",
                "type": "PodScheduled",
            }
        ],
        "phase": "Pending",
        "qosClass": "Guaranteed",
    }
