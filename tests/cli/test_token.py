"""`mooring token create` as a user types it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mooring.apiserver.authentication.token_file import TokenFile, put_token
from mooring.apiserver.authentication.users import User


def create(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mooring", "token", "create", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    (tmp_path / ".mooring").mkdir()
    put_token(tmp_path / ".mooring" / "tokens", "mooring-admin", ["system:masters"])
    return tmp_path / ".mooring" / "tokens"


def test_it_prints_a_token_and_nothing_else(tmp_path: Path, tokens: Path) -> None:
    made = create(tmp_path, "ada", "--group", "ml", "--group", "ops")
    assert (made.returncode, made.stderr) == (0, "")
    assert TokenFile(tokens).authenticate(made.stdout.strip()) == User("ada", ("ml", "ops", "system:authenticated"))


def test_another_folder_can_be_named(tmp_path: Path, tokens: Path) -> None:
    made = create(tmp_path.parent, "ada", "--data", str(tokens.parent))
    assert TokenFile(tokens).authenticate(made.stdout.strip()) == User("ada", ("system:authenticated",))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("mooring-admin",),
            'error: .mooring/tokens: there is a token for "mooring-admin" already; choose another name',
        ),
        (("a b",), 'error: name "a b" cannot be used: '),
        (("system:node",), 'error: name "system:node" cannot be used: names that start with system: belong to'),
        (("ada", "--group", ""), 'error: group "" cannot be used: '),
        (("ada", "--data", "elsewhere"), "error: elsewhere is not the folder of a cluster; run mooring up once"),
        ((), "error: Missing argument 'NAME'. See "),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    tmp_path: Path, tokens: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = tokens.read_bytes()
    done = create(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(said)
    assert len(done.stderr.splitlines()) == 1
    assert tokens.read_bytes() == before
