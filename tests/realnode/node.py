"""A real kubelet and containerd on one host, joined by hand with a bootstrap token, as a person would do it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import yaml

from mooring.kube.objects import Object
from mooring.testing.homes import Home
from mooring.testing.processes import ProgramProcess
from tests.realnode.images import PAUSE, write_archive
from tests.realnode.leftovers import outside_files
from tests.realnode.network import HostNetwork
from tests.realnode.programs import CNI_PLUGINS

__all__ = ["RealNode", "real_node"]

START_SECONDS = 60.0


class RealNode:
    """The programs of a node and its folder."""

    def __init__(self, name: str, folder: Path, network: HostNetwork, kubelet: Path) -> None:
        self.name, self.folder, self.network = name, folder, network
        self._kubelet_program = kubelet
        # One group for everything of this node, so that it goes as one.
        self._group = f"moortest-{network.namespace}"
        for controller in Path("/sys/fs/cgroup").iterdir():
            if controller.is_dir():
                (controller / self._group).mkdir(exist_ok=True)
        self.socket = folder / "containerd.sock"
        self.containerd = self._started("containerd", "containerd", "--config", self._containerd_config())
        self.containerd.wait_until(lambda: self._ctr("version") is not None, START_SECONDS)
        archive = folder / "images.tar"
        write_archive(archive)
        assert self._ctr("images", "import", str(archive)) is not None
        self.kubelet: ProgramProcess | None = None

    def join(self, home: Home, token: str) -> None:
        """Start the kubelet with nothing but a bootstrap token."""
        bootstrap = self.folder / "bootstrap-kubeconfig"
        bootstrap.write_text(yaml.safe_dump(_kubeconfig(home, token)), encoding="utf-8")
        self.start_kubelet(home)

    def start_kubelet(self, home: Home) -> None:
        config = self.folder / "kubelet.yaml"
        config.write_text(yaml.safe_dump(self._kubelet_config(home)), encoding="utf-8")
        self.kubelet = self._started(
            "kubelet",
            self._kubelet_program,
            *("--config", config, "--root-dir", self.folder / "kubelet", "--cert-dir", self.folder / "pki"),
            *("--bootstrap-kubeconfig", self.folder / "bootstrap-kubeconfig"),
            *("--kubeconfig", self.folder / "kubeconfig", "--hostname-override", self.name),
            *("--node-ip", self.network.address, "--v", "2"),
        )

    def _started(self, name: str, *command: object) -> ProgramProcess:
        return ProgramProcess(self.network.inside(*command), self.folder / f"{name}.log")

    def _ctr(self, *arguments: str) -> str | None:
        command = ["ctr", "--address", str(self.socket), "--namespace", "k8s.io", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else None

    def _containerd_config(self) -> Path:
        networks = self.folder / "net.d"
        networks.mkdir()
        local = {
            "type": "host-local",
            "ranges": [[{"subnet": self.network.pods}]],
            "dataDir": str(self.folder / "ipam"),
            "routes": [{"dst": "0.0.0.0/0"}],
        }
        bridge: Object = {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipam": local}
        text = json.dumps({"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge, {"type": "loopback"}]})
        (networks / "10-pods.conflist").write_text(text, encoding="utf-8")
        path = self.folder / "containerd.toml"
        path.write_text(
            f"""version = 2
root = "{self.folder}/containerd"
state = "{self.folder}/containerd-state"
[grpc]
  address = "{self.socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE}"
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{CNI_PLUGINS}"
    conf_dir = "{networks}"
""",
            encoding="utf-8",
        )
        return path

    def _kubelet_config(self, home: Home) -> Object:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(home.ca)},
            },
            "authorization": {"mode": "Webhook"},
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{self._group}",
            "containerRuntimeEndpoint": f"unix://{self.socket}",
            "enforceNodeAllocatable": [],
            "evictionHard": {"memory.available": "1Mi"},
            "failCgroupV1": False,
            "failSwapOn": False,
            "healthzPort": 0,
            "makeIPTablesUtilChains": False,
            "podLogsDir": str(self.folder / "logs"),
            "resolvConf": "",
            "rotateCertificates": True,
            "serverTLSBootstrap": True,
        }

    def stop(self) -> None:
        """End everything: kubelet, then pods, then containerd."""
        if self.kubelet is not None:
            self.kubelet.stop()
        for container in (self._ctr("containers", "list", "--quiet") or "").split():
            self._ctr("tasks", "kill", "--signal", "SIGKILL", container)
            self._ctr("tasks", "delete", "--force", container)
            self._ctr("containers", "delete", container)
        self.containerd.stop()
        self._end_shims()
        _unmount_below(self.folder)
        for group in sorted(Path("/sys/fs/cgroup").glob(f"*/{self._group}/**/"), reverse=True):
            group.rmdir()

    def _end_shims(self) -> None:
        """A shim outlives containerd; it is told apart by the socket in its command line."""
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and str(self.socket).encode() in _command_line(entry):
                os.kill(int(entry.name), signal.SIGKILL)


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def _unmount_below(folder: Path) -> None:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    for place in sorted((line.split()[4] for line in lines), reverse=True):
        if place.startswith(f"{folder}/"):
            subprocess.run(["umount", "--lazy", place], check=False)


def _remove_new(before: Collection[Path]) -> None:
    """Nobody told kubelet and CNI to keep these in the node's folder, because nobody can."""
    for path in sorted(outside_files() - set(before), reverse=True):
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()


def _kubeconfig(home: Home, token: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": home.url, "certificate-authority": str(home.ca)}}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


@contextmanager
def real_node(name: str, folder: Path, network: HostNetwork, kubelet: Path) -> Iterator[RealNode]:
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        stack.callback(_remove_new, outside_files())
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        node = RealNode(name, folder, network, kubelet)
        stack.callback(node.stop)
        yield node
