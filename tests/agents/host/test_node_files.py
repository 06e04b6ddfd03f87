"""The files that containerd and kubelet are configured with."""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path

import pytest

from mooring.agents.host.host_informer import typed_host
from mooring.agents.host.node.containerd import containerd_configuration
from mooring.agents.host.node.join import JoinFailed, why_no_certificate, write_node_files
from mooring.agents.host.node.kubelet import NodePlan, kubelet_arguments, kubelet_configuration, node_labels
from mooring.agents.host.node.pod_network import default_pod_cidr, network_configuration, parse_pod_cidr
from mooring.agents.host.node.programs import ProgramMissing, find_program, search_path
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.services.service import NodeService
from mooring.agents.host.services.systemd import start_command
from mooring.features.hosts.api.hosts import ByoHost
from mooring.kube.errors import InputError

ROOT = RootFolder(Path("/var/lib/mooring-agent"))
PLAN = NodePlan(
    ROOT, "node10", systemd=False, pod_cidr="10.244.1.0/24", download_path=Path("/bundles"), address="192.0.2.2"
)


def claimed(**spec: object) -> ByoHost:
    return typed_host({"metadata": {"name": "node10", "namespace": "default"}, "spec": spec})


def test_a_kubelet_registers_with_the_labels_taints_and_provider_id_of_the_claim() -> None:
    host = claimed(
        labels={"purpose": "gpu", "node-role.kubernetes.io/worker": "", "node.kubernetes.io/pool": "a"},
        taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}, {"key": "x", "effect": "NoExecute"}],
    )
    # The kubelet would not start with a label of kubernetes.io that is not given to kubelets.
    assert node_labels(host) == {
        "byohost.infrastructure.cluster.x-k8s.io/host": "node10",
        "node.kubernetes.io/pool": "a",
        "purpose": "gpu",
    }
    words = kubelet_arguments("/usr/bin/kubelet", PLAN, node_labels(host))
    assert words[0] == "/usr/bin/kubelet"
    assert "--node-ip=192.0.2.2" in words
    assert "--hostname-override=node10" in words
    assert not [word for word in words if word.startswith("--config-dir")]
    overridden = PLAN._replace(kubelet_overrides="/bundles/kubelet.conf.d")
    assert "--config-dir=/bundles/kubelet.conf.d" in kubelet_arguments("kubelet", overridden, {})

    found = kubelet_configuration(PLAN, host, "/etc/resolv.conf")
    assert found["providerID"] == "byoh://node10"
    assert found["registerWithTaints"] == [
        {"key": "gpu", "value": "yes", "effect": "NoSchedule"},
        {"key": "x", "effect": "NoExecute"},
    ]
    assert (found["failCgroupV1"], found["failSwapOn"], found["enforceNodeAllocatable"]) == (False, False, [])
    assert (found["cgroupDriver"], found["cgroupRoot"]) == ("cgroupfs", ROOT.control_group)
    assert found["authentication"]["anonymous"]["enabled"] is False


