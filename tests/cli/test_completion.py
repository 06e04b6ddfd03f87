"""`mooring completion`: scripts that shells take, and what they are answered."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mooring.cli.main import cli


@pytest.mark.parametrize(
    ("shell", "hooked"),
    [
        ("bash", "complete -o nosort -F _mooring_completion mooring"),
        ("zsh", "#compdef mooring"),
        ("fish", "complete --no-files --command mooring"),
    ],
)
def test_every_shell_has_a_script_that_hooks_the_command(shell: str, hooked: str) -> None:
    result = CliRunner().invoke(cli, ["completion", shell])
    assert (result.exit_code, hooked in result.stdout) == (0, True)


def test_another_shell_is_an_error_that_names_those_there_are() -> None:
    result = CliRunner().invoke(cli, ["completion", "tcsh"])
    assert result.exit_code == 1
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in result.stderr


def test_bash_completes_a_command_and_an_option_with_the_script(tmp_path: Path) -> None:
    program = tmp_path / "mooring"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mooring "$@"\n')
    program.chmod(0o755)
    script = """
        source <(mooring completion bash)
        ask() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _mooring_completion mooring
            echo "${COMPREPLY[*]}"
        }
        ask mooring expl
        ask mooring explain --all-no
    """
    path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], env=path, capture_output=True, text=True, check=True, timeout=60, cwd=Path.cwd()
    )
    assert done.stdout.split() == ["explain", "--all-nodes"]
