"""The agent as a process against an API server: it registers, joins, is killed at every step, and leaves nothing."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mooring.agents.host.services.process_record import read_record
from mooring.testing.homes import EMBEDDED, Home, api_only
from mooring.testing.http import Api
from mooring.testing.processes import free_port
from tests.agents.host.played import CONTAINERD, KUBELET, PlayedHost, eventually, serve_hosts

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="An agent runs as root")
Play = Callable[[str], PlayedHost]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with api_only(EMBEDDED, tmp_path_factory.mktemp("api")) as found:
        yield found


@pytest.fixture(scope="module")
def api(home: Home) -> Iterator[Api]:
    with home.api() as found:
        serve_hosts(found)
        yield found


@pytest.fixture
def play(home: Home, api: Api, short_path: Path) -> Iterator[Play]:
    hosts = []

    def make(name: str) -> PlayedHost:
        hosts.append(PlayedHost(name, short_path, home, api))
        return hosts[-1]

    yield make
    for host in hosts:
        host.end()


def test_a_host_is_registered_with_what_its_machine_has_and_keeps_the_labels_of_people(play: Play) -> None:
    host = play("registered")
    metrics = f"127.0.0.1:{free_port()}"
    arguments = ("--heartbeat-interval", "1s", "--metricsbindaddress", metrics)
    agent = host.start("--label", "purpose=worker,rack=a", *arguments)
    found = eventually(lambda: host.host if host.says("HostClean", "True") else None, "a registered host")
    assert found["metadata"]["labels"]["byohost.infrastructure.cluster.x-k8s.io/host"] == "registered"
    assert found["metadata"]["labels"]["capacity.infrastructure.cluster.x-k8s.io/cpu"] == str(os.cpu_count())
    assert found["spec"]["capacity"]["memory"].endswith("Ki")
    assert found["status"]["hostinfo"]["osname"] == "linux"
    assert sum(link["isDefault"] for link in found["status"]["network"]) <= 1
    first = found["status"]["lastHeartbeatTime"]
    eventually(lambda: host.status["lastHeartbeatTime"] > first, "the next heartbeat")

    with Api(f"http://{metrics}") as own:
        assert own.get("/readyz").code == 200
        assert "byoh_agent_last_heartbeat_timestamp 1" in own.get("/metrics").body

    host.patch({"metadata": {"labels": {"gpu": "true"}}})
    assert agent.stop() == 0
    host.start("--label", "purpose=general")
    eventually(lambda: (host.host or {})["metadata"]["labels"].get("purpose") == "general", "the new label")
    labels = (host.host or {})["metadata"]["labels"]
    assert labels["gpu"] == "true"
    assert "rack" not in labels

    host.api.delete(f"{host.path}")
    eventually(lambda: host.says("HostClean", "True"), "a host that is registered again")


def test_an_agent_that_is_killed_at_every_step_resumes_and_leaves_nothing(play: Play, short_path: Path) -> None:
    host = play("killed")
    host.put_program("containerd", CONTAINERD, kills=True)
    host.put_program("kubelet", KUBELET, kills=True)
    host.start()
    eventually(lambda: host.says("HostClean", "True"), "a registered host")
    host.claim(
        version="v1.35.8",
        install=f"touch {short_path}/installed-on-{{{{.Hostname}}}}\n{host.kill_once('install')}",
        uninstall=f"{host.kill_once('uninstall')}\nrm -f {short_path}/installed-on-killed",
    )
    host.keep_agent(lambda: host.says("K8sNodeBootstrapSucceeded", "True"), "a node")
    assert {path.name for path in short_path.glob("killed-*")} == {
        "killed-install",
        "killed-containerd",
        "killed-kubelet",
    }
    assert (short_path / "installed-on-killed").exists()
    # Each was started by an agent that died of it, and taken over by the next.
    assert [line.split()[0] for line in host.started] == ["containerd", "kubelet"]
    assert "--node-labels=byohost.infrastructure.cluster.x-k8s.io/host=killed,purpose=worker" in host.started[-1]
    assert host.says("K8sComponentsInstallationSucceeded", "True")
    assert host.condition("KubeletVersionMatches") is None

    host.release()
    host.keep_agent(host.is_released, "a released host")
    assert (short_path / "killed-uninstall").exists()
    assert not (short_path / "installed-on-killed").exists()
    assert host.condition("K8sNodeBootstrapSucceeded") is None
    eventually(lambda: not host.root.journal.exists(), "a journal without a claim")
    assert host.left_on_the_machine() == []


def test_a_failed_install_is_told_with_its_output_and_a_claim_that_goes_meanwhile_breaks_it_off(
    play: Play, short_path: Path
) -> None:
    host = play("failing")
    host.start()
    eventually(lambda: host.says("HostClean", "True"), "a registered host")
    host.claim(install="echo no space left; exit 3", uninstall="true")
    told = eventually(lambda: host.says("K8sComponentsInstallationSucceeded", "False"), "a failure")
    eventually(lambda: "exit code 3" in (host.condition(told["type"]) or {})["message"], "its exit code")
    assert "no space left" in (host.condition(told["type"]) or {})["message"]
    assert (host.condition(told["type"]) or {})["severity"] == "Error"

    # Another claim comes, whose script never ends, and goes.
    host.claim(uid="uid-2", install=f"touch {short_path}/hangs; sleep 1000", uninstall="true")
    eventually((short_path / "hangs").exists, "the other script")
    host.release()
    eventually(host.is_released, "a released host")
    assert host.left_on_the_machine() == []


def test_a_host_that_cannot_be_cleaned_says_why_and_is_not_released(play: Play) -> None:
    host = play("stuck")
    host.start()
    eventually(lambda: host.says("HostClean", "True"), "a registered host")
    host.claim(install="true", uninstall="echo the disk is busy; exit 1")
    eventually(lambda: host.says("K8sNodeBootstrapSucceeded", "True"), "a node")
    host.release()
    told = eventually(lambda: host.says("HostClean", "False"), "a host that is not clean")
    assert told["reason"] == "CleanupFailed"
    assert "the disk is busy" in told["message"]
    assert "machineRef" in host.status
    # The way out that the message names; whoever starts the agent again does not wait for the next try.
    script = host.root.scripts / "uninstall.sh"
    assert f"remove {script}" in told["message"]
    script.unlink()
    host.agents[-1].kill()
    host.start()
    eventually(host.is_released, "a released host")
    assert host.left_on_the_machine() == []


def test_a_host_released_by_force_is_cleaned_when_its_agent_returns(play: Play) -> None:
    host = play("forced")
    host.start("--skip-installation")
    eventually(lambda: host.says("HostClean", "True"), "a registered host")
    host.claim(version="v1.34.1")
    eventually(lambda: host.says("K8sNodeBootstrapSucceeded", "True"), "a node")
    assert (host.condition("KubeletVersionMatches") or {})["status"] == "False"
    kubelet = read_record(host.root.services / "kubelet")
    assert kubelet is not None
    os.kill(kubelet.pid, signal.SIGKILL)
    eventually(lambda: read_record(host.root.services / "kubelet") not in (None, kubelet), "another kubelet")

    host.agents[-1].kill()
    forced = {
        "type": "HostClean",
        "status": "False",
        "reason": "ForcedRelease",
        "lastTransitionTime": "2026-11-16T12:00:00Z",
    }
    host.patch({"status": {"machineRef": None, "conditions": [forced]}}, "/status")
    host.start("--skip-installation")
    eventually(host.is_released, "a clean host")
    assert host.left_on_the_machine() == []


def test_a_machine_without_kubelet_says_so(play: Play) -> None:
    host = play("lacking")
    (host.programs / "kubelet").unlink()
    host.start("--skip-installation")
    eventually(lambda: host.says("HostClean", "True"), "a registered host")
    host.claim()
    told = eventually(lambda: host.says("K8sComponentsInstallationSucceeded", "False"), "a condition")
    eventually(lambda: (host.condition(told["type"]) or {})["message"].startswith("kubelet is not on this"), "its name")
    host.release()
    eventually(host.is_released, "a released host")


def test_two_agents_share_neither_a_folder_nor_an_address(play: Play, short_path: Path) -> None:
    host = play("shared")
    first = host.start()
    eventually(lambda: host.says("HostClean", "True"), "a registered host")
    second = host.start()
    eventually(lambda: not second.running(), "the end of the second agent")
    assert "another agent runs in this folder" in second.tail()
    assert first.running()

    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        third = host.start("--root", str(short_path / "other"), "--metricsbindaddress", address)
        eventually(lambda: not third.running(), "the end of the third agent")
    assert f"error: --metricsbindaddress {address} cannot be served" in third.tail()