def test_under_systemd_the_kubelet_leaves_groups_to_it() -> None:
    found = kubelet_configuration(PLAN._replace(systemd=True), claimed(), "")
    assert found["cgroupDriver"] == "systemd"
    assert "cgroupRoot" not in found
    options = tomllib.loads(containerd_configuration(PLAN._replace(systemd=True), "/opt/cni/bin"))
    runc = options["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]["runc"]["options"]
    assert runc["SystemdCgroup"] is True


def test_everything_of_containerd_lies_below_the_root() -> None:
    found = tomllib.loads(containerd_configuration(PLAN, "/usr/lib/cni"))
    cri = found["plugins"]["io.containerd.grpc.v1.cri"]
    runc = cri["containerd"]["runtimes"]["runc"]["options"]
    paths = [found["root"], found["state"], found["grpc"]["address"], cri["cni"]["conf_dir"], runc["Root"]]
    assert all(path.startswith(f"{ROOT.node}/") for path in paths)
    assert cri["netns_mounts_under_state_dir"] is True
    assert cri["restrict_oom_score_adj"] is False
    assert tomllib.loads(containerd_configuration(PLAN._replace(restrict_oom_score=True), ""))["plugins"][
        "io.containerd.grpc.v1.cri"
    ]["restrict_oom_score_adj"]


def test_a_cluster_that_brings_a_network_has_it_where_clusters_put_it() -> None:
    found = tomllib.loads(containerd_configuration(PLAN._replace(pod_cidr=""), "/opt/cni/bin"))
    assert found["plugins"]["io.containerd.grpc.v1.cri"]["cni"]["conf_dir"] == "/etc/cni/net.d"


def test_pods_get_addresses_of_the_hosts_own_range() -> None:
    bridge, _ = network_configuration(ROOT, "10.244.1.0/24")["plugins"]
    assert bridge["bridge"] == ROOT.bridge
    assert len(ROOT.bridge) <= 15
    assert bridge["ipam"]["ranges"] == [[{"subnet": "10.244.1.0/24"}]]
    assert bridge["ipam"]["dataDir"].startswith(f"{ROOT.node}/")
    assert default_pod_cidr("node10") == default_pod_cidr("node10") != default_pod_cidr("node11")
    assert parse_pod_cidr(default_pod_cidr("node10")).startswith("10.244.")
    assert parse_pod_cidr("none") == ""


@pytest.mark.parametrize("text", ["10.244.1.7/24", "all", "10.0.0.0/30"])
def test_a_range_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--pod-cidr"):
        parse_pod_cidr(text)


def test_the_files_of_a_node_are_private_and_name_its_authority(tmp_path: Path) -> None:
    plugins = tmp_path / "bundles" / "opt" / "cni" / "bin"
    plugins.mkdir(parents=True)
    (plugins / "bridge").touch()
    plan = PLAN._replace(root=RootFolder(tmp_path), download_path=tmp_path / "bundles")
    cluster = {"server": "https://192.0.2.1:6443", "certificate-authority-data": "QVVUSE9SSVRZ"}
    bootstrap = {"kind": "Config", "clusters": [{"name": "c", "cluster": cluster}]}
    write_node_files(plan, claimed(), json.dumps(bootstrap).encode())
    root = plan.root
    assert (root.etc / "ca.crt").read_text() == "AUTHORITY"
    assert json.loads((root.etc / "kubelet.json").read_text())["kind"] == "KubeletConfiguration"
    assert (root.network_configuration / "10-mooring.conflist").exists()
    containerd = tomllib.loads((root.etc / "containerd.toml").read_text())
    assert containerd["plugins"]["io.containerd.grpc.v1.cri"]["cni"]["bin_dir"] == str(plugins)
    assert all(path.stat().st_mode & 0o077 == 0 for path in root.etc.rglob("*"))


@pytest.mark.parametrize("text", [b"not: [a, kubeconfig", b"{}", b"kind: Pod"])
def test_a_bootstrap_secret_without_a_kubeconfig_is_told(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(JoinFailed, match="the bootstrap Secret has no kubeconfig under the key value"):
        write_node_files(PLAN._replace(root=RootFolder(tmp_path)), claimed(), text)


# As a kubelet 1.35 logged it, whose token was unknown.
REFUSED = """I1116 06:02:24.743509   22344 server.go:951] "Client rotation is on, will bootstrap in background"
E1116 06:02:24.757957   22344 certificate_manager.go:596] "Failed while requesting a signed certificate from the \
control plane" err="cannot create certificate signing request: Unauthorized" logger="UnhandledError"
E1116 06:02:26.994405   22344 reflector.go:204] "Failed to watch" err="failed to list *v1.Service: forbidden"
"""


def test_why_a_kubelet_has_no_certificate_is_read_from_its_log() -> None:
    told = why_no_certificate(REFUSED)
    assert told.startswith(
        "the API server does not accept the bootstrap token, which has expired or is gone; it logged: E"
    )
    assert "cannot create certificate signing request: Unauthorized" in told
    assert "Service" not in told
    denied = REFUSED.replace("Unauthorized", "denied")
    assert why_no_certificate(denied).startswith("it logged: E1116 06:02:24.757957")
    assert why_no_certificate("F1116 cannot read its configuration").endswith("F1116 cannot read its configuration")
    assert why_no_certificate("") == "its log ends: it is empty"


def test_programs_of_a_bundle_come_first(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "sh"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_program("sh", search_path(tmp_path)) == str(program)
    with pytest.raises(ProgramMissing, match="no-such-program is not on this machine"):
        find_program("no-such-program", search_path(tmp_path))


def test_a_root_that_is_too_long_for_sockets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="too long"):
        RootFolder(tmp_path / ("x" * 90)).prepare()


def test_a_root_that_is_no_folder_is_refused() -> None:
    with tempfile.NamedTemporaryFile(prefix="root") as file, pytest.raises(InputError, match="cannot be made"):
        RootFolder(Path(file.name)).prepare()


def test_a_unit_of_systemd_is_transient_and_spares_containers() -> None:
    service = NodeService(
        "kubelet", ("/usr/bin/kubelet", "--config=x"), {"PATH": "/usr/bin"}, Path("/var/log/kubelet.log")
    )
    words = start_command("mooring-1234-kubelet.service", service)
    assert words[0] == "systemd-run"
    assert words[-3:] == ["--", "/usr/bin/kubelet", "--config=x"]
    assert {"--collect", "--property=Restart=always", "--property=KillMode=process", "--setenv=PATH=/usr/bin"} <= {
        *words
    }
