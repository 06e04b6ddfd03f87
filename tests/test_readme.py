"""Every command in the README runs, as a reader would run it.

Commands run in a copy of the checkout's surface, with a `kubectl` that answers with the example fleet; those for the
cluster of `mooring up` run on one, with a real `kubectl`. What would start this very suite again, or make an
environment, is only checked for being there.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from mooring.testing.tools import ToolMissing, tool
from tests.cli.embedded import up

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(README)
LIVE = [block for block in BLOCKS if "KUBECONFIG" in block]
COMMANDS = [
    line for block in BLOCKS if block not in LIVE for line in block.splitlines() if line and not line.startswith("#")
]
CAN_LAND_OR_NOT = (0, 2)


def _real_kubectl() -> str | None:
    try:
        return str(tool("kubectl"))
    except ToolMissing:
        return shutil.which("kubectl")


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A directory in which the README's paths exist and nothing of the checkout can be overwritten."""
    for name in ("examples", ".venv", "Makefile", "pyproject.toml", "uv.lock", "scripts"):
        (tmp_path / name).symlink_to(ROOT / name)
    kubectl = tmp_path / "bin" / "kubectl"
    kubectl.parent.mkdir()
    kubectl.write_text(f'#!/bin/sh\n[ "$1" = get ] && cat "{ROOT}/examples/fleet.yaml"\n', encoding="utf-8")
    kubectl.chmod(kubectl.stat().st_mode | stat.S_IXUSR)
    return tmp_path


def run(command: str, desk: Path) -> subprocess.CompletedProcess[str]:
    path = f"{desk / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-c", command], cwd=desk, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )


def test_the_readme_shows_commands() -> None:
    assert COMMANDS[:2] == ["make up", "make test"]
    assert any("mooring explain" in command for command in COMMANDS)


def test_every_command_of_the_readme_runs(desk: Path) -> None:
    for command in COMMANDS:
        if command.startswith("make "):
            answer = run(command.replace("make ", "make --dry-run "), desk)
            assert answer.returncode == 0, f"{command}: {answer.stderr}"
            continue
        answer = run(command, desk)
        allowed = CAN_LAND_OR_NOT if "mooring " in command else (0,)
        assert answer.returncode in allowed, f"{command}: {answer.stderr}"
        assert not answer.stderr, f"{command}: {answer.stderr}"


@pytest.mark.skipif(_real_kubectl() is None, reason="needs kubectl on the PATH, or `sh scripts/tools.sh kubectl`")
def test_the_commands_for_a_cluster_of_ones_own_run_on_one(desk: Path) -> None:
    (block,) = LIVE
    (desk / "bin" / "kubectl").unlink()
    (desk / "bin" / "kubectl").symlink_to(str(_real_kubectl()))
    with up(desk) as running:
        running.says("5 nodes of the default fleet")
        answer = run(f"set -e\n{block}", desk)
        assert (answer.returncode, answer.stderr) == (0, ""), answer.stdout
        # This machine joins as the sixth node, a moment later.
        ready = re.findall(r"^(\S+) +Ready ", answer.stdout, re.MULTILINE)
        assert {"cpu-1", "cpu-2", "gpu-1", "gpu-2", "spot-1"} <= set(ready)
        assert len([line for line in answer.stdout.splitlines() if "1/1" in line and "Running" in line]) == 3
        assert running.stop() == 0


def test_the_tour_runs_to_its_end(desk: Path) -> None:
    answer = run("sh examples/tour.sh", ROOT)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert answer.stdout.count("$ mooring explain") == 2


def test_every_link_in_the_readme_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert target.startswith("https://") or (ROOT / target.partition("#")[0]).exists(), target
