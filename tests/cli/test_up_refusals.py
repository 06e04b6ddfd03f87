"""What `mooring up` cannot do ends in one clear line, exit code 1, and nothing made or lost."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.embedded import up


def complaint(folder: Path, *arguments: str) -> str:
    """The one line that it prints when it cannot start."""
    command = [sys.executable, "-m", "mooring", "up", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0].removeprefix("error: ")


def test_a_busy_port_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        said = complaint(tmp_path, "--bind", f"127.0.0.1:{port}")
    assert said.startswith(f"port {port} on 127.0.0.1 is in use; choose another one, such as --bind 127.0.0.1:")
    assert list(tmp_path.iterdir()) == []


def test_a_second_one_on_the_same_folder_names_the_first(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral") as running:
        running.ready()
        before = running.kubeconfig.read_bytes()
        assert complaint(tmp_path, "--bind", "127.0.0.1:0") == (
            f".mooring is in use by another mooring up (process {running.process.pid}); "
            "stop that one, or name another folder with --data"
        )
        assert running.kubeconfig.read_bytes() == before
        assert "default" in running.names("/api/v1/namespaces")
        assert running.stop() == 0


def test_a_file_in_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / ".mooring").write_text("mine")
    said = complaint(tmp_path)
    assert said == ".mooring is not a folder; --data names a folder, which is made when it is missing"
    assert (tmp_path / ".mooring").read_text() == "mine"


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert complaint(tmp_path, "--data", "file/cluster").startswith("file/cluster")


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / ".mooring").mkdir()
    (tmp_path / ".mooring" / "logs").write_text("mine")
    said = complaint(tmp_path, "--bind", "127.0.0.1:0")
    assert said == ".mooring/logs cannot be written: File exists; name another folder with --data"
    assert [path.name for path in (tmp_path / ".mooring").iterdir()] == ["logs"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_said(tmp_path: Path) -> None:
    (tmp_path / ".mooring").mkdir(mode=0o500)
    said = complaint(tmp_path, "--bind", "127.0.0.1:0")
    assert "cannot be written: Permission denied; name another folder with --data" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--bind", "7443"), '--bind "7443" is not HOST:PORT, such as 127.0.0.1:7443 or [::1]:7443'),
        (("--bind", "::1:7443"), '--bind "::1:7443" is not HOST:PORT'),
        (("--bind", "127.0.0.1:99999"), '--bind "127.0.0.1:99999" is not HOST:PORT'),
        (("--bind", "192.0.2.1:0"), "--bind 192.0.2.1:0: 192.0.2.1 is not an address of this machine"),
        (("--bind", "no.such.host.invalid:1"), 'there is no host "no.such.host.invalid"'),
        (
            ("--controllers", "job,shceduler"),
            '--controllers: there is no controller "shceduler"; there are deployment,',
        ),
        (("--controllers", ","), "--controllers names none; there are deployment,"),
        (
            ("--host-cleanup-timeout", "soon"),
            '--host-cleanup-timeout: "soon" is not a duration such as 90s, 5m or 1h30m',
        ),
        (
            ("--feature-gates", "Ferry=true"),
            '--feature-gates: there is no gate "Ferry"; there are MaxUnavailableStatefulSet',
        ),
        (("--fleet", "nowhere.yaml"), "nowhere.yaml: "),
        (("--fleet", "-"), "--fleet takes a file, not standard input"),
        (
            ("--audit-log", "nowhere/audit.log"),
            "--audit-log nowhere/audit.log: No such file or directory; name a file that can be written",
        ),
        (("--audit-log", "."), "--audit-log .: Is a directory; name a file that can be written"),
        (("--audit-log", "-"), "--audit-log takes a file, not standard output"),
        (("--audit-log", "good.log", "--bind", "192.0.2.1:0"), "192.0.2.1 is not an address of this machine"),
        (("--levitate",), "No such option '--levitate'"),
    ],
)
def test_arguments_that_make_no_sense_start_nothing(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in complaint(tmp_path, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_bad_fleet_is_named_with_line_and_field_and_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text(
        "apiVersion: v1\nkind: Node\nmetadata:\n  name: a\nspec:\n  taints:\n  - key: gpu\n    effect: Never\n"
    )
    said = complaint(tmp_path, "--fleet", "fleet.yaml")
    assert said.startswith(
        'fleet.yaml: document 1: line 8: Node "a": spec.taints[0].effect: Unsupported value: "Never"'
    )
    assert [path.name for path in tmp_path.iterdir()] == ["fleet.yaml"]


def test_a_kubeconfig_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    with up(tmp_path, "--ephemeral") as running:
        path = running.ready().kubeconfig
        running.stop()
    path.write_text("clusters: [}")
    assert complaint(tmp_path, "--ephemeral", "--bind", "127.0.0.1:0").startswith(
        ".mooring/kubeconfig: line 1: not YAML: "
    )
    assert path.read_text() == "clusters: [}"


@pytest.mark.parametrize("name", ["tokens", "tls/ca.key"])
def test_files_of_ours_that_were_scribbled_on_are_said(tmp_path: Path, name: str) -> None:
    with up(tmp_path, "--ephemeral") as running:
        running.ready().stop()
    (tmp_path / ".mooring" / name).write_text("scribble")
    assert complaint(tmp_path, "--ephemeral", "--bind", "127.0.0.1:0").startswith(f".mooring/{name}")
    assert (tmp_path / ".mooring" / name).read_text() == "scribble"
