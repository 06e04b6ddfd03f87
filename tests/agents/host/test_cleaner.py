"""In which order a machine is cleaned, what is told of what stays, and what is on its inventory."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mooring.agents.host.cleaning import cleaner, inventory, outside_files
from mooring.agents.host.cleaning.cleaner import LeftBehind, clean_machine, stop_node
from mooring.agents.host.detection.netlink import Link
from mooring.agents.host.progress import MachineBaseline
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.services.service import NodeService
from mooring.nodes.process.containers.sandbox.mount_table import MountPoint

BASELINE = MachineBaseline(("/var/lib/cni",), ("iptables/nat/KUBE-A",), {"kernel/panic": "0"})


class Machine:
    """Everything that a cleaning asks of a machine, played: it notes what is done, in order."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = RootFolder(folder / "root")
        self.did: list[Any] = []
        self.now = 0.0
        # Each look finds the next of these; the last is found for ever.
        self.processes: list[set[int]] = [set()]
        self.stuck_mounts: list[str] = []
        self.stuck_links: set[int] = set()
        self.links = [
            Link(1, "lo", "", True, True),
            Link(3, self.root.bridge, "", True, False),
            Link(4, "veth0", "", True, False, master=3),
            Link(5, "veth1", "", True, False, master=9),
        ]
        self.groups = [folder / "group"]
        time = SimpleNamespace(monotonic=lambda: self.now, sleep=self.sleep)
        system = SimpleNamespace(kill=self.kill, waitpid=self.waitpid, WNOHANG=os.WNOHANG)
        for name, played in {
            "time": time,
            "os": system,
            "node_processes": self.node_processes,
            "unmount_below": self.unmount_below,
            "list_links": lambda: self.links,
            "delete_link": self.delete_link,
            "remove_chains": lambda kept: self.did.append(["chains but", *kept]),
            "remove_control_group": lambda name: self.did.append(["group", name]),
            "group_folders": lambda name: self.groups,
            "own_outside_files": lambda root: [root.path / "outside"],
            "remove_outside_files": lambda files, before: self.did.append(["files", *files, *before]),
            "restore_sysctls": lambda values: self.did.append(["settings", values]),
        }.items():
            monkeypatch.setattr(cleaner, name, played)

    def node_processes(self, root: RootFolder) -> set[int]:
        assert root == self.root
        return self.processes.pop(0) if len(self.processes) > 1 else self.processes[0]

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def kill(self, pid: int, number: int) -> None:
        if pid != 13:
            self.did.append(["kill", pid, number])
        if pid == 12:
            raise ProcessLookupError

    def waitpid(self, pid: int, options: int) -> tuple[int, int]:
        assert options == os.WNOHANG
        self.did.append(["reap", pid])
        if pid == 12:
            raise ChildProcessError
        return 0, 0

    def unmount_below(self, folder: Path) -> list[str]:
        self.did.append(["unmount", folder])
        return self.stuck_mounts

    def delete_link(self, number: int) -> bool:
        self.did.append(["link", number])
        if number in self.stuck_links:
            raise PermissionError(1, "Operation not permitted")
        return True

    # As a manager of services

    async def ensure(self, service: NodeService) -> None:
        raise AssertionError(service)

    async def is_running(self, name: str) -> bool:
        raise AssertionError(name)

    async def stop(self, name: str) -> None:
        self.did.append(["stop", name])

    async def stop_pods(self) -> None:
        self.did.append(["stop pods"])

    async def close(self) -> None:
        raise AssertionError

    def all_parts(self) -> list[Any]:
        root = self.root
        return [
            ["unmount", root.node],
            ["link", 3],
            ["link", 4],
            ["chains but", "iptables/nat/KUBE-A"],
            ["group", root.control_group],
            ["files", root.path / "outside", "/var/lib/cni"],
            ["settings", {"kernel/panic": "0"}],
        ]


