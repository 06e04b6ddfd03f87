"""The runner is one file with the same bytes each time, in the syntax of the oldest Python it may meet."""

from __future__ import annotations

import ast
import io
import zipfile
from pathlib import Path

from mooring.notebook_runner.bundle import runner_zip

SOURCE = Path(__file__).parents[2] / "src" / "mooring" / "notebook_runner"
# A ConfigMap may have 1 MiB, and every job has one.
MOST_BYTES = 100_000


def test_the_zip_has_every_file_of_the_package_and_nothing_else_of_mooring() -> None:
    names = zipfile.ZipFile(io.BytesIO(runner_zip())).namelist()
    files = [path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    inside = {f"mooring/notebook_runner/{path.relative_to(SOURCE).as_posix()}" for path in files}
    assert set(names) == {"__main__.py", "mooring/__init__.py", *inside}
    assert names == sorted(names)


def test_the_zip_is_the_same_each_time() -> None:
    first = runner_zip()
    runner_zip.cache_clear()
    assert runner_zip() == first
    assert len(first) < MOST_BYTES


def test_every_module_is_in_the_syntax_of_the_oldest_python() -> None:
    for path in SOURCE.rglob("*.py"):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
