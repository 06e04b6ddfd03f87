"""A machine becomes a node: programs found, images imported, services started in order, a certificate waited for."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from mooring.agents.host.node import images, join, programs
from mooring.agents.host.node.images import import_images
from mooring.agents.host.node.join import JoinFailed, ensure_services, may_lower_oom_score, write_node_files
from mooring.agents.host.node.kubelet import NodePlan
from mooring.agents.host.node.programs import ProgramMissing, find_program, kubelet_version, search_path
from mooring.agents.host.program_output import program_output
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.services.service import NodeService
from tests.agents.host.test_node_files import claimed
from tests.agents.host.test_scripts import has_ended, until

BOOTSTRAP = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://x", "certificate-authority-data": "Q0E="}}],
    }
).encode()


def put(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


# Programs


def test_programs_are_looked_for_in_bundles_then_in_the_own_path_then_in_the_usual_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/opt/own:/usr/bin")
    usual = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin"
    assert search_path(Path("/b")) == f"/b/bin:/opt/own:/usr/bin:{usual}"
    with pytest.raises(ProgramMissing) as told:
        find_program("no-such-program", "/a:/b")
    assert str(told.value) == (
        "no-such-program is not on this machine (looked in /a, /b); install it, or have an installer do so"
    )


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo Kubernetes v1.35.8", "v1.35.8"),
        ("[ $1 = --version ] && echo v1.2.3 >&2", "v1.2.3"),
        ("echo no such flag; exit 3", "kubelet --version ended with exit code 3: no such flag"),
        ("exit 0", "kubelet --version ended with exit code 0: "),
    ],
)
def test_the_version_of_a_kubelet_is_what_it_says_last(tmp_path: Path, script: str, said: str) -> None:
    program = put(tmp_path / "kubelet", script)
    if "ended" not in said:
        assert asyncio.run(kubelet_version(str(program))) == said
        return
    with pytest.raises(ProgramMissing) as told:
        asyncio.run(kubelet_version(str(program)))
    assert str(told.value) == f"{tmp_path}/{said}"


def test_a_kubelet_that_cannot_be_run_or_does_not_answer_is_as_good_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ProgramMissing, match=r"/none --version does not answer: .*No such file"):
        asyncio.run(kubelet_version(str(tmp_path / "none")))
    monkeypatch.setattr(programs, "_VERSION_SECONDS", 0.05)
    with pytest.raises(ProgramMissing, match=r"/kubelet --version does not answer: it takes too long$"):
        asyncio.run(kubelet_version(str(put(tmp_path / "kubelet", "exec sleep 5"))))


# Images


def test_archives_are_imported_in_order_and_one_that_cannot_be_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, containerd = tmp_path / "images", tmp_path / "s.sock"
    put(
        tmp_path / "bin" / "ctr",
        f'echo "$@" >> {tmp_path}/told; case "$*" in *b.tar) echo no space; echo left >&2; exit 1;; esac',
    )
    asyncio.run(import_images(containerd, folder, str(tmp_path / "bin")))
    assert not (tmp_path / "told").exists()
    folder.mkdir()
    for name in ("b.tar", "a.tar", "c.txt"):
        (folder / name).write_text("")
    asyncio.run(import_images(containerd, folder, str(tmp_path / "bin")))
    start = f"--address {containerd} --namespace k8s.io images import {folder}"
    assert (tmp_path / "told").read_text().splitlines() == [f"{start}/a.tar", f"{start}/b.tar"]
    assert caplog.messages == [f"image {folder}/b.tar cannot be imported: no space\nleft"]


def test_archives_that_nothing_can_import_or_that_take_too_long_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "images"
    asyncio.run(import_images(tmp_path, folder, str(tmp_path / "bin")))
    folder.mkdir()
    asyncio.run(import_images(tmp_path, folder, str(tmp_path / "bin")))
    assert caplog.messages == []
    (folder / "a.tar").write_text("")
    asyncio.run(import_images(tmp_path, folder, str(tmp_path / "bin")))
    assert caplog.messages[0] == f"{folder} holds images, but ctr, which imports them, is not on this machine"
    put(tmp_path / "bin" / "ctr", "exec sleep 5")
    monkeypatch.setattr(images, "_IMPORT_SECONDS", 0.05)
    asyncio.run(import_images(tmp_path, folder, str(tmp_path / "bin")))
    assert caplog.messages[1:] == [f"image {folder}/a.tar cannot be imported: it takes too long"]


def test_a_program_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    program = put(tmp_path / "slow", f"sleep 1000 & echo $! > {tmp_path}/child; echo begun; wait")
    assert asyncio.run(program_output((str(program),), 0.5)) == (None, "")
    until(lambda: has_ended(int((tmp_path / "child").read_text())), "the child ended")
    assert asyncio.run(program_output(("/bin/sh", "-c", "echo a; printf '\\377'; echo b >&2; exit 3"), 5)) == (
        3,
        "a\n\ufffdb",
    )


def test_a_program_goes_with_who_waits_for_it(tmp_path: Path) -> None:
    program = put(tmp_path / "slow", f"sleep 1000 & echo $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/child; wait")

    async def cancelled() -> None:
        task = asyncio.create_task(program_output((str(program),), 1000))
        while not (tmp_path / "child").exists():
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()

    asyncio.run(cancelled())
    until(lambda: has_ended(int((tmp_path / "child").read_text())), "the child ended")


# Services


class Services:
    """Notes what it is told. A containerd that is started listens; a kubelet gets what it is to get."""

    def __init__(self, root: RootFolder, *, listens: bool = True, certificate: bool = True) -> None:
        self.root, self.listens, self.certificate = root, listens, certificate
        self.told: list[Any] = []
        self.servers: list[socket.socket] = []

    async def ensure(self, service: NodeService) -> None:
        self.told.append(service)
        if service.name == "containerd" and self.listens and not self.servers:
            self.root.containerd_socket.parent.mkdir(parents=True, exist_ok=True)
            self.servers.append(socket.socket(socket.AF_UNIX))
            self.servers[0].bind(str(self.root.containerd_socket))
            self.servers[0].listen()
        if service.name == "kubelet" and self.certificate:
            (self.root.kubelet / "pki").mkdir(parents=True, exist_ok=True)
            (self.root.kubelet / "pki" / "kubelet-client-current.pem").touch()
            self.root.kubelet_kubeconfig.touch()

    async def is_running(self, name: str) -> bool:
        raise AssertionError(name)

    async def stop(self, name: str) -> None:
        self.told.append(f"stop {name}")

    async def stop_pods(self) -> None:
        raise AssertionError

    async def close(self) -> None:
        for server in self.servers:
            server.close()


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The control groups that were made."""
    made: list[str] = []
    monkeypatch.setattr(join, "make_control_group", made.append)
    return made


