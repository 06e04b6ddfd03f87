"""Hosts and what claims them, drawn, and what the API says of each; also what an agent may write."""

from __future__ import annotations

import base64
from typing import Any

from mooring.features.hosts.api.names import AGENT_GROUP, AGENT_USER_PREFIX, API_VERSION
from mooring.kube.objects import Object
from mooring.testing.hosts import (
    bootstrap_kubeconfig,
    byo_cluster,
    byo_host,
    byo_machine_template,
    installer_template,
)
from tests.features.drawn import World
from tests.support.golden import same_as_recorded

AUTHORITY = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n").decode()
CLAIM: Object = {
    "bootstrapSecret": {"kind": "Secret", "name": "s", "namespace": "default"},
    "joinMode": "tlsBootstrap",
    "downloadMode": "offline",
    "kubernetesVersion": "v1.34.1",
    "manageKubeProxy": True,
    "taints": [{"key": "gpu", "effect": "NoSchedule"}],
}
LABELS = {"purpose": "gpu"}


def claimed(name: str) -> Object:
    """A host with all that a claim writes into it."""
    host = byo_host(name, labels=LABELS, gpu=2, priority=3, **CLAIM)
    host["spec"]["labels"] = LABELS
    return host


def whole_objects() -> dict[str, Object]:
    template = byo_machine_template(
        "workers", {"purpose": "gpu"}, downloadMode="online", kubernetesVersion="v1.34.1", manageKubeProxy=True
    )
    template["spec"]["capacity"] = {"cpu": "8", "memory": "32Gi", "gpuCount": "1", "labels": "a=b"}
    machine = {"joinMode": "kubeadm", "selector": {"matchLabels": {"purpose": "gpu"}}}
    return {
        "host": claimed("node10"),
        "template": template,
        "machine": {
            "apiVersion": API_VERSION,
            "kind": "ByoMachine",
            "metadata": {"name": "m1", "namespace": "default"},
            "spec": machine,
        },
        "cluster": byo_cluster("c"),
        "installer": installer_template("installer"),
        "bootstrap": bootstrap_kubeconfig("bootstrap", **{"certificate-authority-data": AUTHORITY}),
    }


def test_every_drawn_object_is_answered_as_recorded() -> None:
    same_as_recorded("hosts", World().every_answer(whole_objects()))


def test_every_drawn_write_of_an_agent_is_answered_as_recorded() -> None:
    agent: dict[str, Any] = {"user": f"{AGENT_USER_PREFIX}node10", "groups": (AGENT_GROUP,)}
    found = World(**agent).every_answer({"registers": byo_host("node10", labels=LABELS, gpu=2)})
    found |= World(**agent).every_answer({"is claimed": claimed("node10")})
    same_as_recorded("hosts-agents", found)
