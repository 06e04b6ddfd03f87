"""The Containerfile, read and not built: what it copies is there, what it runs exists, and it runs as nobody."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from mooring.cli.main import cli
from scripts.constraints import constraints

ROOT = Path(__file__).parents[2]


class Instruction(NamedTuple):
    stage: str
    word: str
    text: str


def instructions() -> list[Instruction]:
    found, stage = [], ""
    for line in (ROOT / "Containerfile").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, _, text = line.partition(" ")
        if word == "FROM":
            image, _, name = text.partition(" AS ")
            stage = name or "last"
            assert re.fullmatch(r"\$\{\w+\}", image), "an image is an argument"
        found.append(Instruction(stage, word, text.strip()))
    return found


def texts(word: str, stage: str | None = None) -> list[str]:
    return [each.text for each in instructions() if each.word == word and stage in (None, each.stage)]


def test_every_instruction_and_argument_is_known() -> None:
    assert {each.word for each in instructions()} == {
        "ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT", "CMD"
    }  # fmt: skip
    declared = {text.partition("=")[0] for text in texts("ARG")}
    used = {name for each in instructions() for name in re.findall(r"\$\{(\w+)\}", each.text)}
    assert used == declared


@pytest.mark.parametrize("text", texts("COPY", "build"))
def test_what_is_copied_is_in_the_checkout_and_not_ignored(text: str) -> None:
    *sources, _ = text.split()
    allowed = [
        line[1:]
        for line in (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    ]
    for source in sources:
        assert (ROOT / source).exists()
        assert source in allowed


def test_what_is_taken_from_other_stages_was_made_there() -> None:
    made = " ".join(texts("RUN", "build"))
    for text in texts("COPY", "last"):
        stage, source, _ = text.removeprefix("--from=").split()
        assert stage in {each.stage for each in instructions()}
        assert source == "${HELM_PATH}" or source in made


def test_the_commands_that_are_run_exist() -> None:
    built = texts("RUN", "build")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    for command in built:
        program, *arguments = shlex.split(command)
        name = Path(program).name
        assert name in ("python", *scripts)
        if name == "python" and arguments[0] != "-m":
            assert (ROOT / arguments[0]).exists()
        if name == "python" and arguments[0] == "-m":
            assert arguments[1] in ("pip", "venv")
    # Dependencies are those of the lock file, without which this would be empty.
    assert constraints((ROOT / "uv.lock").read_text(encoding="utf-8"))
    assert any("--constraint constraints.txt" in command for command in built)


def test_it_runs_the_program_as_nobody_in_particular() -> None:
    (user,), (entry,), (usual,) = texts("USER"), texts("ENTRYPOINT"), texts("CMD")
    assert all(part.isdigit() and int(part) > 0 for part in user.split(":"))
    assert instructions()[-1].stage == "last"
    assert json.loads(entry) == ["mooring"]
    (command,) = json.loads(usual)
    assert cli.get_command(click.Context(cli), command) is not None