def planned(folder: Path, **fields: Any) -> NodePlan:
    bundles = folder / "b"
    for name in ("containerd", "kubelet"):
        put(bundles / "bin" / name, "exit 1")
    plan = NodePlan(RootFolder(folder / "r"), "node10", False, "", bundles, **fields)
    write_node_files(plan, claimed(labels={"purpose": "gpu"}), BOOTSTRAP)
    return plan


def test_containerd_answers_before_the_kubelet_starts_and_images_are_imported_once(
    short_path: Path, groups: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(short_path, address="192.0.2.2")
    root, services = plan.root, Services(plan.root)
    (plan.download_path / "images").mkdir()
    (plan.download_path / "images" / "a.tar").write_text("")
    put(plan.download_path / "bin" / "ctr", f"echo x >> {short_path}/imported")

    async def story() -> None:
        await join.join(plan, services, 5)
        await ensure_services(plan._replace(systemd=True), services)
        await services.close()

    monkeypatch.setenv("HOME", "/somewhere")
    asyncio.run(story())
    environment = {**os.environ, "PATH": plan.search_path, "MOORING_HOST_AGENT": root.mark}
    found_in = plan.download_path / "bin"
    containerd = NodeService(
        "containerd",
        (str(found_in / "containerd"), f"--config={root.etc}/containerd.toml"),
        environment,
        root.logs / "containerd.log",
    )
    kubelet = NodeService(
        "kubelet",
        (
            str(found_in / "kubelet"),
            f"--config={root.etc}/kubelet.json",
            f"--bootstrap-kubeconfig={root.etc}/bootstrap-kubeconfig",
            f"--kubeconfig={root.etc}/kubelet.kubeconfig",
            f"--cert-dir={root.kubelet}/pki",
            f"--root-dir={root.kubelet}",
            "--hostname-override=node10",
            "--node-labels=byohost.infrastructure.cluster.x-k8s.io/host=node10,purpose=gpu",
            "--node-ip=192.0.2.2",
        ),
        environment,
        root.logs / "kubelet.log",
    )
    assert services.told == [containerd, kubelet] * 2
    assert (short_path / "imported").read_text() == "x\n"
    assert root.images_imported.exists()
    # Under systemd the groups are not the agent's to make.
    assert groups == [root.control_group]


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (None, "it is empty"),
        ("\n" + "x" * 2000 + " broken\n", "x" * (1500 - 8) + " broken"),
    ],
)
def test_a_containerd_that_never_listens_is_told_with_the_end_of_its_log(
    short_path: Path, groups: list[str], monkeypatch: pytest.MonkeyPatch, log: str | None, said: str
) -> None:
    plan = planned(short_path)
    monkeypatch.setattr(join, "_SOCKET_SECONDS", 0.06)
    monkeypatch.setattr(join, "_POLL_SECONDS", 0.02)
    services = Services(plan.root, listens=False)
    if log is not None:
        (plan.root.logs / "containerd.log").write_text(log)
    with pytest.raises(JoinFailed) as told:
        asyncio.run(ensure_services(plan, services))
    start, _, end = str(told.value).partition("; its log ends: ")
    assert start == "containerd does not answer after 0 s"
    assert end == said
    assert [each.name for each in services.told] == ["containerd"]
    assert not plan.root.images_imported.exists()


