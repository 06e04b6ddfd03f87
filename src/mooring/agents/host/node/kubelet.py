"""The kubelet's configuration and command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from mooring.agents.host.node.programs import search_path
from mooring.agents.host.root_folder import RootFolder
from mooring.features.hosts.api.hosts import ByoHost
from mooring.features.hosts.api.names import HOST_LABEL, provider_id
from mooring.kube.objects import Object

__all__ = ["NodePlan", "kubelet_arguments", "kubelet_configuration", "node_labels"]

CLUSTER_DNS: Final = "10.96.0.10"
CLUSTER_DOMAIN: Final = "cluster.local"
# A kubelet refuses to start with other labels of these domains; the Machine's controller writes them to the Node.
_RESERVED: Final = ("kubernetes.io", "k8s.io")
_GIVEN_TO_KUBELETS: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")


class NodePlan(NamedTuple):
    """What the files of a node are made from."""

    root: RootFolder
    name: str
    systemd: bool
    pod_cidr: str
    download_path: Path
    # A folder of files that the kubelet reads over its configuration, where the administrator has one.
    kubelet_overrides: str = ""
    address: str = ""
    restrict_oom_score: bool = False
    sandbox_image: str = ""

    @property
    def search_path(self) -> str:
        return search_path(self.download_path)


def kubelet_configuration(plan: NodePlan, host: ByoHost, resolver: str) -> Object:
    """Cgroups of version 1 and swap are accepted: the machine is the user's. Nothing is set aside for its system."""
    root = plan.root
    found: Object = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(root.etc / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "systemd" if plan.systemd else "cgroupfs",
        "clusterDNS": [CLUSTER_DNS],
        "clusterDomain": CLUSTER_DOMAIN,
        "containerRuntimeEndpoint": f"unix://{root.containerd_socket}",
        "enforceNodeAllocatable": [],
        "failCgroupV1": False,
        "failSwapOn": False,
        "podLogsDir": str(root.logs / "pods"),
        "providerID": provider_id(plan.name),
        "resolvConf": resolver,
        "rotateCertificates": True,
        "serverTLSBootstrap": True,
        "volumePluginDir": str(root.kubelet / "volume-plugins"),
    }
    if not plan.systemd:
        found["cgroupRoot"] = root.control_group
    if host.spec.taints:
        found["registerWithTaints"] = [
            {"key": taint.key, "effect": taint.effect, **({"value": taint.value} if taint.value else {})}
            for taint in host.spec.taints
        ]
    return found


def node_labels(host: ByoHost) -> dict[str, str]:
    """The labels that a kubelet may give to its Node: those of the claim, and the name of the host."""
    named = {HOST_LABEL: host.metadata.labels.get(HOST_LABEL, host.metadata.name), **host.spec.labels}
    return {key: value for key, value in sorted(named.items()) if _is_accepted(key)}


def kubelet_arguments(program: str, plan: NodePlan, labels: Mapping[str, str]) -> tuple[str, ...]:
    root = plan.root
    found = [
        program,
        f"--config={root.etc / 'kubelet.json'}",
        f"--bootstrap-kubeconfig={root.bootstrap_kubeconfig}",
        f"--kubeconfig={root.kubelet_kubeconfig}",
        f"--cert-dir={root.kubelet / 'pki'}",
        f"--root-dir={root.kubelet}",
        f"--hostname-override={plan.name}",
        f"--node-labels={','.join(f'{key}={value}' for key, value in labels.items())}",
    ]
    if plan.address:
        found.append(f"--node-ip={plan.address}")
    if plan.kubelet_overrides:
        found.append(f"--config-dir={plan.kubelet_overrides}")
    return tuple(found)


def _is_accepted(key: str) -> bool:
    domain = key.rpartition("/")[0]
    if not any(domain == each or domain.endswith(f".{each}") for each in _RESERVED):
        return True
    return any(domain == each or domain.endswith(f".{each}") for each in _GIVEN_TO_KUBELETS)
