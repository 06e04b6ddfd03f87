"""The real control plane as a program: what it needs to be told."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from mooring.testing import controlplane


def test_it_asks_for_a_folder_and_starts_nothing_without(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["controlplane"])
    with pytest.raises(SystemExit) as ended:
        controlplane.main()
    assert ended.value.code == 2
    assert "the following arguments are required: --data" in capsys.readouterr().err


def test_a_program_that_it_does_not_know_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["controlplane", "--data", str(tmp_path / "plane"), "--with", "kube-ghost"])
    assert controlplane.main() == 1
    assert capsys.readouterr().err.startswith("error: ")


def test_it_says_where_the_kubeconfig_is_and_stops_when_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[tuple[Path, list[str], bool]] = []
    left: list[type[BaseException] | None] = []

    class Plane:
        kubeconfig = tmp_path / "kubeconfig"

        def __init__(self, folder: Path, extras: list[str], *, fsync: bool) -> None:
            made.append((folder, extras, fsync))

        def __enter__(self) -> Plane:
            return self

        def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
            left.append(kind)

    handlers: list[tuple[object, object]] = []
    monkeypatch.setattr(controlplane, "ControlPlane", Plane)
    monkeypatch.setattr(signal, "signal", lambda number, handler: handlers.append((number, handler)))
    monkeypatch.setattr(signal, "pause", lambda: signal.default_int_handler(signal.SIGINT, None))
    for arguments, extras, fsync in (
        ([], [], False),
        (["--with", "kube-scheduler,,kube-controller-manager", "--fsync"], [*controlplane.EXTRAS], True),
    ):
        monkeypatch.setattr(sys, "argv", ["controlplane", "--data", str(tmp_path), *arguments])
        assert controlplane.main() == 0
        assert made.pop() == (tmp_path, extras, fsync)
        assert left.pop() is KeyboardInterrupt
        assert handlers.pop() == (signal.SIGTERM, signal.default_int_handler)
        assert capsys.readouterr().out == f"{Plane.kubeconfig}\n"