def test_a_kubelet_without_a_certificate_is_stopped_and_its_log_says_why(
    short_path: Path, groups: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(short_path)
    services = Services(plan.root, certificate=False)
    (plan.root.logs / "kubelet.log").write_text("E0101 no signed certificate: Unauthorized\n")
    # One of the two files is not enough.
    (plan.root.kubelet / "pki").mkdir()
    (plan.root.kubelet / "pki" / "kubelet-client-current.pem").touch()

    async def story() -> None:
        try:
            await join.join(plan, services, 0.05)
        finally:
            await services.close()

    with pytest.raises(JoinFailed) as told:
        asyncio.run(story())
    assert str(told.value) == (
        "the kubelet got no certificate in 0 s: the API server does not accept the bootstrap token, which has "
        "expired or is gone; it logged: E0101 no signed certificate: Unauthorized"
    )
    assert services.told[-1] == "stop kubelet"


# Files


def test_files_of_a_node_name_what_is_on_the_machine(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resolvers = (str(short_path / "none"), str(short_path / "resolv.conf"), str(short_path / "other"))
    monkeypatch.setattr(join, "_RESOLVERS", resolvers)
    plan = planned(short_path)
    root = plan.root
    assert json.loads((root.etc / "kubelet.json").read_text())["resolvConf"] == ""
    for name in ("resolv.conf", "other"):
        (short_path / name).write_text("")
    write_node_files(plan, claimed(), BOOTSTRAP)
    assert json.loads((root.etc / "kubelet.json").read_text())["resolvConf"] == resolvers[1]
    assert (root.etc / "ca.crt").read_bytes() == b"CA"
    assert (root.etc / "bootstrap-kubeconfig").read_bytes() == BOOTSTRAP
    assert not root.network_configuration.exists()
    folders = (root.etc, root.kubelet, root.containerd, root.containerd_state, root.logs / "pods", root.services)
    assert {folder.stat().st_mode & 0o777 for folder in folders} == {0o700}
    # A range of its own brings a network, twice as well as once.
    for _ in range(2):
        write_node_files(plan._replace(pod_cidr="10.1.0.0/24"), claimed(), BOOTSTRAP)
    network = json.loads((root.network_configuration / "10-mooring.conflist").read_text())
    assert network["plugins"][0]["ipam"]["ranges"] == [[{"subnet": "10.1.0.0/24"}]]
    assert root.network_configuration.stat().st_mode & 0o777 == 0o700


def test_a_bootstrap_kubeconfig_without_an_authority_or_a_cluster(short_path: Path) -> None:
    plan = planned(short_path)
    bare = {"apiVersion": "v1", "kind": "Config", "clusters": [{"name": "c", "cluster": {"server": "http://x"}}]}
    write_node_files(plan, claimed(), json.dumps(bare).encode())
    assert (plan.root.etc / "ca.crt").read_bytes() == b""
    bare["clusters"] = []
    with pytest.raises(JoinFailed) as told:
        write_node_files(plan, claimed(), json.dumps(bare).encode())
    assert str(told.value) == "the bootstrap Secret has no kubeconfig under the key value: it names no cluster"


class Score:
    """The file by which the kernel is told whom to spare when memory runs out."""

    def __init__(self, text: str, *, lowest: int = -1000) -> None:
        self.text, self.lowest = text, lowest
        self.written: list[int] = []

    def read_text(self) -> str:
        return self.text

    def write_text(self, text: str) -> None:
        self.written.append(int(text))
        if int(text) < self.lowest:
            raise PermissionError


@pytest.mark.parametrize(
    ("score", "may", "written"),
    [
        (Score("0\n"), True, [-1, 0]),
        (Score("-1000\n"), True, [-1000, -1000]),
        (Score("-999\n"), True, [-1000, -999]),
        (Score("500\n", lowest=500), False, [499]),
    ],
)
def test_whether_a_process_may_be_spared_is_tried_and_taken_back(score: Score, may: bool, written: list[int]) -> None:
    played: Any = score
    assert may_lower_oom_score(played) is may
    assert score.written == written
