"""`mooring token` as a user types it."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from contextlib import chdir
from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from mooring.apiserver.authentication.token_file import TokenFile, add_token, put_token, read_tokens
from mooring.apiserver.authentication.users import User
from mooring.cli.main import cli
from mooring.client.own_kubeconfig import with_cluster
from mooring.manifests.emit import to_yaml


def create(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return mooring(folder, "create", *arguments)


def mooring(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In this process: a story types a dozen commands, and starting Python takes longer than they do."""
    with chdir(folder):
        done = CliRunner().invoke(cli, ["token", *arguments], prog_name="mooring")
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    (tmp_path / ".mooring").mkdir()
    put_token(tmp_path / ".mooring" / "tokens", "mooring-admin", ["system:masters"])
    return tmp_path / ".mooring" / "tokens"


def test_it_prints_a_token_and_nothing_else(tmp_path: Path, tokens: Path) -> None:
    command = [sys.executable, "-m", "mooring", "token", "create", "ada", "--group", "ml", "--group", "ops"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (made.returncode, made.stderr) == (
        0,
        'note: "ada" has no role, and may do what bindings give to that name and to its groups (ml, ops); see --role\n',
    )
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
        (("ada", "--role", "root"), "error: Invalid value for '--role': 'root' is not one of 'view'"),
        (("ada", "-n", "shop"), 'error: namespace "shop" says where a role counts; name one with --role'),
        (("ada", "--role", "view", "-n", "Shop"), 'error: namespace "Shop" cannot be used: '),
        (("ada", "--expires", "soon"), "error: Invalid value for '--expires': \"soon\" is not a time such as 30d"),
        (("ada", "--expires", "0d"), "error: Invalid value for '--expires': \"0d\" is not a time such as 30d"),
        (("ada", "--kubeconfig", ".mooring/tokens"), "error: .mooring/tokens exists already; name another file"),
        (("ada", "--kubeconfig", "no/where"), "error: no is not a folder; name a file in one with --kubeconfig"),
        (("ada", "--kubeconfig", "k"), "error: .mooring/kubeconfig does not say where the cluster is; run mooring up"),
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


def test_a_role_a_time_and_a_kubeconfig_make_a_whole_user(tmp_path: Path, tokens: Path) -> None:
    admin = with_cluster({}, server="https://127.0.0.1:6443", authority=b"CA", token="secret")
    (tmp_path / ".mooring" / "kubeconfig").write_text(to_yaml(admin))
    made = create(tmp_path, "ada", "--role", "edit", "-n", "shop", "--expires", "30d", "--kubeconfig", "ada.yaml")
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "ada.yaml written\n")
    file = tmp_path / "ada.yaml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    written = yaml.safe_load(file.read_text())
    assert "secret" not in file.read_text()
    assert written["clusters"] == admin["clusters"]
    user = TokenFile(tokens).authenticate(written["users"][0]["user"]["token"])
    assert user == User("ada", ("system:authenticated",))
    [ada] = [token for token in read_tokens(tokens) if token.name == "ada"]
    assert (ada.role, ada.namespace) == ("edit", "shop")
    assert ada.created is not None
    assert ada.expires is not None
    assert timedelta(days=30) <= ada.expires - ada.created <= timedelta(days=30, seconds=5)


def test_tokens_are_listed_with_their_state_and_taken_back(tmp_path: Path, tokens: Path) -> None:
    text = tokens.read_text()
    tokens.write_text(
        f"{text}old {'0' * 64} ml\nlate {'1' * 64} - created=2025-01-01T00:00:00Z expires=2025-02-01T00:00:00Z\n"
    )
    add_token(tokens, "ada", role="edit", namespace="shop")
    lines = [line.split("   ") for line in mooring(tmp_path, "list").stdout.splitlines()]
    rows = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    created = rows[1][3]
    assert rows == [
        ["NAME", "GROUPS", "ROLE", "CREATED", "EXPIRES", "STATE"],
        ["ada", "<none>", "edit in shop", created, "never", "active"],
        ["late", "<none>", "<none>", "2025-01-01T00:00:00Z", "2025-02-01T00:00:00Z", "expired"],
        ["mooring-admin", "system:masters", "<none>", rows[3][3], "never", "active"],
        ["old", "ml", "<none>", "<unknown>", "never", "may do everything (made by an older version)"],
    ]
    assert [(each["name"], each["state"]) for each in json.loads(mooring(tmp_path, "list", "-o", "json").stdout)] == [
        ("ada", "active"),
        ("late", "expired"),
        ("mooring-admin", "active"),
        ("old", "legacy"),
    ]
    done = mooring(tmp_path, "revoke", "old")
    assert (done.returncode, done.stdout) == (0, 'token of "old" revoked\n')
    again = mooring(tmp_path, "revoke", "old")
    assert (again.returncode, again.stderr) == (
        1,
        'error: .mooring/tokens: there is no token for "old"; mooring token list shows them\n',
    )
    assert [token.name for token in read_tokens(tokens)] == ["mooring-admin", "late", "ada"]
