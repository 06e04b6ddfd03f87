"""What is asked of sub-resources, accounts, reviews and kinds of people's own, and by whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mooring.kube.objects import Object
from tests.apiserver.handlers.asked import (
    ACCOUNTS,
    APPLY,
    BUDGETS,
    CORE,
    DEFINITIONS,
    DEPLOYMENTS,
    FORMS,
    JSON,
    MAPS,
    MERGE,
    PARTIAL,
    PODS,
    PROTOBUF,
    RBAC,
    REVIEWS,
    STRATEGIC,
    TABLE,
    WIDGETS,
    YAML,
    Asked,
    config,
    get,
    pod,
    post,
)


def subresources() -> Iterator[Asked]:
    yield post(PODS, pod("web", labels={"app": "web"}))
    yield post(PODS, pod("other", labels={"app": "web"}))
    yield post(
        BUDGETS, {"metadata": {"name": "b"}, "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}}
    )
    target = {"kind": "Node", "name": "n"}
    for path, body in (
        ("pods/web/binding?dryRun=All", {"target": target}),
        ("pods/web/binding", {"kind": "Pod", "target": target}),
        ("pods/web/binding", []),
        ("pods/web/binding", {"metadata": 1, "target": target}),
        ("pods/web/binding", {"metadata": {"name": "x"}, "target": target}),
        ("pods/web/binding", {"metadata": {"name": "web", "namespace": "x"}, "target": target}),
        ("pods/web/binding", {"metadata": {"name": "web", "namespace": "default"}}),
        ("pods/web/binding", {"target": target}),
        ("pods/web/binding", {"target": target}),
        ("bindings", {"metadata": {"name": "other"}, "target": target}),
        ("bindings", {"target": target}),
        ("bindings", {"metadata": {"name": "none"}, "target": target}),
        ("pods/none/binding", {"target": target}),
        ("pods/web/eviction", {}),
        ("pods/web/eviction", {"metadata": {"name": "x"}}),
        ("pods/web/eviction", {"metadata": {"name": "web"}}),
        ("pods/web/eviction", {"metadata": {"name": "web", "namespace": "x"}}),
        ("pods/web/eviction", {"metadata": {"name": "web"}, "deleteOptions": {"dryRun": ["All"]}}),
        ("pods/web/eviction", {"metadata": {"name": "web"}, "deleteOptions": {"preconditions": {"uid": "x"}}}),
        ("pods/web/eviction", {"kind": "Pod"}),
        ("pods/none/eviction", {"metadata": {"name": "none"}}),
        ("pods/web/status", {}),
        ("pods/web/x", {}),
        ("pods/web/exec", {}),
        ("configmaps/one/binding", {}),
        ("replicationcontrollers/x/scale", {}),
        ("pods/web/log", {}),
        ("pods/web/ephemeralcontainers", {}),
    ):
        yield post(f"{CORE}/{path}", body)
    for path in (
        "pods/web/binding",
        "pods/web/eviction",
        "pods/web/exec",
        "pods/web/log",
        "pods/web/portforward",
        "pods/web/proxy",
        "pods/web/attach",
        "services/x/proxy",
        "pods/web/proxy/a/b",
    ):
        yield get(f"{CORE}/{path}")
        yield Asked("PUT", f"{CORE}/{path}", {})
        yield Asked("PATCH", f"{CORE}/{path}", {}, MERGE)
    yield get("/api/v1/nodes/n/proxy")
    yield Asked("DELETE", f"{BUDGETS}/b")
    yield post(f"{CORE}/pods/web/eviction?dryRun=All", {"metadata": {"name": "web"}})
    yield post(f"{CORE}/pods/web/eviction", {"metadata": {"name": "web"}, "deleteOptions": {"gracePeriodSeconds": 2}})
    yield get(f"{PODS}/web", PARTIAL)
    labels = {"app": "d"}
    template = {"metadata": {"labels": labels}, "spec": pod("x")["spec"]}
    yield post(
        DEPLOYMENTS,
        {"metadata": {"name": "d"}, "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}},
    )
    for body in (
        {"metadata": {"name": "d"}, "spec": {"replicas": 3}},
        {"metadata": {"name": "x"}},
        {"metadata": {"name": "d"}, "spec": {"replicas": -1}},
        [],
        {"kind": "Pod"},
    ):
        yield Asked("PUT", f"{DEPLOYMENTS}/d/scale", body)
    for accept in ("", TABLE, PARTIAL, YAML, PROTOBUF):
        yield get(f"{DEPLOYMENTS}/d/scale", accept)
    yield Asked("PATCH", f"{DEPLOYMENTS}/d/scale", {"spec": {"replicas": 5}}, MERGE)
    yield Asked("PATCH", f"{DEPLOYMENTS}/d/status", {"status": {"replicas": 1}}, MERGE)
    yield Asked("DELETE", f"{DEPLOYMENTS}/d/scale")


def accounts() -> Iterator[Asked]:
    yield post(ACCOUNTS, {"metadata": {"name": "robot"}})
    spec: Any
    body: Any
    for spec in (
        {},
        {"audiences": ["a", "b"]},
        {"expirationSeconds": 600},
        {"expirationSeconds": 599},
        {"expirationSeconds": 2**32},
        {"expirationSeconds": 2**32 + 1},
        {"expirationSeconds": "x"},
        {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "none"}},
        {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "other"}},
        {"boundObjectRef": {"kind": "ConfigMap", "apiVersion": "v1", "name": "one"}},
        {"boundObjectRef": {"kind": "Node", "apiVersion": "v1", "name": "n"}},
        [],
        {"boundObjectRef": {"kind": "Secret", "apiVersion": "apps/v1", "name": "one"}},
    ):
        yield post(f"{ACCOUNTS}/robot/token", {"spec": spec})
    for body in (
        [],
        {"kind": "Pod"},
        {"kind": "TokenRequest", "metadata": {"name": "x"}},
        {"metadata": {"namespace": "x"}},
        {"metadata": {"uid": "x"}},
        {"metadata": []},
        {"metadata": {"name": "robot"}},
    ):
        yield post(f"{ACCOUNTS}/robot/token", body)
    yield post(f"{ACCOUNTS}/robot/token?dryRun=x", {})
    yield post(f"{ACCOUNTS}/robot/token?fieldManager={'x' * 129}", {})
    yield post(f"{ACCOUNTS}/none/token", {})
    yield get(f"{ACCOUNTS}/robot/token")
    yield post(f"{ACCOUNTS}/robot/token", {}, accept=TABLE)


def reviews() -> Iterator[Asked]:
    attributes: list[Object] = [
        {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}},
        {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "other"}},
        {
            "resourceAttributes": {
                "verb": "list",
                "group": "apps",
                "resource": "deployments",
                "subresource": "scale",
                "name": "x",
                "version": "v1",
            }
        },
        {"nonResourceAttributes": {"verb": "get", "path": "/healthz"}},
        {"nonResourceAttributes": {"verb": "post"}},
        {},
        {"nonResourceAttributes": {"verb": "get", "path": "/x"}, "resourceAttributes": {"verb": "get"}},
        {"resourceAttributes": 1},
        {"resourceAttributes": {"verb": 1}},
        {
            "resourceAttributes": {
                "verb": "list",
                "resource": "pods",
                "fieldSelector": {"rawSelector": "spec.nodeName=n"},
            }
        },
        {
            "resourceAttributes": {
                "verb": "list",
                "resource": "pods",
                "fieldSelector": {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n"]}]},
            }
        },
        {
            "resourceAttributes": {
                "verb": "list",
                "resource": "pods",
                "fieldSelector": {
                    "requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n", "m"]}, 1]
                },
            }
        },
    ]
    subjects: tuple[Object, ...] = (
        {},
        {"user": "ann"},
        {"user": "system:node:n", "groups": ["system:nodes"]},
        {"groups": ["system:masters"]},
        {"user": "ann", "groups": 1, "extra": {"a": ["b"], "c": 1}, "uid": "u"},
    )
    for spec in attributes:
        yield post(f"{REVIEWS}/selfsubjectaccessreviews", {"spec": spec}, token="ann")
        for subject in subjects:
            yield post(f"{REVIEWS}/subjectaccessreviews", {"spec": spec | subject})
        yield post(f"{REVIEWS}/namespaces/default/localsubjectaccessreviews", {"spec": spec | {"user": "ann"}})
    for metadata in ({"namespace": "default"}, {"namespace": "x"}, {"name": "x"}, {"creationTimestamp": None}, 1):
        yield post(
            f"{REVIEWS}/namespaces/default/localsubjectaccessreviews",
            {"metadata": metadata, "spec": attributes[0] | {"user": "ann"}},
        )
        yield post(f"{REVIEWS}/subjectaccessreviews", {"metadata": metadata, "spec": attributes[0] | {"user": "ann"}})
    for token in ("secret", "ann", "node"):
        for namespace in ("default", "", 1):
            yield post(f"{REVIEWS}/selfsubjectrulesreviews", {"spec": {"namespace": namespace}}, token=token)
        yield post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, token=token)
    for spec in ({}, {"token": "ann"}, {"token": "nobody"}, {"token": "ann", "audiences": ["x"]}, {"token": 1}):
        yield post("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": spec})
    one = f"{REVIEWS}/selfsubjectaccessreviews"
    for accept in (JSON, TABLE, PARTIAL, YAML, PROTOBUF, "text/html"):
        yield post(one, {"spec": attributes[0]}, accept=accept)
    yield post(one, {"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": attributes[0]})
    for query in ("fieldValidation=Strict", "fieldValidation=Warn", "fieldValidation=Ignore", "dryRun=All", "dryRun=x"):
        yield post(f"{one}?{query}", {"spec": attributes[0], "extra": 1})
    yield get(one)
    yield post(f"{one}/x", {})
    yield post(one.replace("selfsubject", "namespaces/default/selfsubject"), {})


def custom() -> Iterator[Asked]:
    names = {
        "plural": "widgets",
        "singular": "widget",
        "kind": "Widget",
        "listKind": "WidgetList",
        "shortNames": ["w"],
        "categories": ["all"],
    }
    properties = {
        "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    }
    version: Object = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
        },
        "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Wide", "type": "string", "jsonPath": ".status.x", "priority": 1},
        ],
    }
    old = {**version, "name": "v1beta1", "storage": False, "deprecated": True, "deprecationWarning": "it is old"}
    spec: Object = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version, old]}
    yield post(DEFINITIONS, {"metadata": {"name": "widgets.example.com"}, "spec": spec})
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 2}}
    yield post(WIDGETS, widget)
    yield post(f"{WIDGETS}?fieldValidation=Strict", {**widget, "extra": 1, "metadata": {"name": "s"}})
    yield post(f"{WIDGETS}?fieldValidation=Warn", {**widget, "extra": 1, "metadata": {"name": "s"}})
    for accept in FORMS:
        yield get(f"{WIDGETS}/w", accept)
        yield get(WIDGETS, accept)
    for path in ("w/status", "w/scale", "w/log"):
        yield get(f"{WIDGETS}/{path}")
        yield Asked(
            "PATCH", f"{WIDGETS}/{path}", {"spec": {"size": 3, "replicas": 4}, "status": {"x": "y", "size": 1}}, MERGE
        )
    yield Asked("PATCH", f"{WIDGETS}/w", {"spec": {"size": 9}}, STRATEGIC)
    for method, path in (("GET", ""), ("GET", "/w"), ("DELETE", "/w"), ("DELETE", "")):
        yield Asked(method, f"{WIDGETS.replace('v1', 'v1beta1')}{path}")
    yield get("/apis/example.com")
    yield get("/apis/example.com/v1")
    yield get("/apis/example.com/v9")
    yield get("/openapi/v3/apis/example.com/v1")


def rights() -> Iterator[Asked]:
    role = {
        "metadata": {"name": "reader"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "patch", "update"]}],
    }
    yield post(f"{RBAC}/clusterroles", role)
    subjects = [{"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}]
    reference = {"kind": "ClusterRole", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
    yield post(
        f"{RBAC}/namespaces/default/rolebindings",
        {"metadata": {"name": "reads"}, "subjects": subjects, "roleRef": reference},
    )
    for token in ("ann", "nobody", ""):
        for each in (
            get(MAPS),
            get(f"{MAPS}/one"),
            get("/api/v1/configmaps"),
            post(MAPS, config("x")),
            get("/api/v1/nodes"),
            get("/version"),
            get("/metrics"),
            get("/healthz"),
            get("/x"),
            get("/"),
        ):
            yield each._replace(token=token)
        yield Asked("PUT", f"{MAPS}/new", config("new"), token=token)
        yield Asked("PATCH", f"{MAPS}/new?fieldManager=me", config("new"), APPLY, token=token)
        yield Asked("DELETE", f"{MAPS}/one", token=token)
        yield get(f"{MAPS}?watch=1&timeoutSeconds=1&resourceVersion=99999", token=token)
    for headers in (
        {"impersonate-user": "ann"},
        {"impersonate-user": "ann", "impersonate-group": "system:masters"},
        {"impersonate-group": "x"},
        {"impersonate-uid": "x"},
        {"impersonate-extra-a": "b"},
    ):
        yield get(MAPS, headers=headers)
        yield get("/api/v1/nodes", headers=headers)
        yield get(MAPS, headers=headers, token="ann")
