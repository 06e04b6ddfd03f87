"""The ReplicaSets, StatefulSets and Services of a generated fleet."""

from __future__ import annotations

import random

from bench.fleet_pods import pod
from bench.fleet_workloads import START, FleetWorkload, controller_reference, hash_of, labels_of, name_of_revision, uid
from mooring.kube.objects import Object


def controller(workload: FleetWorkload) -> Object:
    name = workload.name if workload.kind == "StatefulSet" else f"{workload.name}-{hash_of(workload)}"
    return {
        "apiVersion": "apps/v1",
        "kind": workload.kind,
        "metadata": {
            "creationTimestamp": START.format(7),
            "labels": labels_of(workload),
            "name": name,
            "namespace": workload.namespace,
            "uid": controller_reference(workload)["uid"],
        },
        "spec": {
            "replicas": workload.replicas,
            "selector": {"matchLabels": labels_of(workload)},
            "template": {"metadata": {"labels": labels_of(workload)}, "spec": pod(workload, bound=False)["spec"]},
        },
        "status": {"replicas": workload.replicas, "availableReplicas": workload.replicas}
        | ({"updateRevision": name_of_revision(workload)} if workload.kind == "StatefulSet" else {}),
    }


def service(workload: FleetWorkload) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "creationTimestamp": START.format(8),
            "labels": labels_of(workload),
            "name": workload.name,
            "namespace": workload.namespace,
            "uid": uid(random.Random(f"service {workload.name}")),
        },
        "spec": {
            "clusterIP": "None",
            "clusterIPs": ["None"],
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}],
            "selector": {"app.kubernetes.io/name": workload.name},
            "type": "ClusterIP",
        },
        "status": {"loadBalancer": {}},
    }
