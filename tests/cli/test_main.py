"""The front door: help, version, and the name it goes by."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
    assert answer.exit_code == 1
    assert answer.stderr == 'error: there is no command "levitate". See cli --help.\n'


@pytest.mark.parametrize(
    ("typed", "where", "meant"),
    [(["expalin"], "cli", "explain"), (["snap"], "cli", "snapshot"), (["token", "creat"], "cli token", "create")],
)
def test_a_mistyped_command_is_told_what_it_may_be(typed: list[str], where: str, meant: str) -> None:
    answer = CliRunner().invoke(cli, typed)
    assert answer.exit_code == 1
    assert answer.stderr == (f'error: there is no command "{typed[-1]}"; did you mean {meant}? See {where} --help.\n')


def test_wrong_usage_of_a_group_does_not_mean_that_a_pod_cannot_land() -> None:
    assert CliRunner().invoke(cli, ["--fast"]).exit_code == 1
    nothing = CliRunner().invoke(cli, [])
    assert (nothing.exit_code, "Commands:" in nothing.stderr) == (1, True)


@pytest.mark.parametrize("arguments", [("--help",), ("explain", "--help"), ("run", "--list")])
def test_output_that_finds_no_room_is_one_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "mooring", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")


@pytest.mark.parametrize("horizon", ["99999999h", "9" * 400 + "h"])
def test_a_horizon_that_no_calendar_reaches_is_one_line(horizon: str) -> None:
    answer = CliRunner().invoke(cli, ["plan", "-f", "x", "--snapshot", "y", "--horizon", horizon])
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert answer.stderr == (
        f"error: Invalid value for '--horizon': \"{horizon}\" is not a duration such as 90s, 5m or 1h30m, "
        "of at most 2562047h. See cli plan --help.\n"
    )


@pytest.mark.parametrize(
    ("argv0", "name"),
    [("/usr/bin/mooring", "mooring"), ("/usr/bin/kubectl-mooring", "kubectl mooring"), ("x.py", "mooring")],
)
def test_usage_names_the_command_as_it_was_typed(argv0: str, name: str) -> None:
    assert program_name(argv0) == name
