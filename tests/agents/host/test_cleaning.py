"""How a machine is cleaned: commands for the firewall, settings put back, and real mounts, processes and links."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from mooring.agents.host.cleaning import outside_files
from mooring.agents.host.cleaning.cleaner import LeftBehind, clean_machine
from mooring.agents.host.cleaning.control_groups import group_folders, make_control_group
from mooring.agents.host.cleaning.firewall import parse_chains, removal_commands
from mooring.agents.host.cleaning.inventory import Inventory, node_processes, take_inventory
from mooring.agents.host.cleaning.mounts import mounts_below
from mooring.agents.host.cleaning.sysctls import read_sysctls, restore_sysctls
from mooring.agents.host.host_work import baseline_of_machine
from mooring.agents.host.root_folder import MARK_VARIABLE, RootFolder
from mooring.agents.host.services.supervisor import ServiceSupervisor

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
# As iptables-save wrote it beside a kubelet 1.35 and a bridge of CNI, shortened.
SAVED = """*mangle
:PREROUTING ACCEPT [0:0]
:KUBE-IPTABLES-HINT - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
COMMIT
*filter
:INPUT ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:KUBE-FIREWALL - [0:0]
:MINE - [0:0]
-A INPUT -j KUBE-FIREWALL
-A INPUT -s 10.0.0.0/8 -j MINE
-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -j DROP
COMMIT
*nat
:POSTROUTING ACCEPT [0:0]
:CNI-3becf55a79cd0a83fd476879 - [0:0]
-A POSTROUTING -s 10.1.1.2/32 -m comment --comment "name: \\"m\\" id: \\"2\\"" -j CNI-3becf55a79cd0a83fd476879
-A CNI-3becf55a79cd0a83fd476879 -d 10.1.1.0/24 -j ACCEPT
COMMIT
"""


def test_chains_of_kubernetes_go_with_the_rules_that_lead_to_them_and_nothing_else() -> None:
    chain = "CNI-3becf55a79cd0a83fd476879"
    commands = [" ".join(words) for words in removal_commands("iptables", SAVED)]
    assert commands == [
        "iptables -w -t filter -D INPUT -j KUBE-FIREWALL",
        f'iptables -w -t nat -D POSTROUTING -s 10.1.1.2/32 -m comment --comment name: "m" id: "2" -j {chain}',
        "iptables -w -t mangle -F KUBE-IPTABLES-HINT",
        "iptables -w -t mangle -F KUBE-KUBELET-CANARY",
        "iptables -w -t filter -F KUBE-FIREWALL",
        f"iptables -w -t nat -F {chain}",
        "iptables -w -t mangle -X KUBE-IPTABLES-HINT",
        "iptables -w -t mangle -X KUBE-KUBELET-CANARY",
        "iptables -w -t filter -X KUBE-FIREWALL",
        f"iptables -w -t nat -X {chain}",
    ]


def test_chains_that_were_there_before_the_claim_stay() -> None:
    before = parse_chains("iptables", SAVED)
    assert "iptables/filter/KUBE-FIREWALL" in before
    assert removal_commands("iptables", SAVED, before) == []
    assert removal_commands("iptables", "") == []


def test_settings_of_the_kernel_are_put_back(tmp_path: Path) -> None:
    for name, value in (("kernel/panic", "0"), ("vm/overcommit_memory", "0")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{value}\n")
    before = read_sysctls(tmp_path)
    assert before == {"kernel/panic": "0", "vm/overcommit_memory": "0"}
    (tmp_path / "kernel/panic").write_text("10\n")
    restore_sysctls(before, tmp_path)
    assert read_sysctls(tmp_path) == before


def test_mounts_are_found_below_a_folder_the_innermost_first() -> None:
    table = "".join(
        f"1 1 0:1 / {path} rw - tmpfs none rw\n" for path in ("/", "/a", "/a/b", "/a/b/c", "/ab", "/a/d\\040e")
    )
    assert mounts_below(Path("/a"), table) == ["/a/b/c", "/a/b", "/a/d e"]
    assert mounts_below(Path("/a/b/c"), table) == []


def test_an_inventory_names_what_was_added() -> None:
    before = Inventory(("/ ext4",), (), ("lo",), (), (), ())
    after = before._replace(mounts=("/ ext4", "/x tmpfs"), processes=("7 sleep",), links=("lo", "veth0"))
    assert after.added_since(before) == ["mount /x tmpfs", "process 7 sleep", "link veth0"]
    assert before.added_since(after) == []


def test_only_own_files_outside_of_the_root_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs, results = tmp_path / "log" / "containers", tmp_path / "cni" / "results"
    monkeypatch.setattr(outside_files, "CONTAINER_LOGS", logs)
    networks = tmp_path / "net.d"
    networks.mkdir()
    (networks / "own.conf").write_text("")
    monkeypatch.setattr(outside_files, "NETWORK_CONFIGURATION", networks)
    monkeypatch.setattr(outside_files, "NETWORK_RESULTS", results)
    monkeypatch.setattr(outside_files, "FOLDERS", (logs, results, results.parent))
    root = RootFolder(tmp_path / "root")
    before = outside_files.existing_paths()
    for folder in (logs, results, tmp_path / "shims"):
        folder.mkdir(parents=True)
    (logs / "own.log").symlink_to(root.logs / "pods" / "own")
    (results / f"{root.network_name}-abc-eth0").write_text("{}")
    (root.containerd / "io.containerd.grpc.v1.cri" / "sandboxes" / "abc").mkdir(parents=True)
    (results / "cni-loopback-abc-lo").write_text("{}")
    task = root.containerd_state / "io.containerd.runtime.v2.task" / "k8s.io" / "abc"
    task.mkdir(parents=True)
    (task / "address").write_text(f"unix://{tmp_path}/shims/socket")
    (tmp_path / "shims" / "socket").write_text("")
    (networks / "10-cluster.conflist").write_text("")
    others = logs / "other.log", results / "other-xyz-eth0"
    others[0].symlink_to("/elsewhere")
    others[1].write_text("{}")

    outside_files.remove_outside_files(outside_files.own_outside_files(root), before)
    assert sorted(path.name for folder in (logs, results, tmp_path / "shims") for path in folder.iterdir()) == [
        "other-xyz-eth0",
        "other.log",
    ]
    assert [path.name for path in networks.iterdir()] == ["own.conf"]
    for path in others:
        path.unlink()
    outside_files.remove_outside_files((), before)
    assert not logs.exists()
    assert not results.parent.exists()


class Pods(ServiceSupervisor):
    """Counts how often pods were ended."""

    ended = 0

    async def stop_pods(self) -> None:
        self.ended += 1


@needs_root
def test_pods_of_another_kubelet_are_not_ended(tmp_path: Path) -> None:
    root, pods = RootFolder(tmp_path), Pods(tmp_path / "services")
    found = baseline_of_machine()
    found = replace(found, paths=tuple(path for path in found.paths if "kubepods" not in path))
    asyncio.run(clean_machine(root, pods, replace(found, paths=(*found.paths, "/sys/fs/cgroup/kubepods.slice"))))
    assert pods.ended == 0
    asyncio.run(clean_machine(root, pods, found))
    assert pods.ended == 1


# In a mount namespace of its own, and a network of its own with a bridge: what pods leave, without a kubelet.
LEFT_BEHIND = """
import asyncio, ctypes, json, os, subprocess, sys
from pathlib import Path
from mooring.agents.host.cleaning.cleaner import clean_machine
from mooring.agents.host.cleaning.inventory import take_inventory
from mooring.agents.host.cleaning.mounts import mounts_below
from mooring.agents.host.cleaning.outside_files import FOLDERS
from mooring.agents.host.host_work import baseline_of_machine
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.services.supervisor import ServiceSupervisor

