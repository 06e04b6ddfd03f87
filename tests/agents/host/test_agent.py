"""The agent as a process against an API server: it registers, joins, is killed at every step, and leaves nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mooring.testing.homes import EMBEDDED, Home, api_only
from mooring.testing.http import Api
from tests.agents.host.played import CONTAINERD, HOSTS, KUBELET, PlayedHost, eventually, serve_hosts

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="An agent runs as root")
INSTALL = "echo installing on {{.Hostname}}; touch FOLDER/installed"
UNINSTALL = "rm FOLDER/installed"


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
def played(home: Home, api: Api, tmp_path: Path) -> Iterator[Callable[[str], PlayedHost]]:
    hosts = []

    def make(name: str) -> PlayedHost:
        hosts.append(PlayedHost(name, tmp_path, home, api))
        return hosts[-1]

    yield make
    for host in hosts:
        host.end()


def test_a_host_is_registered_with_what_its_machine_has_and_keeps_the_labels_of_people(
    played: Callable[[str], PlayedHost],
) -> None:
    host = played("registered")
    agent = host.start("--label", "purpose=worker,rack=a", "--heartbeat-interval", "1s")
    found = eventually(lambda: host.host if host.says("HostClean", "True") else None, "a registered host")
    assert found["metadata"]["labels"]["byohost.infrastructure.cluster.x-k8s.io/host"] == "registered"
    assert found["metadata"]["labels"]["capacity.infrastructure.cluster.x-k8s.io/cpu"] == str(os.cpu_count())
    assert found["spec"]["capacity"]["memory"].endswith("Ki")
    assert found["status"]["hostinfo"]["osname"] == "linux"
    assert sum(link["isDefault"] for link in found["status"]["network"]) <= 1
    first = found["status"]["lastHeartbeatTime"]
    eventually(lambda: host.status["lastHeartbeatTime"] > first, "the next heartbeat")

    host.patch({"metadata": {"labels": {"gpu": "true"}}})
    assert agent.stop() == 0
    host.start("--label", "purpose=general")
    eventually(lambda: (host.host or {})["metadata"]["labels"].get("purpose") == "general", "the new label")
    labels = (host.host or {})["metadata"]["labels"]
    assert labels["gpu"] == "true"
    assert "rack" not in labels


def test_an_agent_that_is_killed_at_every_step_resumes_and_leaves_nothing(
    played: Callable[[str], PlayedHost], tmp_path: Path
) -> None:
    host = played("killed")
    before = host.inventory()
    host.put_program("containerd", CONTAINERD, kills=True)
    host.put_program("kubelet", KUBELET, kills=True)
    host.start()
    eventually(lambda: host.says("HostClean", "True"), "a registered host")
    install = INSTALL.replace("FOLDER", str(tmp_path)) + "\n" + host.kill_once("install")
    uninstall = host.kill_once("uninstall") + "\n" + f"rm -f {tmp_path}/installed"
    host.claim(version="v1.35.8", install=install, uninstall=uninstall)
    host.keep_agent(lambda: host.says("K8sNodeBootstrapSucceeded", "True"), "a node")
    assert {each.split()[0] for each in os.listdir(tmp_path) if each.startswith("killed-")} == {
        "killed-install",
        "killed-containerd",
        "killed-kubelet",
    }
    assert (tmp_path / "installed").exists()
    assert [line.split()[0] for line in host.started].count("containerd") == 1
    assert [line.split()[0] for line in host.started].count("kubelet") == 1
    assert "--node-labels=byohost.infrastructure.cluster.x-k8s.io/host=killed,purpose=worker" in host.started[-1]
    assert host.says("K8sComponentsInstallationSucceeded", "True")
    assert host.condition("KubeletVersionMatches") is None

    host.release()
    host.keep_agent(host.is_released, "a released host")
    assert (tmp_path / "killed-uninstall").exists()
    assert not (tmp_path / "installed").exists()
    assert host.condition("K8sNodeBootstrapSucceeded") is None
    eventually(lambda: not host.root.journal.exists(), "a journal without a claim")
    assert host.inventory().added_since(before) == []
