"""The two clusters that are measured beside each other: `mooring up`, and a real control plane with its disk on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import yaml

from bench.wire import ApiEndpoint, Wire, endpoint_of
from mooring.testing.controlplane import EXTRAS, ControlPlane, answers
from mooring.testing.processes import ProgramProcess, free_port
from mooring.testing.tools import ToolMissing, tool

READY_SECONDS = 60.0
_TICK = os.sysconf("SC_CLK_TCK")


class MeasuredCluster(NamedTuple):
    """A cluster that answers, and its processes by name."""

    endpoint: ApiEndpoint
    pids: dict[str, int]

    def cpu(self) -> dict[str, float]:
        """Seconds of CPU that each process has used so far."""
        return {name: cpu_seconds(pid) for name, pid in self.pids.items()}


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def memory(pid: int) -> float:
    """MiB that a process holds now."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"process {pid} has no memory")


def missing() -> str:
    """What the real control plane lacks, as a sentence; empty when all is there."""
    try:
        for name in ("etcd", "kube-apiserver", *EXTRAS):
            tool(name)
    except ToolMissing as error:
        return str(error)
    return ""


@contextmanager
def embedded(folder: Path, nodes: int = 0, *options: str) -> Iterator[MeasuredCluster]:
    """`mooring up`, with so many simulated nodes, or the default ones."""
    folder.mkdir(parents=True, exist_ok=True)
    # One from an earlier start names another port.
    (folder / "kubeconfig").unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "mooring",
        "up",
        "--data",
        str(folder),
        "--bind",
        f"127.0.0.1:{free_port()}",
        "--no-ui",
    ]
    if nodes:
        fleet = folder.parent / f"{folder.name}-fleet.yaml"
        fleet.write_text(yaml.safe_dump(node(nodes)), encoding="utf-8")
        command += ["--fleet", str(fleet)]
    process = ProgramProcess([*command, *options], folder.parent / f"{folder.name}.log")
    try:
        process.wait_until((folder / "kubeconfig").exists, READY_SECONDS)
        endpoint = _endpoint_in(folder / "kubeconfig", folder)
        process.wait_until(lambda: answers(f"{endpoint.url}/readyz", Path(endpoint.ca)), READY_SECONDS)
        yield MeasuredCluster(endpoint, children(process.pid))
    finally:
        process.stop()


def children(pid: int) -> dict[str, int]:
    """The API server and the controllers of a `mooring up`."""
    found = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid=,args="], capture_output=True, text=True, check=True)
    named = {}
    for line in found.stdout.splitlines():
        number, _, command = line.strip().partition(" ")
        name = command.split(" -m ")[-1].split()[0].rpartition(".")[2] if " -m " in command else command
        named[name] = int(number)
    return named


@contextmanager
def real(folder: Path, *, whole: bool) -> Iterator[MeasuredCluster]:
    """kube-apiserver with an etcd that waits for the disk, as ours does; `whole` adds scheduler and controllers."""
    with ControlPlane(folder, EXTRAS if whole else (), fsync=True) as plane:
        endpoint = endpoint_of(plane.url, plane.token, plane.ca)
        yield MeasuredCluster(endpoint, plane.pids())


@contextmanager
def simulated_nodes(running: MeasuredCluster, kubeconfig: Path, folder: Path) -> Iterator[MeasuredCluster]:
    """Mooring's simulated nodes as a plain client of another cluster."""
    command = [sys.executable, "-m", "mooring", "run", "--controllers", "nodes", "--kubeconfig", str(kubeconfig)]
    process = ProgramProcess(command, folder / "nodes.log")
    try:
        yield running._replace(pids={**running.pids, "nodes": process.pid})
    finally:
        process.stop()


def _endpoint_in(kubeconfig: Path, folder: Path) -> ApiEndpoint:
    config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    server, token = config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"]
    return endpoint_of(server, token, folder / "tls" / "ca.crt")


def node(replicas: int, name: str = "node") -> dict[str, object]:
    amounts = {"cpu": "32", "memory": "128Gi", "pods": "110"}
    annotations = {"kwok.x-k8s.io/node": "fake", "mooring.dev/replicas": str(replicas)}
    labels = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": annotations, "labels": labels},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def make_nodes(endpoint: ApiEndpoint, count: int) -> None:
    """The same nodes in a cluster that takes no fleet file."""
    wire = Wire(endpoint)
    for number in range(1, count + 1):
        wire.call("POST", "/api/v1/nodes", node(1, f"node-{number}"))
    wire.close()


def wait_for_nodes(wire: Wire, count: int, seconds: float = 120.0) -> None:
    """Until so many nodes are ready and without taints."""
    deadline = time.monotonic() + seconds
    while True:
        items = wire.call("GET", "/api/v1/nodes")["items"]
        ready = sum(_is_ready(item) for item in items)
        if ready >= count:
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"{ready} of {count} nodes were ready after {seconds:.0f} s")
        time.sleep(0.2)


def _is_ready(item: dict[str, object]) -> bool:
    spec, status = item.get("spec") or {}, item.get("status") or {}
    assert isinstance(spec, dict)
    assert isinstance(status, dict)
    conditions = status.get("conditions") or ()
    return not spec.get("taints") and any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
