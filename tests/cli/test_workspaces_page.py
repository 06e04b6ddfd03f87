"""docs/workspaces.md: its first steps work on `mooring up`, and nothing that it should name is missing."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from mooring.features.workspaces.feature import SIMULATED_CLAIMS, WORKSPACES
from mooring.testing.tools import tool
from tests.cli.embedded import up

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "workspaces.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_first_steps_lead_to_a_workspace_that_serves(tmp_path: Path) -> None:
    (steps,) = [block for block in BLOCK.findall(PAGE) if "KUBECONFIG" in block]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environment = {**os.environ, "PATH": f"{Path(tool('kubectl')).parent}{os.pathsep}{os.environ['PATH']}"}
    with up(tmp_path) as running:
        running.says("5 nodes of the default fleet")
        command = ["sh", "-c", f"set -e\n{steps}"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert re.search(r"^phi-4-0 +1/1 +Running .* gpu-1 ", done.stdout, re.MULTILINE)
        assert running.stop() == 0


def test_the_page_names_every_controller_gate_and_flag() -> None:
    words = [*WORKSPACES.names, *SIMULATED_CLAIMS.names, *WORKSPACES.gates, *WORKSPACES.refused_gates]
    words += [f"--{setting.name}" for setting in (*WORKSPACES.settings, *SIMULATED_CLAIMS.settings)]
    assert not [word for word in words if word not in PAGE]


def test_the_page_names_every_condition() -> None:
    text = (ROOT / "src/mooring/features/workspaces/status.py").read_text(encoding="utf-8")
    conditions = set(re.findall(r'^[A-Z_]+: Final = "([A-Z]\w+)"', text, re.MULTILINE))
    assert len(conditions) > 5
    assert not [name for name in conditions if f"`{name}`" not in PAGE]


def test_every_example_of_a_workspace_is_on_the_page() -> None:
    files = sorted((ROOT / "examples").glob("workspace-*.yaml"))
    assert len(files) >= 3
    assert not [file.name for file in files if f"examples/{file.name}" not in PAGE]
