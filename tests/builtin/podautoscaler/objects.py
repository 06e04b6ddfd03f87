"""Autoscalers, and metrics as objects: in a simulation nothing is measured, so they are stored as a custom kind."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.drivers.simulation import START

OPEN = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
METRICS_DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "pods.metrics.k8s.io", "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"}},
    "spec": {
        "group": "metrics.k8s.io",
        "scope": "Namespaced",
        "names": {"plural": "pods", "singular": "podmetrics", "kind": "PodMetrics", "listKind": "PodMetricsList"},
        "versions": [{"name": "v1beta1", "served": True, "storage": True, "schema": OPEN}],
    },
}
# A custom kind with the scale sub-resource.
FARM_DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "farms.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "farms", "singular": "farm", "kind": "Farm", "listKind": "FarmList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": OPEN,
                "subresources": {
                    "scale": {
                        "specReplicasPath": ".spec.size",
                        "statusReplicasPath": ".status.size",
                        "labelSelectorPath": ".status.selector",
                    }
                },
            }
        ],
    },
}


def farm(name: str, size: int, selector: str) -> Object:
    spec, status = {"size": size}, {"size": size, "selector": selector}
    metadata = {"name": name}
    return {"apiVersion": "example.com/v1", "kind": "Farm", "metadata": metadata, "spec": spec, "status": status}


def pod_metrics(name: str, cpu: str, app: str = "web", *, now: datetime = START, **more: str) -> Object:
    """`more` are the containers beside the first one, with their CPU."""
    used = {"app": cpu, **more}
    return {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "kind": "PodMetrics",
        "metadata": {"name": name, "labels": {"app": app}},
        "timestamp": timestamp(now),
        "window": "0s",
        "containers": [{"name": each, "usage": {"cpu": amount, "memory": "64Mi"}} for each, amount in used.items()],
    }


def cpu_metric(percent: int = 50) -> Object:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def autoscaler(
    name: str = "web", *, kind: str = "apps/v1 Deployment", most: int = 10, least: int = 1, **spec: Any
) -> Object:
    version, _, plain = kind.partition(" ")
    reference = {"apiVersion": version, "kind": plain, "name": name}
    spec = {"metrics": [cpu_metric()], **spec}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": {"scaleTargetRef": reference, "minReplicas": least, "maxReplicas": most, **spec},
    }
