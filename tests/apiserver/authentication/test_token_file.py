"""Tokens: who comes in, what the file says of them, and that it says no more."""

from __future__ import annotations

import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mooring.apiserver.authentication.token_file import (
    TokenError,
    TokenFile,
    add_token,
    adopt_token,
    digest,
    put_token,
    read_tokens,
    remove_token,
)
from mooring.apiserver.authentication.users import LEGACY_TOKENS, User


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


@pytest.mark.parametrize("text", ["half a line\n", "", None, b"\xff\n"])
def test_a_file_that_is_broken_or_missing_lets_only_the_clusters_own_in(path: Path, text: str | bytes | None) -> None:
    admin, ada = put_token(path, "mooring-admin", ["system:masters"]), add_token(path, "ada")
    tokens = TokenFile(path, cache_seconds=0)
    whole = path.read_bytes()
    path.unlink()
    if text is not None:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert tokens.authenticate(ada) is None
    # A file that says nothing was emptied on purpose; that is no damage.
    assert (tokens.authenticate(admin) is None) is (text == "")
    path.write_bytes(whole)
    assert tokens.authenticate(ada) is not None
    assert tokens.authenticate(admin) is not None


def test_of_a_broken_file_the_lines_that_can_be_read_count(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ada, bob, eve = (add_token(path, name) for name in ("ada", "bob", "eve"))
    tokens = TokenFile(path, cache_seconds=0)
    header, first, second, _ = path.read_text().splitlines()
    path.write_text("\n".join((header, first, second[:40])))
    assert tokens.authenticate(ada) is not None
    assert tokens.authenticate(bob) is None
    assert tokens.authenticate(eve) is None
    assert f"{path}: line 3 cannot be read; its tokens do not count until it is put right" in caplog.text


def test_a_token_counts_until_it_expires(path: Path) -> None:
    now = datetime(2026, 11, 16, tzinfo=UTC)
    token = add_token(path, "ada", expires=now + timedelta(days=30))
    tokens = TokenFile(path, clock=lambda: now)
    assert tokens.authenticate(token) is not None
    now += timedelta(days=30)
    assert tokens.authenticate(token) is None
    assert tokens.refusal(token) == "expired"


def test_a_token_that_does_not_count_has_a_reason(path: Path) -> None:
    token = add_token(path, "ada")
    tokens = TokenFile(path, cache_seconds=0)
    remove_token(path, "ada")
    assert tokens.authenticate(token) is None
    assert tokens.refusal(token) == "revoked"
    assert tokens.refusal("x") == "foreign"


def test_a_line_says_what_a_token_was_made_with(path: Path) -> None:
    until = datetime(2030, 1, 1, tzinfo=UTC)
    add_token(path, "ada", ["ml"], role="edit", namespace="shop", expires=until)
    put_token(path, "mooring-admin", ["system:masters"])
    ada, admin = read_tokens(path)
    assert (ada.groups, ada.role, ada.namespace, ada.expires, ada.own) == (("ml",), "edit", "shop", until, False)
    assert (admin.groups, admin.role, admin.expires, admin.own) == (("system:masters",), "", None, True)


def test_a_line_of_an_older_version_keeps_what_it_could_do(path: Path) -> None:
    path.write_text(f"ada {digest('a')}\nbob {digest('b')} ml,ops\n")
    add_token(path, "eve")
    tokens = TokenFile(path)
    assert [token.legacy for token in read_tokens(path)] == [True, True, False]
    assert tokens.authenticate("a") == User("ada", (LEGACY_TOKENS, "system:authenticated"))
    assert tokens.authenticate("b") == User("bob", ("ml", "ops", LEGACY_TOKENS, "system:authenticated"))


def test_the_administrator_of_an_older_version_is_the_clusters_own_from_now_on(path: Path) -> None:
    path.write_text(f"mooring-admin {digest('a')} system:masters\nada {digest('b')}\n")
    adopt_token(path, "mooring-admin")
    assert [(each.name, each.own, each.legacy) for each in read_tokens(path)] == [
        ("mooring-admin", True, False),
        ("ada", False, True),
    ]
    assert TokenFile(path).authenticate("a") == User("mooring-admin", ("system:masters", "system:authenticated"))


def test_a_file_that_could_not_be_opened_for_a_moment_is_read_again(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    token = add_token(path, "ada")
    tokens = TokenFile(path, cache_seconds=0)
    add_token(path, "bob")

    def refuse(*args: object, **kwargs: object) -> str:
        raise OSError(24, "Too many open files", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_text", refuse)
        assert tokens.authenticate(token) is None
        assert tokens.authenticate(token) is None
    assert tokens.authenticate(token) is not None
    assert caplog.text.count("Too many open files") == 1


def test_a_token_can_be_taken_back_and_the_clusters_own_cannot(path: Path) -> None:
    put_token(path, "mooring-admin", ["system:masters"])
    add_token(path, "ada")
    remove_token(path, "ada")
    assert [token.name for token in read_tokens(path)] == ["mooring-admin"]
    with pytest.raises(TokenError, match='there is no token for "ada"'):
        remove_token(path, "ada")
    with pytest.raises(TokenError, match="is the cluster's own and every start needs it"):
        remove_token(path, "mooring-admin")


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


@pytest.mark.parametrize(
    "line", ["ada", "ada 12ab", "ada " + "0" * 64 + " a b", "a,b " + "0" * 64, f"ada {'0' * 64} - role=view"]
)
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
