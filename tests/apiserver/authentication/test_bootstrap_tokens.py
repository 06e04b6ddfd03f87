"""Bootstrap tokens: whom they stand for, and what the log says of those that do not count."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

import pytest

from mooring.apiserver.authentication.bootstrap_tokens import authenticate_bootstrap_token
from mooring.apiserver.authentication.refusals import Refused
from mooring.apiserver.authentication.users import User
from mooring.kube.objects import Object

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TOKEN = "abcdef.0123456789abcdef"
GOOD = {
    "token-id": "abcdef",
    "token-secret": "0123456789abcdef",
    "usage-bootstrap-authentication": "true",
}


def secret(type_: str = "bootstrap.kubernetes.io/token", **changes: str) -> Object:
    texts = GOOD | {key.replace("_", "-"): value for key, value in changes.items()}
    data = {key: b64encode(text.encode()).decode() for key, text in texts.items()}
    return {"metadata": {"name": "bootstrap-token-abcdef"}, "type": type_, "data": data}


def user(stored: Object | None, token: str = TOKEN) -> User | None:
    def find(*key: Any) -> Object | None:
        assert key == ("Secret", "kube-system", "bootstrap-token-abcdef")
        return stored

    return authenticate_bootstrap_token(find, lambda: NOON, token)


def test_a_bootstrap_token_is_a_user_of_its_own() -> None:
    assert user(secret()) == User("system:bootstrap:abcdef", ("system:bootstrappers", "system:authenticated"))


def test_it_may_name_more_groups_of_bootstrappers() -> None:
    found = user(secret(auth_extra_groups="system:bootstrappers:b,system:bootstrappers:a"))
    assert found is not None
    assert found.groups == (
        "system:bootstrappers",
        "system:bootstrappers:a",
        "system:bootstrappers:b",
        "system:authenticated",
    )


def test_it_counts_until_it_expires() -> None:
    assert user(secret(expiration="2026-01-01T12:00:01Z")) is not None


@pytest.mark.parametrize(
    ("stored", "why", "text"),
    [
        (None, "revoked", "there is no Secret kube-system/bootstrap-token-abcdef"),
        (secret("Opaque"), "foreign", "is no bootstrap token"),
        (secret(token_id="ghijkl"), "foreign", "is no bootstrap token"),
        (secret(token_secret="other"), "foreign", "has another token-secret"),
        (secret(expiration="2026-01-01T12:00:00Z"), "expired", "has expired"),
        (secret(expiration="tomorrow"), "expired", "has expired"),
        (secret(usage_bootstrap_authentication="false"), "revoked", "usage-bootstrap-authentication"),
        (secret(auth_extra_groups="system:masters"), "malformed", "has a group in auth-extra-groups"),
    ],
)
def test_one_that_does_not_count_says_why(stored: Object | None, why: str, text: str) -> None:
    with pytest.raises(Refused, match=text) as refused:
        user(stored)
    assert refused.value.why == why
    assert TOKEN.partition(".")[2] not in str(refused.value)


@pytest.mark.parametrize("token", ["abcdef", "abcdef.short", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcdef\n"])
def test_what_has_another_form_is_none(token: str) -> None:
    assert user(secret(), token) is None