def test_a_kubelet_ends_before_the_containers_and_every_part_follows_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path, monkeypatch)
    (machine.root.node / "log").mkdir(parents=True)
    machine.root.journal.parent.mkdir()
    machine.root.journal.write_text("{}")
    machine.processes = [{11, 12}, {11}, set()]
    asyncio.run(clean_machine(machine.root, machine, BASELINE))
    killed = [["kill", 11, signal.SIGKILL], ["kill", 12, signal.SIGKILL], ["reap", 11], ["reap", 12]]
    assert machine.did == [
        ["stop", "kubelet"],
        ["stop", "containerd"],
        *killed,
        ["kill", 11, signal.SIGKILL],
        ["reap", 11],
        ["stop pods"],
        *machine.all_parts(),
    ]
    assert machine.now == pytest.approx(0.1)
    assert not machine.root.node.exists()
    assert machine.root.journal.exists()
    # Nothing is left, and the second time goes as well.
    machine.did.clear()
    asyncio.run(clean_machine(machine.root, machine, BASELINE))
    assert machine.did == [["stop", "kubelet"], ["stop", "containerd"], ["stop pods"], *machine.all_parts()]


def test_to_stop_a_node_leaves_its_pods_groups_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path, monkeypatch)
    machine.root.node.mkdir(parents=True)
    machine.processes = [{11}, set()]
    asyncio.run(stop_node(machine.root, machine))
    assert machine.did == [
        ["stop", "kubelet"],
        ["stop", "containerd"],
        ["kill", 11, signal.SIGKILL],
        ["reap", 11],
    ]
    assert machine.root.node.exists()


def test_what_stays_is_named_five_at_most_and_the_files_below_it_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path, monkeypatch)
    machine.root.node.mkdir(parents=True)
    machine.processes = [{13}]
    machine.stuck_mounts = ["/n/a"]
    machine.stuck_links = {3, 4}
    with pytest.raises(LeftBehind) as told:
        asyncio.run(clean_machine(machine.root, machine, BASELINE))
    links = f"link {machine.root.bridge} (Operation not permitted), link veth0 (Operation not permitted)"
    start = "this is left on the machine and could not be removed: process 13, mount /n/a"
    assert str(told.value) == f"{start}, {links}"
    # Once to stop the node and once with the rest, 15 seconds each.
    assert machine.now == pytest.approx(30, abs=0.2)
    assert [each for each in machine.did if each[0] not in ("stop", "stop pods", "reap")] == machine.all_parts()
    assert machine.root.node.exists()

    machine.groups[0].mkdir()
    with pytest.raises(LeftBehind) as five:
        asyncio.run(clean_machine(machine.root, machine, BASELINE))
    assert str(five.value) == f"{start}, {links}, control group {machine.groups[0]}"
    machine.stuck_mounts = ["/n/a", "/n/b", "/n/c"]
    with pytest.raises(LeftBehind) as more:
        asyncio.run(clean_machine(machine.root, machine, BASELINE))
    assert str(more.value) == f"{start}, mount /n/b, mount /n/c, {links.split(', ')[0]} and 2 more"


def test_a_file_that_cannot_be_removed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path, monkeypatch)
    kept = machine.root.node / "kept"
    kept.mkdir(parents=True)

    def rmtree(folder: Path, *, onerror: Any) -> None:
        assert folder == machine.root.node
        onerror(None, str(kept), OSError())
        onerror(None, str(kept / "gone"), OSError())

    monkeypatch.setattr(cleaner, "shutil", SimpleNamespace(rmtree=rmtree))
    with pytest.raises(LeftBehind) as told:
        asyncio.run(clean_machine(machine.root, machine, BASELINE))
    assert str(told.value) == f"this is left on the machine and could not be removed: file {kept}"


