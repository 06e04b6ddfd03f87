"""The documentation names every command, option and module that it should, and the commands in it run."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path

import click
import pytest

from mooring.api.crds.markers import Markers
from mooring.cli.main import cli
from scripts import modules

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_every_command_and_option_is_documented() -> None:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        command = cli.get_command(context, name)
        assert command is not None
        for parameter in command.params:
            for option in parameter.opts:
                assert parameter.param_type_name != "option" or f"`{option}" in page, f"{option} is not in {name}.md"


@pytest.mark.parametrize("package", ["net", "placement"])
def test_every_module_of_a_package_is_in_its_page(package: str) -> None:
    page = (DOCS / f"{package}.md").read_text(encoding="utf-8")
    modules = {path.name for path in (ROOT / "src/mooring" / package).glob("*.py") if not path.name.startswith("__")}
    missing = {name for name in modules if f"`{name}`" not in page}
    assert not missing
    named = re.findall(r"`([\w/]+\.py)`", page)
    gone = [
        name for name in named if not (ROOT / "src/mooring" / package / name).exists() and not name.startswith("tests/")
    ]
    assert not gone


def test_commands_in_the_documentation_run() -> None:
    commands = [
        line
        for page in sorted(DOCS.glob("*.md"))
        for block in BLOCK.findall(page.read_text(encoding="utf-8"))
        for line in block.splitlines()
    ]
    assert commands
    for command in commands:
        done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 2), f"{command}: {done.stderr}"
        assert not done.stderr, command


def test_the_tutorial_shows_the_controller_that_the_tests_run() -> None:
    page = (DOCS / "writing-a-controller.md").read_text(encoding="utf-8")
    sample = (ROOT / "tests/runtime/sample.py").read_text(encoding="utf-8")
    code = sample[sample.index("class ConfigMap") :]
    for part in code.split("\n\n\n"):
        assert part.strip() in page, part


def test_the_tutorial_of_kinds_runs_and_shows_the_sample(tmp_path: Path) -> None:
    page = (DOCS / "writing-a-kind.md").read_text(encoding="utf-8")
    sample = (ROOT / "tests/api/sample.py").read_text(encoding="utf-8")
    for part in sample[sample.index("from __future__") :].split("\n\n\n"):
        assert part.strip() in page, part
    script = tmp_path / "page.py"
    script.write_text("\n".join(PYTHON.findall(page)), encoding="utf-8")
    made = runpy.run_path(str(script), run_name="page")
    tests = [value for name, value in made.items() if name.startswith("test_")]
    assert len(tests) == 2


def test_every_module_of_crds_is_in_the_tutorial_of_kinds() -> None:
    page = (DOCS / "writing-a-kind.md").read_text(encoding="utf-8")
    modules = {path.name for path in (ROOT / "src/mooring/api/crds").glob("*.py") if not path.name.startswith("__")}
    assert not {name for name in modules if f"`{name}`" not in page}


def test_every_marker_is_in_the_tutorial_of_kinds() -> None:
    page = (DOCS / "writing-a-kind.md").read_text(encoding="utf-8")
    words = set(re.findall(r"[a-z_]+", page))
    assert not {name for name in Markers.__struct_fields__ if name not in words}


def test_every_package_has_a_table_of_its_modules() -> None:
    """Made from the docstrings: `python -m scripts.modules` after a module came, went or changed its first line."""
    assert modules.PAGE.read_text(encoding="utf-8") == modules.text(), f"run {modules.COMMAND}"


@pytest.mark.parametrize("name", ["api", "controller", "webhook", "workload", "feature"])
def test_the_tutorial_of_features_shows_the_sample_that_the_tests_run(name: str) -> None:
    page = (DOCS / "writing-a-feature.md").read_text(encoding="utf-8")
    sample = (ROOT / f"tests/features/sample/{name}.py").read_text(encoding="utf-8")
    assert sample[sample.index("from __future__") :].strip() in page


def test_what_architecture_points_to_is_there() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    section = page[page.index("## Where is it?") : page.index("## From a file to an answer")]
    paths = re.findall(r"`([\w/]+(?:\.py|/))`", section)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / "src" / "mooring" / path).exists()] == []


def test_every_picture_is_there_and_small() -> None:
    pages = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
    shown = {
        (page.parent / path).resolve()
        for page in pages
        for path in re.findall(r"[\w/.-]*pictures/[\w.-]+", page.read_text(encoding="utf-8"))
    }
    made = set((DOCS / "pictures").iterdir())
    assert shown == made, "What is shown is there, and nothing else lies there."
    assert {
        path.name for path in made if path.stat().st_size > (2_000_000 if path.suffix == ".webp" else 200_000)
    } == set()
