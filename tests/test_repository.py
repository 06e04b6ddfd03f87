"""The repository keeps its own promises: one way to set up, one way to test, files of a readable size."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from scripts.constraints import constraints

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MOST_LINES = 400
LOCK = (ROOT / "uv.lock").read_text(encoding="utf-8")


def test_ci_runs_make_test() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "target", ["up", "test", "lint", "mutants", "bench", "soak", "fuzz", "simulations", "setup", "clean"]
)
def test_make_knows_every_target(target: str) -> None:
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=False, capture_output=True)
    assert done.returncode == 0


def test_every_dependency_is_locked_from_the_public_index() -> None:
    packages = tomllib.loads(LOCK)["package"]
    registries = {package["source"]["registry"] for package in packages if "registry" in package["source"]}
    assert registries == {"https://pypi.org/simple"}
    locked = {package["name"] for package in packages}
    wanted = [*PYPROJECT["project"]["dependencies"], *PYPROJECT["dependency-groups"]["dev"]]
    assert {name.split(">")[0] for name in wanted} <= locked


def test_a_set_up_without_uv_installs_the_locked_versions() -> None:
    lines = constraints(LOCK)
    assert any(line.startswith("numpy==") and "python_full_version" in line for line in lines)
    assert any(line.startswith("pytest==") for line in lines)
    assert not any(line.startswith("mooring==") for line in lines)


def test_every_dependency_states_its_size_and_reason() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    for name in PYPROJECT["project"]["dependencies"]:
        (line,) = (line for line in lines if f'"{name}"' in line)
        assert " MB" in line.partition("#")[2], line


def test_nothing_that_editors_and_merges_leave_behind_is_tracked_or_packed() -> None:
    leftovers = ["*.orig", "*.rej", "*~"]
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    tracked = listed.stdout.splitlines()
    assert "pyproject.toml" in tracked
    assert [path for path in tracked for pattern in leftovers if fnmatch(path, pattern)] == []
    # The wheel holds what lies in the folder, tracked or not, less what is excluded here.
    assert set(leftovers) <= set(PYPROJECT["tool"]["hatch"]["build"]["exclude"])


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_every_module_says_why_it_exists(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_no_file_outgrows_its_reader() -> None:
    paths = [path for folder in ("src", "tests", "bench", "scripts") for path in (ROOT / folder).rglob("*.py")]
    sizes = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert {path: lines for path, lines in sizes.items() if lines > MOST_LINES} == {}


def test_every_module_of_a_controller_calls_it_controller() -> None:
    others, found = [], 0
    for path in SOURCES:
        for line in ast.parse(path.read_text(encoding="utf-8")).body:
            match line:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("Controller"))):
                    pass
                case ast.AnnAssign(ast.Name(name), _, ast.Call(ast.Name("Controller"))):
                    pass
                case _:
                    continue
            found += 1
            if name != "CONTROLLER":
                others.append(f"{path.relative_to(ROOT)}: {name}")
    assert not others
    assert found > 15


def test_the_version_is_one() -> None:
    answer = subprocess.run([sys.executable, "-m", "mooring", "--version"], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == f"mooring, version {ast.literal_eval(_version())}"


def _version() -> str:
    text = (ROOT / "src" / "mooring" / "__init__.py").read_text(encoding="utf-8")
    return text.partition("__version__ = ")[2].strip()
