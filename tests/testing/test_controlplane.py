"""The real control plane as a program: what it needs to be told."""

from __future__ import annotations

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
