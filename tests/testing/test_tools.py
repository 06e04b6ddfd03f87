"""The tools that tests of both homes stand on: finding programs, running them, and a control plane's own mistakes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mooring.testing.controlplane import ControlPlane
from mooring.testing.processes import ProgramEnded, ProgramProcess
from mooring.testing.tools import ToolMissing, tool


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder for programs."""
    monkeypatch.setenv("MOORING_TOOLS", str(tmp_path))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def program(folder: Path, name: str) -> Path:
    path = folder / name
    path.touch(mode=0o755)
    return path


def test_a_missing_program_is_named_with_the_way_to_get_it(cache: Path) -> None:
    with pytest.raises(ToolMissing, match=r"There is no etcd in .*`sh scripts/tools.sh etcd` in a checkout builds it"):
        tool("etcd")


def test_the_usual_assets_come_before_what_was_built(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = program(cache, "etcd")
    assert tool("etcd") == built
    assets = cache.parent / "assets"
    assets.mkdir()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    assert tool("etcd") == built
    preferred = program(assets, "etcd")
    assert tool("etcd") == preferred


def test_a_process_that_ends_early_shows_its_last_words(tmp_path: Path) -> None:
    process = ProgramProcess(
        [sys.executable, "-c", "print('the harbour is full'); raise SystemExit(3)"], tmp_path / "log"
    )
    with pytest.raises(ProgramEnded, match=r"(?s)ended with exit code 3.*the harbour is full"):
        process.wait_until(lambda: False, 30)


def test_a_process_that_is_never_ready_is_given_up(tmp_path: Path) -> None:
    process = ProgramProcess([sys.executable, "-c", "import signal; signal.pause()"], tmp_path / "log")
    with pytest.raises(ProgramEnded, match="was not ready after"):
        process.wait_until(lambda: False, 0.1)
    assert process.running()
    assert process.stop() != 0
    assert not process.running()


def test_a_control_plane_knows_its_parts(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='A control plane has no "kubelet"'):
        ControlPlane(tmp_path, ["kubelet"])


def test_a_control_plane_without_programs_leaves_nothing_running(cache: Path, tmp_path: Path) -> None:
    plane = ControlPlane(tmp_path / "plane")
    with pytest.raises(ToolMissing, match="etcd"):
        plane.start()
    assert plane.pids() == {}
