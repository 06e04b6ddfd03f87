"""A node may read what its own pods refer to, and write what is its own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mooring.apiserver.authentication.users import User
from mooring.apiserver.authorization.attributes import AccessDecision, Attributes
from mooring.apiserver.authorization.node import NodeAuthorizer
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.testing.builders import node, pod

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KUBELET = User("system:node:n1", ("system:nodes", "system:authenticated"))
UNRELATED = "no relationship found between node 'n1' and this object"

VOLUMES = [
    {"name": "a", "secret": {"secretName": "s-volume"}},
    {"name": "b", "configMap": {"name": "c-volume"}},
    {
        "name": "c",
        "projected": {"sources": [{"secret": {"name": "s-projected"}}, {"configMap": {"name": "c-projected"}}]},
    },
    {"name": "d", "persistentVolumeClaim": {"claimName": "claim"}},
    {
        "name": "e",
        "ephemeral": {
            "volumeClaimTemplate": {
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
            }
        },
    },
    {"name": "f", "rbd": {"monitors": ["m"], "image": "i", "secretRef": {"name": "s-rbd"}}},
]
CONTAINER = {
    "name": "main",
    "image": "i",
    "envFrom": [{"secretRef": {"name": "s-env-from"}}, {"configMapRef": {"name": "c-env-from"}}],
    "env": [
        {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s-env", "key": "k"}}},
        {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "c-env", "key": "k"}}},
    ],
}


@pytest.fixture(scope="module")
def registry() -> Registry:
    made = Registry(now=NOW, seed=1)
    create(made, node("n1"))
    create(made, node("n2"))
    spec: dict[str, Any] = {
        "serviceAccountName": "runner",
        "imagePullSecrets": [{"name": "s-pull"}],
        "volumes": VOLUMES,
        "containers": [CONTAINER],
        "resourceClaims": [{"name": "r", "resourceClaimName": "devices"}],
    }
    create(made, pod("p1", node="n1", **spec))
    create(made, pod("p2", node="n2", volumes=[{"name": "a", "secret": {"secretName": "s-other"}}]))
    create(made, pod("waiting", volumes=[{"name": "a", "secret": {"secretName": "s-waiting"}}]))
    mirror = pod("mirror", node="n1", volumes=[{"name": "a", "secret": {"secretName": "s-mirror"}}])
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    made.restore(
        {**mirror, "metadata": {**mirror["metadata"], "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}}, now=NOW
    )
    csi = {"driver": "d", "volumeHandle": "h", "nodeStageSecretRef": {"name": "s-stage", "namespace": "storage"}}
    secrets = {**csi, "controllerPublishSecretRef": {"name": "s-controller", "namespace": "storage"}}
    create(made, volume("bound", {"namespace": "default", "name": "claim"}, secrets))
    create(made, volume("foreign", {"namespace": "default", "name": "other"}, csi | {"volumeHandle": "i"}))
    return made


def create(registry: Registry, obj: Object) -> Object:
    return registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=NOW)


def volume(name: str, claim: Object, csi: Object) -> Object:
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "csi": csi, "claimRef": claim}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def ask(registry: Registry, words: str, *, fields: tuple[tuple[str, str], ...] = (), user: User = KUBELET) -> str:
    """The reason of a refusal; "yes" for what is allowed. `words`: verb, [group/]resource[:sub], [namespace/]name."""
    verb, what, *named = words.split()
    namespace, _, name = named[0].rpartition("/") if named else ("", "", "")
    group, _, resource = what.rpartition("/")
    resource, _, subresource = resource.partition(":")
    about = Attributes(user, verb, group, resource, subresource, namespace, name, fields=fields)
    answer = NodeAuthorizer(registry)(about)
    assert answer.decision is not AccessDecision.DENY
    return "yes" if answer.decision is AccessDecision.ALLOW else answer.reason


@pytest.mark.parametrize(
    "words",
    [
        *(f"get secrets default/s-{each}" for each in ("volume", "projected", "rbd", "env", "env-from", "pull")),
        *(f"get configmaps default/c-{each}" for each in ("volume", "projected", "env", "env-from")),
        "list secrets default/s-volume",
        "watch configmaps default/c-volume",
        "get persistentvolumeclaims default/claim",
        "get persistentvolumeclaims default/p1-e",
        "patch persistentvolumeclaims:status default/claim",
        "get persistentvolumes bound",
        "get secrets storage/s-stage",
        "get serviceaccounts default/runner",
        "create serviceaccounts:token default/runner",
        "get resource.k8s.io/resourceclaims default/devices",
        "create resource.k8s.io/resourceslices",
        "get pods default/p1",
        "create pods default/",
        "delete pods default/p2",
        "patch pods:status default/p1",
        "create pods:eviction default/p1",
        "get nodes n1",
        "watch nodes n1",
        "create nodes",
        "patch nodes:status n2",
        "create coordination.k8s.io/leases kube-node-lease/",
        "patch coordination.k8s.io/leases kube-node-lease/n1",
        "get storage.k8s.io/csinodes n1",
        "list services",
        "create events default/",
        "patch events.k8s.io/events default/e",
        "create certificates.k8s.io/certificatesigningrequests",
        "watch node.k8s.io/runtimeclasses",
        "create authorization.k8s.io/subjectaccessreviews",
    ],
)
def test_a_node_may(registry: Registry, words: str) -> None:
    assert ask(registry, words) == "yes"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("get secrets default/s-other", UNRELATED),
        ("get secrets default/s-waiting", UNRELATED),
        ("get secrets default/s-mirror", UNRELATED),
        ("get secrets other/s-volume", UNRELATED),
        ("get secrets storage/s-controller", UNRELATED),
        ("list secrets default/", "No Object name found"),
        ("list secrets", "can only read namespaced object of this type"),
        ("update secrets default/s-volume", "can only read resources of this type"),
        ("list persistentvolumeclaims default/", "can only get individual resources of this type"),
        ("get persistentvolumeclaims:status default/claim", "can only get/update/patch this type"),
        ("get persistentvolumes foreign", UNRELATED),
        ("get persistentvolumes:status bound", "cannot get subresource"),
        ("get storage.k8s.io/volumeattachments v", UNRELATED),
        ("create serviceaccounts:token default/default", UNRELATED),
        ("list serviceaccounts default/", "can only create tokens for individual service accounts"),
        ("create serviceaccounts default/x", "can only create token subresource of serviceaccount"),
        ("get pods default/p2", UNRELATED),
        ("list pods", "can only list/watch pods with spec.nodeName field selector"),
        ("patch pods default/p1", ""),
        ("create pods:binding default/p1", ""),
        ("get nodes n2", "node 'n1' cannot read 'n2', only its own Node object"),
        ("list nodes", "node 'n1' cannot read all nodes, only its own Node object"),
        ("delete nodes n1", ""),
        (
            "get coordination.k8s.io/leases kube-node-lease/n2",
            "can only access node lease with the same name as the requesting node",
        ),
        (
            "get coordination.k8s.io/leases default/n1",
            'can only access leases in the "kube-node-lease" system namespace',
        ),
        (
            "list coordination.k8s.io/leases kube-node-lease/",
            "can only get, create, update, patch, or delete a node lease",
        ),
        (
            "delete storage.k8s.io/csinodes n2",
            "can only access CSINode with the same name as the requesting node",
        ),
        (
            "list resource.k8s.io/resourceslices",
            "can only list/watch/deletecollection resourceslices with nodeName field selector",
        ),
        ("get services:status default/s", ""),
        ("get apps/deployments default/d", ""),
    ],
)
def test_a_node_may_not(registry: Registry, words: str, reason: str) -> None:
    assert ask(registry, words) == reason


def test_pods_are_listed_by_their_own_node(registry: Registry) -> None:
    assert ask(registry, "list pods", fields=(("spec.nodeName", "n1"),)) == "yes"
    refused = ask(registry, "watch pods", fields=(("spec.nodeName", "n2"),))
    assert refused == "can only list/watch pods with spec.nodeName field selector"


def test_others_are_not_judged(registry: Registry) -> None:
    for user in (User("system:node:n1", ("system:authenticated",)), User("ann", ("system:nodes",))):
        assert ask(registry, "get nodes n1", user=user) == ""
    assert ask(registry, "get nodes n1", user=User("system:node:", ("system:nodes",))) == (
        'unknown node for user "system:node:"'
    )


def test_a_right_goes_with_the_pod() -> None:
    registry = Registry(now=NOW, seed=1)
    pods, words = registry.resource("v1", "Pod"), "get secrets default/s"
    assert ask(registry, words) == UNRELATED
    create(registry, pod("p", volumes=[{"name": "a", "secret": {"secretName": "s"}}]))
    assert ask(registry, words) == UNRELATED
    create(registry, node("n1"))
    target = {"metadata": {"name": "p", "namespace": "default"}, "target": {"kind": "Node", "name": "n1"}}
    registry.bind(target, now=NOW)
    assert ask(registry, words) == "yes"
    registry.delete(pods, "default", "p", grace=0, now=NOW)
    assert ask(registry, words) == UNRELATED
