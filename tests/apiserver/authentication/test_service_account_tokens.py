"""Tokens of ServiceAccounts without a server: when they hold, and what the log says of those that do not."""

from __future__ import annotations

import base64
import json
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mooring.apiserver.authentication.chain import AuthenticatorChain
from mooring.apiserver.authentication.refusals import RefusalLog
from mooring.apiserver.authentication.service_account_tokens import Binding, ServiceAccountTokens
from mooring.apiserver.authentication.signing_key import SigningKey, SigningKeyError, ensure_signing_key
from mooring.apiserver.authentication.users import User
from mooring.kube.objects import Object

START = datetime(2026, 1, 1, tzinfo=UTC)
KEY = SigningKey()


class Accounts:
    """Tokens over a handful of objects and a clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = START
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.account = self.add("ServiceAccount", "robot")
        self.tokens = ServiceAccountTokens(lambda *key: self.objects.get(key), KEY, lambda: self.now)
        known = {"opaque": User("ada", ("system:authenticated",))}
        self.chain = AuthenticatorChain(lambda token: known.get(token or ""), self.tokens, lambda _: None)

    def add(self, kind: str, name: str, uid: str = "1") -> Object:
        namespace = "" if kind == "Node" else "prod"
        obj: Object = {"metadata": {"name": name, "namespace": namespace, "uid": uid}}
        self.objects[kind, namespace, name] = obj
        return obj

    def issue(self, binding: Binding | None = None, seconds: int = 600) -> str:
        return self.tokens.issue(self.account, seconds, self.tokens.audiences, binding, now=self.now, token_id="7")

    def user(self, token: str) -> User | None:
        return self.chain.authenticate(token)


@pytest.fixture
def accounts() -> Accounts:
    return Accounts()


def said(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(record.getMessage() for record in caplog.records)


def test_a_token_holds_until_it_expires(accounts: Accounts, caplog: pytest.LogCaptureFixture) -> None:
    token = accounts.issue(seconds=600)
    accounts.now += timedelta(seconds=659)
    user = accounts.user(token)
    assert user is not None
    assert user.name == "system:serviceaccount:prod:robot"
    accounts.now += timedelta(seconds=2)
    assert accounts.user(token) is None
    assert "is expired: service account token has expired" in said(caplog)
    assert "system:serviceaccount:prod:robot" in said(caplog)
    assert token not in said(caplog)


@pytest.mark.parametrize("kind", ["Pod", "Secret", "Node"])
def test_a_token_that_was_used_ends_with_the_object_it_is_bound_to(accounts: Accounts, kind: str) -> None:
    token = accounts.issue(Binding(kind, accounts.add(kind, "web")))
    assert accounts.user(token) is not None
    accounts.add(kind, "web", uid="2")
    assert accounts.user(token) is None
    accounts.add(kind, "web", uid="1")
    assert accounts.user(token) is not None
    del accounts.objects[kind, "" if kind == "Node" else "prod", "web"]
    assert accounts.user(token) is None


def test_a_pod_that_stops_may_use_its_token_for_a_minute(accounts: Accounts) -> None:
    pod = accounts.add("Pod", "web")
    token = accounts.issue(Binding("Pod", pod))
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:30Z"
    accounts.now += timedelta(seconds=89)
    assert accounts.user(token) is not None
    accounts.now += timedelta(seconds=2)
    assert accounts.user(token) is None


def test_the_node_of_a_pod_is_named_and_not_looked_at(accounts: Accounts) -> None:
    token = accounts.issue(Binding("Pod", accounts.add("Pod", "web"), {"metadata": {"name": "n1", "uid": "7"}}))
    user = accounts.user(token)
    assert user is not None
    extra = dict(user.extra)
    assert extra["authentication.kubernetes.io/node-name"] == ("n1",)
    assert extra["authentication.kubernetes.io/node-uid"] == ("7",)
    assert extra["authentication.kubernetes.io/pod-uid"] == ("1",)


def test_the_token_of_a_secret_lasts_as_long_as_the_secret_and_its_account(
    accounts: Accounts, caplog: pytest.LogCaptureFixture
) -> None:
    secret = accounts.add("Secret", "robots")
    token = accounts.tokens.issue_for_secret(accounts.account, secret)
    secret["data"] = {"token": base64.b64encode(token.encode()).decode()}
    user = accounts.user(token)
    assert user is not None
    assert user.name == "system:serviceaccount:prod:robot"
    accounts.now += timedelta(days=4000)
    assert accounts.user(token) is not None

    def is_refused(reason: str) -> bool:
        caplog.clear()
        return accounts.user(token) is None and f"is revoked: {reason}" in said(caplog)

    secret["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert is_refused("Token has been invalidated")
    del secret["metadata"]["deletionTimestamp"]
    secret["data"] = {"token": base64.b64encode(b"another").decode()}
    assert is_refused("Token does not match server's copy")
    secret["data"] = {"token": base64.b64encode(token.encode()).decode()}
    accounts.account["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert is_refused("ServiceAccount prod/robot has been deleted")
    accounts.add("ServiceAccount", "robot", uid="2")
    assert is_refused("ServiceAccount UID (2) does not match claim (1)")
    del accounts.objects["ServiceAccount", "prod", "robot"]
    assert is_refused('serviceaccounts "robot" not found')
    accounts.add("ServiceAccount", "robot")
    assert accounts.user(token) is not None
    del accounts.objects["Secret", "prod", "robots"]
    assert is_refused("Token has been invalidated")


def test_an_account_that_was_made_again_is_another_one(accounts: Accounts, caplog: pytest.LogCaptureFixture) -> None:
    token = accounts.issue()
    accounts.add("ServiceAccount", "robot", uid="2")
    assert accounts.user(token) is None
    assert "is revoked: service account UID (2) does not match claim (1)" in said(caplog)


def test_a_token_of_another_clusters_key_is_foreign(accounts: Accounts, caplog: pytest.LogCaptureFixture) -> None:
    elsewhere = ServiceAccountTokens(lambda *_: None, SigningKey(), lambda: START)
    token = elsewhere.issue(accounts.account, 600, elsewhere.audiences, None, now=START, token_id="7")
    assert accounts.user(token) is None
    assert "is foreign: invalid signature, no keys found" in said(caplog)


def _tampered(token: str, **claims: object) -> str:
    head, body, signature = token.split(".")
    known = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    changed = base64.urlsafe_b64encode(json.dumps(known | claims).encode()).rstrip(b"=").decode()
    return f"{head}.{changed}.{signature}"


def test_claims_that_were_changed_are_not_believed(accounts: Accounts) -> None:
    token = accounts.issue()
    assert accounts.user(token) is not None
    assert accounts.user(_tampered(token, exp=9_999_999_999)) is None


def test_a_token_that_names_no_algorithm_is_not_believed(accounts: Accounts) -> None:
    _, body, _ = accounts.issue().split(".")
    head = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    assert accounts.user(f"{head}.{body}.") is None


DEEP = base64.urlsafe_b64encode(b"[" * 100_000).decode().rstrip("=")


@pytest.mark.parametrize(
    "token", ["a.b.c", "ey.ey.ey", f"{DEEP}.{DEEP}.x", "x", "no such token", "\x00", "ä.ö.ü"], ids=range(7)
)
def test_a_token_of_no_form_is_malformed(accounts: Accounts, caplog: pytest.LogCaptureFixture, token: str) -> None:
    assert accounts.user(token) is None
    assert "because it is malformed" in said(caplog)


def test_other_tokens_are_known_by_their_file(accounts: Accounts) -> None:
    assert accounts.user("opaque") == User("ada", ("system:authenticated",))


def test_the_log_stays_short(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    accounts = Accounts()
    chain = AuthenticatorChain(lambda _: None, accounts.tokens, lambda _: None, RefusalLog(lambda: now))
    for number in range(1000):
        chain.authenticate(f"guess {number}")
    assert len(caplog.records) == 60
    now = 61.0
    chain.authenticate("one more")
    assert "940 more credentials were refused" in said(caplog)
    assert len(caplog.records) == 62
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_the_key_is_private_and_stays(tmp_path: Path, accounts: Accounts) -> None:
    path = tmp_path / "sa.key"
    ensure_signing_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    token = SigningKey(path).sign({"sub": "x"})
    ensure_signing_key(path)
    assert path.read_bytes() == before
    assert SigningKey(path).verifies(token)
    assert not KEY.verifies(token)


def test_a_key_that_cannot_be_read_says_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "sa.key"
    path.write_text("nonsense")
    with pytest.raises(SigningKeyError, match="is not PEM as Mooring writes it; put it back, or remove it"):
        SigningKey(path).sign({})
