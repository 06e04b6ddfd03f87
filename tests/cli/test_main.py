"""The front door: help, version, and the name it goes by."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import mooring
from mooring.cli.main import COMMANDS, cli, program_name


def test_version() -> None:
    answer = CliRunner().invoke(cli, ["--version"])
    assert (answer.exit_code, answer.output) == (0, f"mooring, version {mooring.__version__}\n")


def test_help_lists_every_command_without_importing_it() -> None:
    answer = CliRunner().invoke(cli, ["--help"])
    assert answer.exit_code == 0
    for name, (_, summary) in COMMANDS.items():
        assert name in answer.output
        assert summary.split()[0] in answer.output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_answers_help(name: str) -> None:
    assert CliRunner().invoke(cli, [name, "--help"]).exit_code == 0


def test_an_unknown_command_is_an_error() -> None:
    answer = CliRunner().invoke(cli, ["levitate"])
    assert answer.exit_code == 2
    assert "No such command 'levitate'" in answer.output


@pytest.mark.parametrize(
    ("argv0", "name"),
    [("/usr/bin/mooring", "mooring"), ("/usr/bin/kubectl-mooring", "kubectl mooring"), ("x.py", "mooring")],
)
def test_usage_names_the_command_as_it_was_typed(argv0: str, name: str) -> None:
    assert program_name(argv0) == name
