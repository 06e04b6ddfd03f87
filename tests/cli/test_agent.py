"""`mooring agent` on the command line: what it would do, what it refuses, and how it cleans a machine by itself."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

import mooring
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.services.systemd import systemd_runs
from mooring.cli.main import cli

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="An agent runs as root")


@pytest.fixture
def short_path() -> Iterator[Path]:
    """Sockets lie below the root of an agent, and the kernel limits the length of their paths."""
    with tempfile.TemporaryDirectory(prefix="m-", dir="/tmp") as folder:
        yield Path(folder)


def agent(*arguments: str | Path, **environment: str) -> Result:
    known = {"KUBECONFIG": "/nonexistent/kubeconfig", "KUBERNETES_SERVICE_HOST": "", **environment}
    return CliRunner().invoke(cli, ["agent", *map(str, arguments)], env=known)


def test_a_dry_run_prints_the_host_and_changes_nothing(short_path: Path) -> None:
    done = agent("--dry-run", "--root", short_path / "root", "--label", "purpose=gpu", "--hostname-override", "node11")
    assert done.exit_code == 0, done.output
    assert list(short_path.iterdir()) == []
    host = yaml.safe_load(done.output)
    assert host["kind"] == "ByoHost"
    assert host["metadata"]["name"] == "node11"
    assert host["metadata"]["labels"]["purpose"] == "gpu"
    assert host["metadata"]["labels"]["byohost.infrastructure.cluster.x-k8s.io/host"] == "node11"
    assert host["spec"]["capacity"]["cpu"] == str(os.cpu_count())
    assert "# ByoHost default/node11 would be created or updated" in done.output
    manager = "systemd" if systemd_runs() else "the agent itself"
    assert f"# files below {short_path}/root; services are run by {manager}\n" in done.output


def test_a_dry_run_tells_of_a_claim_that_is_on_record(short_path: Path) -> None:
    root = RootFolder(short_path)
    root.prepare()
    root.journal.write_text(json.dumps({"claim": {"namespace": "default", "name": "worker-1", "uid": "1"}}))
    done = agent("--dry-run", "--root", short_path)
    assert "# next: clean this machine, because its ByoHost is gone" in done.output


def test_the_version_is_told() -> None:
    assert agent("--version").output == f"mooring agent {mooring.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--label", "purpose"], '--label "purpose" has no "="; write key=value'),
        (["--label", "a b=c"], '--label "a b=c": '),
        (["--namespace", "Default"], '--namespace "Default": '),
        (["--hostname-override", "Node_1"], '--hostname-override "Node_1": '),
        (["--pod-cidr", "everywhere"], "--pod-cidr everywhere: "),
        (["--metricsbindaddress", "here"], '--metricsbindaddress "here" is not HOST:PORT'),
        (["--feature-gates", "Fast=true"], "--feature-gates Fast=true: this agent has no feature gates"),
        (["--certExpiryDuration", "60"], "--certExpiryDuration 60: "),
        (["--heartbeat-interval", "soon"], '"soon" is not a duration'),
        (["--kubeconfig", "a", "--bootstrap-kubeconfig", "b"], "cannot be given together"),
        (["--root", "/dev/null/x"], "--root /dev/null/x: "),
        (["--root", "/tmp/" + "x" * 100], "is too long for the sockets below it"),
        (["--kubeconfig", "/nonexistent/config", "--root", "ROOT"], "/nonexistent/config: there is no such kubeconfig"),
        (["--root", "ROOT"], "no cluster is configured"),
        (["--bootstrap-kubeconfig", "/nonexistent/b", "--root", "ROOT"], "/nonexistent/b: there is no such kubeconfig"),
    ],
)
@needs_root
def test_bad_input_is_one_line_and_exit_code_1(arguments: list[str], problem: str, short_path: Path) -> None:
    done = agent(*(str(short_path) if word == "ROOT" else word for word in arguments))
    assert done.exit_code == 1
    (line,) = done.output.splitlines()
    assert line.startswith("error: ")
    assert problem in line


@needs_root
def test_reset_cleans_a_machine_without_an_api_and_with_a_broken_journal(short_path: Path) -> None:
    root = RootFolder(short_path)
    root.prepare()
    root.kubelet.mkdir(parents=True)
    root.journal.write_text("{")
    refused = agent("--root", short_path, "--dry-run")
    assert refused.exit_code == 1
    assert "mooring agent --reset" in refused.output
    done = agent("--root", short_path, "--reset")
    assert (done.exit_code, done.output) == (0, f"nothing of a claim is left below {short_path}\n")
    assert not root.node.exists()
    assert not root.journal.exists()
