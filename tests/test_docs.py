"""The documentation names every command, option and module that it should, and the commands in it run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import click
import pytest

from mooring.cli.main import cli

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


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