root = RootFolder(Path(sys.argv[1]))
def mount(path, source=b"none", kind=b"tmpfs", flags=0):
    path.mkdir(parents=True, exist_ok=True)
    assert ctypes.CDLL(None).mount(source, bytes(path), kind, flags, None) == 0, path
before = take_inventory(root).lines()
volume = root.kubelet / "pods" / "a" / "volumes" / "with space"
mount(volume)
mount(volume)
mount(volume / "nested")
held = os.open(volume / "nested", os.O_RDONLY)
(root.node / "file").write_text("")
for words in ("link add {0} type bridge", "link add v0 type veth peer name v1", "link set v0 master {0}"):
    subprocess.run(["ip", *words.format(root.bridge).split()], check=True)
during = len(mounts_below(root.node))
for _ in range(2):
    asyncio.run(clean_machine(root, ServiceSupervisor(root.services), baseline_of_machine()))
after = [line for line in take_inventory(root).lines() if line not in before]
# Folders outside of the root are shared with whatever else runs on this machine.
shared = tuple(f"file {folder}" for folder in FOLDERS)
print(json.dumps({"during": during, "after": [line for line in after if not line.startswith(shared)]}))
"""


@needs_root
def test_mounts_links_and_files_are_removed_even_where_they_are_stacked_and_in_use(tmp_path: Path) -> None:
    command = ["unshare", "--mount", "--net", sys.executable, "-c", LEFT_BEHIND, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"during": 3, "after": []}
    assert not (tmp_path / "node").exists()


@needs_root
def test_processes_of_a_node_are_killed_with_all_they_have_started(tmp_path: Path) -> None:
    root = RootFolder(tmp_path)
    environment = {**os.environ, MARK_VARIABLE: root.mark}
    # The second one has lost the mark, as a container has, and left the group of the first.
    script = "env -i setsid sleep 1000 & exec sleep 1000"
    with subprocess.Popen(["sh", "-c", script], env=environment, start_new_session=True) as child:
        deadline = time.monotonic() + 10
        while len(node_processes(root)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(node_processes(root)) == 2
        assert [line.split()[-1] for line in take_inventory(root).lines() if line.startswith("process")] == ["1000"] * 2
        asyncio.run(clean_machine(root, ServiceSupervisor(root.services), baseline_of_machine()))
        assert node_processes(root) == set()
        assert child.wait(5) in (0, -9)


@needs_root
def test_the_control_group_of_pods_goes_with_its_processes(tmp_path: Path) -> None:
    root = RootFolder(tmp_path)
    make_control_group(root.control_group)
    folders = [folder for folder in group_folders(root.control_group) if folder.exists()]
    if not folders:
        pytest.skip("no control group can be made here")
    (folders[0] / "kubepods").mkdir()
    child = subprocess.Popen(["sleep", "1000"])
    (folders[0] / "kubepods" / "cgroup.procs").write_text(str(child.pid))
    assert node_processes(root) == {child.pid}
    asyncio.run(clean_machine(root, ServiceSupervisor(root.services), baseline_of_machine()))
    assert child.wait(5) in (0, -9)
    assert not [folder for folder in group_folders(root.control_group) if folder.exists()]


@needs_root
def test_what_cannot_be_removed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = RootFolder(tmp_path)
    monkeypatch.setattr("mooring.agents.host.cleaning.cleaner.unmount_below", lambda _: ["/x/y"])
    (root.node / "kept").mkdir(parents=True)
    baseline = baseline_of_machine()
    with pytest.raises(LeftBehind, match="mount /x/y"):
        asyncio.run(clean_machine(root, ServiceSupervisor(root.services), baseline))
    # Files below a mount that is still there are somebody's data.
    assert (root.node / "kept").exists()
