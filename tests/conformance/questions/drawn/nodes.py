"""What a node may do: the node authorizer's graph, and what admission lets a node write."""

from __future__ import annotations

import random

from mooring.kube.objects import Object
from tests.conformance.questions.drawn.rights import REVIEWS
from tests.conformance.questions.stories import Step

NS = "/api/v1/namespaces/$NS"
NODES = ("system:node:node-a", "system:node:node-b")
A, B = NODES
THINGS = ("secrets", "configmaps", "persistentvolumeclaims", "serviceaccounts")


def pod(name: str, node: str, **spec: object) -> Object:
    return {"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}], **spec}}


def made(path: str, body: Object) -> Step:
    return {"do": f"POST {path}", "body": body, "quiet": True}


def world() -> list[Step]:
    """Two nodes, and pods on them that refer to what they need in every way."""
    volumes = [
        {"name": "s", "secret": {"secretName": "mounted"}},
        {"name": "m", "configMap": {"name": "mounted"}},
        {"name": "p", "persistentVolumeClaim": {"claimName": "claimed"}},
        {
            "name": "j",
            "projected": {"sources": [{"secret": {"name": "projected"}}, {"configMap": {"name": "projected"}}]},
        },
        {"name": "c", "csi": {"driver": "d", "nodePublishSecretRef": {"name": "csi"}}},
        {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": claim_spec()}}},
    ]
    environment = {
        "name": "c",
        "image": "i",
        "envFrom": [{"secretRef": {"name": "environment"}}, {"configMapRef": {"name": "environment"}}],
        "env": [
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "variable", "key": "k"}}},
            {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "variable", "key": "k"}}},
        ],
    }
    on_a = pod("full", "node-a", volumes=volumes, imagePullSecrets=[{"name": "pull"}], serviceAccountName="worker")
    on_a["spec"] |= {"containers": [environment], "initContainers": [environment | {"name": "i"}]}
    steps = [made("/api/v1/nodes", {"metadata": {"name": name}}) for name in ("node-a", "node-b")]
    steps.append(made(f"{NS}/serviceaccounts", {"metadata": {"name": "worker"}, "automountServiceAccountToken": False}))
    steps.append(made(f"{NS}/persistentvolumeclaims", {"metadata": {"name": "claimed"}, "spec": claim_spec("volume")}))
    volume = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "claimRef": {"namespace": "$NS", "name": "claimed"},
        "csi": {"driver": "d", "volumeHandle": "h", "nodePublishSecretRef": {"name": "of-volume", "namespace": "$NS"}},
    }
    steps.append(made("/api/v1/persistentvolumes", {"metadata": {"name": "volume"}, "spec": volume}))
    steps.append(made(f"{NS}/pods", on_a))
    steps.append(made(f"{NS}/pods", pod("plain", "node-b")))
    steps.append(
        made(f"{NS}/pods", {"metadata": {"name": "nowhere"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
    )
    for kind in ("secrets", "configmaps"):
        for name in ("mounted", "environment", "alone"):
            steps.append(made(f"{NS}/{kind}", {"metadata": {"name": name}}))
    return steps


def claim_spec(volume: str = "") -> Object:
    return {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        **({"volumeName": volume} if volume else {}),
    }


def graph(number: int) -> list[Step]:
    """Who sees what, before and after the pod that needed it has gone."""
    draw = random.Random(f"graph {number}")
    names = (
        "mounted",
        "projected",
        "csi",
        "environment",
        "variable",
        "pull",
        "worker",
        "claimed",
        "full-e",
        "of-volume",
        "alone",
        "volume",
        "node-a",
        "node-b",
        "full",
        "plain",
    )
    kinds = (*THINGS, *THINGS, "pods", "nodes", "persistentvolumes", "services", "events", "endpoints")
    grouped = (
        ("coordination.k8s.io", "leases"),
        ("storage.k8s.io", "csinodes"),
        ("storage.k8s.io", "volumeattachments"),
        ("storage.k8s.io", "csidrivers"),
        ("resource.k8s.io", "resourceclaims"),
        ("resource.k8s.io", "resourceslices"),
        ("certificates.k8s.io", "certificatesigningrequests"),
        ("node.k8s.io", "runtimeclasses"),
        ("certificates.k8s.io", "podcertificaterequests"),
    )
    asked: list[Step] = []
    for _ in range(90):
        group, kind = ("", draw.choice(kinds)) if draw.random() < 0.75 else draw.choice(grouped)
        attributes: Object = {
            "verb": draw.choice(("get", "get", "get", "list", "watch", "create", "update", "patch", "delete")),
            "resource": kind,
        }
        if group:
            attributes["group"] = group
        if kind not in (
            "nodes",
            "persistentvolumes",
            "csinodes",
            "volumeattachments",
            "resourceslices",
            "runtimeclasses",
            "csidrivers",
            "certificatesigningrequests",
        ):
            attributes["namespace"] = draw.choice(("$NS", "$NS", "$NS", "kube-node-lease", "default"))
        if draw.random() < 0.85:
            attributes["name"] = draw.choice(names)
        if draw.random() < 0.2:
            attributes["subresource"] = draw.choice(("status", "token", "eviction", "x"))
        spec = {"user": draw.choice((A, A, B)), "groups": ["system:nodes"], "resourceAttributes": attributes}
        asked.append({"do": f"POST {REVIEWS}/subjectaccessreviews", "body": {"spec": spec}, "pick": ["status"]})
    for kind in ("secrets", "configmaps"):
        for name in names[:6] + names[9:11]:
            for user in NODES:
                spec = {
                    "user": user,
                    "groups": ["system:nodes"],
                    "resourceAttributes": {"verb": "get", "resource": kind, "namespace": "$NS", "name": name},
                }
                asked.append({"do": f"POST {REVIEWS}/subjectaccessreviews", "body": {"spec": spec}, "pick": ["status"]})
    asked[0] |= {"wait": 1.0}
    gone: Step = {"do": f"DELETE {NS}/pods/full?gracePeriodSeconds=0", "quiet": True}
    after = [dict(step) for step in draw.sample(asked, 30)]
    for step in after:
        step.pop("wait", None)
    after[0] |= {"wait": 1.0}
    return [*world(), *asked, gone, *after, *leave()]


def leave() -> list[Step]:
    # What protects volumes from going has no controller here.
    free = {"do": "PATCH /api/v1/persistentvolumes/volume", "type": "merge", "body": {"metadata": {"finalizers": None}}}
    steps: list[Step] = [free | {"quiet": True}]
    for name in ("nodes/node-a", "nodes/node-b", "persistentvolumes/volume"):
        steps.append({"do": f"DELETE /api/v1/{name}", "quiet": True})
    for name in ("full", "plain", "nowhere"):
        steps.append({"do": f"DELETE {NS}/pods/{name}?gracePeriodSeconds=0", "quiet": True})
    return steps


LABELS = (
    "kubernetes.io/hostname",
    "node-restriction.kubernetes.io/x",
    "kubernetes.io/os",
    "example.com/x",
    "k8s.io/x",
    "topology.kubernetes.io/zone",
    "kubelet.kubernetes.io/x",
    "node.kubernetes.io/x",
    "node-role.kubernetes.io/x",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/arch",
    "x.kubernetes.io/y",
)


READ = (
    f"{NS}/secrets",
    f"{NS}/pods",
    "/api/v1/nodes",
    f"{NS}/pods?fieldSelector=spec.nodeName%3Dnode-a",
    "/api/v1/nodes?fieldSelector=metadata.name%3Dnode-a",
    f"{NS}/configmaps/mounted",
    f"{NS}/secrets?fieldSelector=metadata.name%3Dmounted",
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-b",
)


def restriction(number: int) -> list[Step]:
    draw = random.Random(f"restriction {number}")
    asked: list[Step] = []
    for index in range(48):
        by = draw.choice((A, A, A, B, "node-d", "system:node:node-c"))
        asked.append({"by": by, "pick": ["metadata/name", "metadata/labels", "spec/taints"], **attempt(draw, index)})
    asked[0] |= {"wait": 1.0}
    return [*world(), *asked, *leave()]


def attempt(draw: random.Random, index: int) -> Step:
    name = draw.choice(("node-a", "node-a", "node-b"))
    labels = {key: draw.choice(("v", "w")) for key in draw.sample(LABELS, draw.choice((1, 2)))}
    taints = [{"key": "k", "effect": "NoSchedule"}]
    way = draw.randrange(19)
    dry = "?dryRun=All"
    if way == 0:
        body: Object = {"metadata": {"name": draw.choice(("node-a", "node-x")), "labels": labels}}
        if draw.random() < 0.3:
            body["spec"] = draw.choice(
                ({"taints": taints}, {"configSource": {"configMap": {}}}, {"podCIDR": "10.0.0.0/24"})
            )
        return {"do": f"POST /api/v1/nodes{dry}", "body": body}
    if way in (1, 2, 3):
        change: Object = {"metadata": {"labels": labels}}
        if draw.random() < 0.3:
            change = draw.choice(
                (
                    {"spec": {"taints": taints}},
                    {"metadata": {"annotations": {"a": "b"}}},
                    {"spec": {"unschedulable": True}},
                    {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "u"}]}},
                )
            )
        below = draw.choice(("", "/status"))
        return {
            "do": f"PATCH /api/v1/nodes/{name}{below}{dry}",
            "type": draw.choice(("merge", "strategic")),
            "body": change,
        }
    if way == 4:
        return {"do": f"DELETE /api/v1/nodes/{name}{dry}"}
    if way in (5, 6, 7):
        spec: Object = {"nodeName": draw.choice(("node-a", "node-b", ""))}
        if draw.random() < 0.35:
            spec |= draw.choice(
                (
                    {"serviceAccountName": "worker"},
                    {"volumes": [{"name": "v", "secret": {"secretName": "s"}}]},
                    {"volumes": [{"name": "v", "configMap": {"name": "s"}}]},
                    {"imagePullSecrets": [{"name": "x"}]},
                    {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
                    {"resourceClaims": [{"name": "r", "resourceClaimName": "x"}]},
                    {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "x"}}]}}]},
                )
            )
        pod_body: Object = pod(f"m{index}", "node-a")
        pod_body["spec"] |= {key: value for key, value in spec.items() if value}
        if not spec["nodeName"]:
            del pod_body["spec"]["nodeName"]
        if draw.random() < 0.8:
            pod_body["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
        owner = {"apiVersion": "v1", "kind": "Node", "name": draw.choice(("node-a", "node-b")), "uid": "u"}
        if draw.random() < 0.8:
            extra = draw.choice(
                ({"controller": True}, {"controller": True}, {}, {"controller": True, "blockOwnerDeletion": True})
            )
            pod_body["metadata"]["ownerReferences"] = [owner | extra]
        return {"do": f"POST {NS}/pods{dry}", "body": pod_body}
    if way in (8, 9):
        which = draw.choice(("full", "plain", "nowhere"))
        body = draw.choice(
            (
                {"status": {"phase": "Running"}},
                {"metadata": {"labels": {"a": "b"}}},
                {"status": {"resourceClaimStatuses": [{"name": "x"}]}},
            )
        )
        return {"do": f"PATCH {NS}/pods/{which}/status{dry}", "type": "merge", "body": body}
    if way == 10:
        return {"do": f"DELETE {NS}/pods/{draw.choice(('full', 'plain', 'nowhere', 'none'))}{dry}"}
    if way == 11:
        which = draw.choice(("full", "plain", "none"))
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": draw.choice((which, which, ""))}}
        return {"do": f"POST {NS}/pods/{which}/eviction{dry}", "body": body}
    if way == 12:
        where, which = draw.choice(("kube-node-lease", "$NS")), draw.choice(("node-a", "node-b"))
        body = {"metadata": {"name": which}, "spec": {"holderIdentity": which}}
        return {"do": f"POST /apis/coordination.k8s.io/v1/namespaces/{where}/leases{dry}", "body": body}
    if way == 13:
        body = {"metadata": {"name": name}, "spec": {"drivers": []}}
        return {"do": f"POST /apis/storage.k8s.io/v1/csinodes{dry}", "body": body}
    if way == 14:
        body = {
            "metadata": {"name": f"s{index}"},
            "spec": {
                "driver": "d.example.com",
                "nodeName": name,
                "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
                "devices": [],
            },
        }
        return {"do": f"POST /apis/resource.k8s.io/v1/resourceslices{dry}", "body": body}
    if way == 15:
        body = {
            "spec": {
                "audiences": draw.choice(([], ["x"])),
                "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": draw.choice(("full", "plain"))},
            }
        }
        if draw.random() < 0.2:
            del body["spec"]["boundObjectRef"]
        account = draw.choice(("worker", "worker", "default"))
        return {"do": f"POST {NS}/serviceaccounts/{account}/token", "body": body, "pick": ["kind"]}
    if way == 16:
        body = draw.choice(
            (
                {"status": {"capacity": {"storage": "2Gi"}}},
                {"status": {"phase": "Lost"}},
                {"metadata": {"labels": {"a": "b"}}},
            )
        )
        return {"do": f"PATCH {NS}/persistentvolumeclaims/claimed/status{dry}", "type": "merge", "body": body}
    if way == 17:
        return {
            "do": f"GET {draw.choice(READ)}",
            "pick": ["kind"],
        }
    body = {"metadata": {"name": f"e{index}"}, "involvedObject": {"kind": "Node", "name": name, "namespace": "$NS"}}
    return {"do": f"POST {NS}/events{dry}", "body": body}


def stories() -> dict[str, list[Step]]:
    found = {f"graph-{number}": graph(number) for number in range(2)}
    return found | {f"restriction-{number}": restriction(number) for number in range(5)}