def test_an_inventory_has_all_that_is_there_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = RootFolder(tmp_path / "root")
    group = tmp_path / "group"
    group.mkdir()
    me = os.getpid()
    for name, played in {
        "group_folders": lambda name: [group, tmp_path / "no-group"],
        "existing_paths": lambda: ("/var/lib/cni", "/etc/cni/net.d"),
        "own_outside_files": lambda _: [Path("/run/containerd/s/1"), Path("/var/lib/cni")],
        "mount_points": lambda: [MountPoint("0:1", "/", "/x", "tmpfs"), MountPoint("0:2", "/", "/", "ext4")],
        "node_processes": lambda _: {me, 2**30},
        "list_links": lambda: [Link(2, "eth0", "", True, False), Link(3, "br0", "", True, False)],
        "list_chains": lambda: ["iptables/nat/KUBE-B", "iptables/nat/KUBE-A"],
    }.items():
        monkeypatch.setattr(inventory, name, played)
    command = Path("/proc/self/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    expected = [
        "mount / ext4",
        "mount /x tmpfs",
        f"process {me} {command}",
        f"process {2**30} ",
        "link br0",
        "link eth0",
        f"control group {group}",
        "chain iptables/nat/KUBE-A",
        "chain iptables/nat/KUBE-B",
        "file /etc/cni/net.d",
        "file /run/containerd/s/1",
        "file /var/lib/cni",
    ]
    assert inventory.take_inventory(root).lines() == expected
    root.node.mkdir(parents=True)
    assert sorted(inventory.take_inventory(root).lines()) == sorted([*expected, f"file {root.node}"])


def test_an_agent_never_counts_itself_and_its_parents_among_the_processes_of_its_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inventory, "group_processes", lambda name: {os.getpid(), os.getppid(), 2**30, 1})
    found = inventory.node_processes(RootFolder(tmp_path))
    # The first of all processes is every other's parent.
    assert found == {2**30}


def test_folders_go_that_were_not_there_before_and_are_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubelet, networks = tmp_path / "kubelet", tmp_path / "net.d"
    plugins, old, full = kubelet / "device-plugins", tmp_path / "old", tmp_path / "full"
    slices = (tmp_path / "kubepods.slice", tmp_path / "systemd" / "kubepods.slice")
    monkeypatch.setattr(outside_files, "KUBELET", kubelet)
    monkeypatch.setattr(outside_files, "NETWORK_CONFIGURATION", networks)
    monkeypatch.setattr(outside_files, "FOLDERS", (networks, plugins, kubelet, old, full))
    monkeypatch.setattr(outside_files, "_POD_SLICES", slices)
    old.mkdir()
    slices[1].mkdir(parents=True)
    before = outside_files.existing_paths()
    assert before == (str(old), str(slices[1]))
    assert outside_files.has_pod_slice(before)
    assert not outside_files.has_pod_slice(before[:1])
    for folder in (networks, plugins, full):
        folder.mkdir(parents=True)
    for path in (networks / "10-a.conf", plugins / "kubelet.sock", plugins / "kubelet_internal", full / "kubelet.sock"):
        path.write_text("")
    own = tmp_path / "own"
    own.write_text("")
    assert outside_files.existing_paths() == (
        *map(str, (networks, plugins, kubelet, old, full, slices[1])),
        str(networks / "10-a.conf"),
    )
    outside_files.remove_outside_files((own, tmp_path / "gone"), before)
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert left == ["full", "full/kubelet.sock", "old", "systemd", "systemd/kubepods.slice"]


def test_device_plugins_of_a_kubelet_that_was_there_before_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins = tmp_path / "device-plugins"
    monkeypatch.setattr(outside_files, "KUBELET", tmp_path)
    monkeypatch.setattr(outside_files, "NETWORK_CONFIGURATION", tmp_path / "net.d")
    monkeypatch.setattr(outside_files, "FOLDERS", (plugins, tmp_path))
    plugins.mkdir()
    (plugins / "kubelet.sock").write_text("")
    outside_files.remove_outside_files((), outside_files.existing_paths())
    assert (plugins / "kubelet.sock").exists()
    (plugins / "nvidia.sock").write_text("")
    outside_files.remove_outside_files((), ())
    assert [path.name for path in plugins.iterdir()] == ["nvidia.sock"]
