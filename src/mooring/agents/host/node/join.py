"""The join: files of the node written, containerd and kubelet started, the kubelet's certificate waited for."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mooring.agents.host.cleaning.control_groups import make_control_group
from mooring.agents.host.node.containerd import PLUGIN_FOLDERS, containerd_configuration
from mooring.agents.host.node.images import import_images
from mooring.agents.host.node.kubelet import NodePlan, kubelet_arguments, kubelet_configuration, node_labels
from mooring.agents.host.node.pod_network import network_configuration
from mooring.agents.host.node.programs import find_program
from mooring.agents.host.root_folder import MARK_VARIABLE
from mooring.agents.host.services.service import NodeService, ServiceManager
from mooring.client.kubeconfig_files import KubeconfigError, read_files
from mooring.features.hosts.api.hosts import ByoHost
from mooring.kube.errors import MooringError
from mooring.net.private_files import write_private

__all__ = [
    "CONTAINERD",
    "KUBELET",
    "JoinFailed",
    "ensure_services",
    "join",
    "may_lower_oom_score",
    "why_no_certificate",
    "write_node_files",
]

CONTAINERD: Final = "containerd"
KUBELET: Final = "kubelet"
_SOCKET_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.1
_LOG_CHARACTERS: Final = 1500
_RESOLVERS: Final = ("/run/systemd/resolve/resolv.conf", "/etc/resolv.conf")
_REFUSED: Final = "the API server does not accept the bootstrap token, which has expired or is gone"


class JoinFailed(MooringError):
    """The machine has not become a node; the sentence is for a condition."""


def write_node_files(plan: NodePlan, host: ByoHost, bootstrap: bytes) -> None:
    """Everything that containerd and kubelet read. Raises JoinFailed for a bootstrap kubeconfig that is none."""
    root = plan.root
    for folder in (root.etc, root.kubelet, root.containerd, root.containerd_state, root.logs / "pods", root.services):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(root.bootstrap_kubeconfig, bootstrap)
    write_private(root.etc / "ca.crt", _authority(root.bootstrap_kubeconfig))
    resolver = next((each for each in _RESOLVERS if Path(each).exists()), "")
    _write_json(root.etc / "kubelet.json", kubelet_configuration(plan, host, resolver))
    if plan.pod_cidr:
        root.network_configuration.mkdir(mode=0o700, exist_ok=True)
        network = network_configuration(root, plan.pod_cidr)
        _write_json(root.network_configuration / "10-mooring.conflist", network)
    folders = (str(plan.download_path / "opt" / "cni" / "bin"), *PLUGIN_FOLDERS)
    plugins = next((each for each in folders if Path(each, "bridge").exists()), PLUGIN_FOLDERS[0])
    write_private(root.etc / "containerd.toml", containerd_configuration(plan, plugins).encode())
    _write_json(root.etc / "node-labels.json", node_labels(host))


async def ensure_services(plan: NodePlan, services: ServiceManager) -> None:
    """Have containerd and kubelet run, from the files that are there."""
    root = plan.root
    environment = {**os.environ, "PATH": plan.search_path, MARK_VARIABLE: root.mark}
    if not plan.systemd:
        await asyncio.to_thread(make_control_group, root.control_group)
    argv = (find_program("containerd", plan.search_path), f"--config={root.etc / 'containerd.toml'}")
    await services.ensure(NodeService(CONTAINERD, argv, environment, root.logs / "containerd.log"))
    await _socket_answers(plan)
    # Noted when it is done: an agent that was killed in between imports them again.
    if not root.images_imported.exists():
        await import_images(root.containerd_socket, plan.download_path / "images", plan.search_path)
        root.images_imported.touch()
    labels = json.loads((root.etc / "node-labels.json").read_bytes())
    arguments = kubelet_arguments(find_program("kubelet", plan.search_path), plan, labels)
    await services.ensure(NodeService(KUBELET, arguments, environment, root.logs / "kubelet.log"))


async def join(plan: NodePlan, services: ServiceManager, seconds: float) -> None:
    """Return once the kubelet has a certificate of its own. Raises JoinFailed with the end of its log."""
    await ensure_services(plan, services)
    certificate = plan.root.kubelet / "pki" / "kubelet-client-current.pem"
    try:
        async with asyncio.timeout(seconds):
            while not (certificate.exists() and plan.root.kubelet_kubeconfig.exists()):
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError:
        await services.stop(KUBELET)
        log = await asyncio.to_thread(_text, plan.root.logs / "kubelet.log")
        raise JoinFailed(f"the kubelet got no certificate in {seconds:.0f} s: {why_no_certificate(log)}") from None


def why_no_certificate(log: str) -> str:
    """What a kubelet's log says of it: its last error about certificates, and without one how the log ends."""
    errors = [line for line in log.splitlines() if line.startswith("E") and "signed certificate" in line]
    if not errors:
        return f"its log ends: {log[-_LOG_CHARACTERS:].strip() or 'it is empty'}"
    reason = f"{_REFUSED}; " if "Unauthorized" in errors[-1] else ""
    return f"{reason}it logged: {errors[-1][:_LOG_CHARACTERS]}"


async def _socket_answers(plan: NodePlan) -> None:
    for _ in range(int(_SOCKET_SECONDS / _POLL_SECONDS)):
        try:
            _, writer = await asyncio.open_unix_connection(str(plan.root.containerd_socket))
        except OSError:
            await asyncio.sleep(_POLL_SECONDS)
            continue
        writer.close()
        return
    log = await asyncio.to_thread(_text, plan.root.logs / "containerd.log")
    said = log[-_LOG_CHARACTERS:].strip() or "it is empty"
    raise JoinFailed(f"containerd does not answer after {_SOCKET_SECONDS:.0f} s; its log ends: {said}")


def may_lower_oom_score(score: Path = Path("/proc/self/oom_score_adj")) -> bool:
    """Whether this machine lets a process be spared when memory runs out. Tried on this one, and taken back."""
    try:
        before = int(score.read_text())
        score.write_text(str(max(before - 1, -1000)))
        score.write_text(str(before))
    except OSError:
        return False
    return True


def _authority(path: Path) -> bytes:
    """The authority that a bootstrap kubeconfig trusts: kubelets let those in whom it vouches for."""
    try:
        clusters = read_files([path], required=True).clusters
        found = [cluster.data("certificate-authority") for cluster in clusters.values()]
    except KubeconfigError as error:
        raise JoinFailed(f"the bootstrap Secret has no kubeconfig under the key value: {error}") from None
    if not found:
        raise JoinFailed("the bootstrap Secret has no kubeconfig under the key value: it names no cluster")
    return found[0] or b""


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    write_private(path, json.dumps(content, indent=2).encode() + b"\n")


def _text(log: Path) -> str:
    try:
        return log.read_text(errors="replace")
    except OSError:
        return ""
