"""What people install has the web page inside."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mooring.runway.rest.page import PAGE_FOLDER
from mooring.testing.fixtures import missing

ROOT = Path(__file__).parent.parent
PAGE = "mooring/runway/page/"


@pytest.mark.slow
def test_the_wheel_has_the_page_inside(tmp_path: Path) -> None:
    # The build backend itself, which needs no network; a page that is up to date is not built again.
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if not (PAGE_FOLDER / "index.html").is_file():
        missing(RuntimeError(done.stderr))
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        index = opened.read(f"{PAGE}index.html").decode()
    assets = {name.removeprefix(PAGE) for name in names if name.startswith(f"{PAGE}assets/")}
    assert {Path(name).suffix for name in assets} >= {".css", ".js"}
    assert all(f"/{name}" in index for name in assets if name.endswith((".css", ".js"))), "Of this build, no other."
    assert "mooring/cli/main.py" in names
    assert not [name for name in names if "node_modules" in name]
