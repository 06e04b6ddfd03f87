"""Who judges a token, and what the log says of one that does not count."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mooring.apiserver.authentication.chain import AuthenticatorChain
from mooring.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from mooring.apiserver.authentication.signing_key import SigningKey
from mooring.apiserver.authentication.token_file import TokenFile, add_token, remove_token
from mooring.apiserver.authentication.users import User


def now() -> datetime:
    return datetime.now(UTC)


def test_a_token_is_refused_as_revoked_expired_or_foreign(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "tokens"
    revoked = add_token(path, "ada")
    expired = add_token(path, "bob", expires=now() - timedelta(seconds=1))
    tokens = TokenFile(path, cache_seconds=0)
    accounts = ServiceAccountTokens(lambda *_: None, SigningKey(), now)
    chain = AuthenticatorChain(tokens.authenticate, accounts, lambda _: None, refusal=tokens.refusal)
    assert chain.authenticate(revoked) is not None
    remove_token(path, "ada")
    for token in (revoked, expired, "x" * 43, "nonsense"):
        assert chain.authenticate(token) is None
        assert token not in caplog.text
    told = [record.getMessage().partition("because it is ")[2].partition(":")[0] for record in caplog.records]
    assert told == ["revoked", "expired", "foreign", "malformed"]


def test_every_token_is_judged_by_its_form(caplog: pytest.LogCaptureFixture) -> None:
    """Two dots are a token of a ServiceAccount, one is a bootstrap token's, and 43 letters are one of the file."""
    asked: list[str] = []

    def bootstrap(token: str) -> User | None:
        asked.append(token)
        return User("machine") if token == "abc.def" else None

    accounts = ServiceAccountTokens(lambda *_: None, SigningKey(), now)
    known = {"file": User("ada"), "x.y": User("dotted"), "a.b.c": User("never")}
    chain = AuthenticatorChain(lambda token: known.get(token or ""), accounts, bootstrap)
    opaque = "aZ09_-" + "x" * 37
    for token, user, why in (
        (None, "", ""),
        ("", "", ""),
        ("file", "ada", ""),
        ("x.y", "dotted", ""),
        ("abc.def", "machine", ""),
        ("abc.xyz", "", "malformed: it has the form of no token that this server accepts"),
        ("a.b.c", "", "malformed: it has the two dots of a JSON Web Token and cannot be read as one"),
        ("a.b.c.d", "", "malformed: it has the form of no token that this server accepts"),
        (opaque, "", "foreign: it is not, or no longer, in the file of tokens"),
        (opaque + "x", "", "malformed: it has the form of no token that this server accepts"),
        (opaque[1:], "", "malformed: it has the form of no token that this server accepts"),
        (opaque[1:] + "+", "", "malformed: it has the form of no token that this server accepts"),
    ):
        caplog.clear()
        found = chain.authenticate(token)
        assert ("" if found is None else found.name) == user, token
        said = [f"A token was refused, because it is {why}"] if why else []
        assert [record.getMessage() for record in caplog.records] == said, token
    assert asked == ["abc.def", "abc.xyz", "a.b.c.d"]
