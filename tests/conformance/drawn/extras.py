"""Requests that a schema does not tell of: deletions, sub-resources, levels of Pod Security, what nodes may write."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Iterator
from typing import Any

from tests.conformance.drawn import drawing
from tests.conformance.drawn.pointers import Change
from tests.conformance.drawn.requests import Drawn
from tests.conformance.drawn.servers import NODE
from tests.conformance.drawn.stage import new_object, objects, place_of

_UID = "11111111-2222-3333-4444-555555555555"
_OPTIONS: list[Any] = [
    {},
    {"propagationPolicy": "Orphan"},
    {"propagationPolicy": "Foreground"},
    {"propagationPolicy": "Background"},
    {"propagationPolicy": "None"},
    {"orphanDependents": True},
    {"orphanDependents": False},
    {"orphanDependents": True, "propagationPolicy": "Orphan"},
    {"gracePeriodSeconds": 0},
    {"gracePeriodSeconds": 1},
    {"gracePeriodSeconds": -1},
    {"gracePeriodSeconds": 50},
    {"gracePeriodSeconds": "x"},
    {"preconditions": {"uid": _UID}},
    {"preconditions": {"resourceVersion": "1"}},
    {"preconditions": {"uid": _UID, "resourceVersion": "1"}},
    {"preconditions": {}},
    {"dryRun": ["Some"]},
    {"kind": "DeleteOptions", "apiVersion": "v1"},
    {"kind": "Pod", "apiVersion": "v1"},
    {"ignoreStoreReadErrorWithClusterBreakingPotential": True},
]
_SCALED = ("deployment", "replicaset", "statefulset", "replicationcontroller")
_RESIZED = ("pod-running", "pod-containers", "pod-plain", "pod-placed")
_RESOURCES: tuple[Any, ...] = (
    {"cpu": "150m"},
    {"cpu": "0"},
    {"cpu": "-1"},
    {"memory": "96Mi"},
    {"memory": "32Mi"},
    {"cpu": "x"},
    {},
    None,
    {"cpu": "100m", "memory": "64Mi"},
    {"cpu": "300m", "memory": "1Gi"},
    {"example.com/gpu": "1"},
    {"ephemeral-storage": "1Gi"},
    {"hugepages-2Mi": "4Mi"},
    {"cpu": "1", "memory": "128Mi"},
)
_LEVELS = ("drawn-baseline", "drawn-restricted")
_WITH_TEMPLATES = (
    "deployment",
    "statefulset",
    "daemonset",
    "job-plain",
    "cronjob",
    "replicaset",
    "replicationcontroller",
    "podtemplate",
)
_SECURE_FIELDS: dict[str, list[Any]] = {
    "runAsUser": [0, 5],
    "runAsNonRoot": [False, True],
    "runAsGroup": [0],
    "seccompProfile": [
        {"type": "Unconfined"},
        {"type": "RuntimeDefault"},
        {"type": "Localhost", "localhostProfile": "a"},
    ],
    "appArmorProfile": [{"type": "Unconfined"}, {"type": "RuntimeDefault"}],
    "seLinuxOptions": [
        {"type": "spc_t"},
        {"type": "container_t"},
        {"type": "container_kvm_t"},
        {"user": "u"},
        {"role": "r"},
        {"type": ""},
        {"type": "container_engine_t"},
    ],
    "windowsOptions": [{"hostProcess": True}, {"hostProcess": False}],
}
_CONTAINER_FIELDS: dict[str, list[Any]] = {
    "privileged": [True],
    "allowPrivilegeEscalation": [True, False],
    "procMount": ["Unmasked", "Default"],
    "capabilities": [
        {"add": ["SYS_ADMIN"]},
        {"add": ["CHOWN"], "drop": ["ALL"]},
        {"drop": ["NET_RAW"]},
        {"add": ["NET_BIND_SERVICE"]},
        {"add": ["NET_RAW"], "drop": ["ALL"]},
        {"add": ["AUDIT_WRITE", "SETUID", "SYS_TIME"]},
    ],
}
_POD_FIELDS: list[Change] = [
    ["spec/hostNetwork", True],
    ["spec/hostPID", True],
    ["spec/hostIPC", True],
    ["spec/hostUsers", False],
    ["spec/os", {"name": "windows"}],
    ["spec/os", {"name": "linux"}],
    *[
        ["spec/securityContext/sysctls", [{"name": each, "value": "1"}]]
        for each in (
            "kernel.shm_rmid_forced",
            "net.ipv4.ip_local_port_range",
            "net.ipv4.ip_unprivileged_port_start",
            "net.ipv4.ping_group_range",
            "net.ipv4.ip_local_reserved_ports",
            "net.ipv4.tcp_keepalive_time",
            "net.ipv4.tcp_fin_timeout",
            "net.ipv4.tcp_keepalive_intvl",
            "net.ipv4.tcp_keepalive_probes",
            "net.ipv4.tcp_rmem",
            "kernel.msgmax",
        )
    ],
    *[
        ["metadata/annotations", {"container.apparmor.security.beta.kubernetes.io/main": each}]
        for each in ("unconfined", "runtime/default", "localhost/a")
    ],
    ["spec/containers/0/ports", [{"containerPort": 80, "hostPort": 80}]],
    ["spec/containers/0/ports", [{"containerPort": 80, "hostPort": 0}, {"containerPort": 81, "hostPort": 82}]],
    *[
        [f"spec/containers/0/{probe}", {"httpGet": {"port": 80, "host": host}}]
        for probe in ("livenessProbe", "readinessProbe", "startupProbe")
        for host in ("10.0.0.1", "127.0.0.1", "localhost", "")
    ],
    ["spec/containers/0/livenessProbe", {"tcpSocket": {"port": 80, "host": "a"}}],
    ["spec/containers/0/lifecycle", {"preStop": {"httpGet": {"port": 80, "host": "a"}}}],
    ["spec/containers/0/lifecycle", {"postStart": {"tcpSocket": {"port": 80, "host": "a"}}}],
    ["spec/ephemeralContainers", [{"name": "e", "image": "a"}]],
    ["spec/containers/0/securityContext"],
    ["spec/securityContext"],
    ["spec/initContainers/0/securityContext"],
]


def extras(name: str, draw: random.Random) -> Iterator[Drawn]:
    """All that are about one object."""
    obj = objects()[name]
    chosen = (
        _OPTIONS
        if name in ("pod-plain", "job-plain", "configmap", "deployment")
        else [{}, *draw.sample(_OPTIONS[1:], 5)]
    )
    # A body counts instead of the query.
    yield from (Drawn(name, "delete", [["", {"dryRun": ["All"], **each}]]) for each in chosen)
    if name in _SCALED:
        yield from _scales(name)
    if obj["kind"] == "Pod":
        yield from _of_pods(name, draw)
    if obj["kind"] == "Pod" or name in _WITH_TEMPLATES:
        yield from _levels(name)
    if name == "certificaterequest":
        yield from _approvals(name)
    if name == "namespace":
        for finalizers in ([], ["kubernetes"], ["x"], ["example.com/a", "example.com/a"], None):
            yield Drawn(name, "update", [["spec/finalizers", finalizers]], "finalize")
    if name == "serviceaccount":
        for spec in (
            {},
            {"audiences": ["a"], "expirationSeconds": 5},
            {"expirationSeconds": 2**33},
            {"boundObjectRef": {"kind": "Pod", "name": "none", "apiVersion": "v1"}},
            {"boundObjectRef": {"kind": "Thing", "name": "n"}},
        ):
            if spec:
                yield Drawn(
                    name,
                    "post",
                    [["", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}]],
                    "token",
                )
    yield from _by_nodes(name, obj)


def _scales(name: str) -> Iterator[Drawn]:
    yield Drawn(name, "get", [], "scale")
    for spec in (
        {"replicas": 0},
        {"replicas": -1},
        {"replicas": 7},
        {"replicas": None},
        {"replicas": "x"},
        {"replicas": 2**31},
        {},
    ):
        yield Drawn(name, "merge", [["spec", spec]], "scale")
        yield Drawn(name, "json", [["spec/replicas", spec.get("replicas")]], "scale")
    yield Drawn(name, "merge", [["metadata/resourceVersion", "1"], ["spec/replicas", 1]], "scale")
    yield Drawn(name, "merge", [["metadata/labels", {"a": "b"}], ["status/replicas", 9]], "scale")


def _of_pods(name: str, draw: random.Random) -> Iterator[Drawn]:
    metadata = {"name": f"{objects()[name]['metadata']['name']}-stands"}
    for options in (
        {},
        {"deleteOptions": {"gracePeriodSeconds": 3}},
        {"deleteOptions": {"preconditions": {"uid": _UID}}},
        {"metadata": {"name": "other"}},
        {"deleteOptions": {"dryRun": ["All"], "propagationPolicy": "Orphan"}},
    ):
        yield Drawn(
            name,
            "post",
            [["", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata, **options}]],
            "eviction",
        )
    for target in (
        {"kind": "Node", "name": "drawn-node"},
        {"name": "n"},
        {"kind": "Pod", "name": "n"},
        {"kind": "Node"},
        {"kind": "Node", "name": "A_b"},
    ):
        yield Drawn(
            name,
            "post",
            [["", {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}]],
            "binding",
        )
    yield Drawn(
        name,
        "post",
        [
            [
                "",
                {
                    "apiVersion": "v1",
                    "kind": "Binding",
                    "metadata": {**metadata, "labels": {"a": "b"}, "annotations": {"c": "d"}},
                    "target": {"kind": "Node", "name": "n"},
                },
            ]
        ],
        "binding",
    )
    if name in _RESIZED:
        yield from _resizes(name, draw)
    for container in (
        {"name": "debug", "image": "a"},
        {"name": "main", "image": "a"},
        {"name": "debug"},
        {"image": "a"},
        {"name": "debug", "image": "a", "targetContainerName": "main"},
        {"name": "debug", "image": "a", "targetContainerName": "x"},
        {"name": "debug", "image": "a", "ports": [{"containerPort": 1}]},
        {"name": "d", "image": "a", "resources": {"limits": {"cpu": 1}}},
        {"name": "d", "image": "a", "livenessProbe": {"exec": {"command": ["a"]}}},
        {"name": "d", "image": "a", "restartPolicy": "Always"},
        {"name": "d", "image": "a", "securityContext": {"privileged": True}, "env": [{"name": "a"}]},
    ):
        yield Drawn(name, "update", [["spec/ephemeralContainers", [container]]], "ephemeralcontainers")


def _resizes(name: str, draw: random.Random) -> Iterator[Drawn]:
    places = [
        each.place
        for each in drawing.spots(new_object(name))
        if each.place.count("/") == 2 and "ontainers/" in each.place
    ]
    for place in places:
        for requests, limits in draw.sample(list(itertools.product(_RESOURCES, _RESOURCES)), 12):
            sent = {key: each for key, each in (("requests", requests), ("limits", limits)) if each is not None}
            yield Drawn(name, "update", [[f"{place}/resources", sent]], "resize")
        yield Drawn(name, "json", [[place]], "resize")
        yield Drawn(name, "json", [[place, None]], "resize")
        yield Drawn(name, "update", [[f"{place}/resources"]], "resize")
        yield Drawn(name, "update", [[f"{place}/image", "other"]], "resize")
        yield Drawn(
            name,
            "update",
            [[f"{place}/resizePolicy", [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]]],
            "resize",
        )
    for change in (
        ["spec/nodeName", "x"],
        ["metadata/labels", {"a": "b"}],
        ["spec/containers", []],
        ["spec/tolerations", []],
        ["spec/resources", {"limits": {"cpu": "3"}}],
        ["status/resize", "Deferred"],
    ):
        yield Drawn(name, "update", [change], "resize")


def _levels(name: str) -> Iterator[Drawn]:
    """Under the levels of Pod Security: pods that are right, with one thing that may not be."""
    yield from (Drawn(name, "create", [], within=each) for each in _LEVELS)
    if name == "pod-secure":
        for changes in _secured():
            yield from (Drawn(name, "create", changes, within=each) for each in _LEVELS)
    elif name in _WITH_TEMPLATES:
        template = (
            "template"
            if name == "podtemplate"
            else "spec/jobTemplate/spec/template"
            if name == "cronjob"
            else "spec/template"
        )
        for field in (["hostNetwork", True], ["securityContext", {"runAsUser": 0}]):
            yield from (
                Drawn(name, "create", [[f"{template}/spec/{field[0]}", field[1]]], within=each) for each in _LEVELS
            )


def _secured() -> Iterator[list[Change]]:
    yield from ([each] for each in _POD_FIELDS)
    for field, tried in _SECURE_FIELDS.items():
        for place in (
            "spec/securityContext",
            "spec/containers/0/securityContext",
            "spec/initContainers/0/securityContext",
        ):
            yield [[f"{place}/{field}"]]
            yield from ([[f"{place}/{field}", each]] for each in tried)
    for field, tried in _CONTAINER_FIELDS.items():
        for place in ("spec/containers/0/securityContext", "spec/initContainers/0/securityContext"):
            yield [[f"{place}/{field}"]]
            yield from ([[f"{place}/{field}", each]] for each in tried)
    for volume in new_object("pod-volumes")["spec"]["volumes"]:
        yield [["spec/volumes", [copy.deepcopy(volume)]]]


def _approvals(name: str) -> Iterator[Drawn]:
    for condition in (
        {"type": "Approved", "status": "True"},
        {"type": "Denied", "status": "True", "reason": "R"},
        {"type": "Failed", "status": "False"},
        {"type": "Approved", "status": "False"},
        {"type": "", "status": "True"},
        {"type": "Other", "status": "x"},
    ):
        for below in ("approval", "status", ""):
            yield Drawn(name, "update", [["status/conditions", [condition]]], below)
    yield Drawn(
        name,
        "update",
        [["status/conditions", [{"type": "Approved", "status": "True"}, {"type": "Denied", "status": "True"}]]],
        "approval",
    )
    yield Drawn(
        name,
        "update",
        [["status/conditions", [{"type": "Approved", "status": "True"}, {"type": "Approved", "status": "True"}]]],
        "approval",
    )
    for certificate in ("YQ==", "", "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCllRPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="):
        yield Drawn(name, "update", [["status/certificate", certificate]], "status")


def _by_nodes(name: str, obj: Any) -> Iterator[Drawn]:
    """What a kubelet that is no friend may try."""
    named: Change = ["metadata/name", "drawn-node"]
    if obj["kind"] in (
        "Node",
        "CSINode",
        "ResourceSlice",
        "Lease",
        "Pod",
        "Event",
        "PersistentVolumeClaim",
        "CertificateSigningRequest",
    ):
        yield Drawn(name, "create", [], by=NODE)
        yield Drawn(name, "create", [named], by=NODE)
        yield Drawn(name, "merge", [["metadata/labels", {"a": "b"}]], by=NODE)
        yield Drawn(name, "delete", [["", {"dryRun": ["All"]}]], by=NODE)
    if name.startswith("resourceslice"):
        yield Drawn(name, "create", [["spec/nodeName", "drawn-node"]], by=NODE)
    if name == "node":
        for label in (
            "node-role.kubernetes.io/a",
            "kubernetes.io/hostname",
            "kubelet.kubernetes.io/a",
            "node-restriction.kubernetes.io/a",
            "example.com/a",
            "node.kubernetes.io/a",
        ):
            yield Drawn(name, "create", [named, ["metadata/labels", {label: "drawn-node"}]], by=NODE)
    if "status" in obj and place_of(obj).resource.subresources:
        yield Drawn(name, "merge", [["status", {}]], "status", by=NODE)
