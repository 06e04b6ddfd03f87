"""The fixture that tests of commands start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """An empty world, whose folder is the current one."""
    monkeypatch.chdir(tmp_path)
    return World(tmp_path)
