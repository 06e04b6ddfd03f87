"""Copies of the checkout, so that nothing is ever changed in it: a copy's source shadows the installed one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

# Built, so not in version control; tests of the page read it.
_BUILT = ("src/mooring/runway/page",)


class Tree:
    """One copy, with its own files and the checkout's .venv."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        self.folder = folder
        self.marks = folder / "marks"
        self._versions = 0
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=checkout,
            check=True,
            capture_output=True,
            text=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (checkout / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(checkout / name, folder / name, follow_symlinks=False)
        for name in _BUILT:
            if (checkout / name).is_dir():
                shutil.copytree(checkout / name, folder / name)
        (folder / ".venv").symlink_to(checkout / ".venv")

    def write(self, path: Path, source: bytes) -> None:
        """Every version has a time of its own, or the compiled file of the one before would be taken for it."""
        target = self.folder / path
        target.write_bytes(source)
        self._versions += 1
        os.utime(target, (self._versions * 10, self._versions * 10))

    def pytest(self, *arguments: str) -> list[str]:
        """Without slow tests: a fault should be noticed by a quick one."""
        options = ["-q", "--no-header", "-rsfE", "--tb=no", "-m", "not slow", "--hypothesis-profile=ci"]
        plugins = ["-p", "_hypothesis_pytestplugin", "-p", "no:cacheprovider", "-p", "no:warnings"]
        return [sys.executable, "-m", "pytest", *options, *plugins, *arguments]

    def environment(self, **more: str) -> dict[str, str]:
        """Child processes of the tests read the copy too. Loading every plug-in takes longer than most tests."""
        own = {"PYTHONPATH": str(self.folder / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return {**os.environ, **own, **more}
