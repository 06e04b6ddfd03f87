"""What the log says of a token from the file of tokens that no longer counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mooring.apiserver.authentication.chain import AuthenticatorChain
from mooring.apiserver.authentication.service_account_tokens import ServiceAccountTokens
from mooring.apiserver.authentication.signing_key import SigningKey
from mooring.apiserver.authentication.token_file import TokenFile, add_token, remove_token


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
