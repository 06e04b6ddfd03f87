"""containerd's configuration: everything that it can be told to keep elsewhere lies below the agent's folder."""

from __future__ import annotations

import json
from typing import Final

from mooring.agents.host.node.kubelet import NodePlan

__all__ = ["containerd_configuration"]

SANDBOX_IMAGE: Final = "registry.k8s.io/pause:3.10.1"
_CRI: Final = 'plugins."io.containerd.grpc.v1.cri"'
# Where upstream's and Debian's packages put the plug-ins; a bundle has them in opt/cni/bin too.
PLUGIN_FOLDERS: Final = ("/opt/cni/bin", "/usr/lib/cni")
CLUSTER_NETWORK_FOLDER: Final = "/etc/cni/net.d"


def containerd_configuration(plan: NodePlan, plugin_folder: str) -> str:
    """TOML, version 2, which containerd 1.6 and all later ones read.

    Namespaces of networks are mounted below the state folder, so that they go with it. Where the machine forbids
    lowering oom_score_adj, a container that asks for it would not start, hence the restriction.
    """
    root = plan.root
    conf = str(root.network_configuration) if plan.pod_cidr else CLUSTER_NETWORK_FOLDER
    lines = [
        "version = 2",
        f"root = {_text(root.containerd)}",
        f"state = {_text(root.containerd_state)}",
        "",
        "[grpc]",
        f"  address = {_text(root.containerd_socket)}",
        "",
        f"[{_CRI}]",
        f"  sandbox_image = {_text(plan.sandbox_image or SANDBOX_IMAGE)}",
        f"  restrict_oom_score_adj = {_flag(plan.restrict_oom_score)}",
        "  netns_mounts_under_state_dir = true",
        "",
        f"[{_CRI}.cni]",
        f"  bin_dir = {_text(plugin_folder)}",
        f"  conf_dir = {_text(conf)}",
        "",
        f"[{_CRI}.containerd.runtimes.runc]",
        '  runtime_type = "io.containerd.runc.v2"',
        "",
        f"[{_CRI}.containerd.runtimes.runc.options]",
        f"  Root = {_text(root.node / 'run' / 'runc')}",
        f"  SystemdCgroup = {_flag(plan.systemd)}",
    ]
    return "\n".join(lines) + "\n"


def _text(value: object) -> str:
    # A basic string of TOML is a string of JSON.
    return json.dumps(str(value))


def _flag(value: bool) -> str:
    return "true" if value else "false"
