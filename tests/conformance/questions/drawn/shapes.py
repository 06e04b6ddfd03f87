"""Objects of the other kinds, in what a table shows of them."""

from __future__ import annotations

from typing import Any

from tests.conformance.questions.drawn.pods import OLD, OLDER
from tests.conformance.questions.drawn.templates import many, maybe, one

LABELS = {"matchLabels": {"a": "b"}}
SELECTOR = one(
    LABELS,
    {"matchLabels": {"a": "b", "c": "d"}},
    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}], "matchLabels": {"a": "b"}},
    {"matchExpressions": [{"key": "a", "operator": "Exists"}]},
)
IMAGES = many((1, 1, 2, 3), {"image": one("i", "registry.example.com/j:1", "k@sha256:0")}, "name")
TEMPLATE = {"metadata": {"labels": {"a": "b", "c": "d"}}, "spec": {"containers": IMAGES}}
COUNT = one(0, 1, 3, 12)
CONDITION = {"status": one("True", "False", "Unknown"), "lastTransitionTime": OLD, "reason": "r", "message": "m"}
REF = {"apiVersion": one("apps/v1", "v1"), "kind": one("Deployment", "ReplicaSet"), "name": "web"}
METRIC_VALUE = one(
    {"type": "Utilization", "averageUtilization": 50},
    {"type": "AverageValue", "averageValue": one("100m", "2")},
    {"type": "Value", "value": one("7", "1500m")},
)
METRICS = one(
    {"type": "Resource", "resource": {"name": one("cpu", "memory"), "target": METRIC_VALUE}},
    {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c", "target": METRIC_VALUE}},
    {"type": "Pods", "pods": {"metric": {"name": "q"}, "target": {"type": "AverageValue", "averageValue": "5"}}},
    {"type": "External", "external": {"metric": {"name": "e"}, "target": METRIC_VALUE}},
    {
        "type": "Object",
        "object": {
            "metric": {"name": "o"},
            "describedObject": {"kind": "Service", "name": "s"},
            "target": METRIC_VALUE,
        },
    },
)
CURRENT = {"averageUtilization": maybe(40), "averageValue": maybe("80m"), "value": maybe("3")}
CURRENTS = one(
    {"type": "Resource", "resource": {"name": "cpu", "current": CURRENT}},
    {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c", "current": CURRENT}},
    {"type": "Pods", "pods": {"metric": {"name": "q"}, "current": CURRENT}},
    {"type": "External", "external": {"metric": {"name": "e"}, "current": CURRENT}},
    {
        "type": "Object",
        "object": {"metric": {"name": "o"}, "describedObject": {"kind": "Service", "name": "s"}, "current": CURRENT},
    },
)
PORT = {"port": one(80, 443), "protocol": one("TCP", "UDP", "SCTP"), "nodePort": maybe(one(30080, 30081))}
ADDRESS = {"ip": one("10.1.0.1", "10.1.0.2", "10.1.0.3")}
BACKEND = {"service": {"name": "s", "port": one({"number": 80}, {"name": "http"})}}
RULES = [{"host": "a.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": BACKEND}]}}]
CLAIM = {
    "accessModes": one(["ReadWriteOnce"], ["ReadWriteMany", "ReadOnlyMany"], ["ReadWriteOncePod"]),
    "resources": {"requests": {"storage": "1Gi"}},
    "storageClassName": one("gold", ""),
    "volumeMode": one("Filesystem", "Block"),
    "volumeName": maybe("v"),
    "volumeAttributesClassName": maybe("fast"),
}
SUBJECTS = many(
    (0, 1, 3),
    one(
        {"kind": "User", "name": "u"},
        {"kind": "Group", "name": "g"},
        {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
    ),
)
WEBHOOKS = many(
    (0, 1, 2),
    {
        "clientConfig": {"url": "https://a.example.com"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "name": one("a.example.com", "b.example.com"),
    },
)
JOB_TEMPLATE = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": IMAGES}}}}
N = "/api/v1/namespaces/$NS"
APPS = "/apis/apps/v1/namespaces/$NS"

# Paths, and what is made there.
SHAPES: dict[str, Any] = {
    "/api/v1/nodes": {
        "metadata": {
            "labels": one(
                {},
                {"node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/etcd": ""},
                {"kubernetes.io/role": "worker"},
                {"node-role.kubernetes.io/": "x"},
            )
        },
        "spec": {"unschedulable": maybe(True)},
        "status": {
            "conditions": many((0, 1, 2), {"type": one("Ready", "MemoryPressure"), **CONDITION}),
            "addresses": many(
                (0, 1, 3),
                one(
                    {"type": "InternalIP", "address": "10.2.0.1"},
                    {"type": "ExternalIP", "address": "1.2.3.4"},
                    {"type": "Hostname", "address": "h"},
                ),
            ),
            "nodeInfo": {
                "kubeletVersion": "v1.35.0",
                "osImage": one("", "Linux"),
                "kernelVersion": one("", "6.1"),
                "containerRuntimeVersion": one("", "containerd://2"),
                **dict.fromkeys(
                    ("machineID", "systemUUID", "bootID", "kubeProxyVersion", "operatingSystem", "architecture"), ""
                ),
            },
        },
    },
    f"{N}/services": {
        "spec": {
            "type": one("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
            "ports": many((1, 1, 2), {**PORT, "nodePort": one(None)}, "name"),
            "selector": one({"a": "b"}, {"a": "b", "c": "d"}, {}),
            "externalIPs": one([], ["1.2.3.4", "1.2.3.5"]),
        },
        "status": {
            "loadBalancer": {
                "ingress": one([], [{"ip": "5.6.7.8"}], [{"hostname": "lb.example.com"}, {"ip": "5.6.7.9"}])
            }
        },
    },
    f"{N}/endpoints": {
        "subsets": many(
            (0, 1, 2), {"addresses": many((1, 2, 4), ADDRESS), "ports": many((0, 1, 2), {"port": one(80, 81)}, "name")}
        )
    },
    "/apis/discovery.k8s.io/v1/namespaces/$NS/endpointslices": {
        "addressType": "IPv4",
        "endpoints": many((0, 1, 2, 4), {"addresses": many((1, 2), one("10.1.0.1", "10.1.0.2"))}),
        "ports": many((0, 1, 4), {"port": one(80, 81, 82), "protocol": one("TCP", "UDP")}, "name"),
    },
    f"{N}/replicationcontrollers": {
        "spec": {"replicas": COUNT, "selector": one({"a": "b"}, {"a": "b", "c": "d"}), "template": TEMPLATE},
        "status": {"replicas": 12, "readyReplicas": COUNT},
    },
    f"{APPS}/replicasets": {
        "spec": {"replicas": COUNT, "selector": SELECTOR, "template": TEMPLATE},
        "status": {"replicas": 12, "readyReplicas": COUNT, "availableReplicas": 0},
    },
    f"{APPS}/deployments": {
        "spec": {"replicas": COUNT, "selector": SELECTOR, "template": TEMPLATE},
        "status": {"replicas": 12, "readyReplicas": 12, "updatedReplicas": COUNT, "availableReplicas": COUNT},
    },
    f"{APPS}/statefulsets": {
        "spec": {"replicas": COUNT, "selector": SELECTOR, "template": TEMPLATE, "serviceName": "s"},
        "status": {"replicas": 12, "readyReplicas": COUNT},
    },
    f"{APPS}/daemonsets": {
        "spec": {
            "selector": SELECTOR,
            "template": {**TEMPLATE, "spec": {"containers": IMAGES, "nodeSelector": one({}, {"a": "b", "c": "d"})}},
        },
        "status": {
            "desiredNumberScheduled": COUNT,
            "currentNumberScheduled": COUNT,
            "numberReady": COUNT,
            "updatedNumberScheduled": COUNT,
            "numberAvailable": COUNT,
            "numberMisscheduled": 0,
        },
    },
    f"{APPS}/controllerrevisions": {
        "revision": one(1, 7),
        "data": {},
        "metadata": {
            "ownerReferences": one(
                [],
                [
                    {
                        "apiVersion": "apps/v1",
                        "kind": "StatefulSet",
                        "name": "s",
                        "uid": "u",
                        "controller": one(True, False),
                    }
                ],
            )
        },
    },
    "/apis/batch/v1/namespaces/$NS/jobs": {
        "spec": {
            "completions": maybe(one(1, 5)),
            "parallelism": maybe(one(0, 1, 4)),
            "suspend": maybe(one(True, False)),
            "template": JOB_TEMPLATE["spec"]["template"],
        },
        "status": one(
            {},
            {"startTime": OLDER, "succeeded": one(0, 1), "active": maybe(1)},
            {
                "startTime": OLDER,
                "completionTime": OLD,
                "succeeded": 5,
                "conditions": [
                    {"type": "SuccessCriteriaMet", **CONDITION, "status": "True"},
                    {"type": "Complete", **CONDITION, "status": "True"},
                ],
            },
            {
                "startTime": OLDER,
                "conditions": [
                    {"type": "FailureTarget", **CONDITION, "status": "True"},
                    {"type": "Failed", **CONDITION, "status": "True"},
                ],
            },
        ),
    },
    "/apis/batch/v1/namespaces/$NS/cronjobs": {
        "spec": {
            "schedule": one("* * * * *", "@daily"),
            "timeZone": maybe("Europe/Berlin"),
            "suspend": maybe(one(True, False)),
            "jobTemplate": JOB_TEMPLATE,
        },
        "status": {"lastScheduleTime": maybe(OLD), "active": one([], [{"name": "j"}], [{"name": "j"}, {"name": "k"}])},
    },
    "/apis/autoscaling/v2/namespaces/$NS/horizontalpodautoscalers": {
        "spec": {
            "scaleTargetRef": REF,
            "minReplicas": maybe(one(1, 2)),
            "maxReplicas": one(3, 10),
            "metrics": many((0, 1, 2, 4), METRICS),
        },
        "status": {"currentReplicas": one(0, 3), "desiredReplicas": 1, "currentMetrics": many((0, 1, 2, 4), CURRENTS)},
    },
    "/apis/policy/v1/namespaces/$NS/poddisruptionbudgets": {
        "spec": one(
            {"minAvailable": one(1, "50%"), "selector": LABELS},
            {"maxUnavailable": one(1, "20%"), "selector": LABELS},
            {"selector": LABELS},
        ),
        "status": {"disruptionsAllowed": one(0, 3), "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0},
    },
    f"{N}/events": {
        "involvedObject": {
            "kind": one("Pod", "Node"),
            "name": one("p", "q"),
            "namespace": "$NS",
            "fieldPath": maybe("spec.containers{c}"),
        },
        "type": one("Normal", "Warning"),
        "reason": one("Killing", "", "Started"),
        "message": one("m", "two\nlines", " padded "),
        "source": one({}, {"component": "kubelet", "host": maybe("h")}),
        "firstTimestamp": maybe(OLDER),
        "lastTimestamp": maybe(OLD),
        "eventTime": None,
        "count": maybe(one(1, 7)),
        "series": None,
        "reportingComponent": one("", "r"),
        "reportingInstance": one("", "ri"),
    },
    "/apis/events.k8s.io/v1/namespaces/$NS/events": {
        "regarding": {"kind": "Pod", "name": "p", "namespace": "$NS"},
        "type": "Normal",
        "reason": "Begun",
        "action": "Act",
        "note": one("n", ""),
        "eventTime": "2026-01-05T10:00:00.123456Z",
        "reportingController": "example.com/c",
        "reportingInstance": "i",
        "series": one(None, {"count": 4, "lastObservedTime": "2026-02-05T10:00:00.123456Z"}),
    },
    f"{N}/secrets": {"type": one("Opaque", "example.com/x"), "data": one({}, {"a": ""}, {"a": "", "b": "eA=="})},
    f"{N}/configmaps": {"data": one({}, {"a": "x"}), "binaryData": one({}, {"b": "eA=="})},
    f"{N}/serviceaccounts": {"secrets": one([], [{"name": "a"}], [{"name": "a"}, {"name": "b"}])},
    f"{N}/persistentvolumeclaims": {
        "spec": CLAIM,
        "status": {
            "phase": one("Pending", "Bound", "Lost"),
            "accessModes": one([], ["ReadWriteOnce", "ReadWriteOnce", "ReadOnlyMany"]),
            "capacity": one({}, {"storage": "5Gi"}),
        },
    },
    "/api/v1/persistentvolumes": {
        "spec": {
            "capacity": {"storage": one("1Gi", "500M")},
            "accessModes": CLAIM["accessModes"],
            "hostPath": {"path": "/x"},
            "persistentVolumeReclaimPolicy": one("Retain", "Delete", "Recycle"),
            "storageClassName": one("", "gold"),
            "volumeMode": one("Filesystem", "Block"),
            "claimRef": one(None, {"namespace": "n", "name": "c"}),
        },
        "status": {"phase": one("Available", "Bound", "Released", "Failed"), "reason": maybe("why")},
    },
}
