"""docs/notebooks.md: its first steps work on `mooring up`, and nothing that it should name is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mooring.features.notebooks.feature import NOTEBOOKS
from mooring.nodes.process.machine_info import machine_info
from mooring.testing.processes import free_port
from mooring.testing.tools import tool
from tests.cli.embedded import up
from tests.nodes.process.home import needs_sandbox
from tests.support.git_servers import AUTHOR

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@needs_sandbox
def test_the_first_steps_lead_to_a_notebook_that_passed_and_its_report(tmp_path: Path) -> None:
    port = free_port()
    (steps,) = [block for block in BLOCK.findall(PAGE) if "KUBECONFIG" in block]
    (tmp_path / "examples").mkdir()
    for name in ("hello.ipynb", "notebook-hello.yaml"):
        text = (ROOT / "examples" / name).read_text(encoding="utf-8")
        (tmp_path / "examples" / name).write_text(text.replace(":9418", f":{port}"), encoding="utf-8")
    steps = steps.replace("9418", str(port)).replace("/tmp/notebooks", str(tmp_path / "served"))
    programs = (Path(tool("kubectl")).parent, Path(sys.executable).parent, os.environ["PATH"])
    environment = {**os.environ, **AUTHOR, "PATH": os.pathsep.join(map(str, programs))}
    with up(tmp_path) as running:
        running.says(f"This machine is node {machine_info().name}")
        # The daemon in the background is the one that is stopped.
        command = ["sh", "-c", f"set -e\ntrap 'kill $!' EXIT\n{steps}"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert re.search(r"^hello +Succeeded +hello.ipynb ", done.stdout, re.MULTILINE)
        assert "2 Success the mean of 3 rows is 1.0" in done.stdout
        assert "the mean of 3 rows is 1.0" in (tmp_path / "served" / "hello.html").read_text(encoding="utf-8")
        assert running.stop() == 0


def test_the_page_names_every_controller_and_flag() -> None:
    words = [*NOTEBOOKS.names, *(f"--{setting.name}" for setting in NOTEBOOKS.settings)]
    assert len(words) >= 3
    assert not [word for word in words if word not in PAGE]


def test_the_page_names_every_reason_of_a_failure_to_clone_and_every_sample() -> None:
    text = (ROOT / "src/mooring/features/notebooks/pods/failures.py").read_text(encoding="utf-8")
    reasons = set(re.findall(r'^    \d: \("(\w+)", "', text, re.MULTILINE))
    assert len(reasons) == 8
    assert not [reason for reason in reasons if f"`{reason}`" not in PAGE]
    samples = sorted((ROOT / "config" / "samples").glob("notebook-*.yaml"))
    assert len(samples) >= 4
    assert not [path.name for path in samples if f"config/samples/{path.name}" not in PAGE]
