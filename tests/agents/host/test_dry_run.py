"""What an agent says that it would do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mooring.agents.host.dry_run import preview
from mooring.agents.host.root_folder import RootFolder
from mooring.agents.host.settings import AgentSettings


@pytest.mark.parametrize(
    ("systemd", "manager"),
    [pytest.param(True, "systemd", id="with systemd"), pytest.param(False, "the agent itself", id="without")],
)
def test_who_runs_the_services_of_the_node_is_told(short_path: Path, systemd: bool, manager: str) -> None:
    settings = AgentSettings("node11", "default", RootFolder(short_path / "root"), short_path, systemd=systemd)
    told = asyncio.run(preview(settings, short_path / "no-kubeconfig"))
    assert f"# files below {short_path}/root; services are run by {manager}" in told
    assert list(short_path.iterdir()) == []
