"""Tokens: who comes in, what the file says of them, and that it says no more."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from mooring.apiserver.authentication.token_file import TokenError, TokenFile, add_token, put_token, read_tokens
from mooring.apiserver.authentication.users import User


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tokens"


def test_a_token_brings_its_user_and_groups(path: Path) -> None:
    token = add_token(path, "ada", ["ml-engineers", "gpu:users"])
    user = TokenFile(path).authenticate(token)
    assert user == User("ada", ("ml-engineers", "gpu:users", "system:authenticated"))


@pytest.mark.parametrize("wrong", [None, "", "x", "Bearer"])
def test_anything_else_brings_nobody(path: Path, wrong: str | None) -> None:
    token = add_token(path, "ada")
    tokens = TokenFile(path)
    assert tokens.authenticate(wrong) is None
    assert tokens.authenticate(f"{token}x") is None
    assert tokens.authenticate(token.swapcase()) is None


def test_the_hash_in_the_file_is_not_a_way_in(path: Path) -> None:
    token = add_token(path, "ada")
    assert token not in path.read_text()
    assert TokenFile(path).authenticate(read_tokens(path)[0].digest) is None


def test_only_its_owner_may_read_the_file(path: Path) -> None:
    add_token(path, "ada")
    add_token(path, "bob")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [token.name for token in read_tokens(path)] == ["ada", "bob"]
    assert list(path.parent.iterdir()) == [path]


def test_a_server_that_runs_takes_new_tokens(path: Path) -> None:
    add_token(path, "ada")
    tokens = TokenFile(path)
    later = add_token(path, "bob")
    user = tokens.authenticate(later)
    assert user is not None
    assert user.name == "bob"


def test_a_replaced_token_is_worth_nothing(path: Path) -> None:
    old = put_token(path, "admin", ["system:masters"])
    tokens = TokenFile(path, cache_seconds=0)
    new = put_token(path, "admin", ["system:masters"])
    assert tokens.authenticate(old) is None
    assert tokens.authenticate(new) is not None


def test_a_line_that_was_taken_out_is_worth_nothing(path: Path) -> None:
    token = add_token(path, "ada")
    tokens = TokenFile(path, cache_seconds=0)
    path.write_text("")
    assert tokens.authenticate(token) is None


def test_the_file_is_not_looked_at_for_every_request_of_those_who_are_known(path: Path) -> None:
    token = add_token(path, "ada")
    now = 0.0
    tokens = TokenFile(path, cache_seconds=0.1, monotonic=lambda: now)
    path.write_text("")
    assert tokens.authenticate(token) is not None
    now = 0.1
    assert tokens.authenticate(token) is None
    assert tokens.authenticate(add_token(path, "bob")) is not None


@pytest.mark.parametrize("text", ["half a line\n", None])
def test_a_file_that_cannot_be_read_for_a_while_locks_nobody_out(path: Path, text: str | None) -> None:
    token = add_token(path, "ada")
    tokens = TokenFile(path)
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    assert tokens.authenticate(token) is not None


def test_two_tokens_for_one_name_are_refused(path: Path) -> None:
    add_token(path, "ada")
    before = path.read_text()
    with pytest.raises(TokenError, match='there is a token for "ada" already; choose another name'):
        add_token(path, "ada")
    assert path.read_text() == before


@pytest.mark.parametrize("name", ["", "a b", "-ada", "ada\n", "a,b", "#", "ä", "x" * 254])
def test_names_that_do_not_fit_in_a_line_are_refused(path: Path, name: str) -> None:
    with pytest.raises(TokenError, match="cannot be used"):
        add_token(path, name)
    with pytest.raises(TokenError, match=r'(?s)group ".*" cannot be used'):
        add_token(path, "ada", [name])
    assert not path.exists()


def test_names_of_kubernetes_itself_are_refused(path: Path) -> None:
    with pytest.raises(TokenError, match="belong to Kubernetes itself"):
        add_token(path, "system:kube-scheduler")
    assert add_token(path, "ada", ["system:masters"])


@pytest.mark.parametrize("line", ["ada", "ada 12ab", "ada " + "0" * 64 + " a b", "a,b " + "0" * 64])
def test_a_line_that_is_none_is_named(path: Path, line: str) -> None:
    path.write_text(f"# comment\n\n{line}\n")
    with pytest.raises(TokenError, match="tokens: line 3: expected a name"):
        TokenFile(path)


def test_tokens_made_at_the_same_time_are_all_kept(path: Path) -> None:
    makers = [threading.Thread(target=add_token, args=(path, f"user-{number}")) for number in range(20)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert {token.name for token in read_tokens(path)} == {f"user-{number}" for number in range(20)}
