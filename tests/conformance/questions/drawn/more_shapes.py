"""More kinds: of storage, networks, access, admission and devices."""

from __future__ import annotations

from typing import Any

from tests.conformance.questions.drawn.shapes import BACKEND, LABELS, RULES, SUBJECTS, TEMPLATE, WEBHOOKS, N
from tests.conformance.questions.drawn.templates import many, maybe, one

MORE_SHAPES: dict[str, Any] = {
    "/apis/storage.k8s.io/v1/storageclasses": {
        "provisioner": "p",
        "reclaimPolicy": maybe(one("Retain", "Delete")),
        "volumeBindingMode": maybe(one("Immediate", "WaitForFirstConsumer")),
        "allowVolumeExpansion": maybe(one(True, False)),
        "metadata": {"annotations": one({}, {"storageclass.kubernetes.io/is-default-class": one("true", "false")})},
    },
    "/apis/storage.k8s.io/v1/csidrivers": {
        "spec": {
            "attachRequired": maybe(one(True, False)),
            "podInfoOnMount": maybe(True),
            "storageCapacity": maybe(True),
            "requiresRepublish": maybe(True),
            "volumeLifecycleModes": one([], ["Persistent", "Ephemeral"]),
            "tokenRequests": one([], [{"audience": "a"}, {"audience": "b"}]),
        }
    },
    "/apis/storage.k8s.io/v1/csinodes": {"spec": {"drivers": many((0, 1, 2), {"nodeID": "i"}, "name")}},
    "/apis/storage.k8s.io/v1/volumeattachments": {
        "spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}},
        "status": {"attached": one(True, False)},
    },
    "/apis/storage.k8s.io/v1/volumeattributesclasses": {"driverName": "d", "parameters": {"a": "b"}},
    "/apis/storage.k8s.io/v1/namespaces/$NS/csistoragecapacities": {
        "storageClassName": "gold",
        "capacity": maybe("1Gi"),
        "maximumVolumeSize": maybe("1Gi"),
    },
    "/apis/networking.k8s.io/v1/namespaces/$NS/ingresses": {
        "spec": one(
            {"rules": RULES},
            {"defaultBackend": BACKEND},
            {
                "ingressClassName": "nginx",
                "rules": [*RULES, {"host": "b.example.com"}, {"host": "c.example.com"}, {"host": "d.example.com"}],
                "tls": [{"hosts": ["a.example.com"]}],
            },
            {"rules": [{"http": RULES[0]["http"]}]},
        ),
        "status": {"loadBalancer": {"ingress": one([], [{"ip": "5.6.7.8"}, {"hostname": "lb.example.com"}])}},
    },
    "/apis/networking.k8s.io/v1/ingressclasses": {
        "spec": {
            "controller": "example.com/c",
            "parameters": one(
                None, {"kind": "K", "name": "n", "apiGroup": "g.example.com"}, {"kind": "K", "name": "n"}
            ),
        }
    },
    "/apis/networking.k8s.io/v1/namespaces/$NS/networkpolicies": {"spec": {"podSelector": one({}, LABELS)}},
    "/apis/scheduling.k8s.io/v1/priorityclasses": {
        "value": one(0, -5, 1000),
        "globalDefault": maybe(False),
        "preemptionPolicy": maybe("Never"),
    },
    "/apis/node.k8s.io/v1/runtimeclasses": {"handler": "h"},
    "/apis/coordination.k8s.io/v1/namespaces/$NS/leases": {"spec": {"holderIdentity": maybe("me")}},
    "/apis/rbac.authorization.k8s.io/v1/namespaces/$NS/rolebindings": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": one("Role", "ClusterRole"), "name": "r"},
        "subjects": SUBJECTS,
    },
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
        "subjects": SUBJECTS,
    },
    "/apis/rbac.authorization.k8s.io/v1/namespaces/$NS/roles": {"rules": []},
    "/apis/rbac.authorization.k8s.io/v1/clusterroles": {"rules": []},
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": {"webhooks": WEBHOOKS},
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": {"webhooks": WEBHOOKS},
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies": {
        "spec": {
            "validations": many((1, 2), {"expression": "true"}),
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": ["x"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["y"]}
                ]
            },
            "paramKind": one(None, {"apiVersion": "v1", "kind": "ConfigMap"}),
        }
    },
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings": {
        "spec": {
            "policyName": "p",
            "validationActions": ["Deny"],
            "paramRef": one(
                None,
                {"name": "c", "namespace": one("n", ""), "parameterNotFoundAction": "Deny"},
                {"selector": {}, "parameterNotFoundAction": "Allow"},
            ),
        }
    },
    "/apis/resource.k8s.io/v1/deviceclasses": {"spec": {}},
    "/apis/resource.k8s.io/v1/namespaces/$NS/resourceclaims": {
        "spec": {},
        "status": one(
            {},
            {"allocation": {"devices": {}}},
            {"allocation": {"devices": {}}, "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]},
        ),
    },
    "/apis/resource.k8s.io/v1/namespaces/$NS/resourceclaimtemplates": {"spec": {"spec": {}}},
    "/apis/resource.k8s.io/v1/resourceslices": {
        "spec": {
            "driver": "d.example.com",
            "pool": {"name": one("p", "q"), "generation": 1, "resourceSliceCount": 1},
            "nodeName": "n",
            "devices": [],
        }
    },
    "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations": {
        "spec": one(
            {
                "type": "Limited",
                "limited": {"nominalConcurrencyShares": one(0, 7), "limitResponse": {"type": "Reject"}},
            },
            {
                "type": "Limited",
                "limited": {
                    "limitResponse": {"type": "Queue", "queuing": {"queues": 8, "handSize": 2, "queueLengthLimit": 9}}
                },
            },
        )
    },
    "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas": {
        "spec": {
            "priorityLevelConfiguration": {"name": one("catch-all", "none")},
            "matchingPrecedence": one(1, 500),
            "distinguisherMethod": one(None, {"type": "ByUser"}),
            "rules": [],
        }
    },
    f"{N}/resourcequotas": {"spec": {"hard": one({}, {"pods": "3", "requests.cpu": "2", "limits.cpu": "4"})}},
    f"{N}/limitranges": {"spec": {"limits": []}},
    f"{N}/podtemplates": {"template": TEMPLATE},
    "/apis/networking.k8s.io/v1/servicecidrs": {
        "spec": {"cidrs": one(["10.9.0.0/24"], ["10.9.1.0/24", "fd00:1::/112"])}
    },
}
