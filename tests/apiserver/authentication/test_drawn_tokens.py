"""Drawn tokens of ServiceAccounts, signed here, and what becomes of each by the rules of kube-apiserver."""

from __future__ import annotations

import base64
import json
import random
from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from mooring.apiserver.authentication import service_account_tokens as module
from mooring.apiserver.authentication.refusals import Refused
from mooring.apiserver.authentication.service_account_tokens import Binding, ServiceAccountTokens
from mooring.apiserver.authentication.signing_key import SigningKey
from mooring.apiserver.authentication.users import User
from mooring.apiserver.token_reviews import token_status
from mooring.kube.objects import Object

START: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECOND: Final = int(START.timestamp())
OURS: Final = "https://kubernetes.default.svc.cluster.local"
SUBJECT: Final = "system:serviceaccount:prod:robot"
GROUPS: Final = ["system:serviceaccounts", "system:serviceaccounts:prod", "system:authenticated"]
EXTRA: Final = "authentication.kubernetes.io/"
LEGACY: Final = "kubernetes.io/serviceaccount/"
INVALIDATED: Final = "service account token has been invalidated"
BROKEN: Final = ("foreign", "go-jose/go-jose: error in cryptographic primitive")
# How an object is found: there, gone, made anew, or being deleted for so many seconds, with its uid or another.
STATES: Final = ("there", "gone", "anew", "59", "60", "61", "anew 61")


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class OwnKey(SigningKey):
    """A key whose tokens can be signed here, and that counts how often it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.__dict__["_key"] = self.private
        self.asked = 0

    def verifies(self, token: str) -> bool:
        self.asked += 1
        return super().verifies(token)

    def signed(self, header: object, claims: object) -> str:
        text = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
        numbers = decode_dss_signature(self.private.sign(text.encode(), ec.ECDSA(SHA256())))
        return f"{text}.{encoded(b''.join(number.to_bytes(32, 'big') for number in numbers))}"


KEY: Final = OwnKey()
OTHER_KEY: Final = OwnKey()


class Objects:
    """The objects that tokens rest on, and a clock."""

    def __init__(self) -> None:
        self.now = START
        self.known: dict[tuple[str, str, str], Object] = {}
        self.tokens = ServiceAccountTokens(lambda *key: self.known.get(key), KEY, lambda: self.now)

    def put(self, kind: str, name: str, state: str) -> None:
        namespace = "" if kind == "Node" else "prod"
        *anew, age = state.split() if state not in ("there", "anew") else (*state.split(), "")
        if state == "gone":
            self.known.pop((kind, namespace, name), None)
            return
        uid = "new" if anew and anew[0] == "anew" else f"{kind}-1"
        metadata: Object = {"name": name, "namespace": namespace, "uid": uid}
        if age.isdigit():
            when = self.now - timedelta(seconds=int(age))
            metadata["deletionTimestamp"] = when.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.known[kind, namespace, name] = {"metadata": metadata}


class Case(NamedTuple):
    seconds: int
    # Seconds from when it was made to when it is shown.
    shown: float
    bound: tuple[str, ...]
    account: str
    rest: str
    audiences: tuple[str, ...]
    wanted: tuple[str, ...]
    wrong: str

    def claims(self) -> Object:
        bound: Object = {"namespace": "prod", "serviceaccount": {"name": "robot", "uid": "ServiceAccount-1"}}
        for kind in self.bound:
            bound[kind.lower()] = {"name": "web", "uid": f"{kind}-1"}
        if self.wrong == "nameless node":
            bound["node"] = {"name": "web"}
        return {
            "aud": list(self.audiences),
            "exp": SECOND + self.seconds,
            "iat": SECOND,
            "iss": "elsewhere" if self.wrong == "issuer" else OURS,
            "jti": "7",
            "kubernetes.io": bound,
            "nbf": SECOND,
            "sub": SUBJECT,
        }

    def token(self) -> str:
        header: Object = {"alg": "ES256", "kid": KEY.id}
        if self.wrong in ("none", "HS256", "ES384"):
            header["alg"] = self.wrong
        elif self.wrong == "no kid":
            del header["kid"]
        elif self.wrong == "kid":
            header["kid"] = OTHER_KEY.id
        token = (OTHER_KEY if self.wrong == "key" else KEY).signed(header, self.claims())
        head, body, signature = token.split(".")
        changes = {
            "claims": f"{head}.{encoded(decoded(body).replace(b'robot', b'admin'))}.{signature}",
            "signature": f"{head}.{body}.{encoded(bytes(64))}",
            "short": f"{head}.{body}.{encoded(decoded(signature)[:-1])}",
            "long": f"{head}.{body}.{encoded(decoded(signature) + b'x')}",
            # The same two numbers, one of them with a zero before it.
            "stretched": f"{head}.{body}.{encoded(decoded(signature)[:32] + bytes(1) + decoded(signature)[32:])}",
            "padded": f"{token}==",
            "umlaut": f"{token[:-1]}ä",
            "empty": f"{head}.{body}.",
            "DER": f"{head}.{body}.{encoded(_der(decoded(signature)))}",
            "padded claims": f"{head}.{body}=.{signature}",
            "list": KEY.signed([header], self.claims()),
            "text": KEY.signed(header, "claims"),
            "no JSON": f"{encoded(b'alg')}.{body}.{signature}",
            "four parts": f"{token}.x",
            "two parts": f"{head}.{body}",
        }
        return changes.get(self.wrong, token)


def _der(raw: bytes) -> bytes:
    return encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))


NO_TOKEN: Final = ("padded claims", "list", "text", "no JSON", "four parts", "two parts")
BAD_SIGNATURE: Final = (
    "key",
    "none",
    "HS256",
    "ES384",
    "claims",
    "signature",
    "short",
    "long",
    "stretched",
    "padded",
    "umlaut",
)
WRONGS: Final = (*NO_TOKEN, *BAD_SIGNATURE, "empty", "DER", "kid", "no kid", "issuer", "nameless node")
BOUND: Final = ((), ("Pod",), ("Secret",), ("Node",), ("Pod", "Node"), ("Pod", "Secret"))
AUDIENCES: Final = ((OURS,), (OURS, "vault"), ("vault",), ("vault", "registry"))


def draw(chance: random.Random) -> Case:
    seconds = chance.choice((600, 3600))
    shown = 10.0
    if chance.random() < 0.3:
        shown = chance.choice((-61, -60.5, -60, 0, seconds, seconds + 59, seconds + 60, seconds + 60.5, seconds + 61))
    rest, account = (chance.choice(STATES) if chance.random() < share else "there" for share in (0.5, 0.2))
    wanted = chance.choice(((), *AUDIENCES, ("registry", "vault"))) if chance.random() < 0.5 else ()
    audiences = chance.choice(AUDIENCES) if wanted or chance.random() < 0.2 else (OURS,)
    wrong = chance.choice(WRONGS) if chance.random() < 0.25 else ""
    return Case(seconds, shown, chance.choice(BOUND), account, rest, audiences, wanted, wrong)


# Why a token is refused and what a review says of it; None for what is none of these tokens.
Outcome = tuple[str, str] | User | None


def by_the_rules(case: Case) -> tuple[Outcome, tuple[str, ...]]:
    """What becomes of a token, and for which audiences it counts."""
    if case.wrong in NO_TOKEN:
        return None, ()
    if case.wrong == "issuer":
        return ("foreign", "invalid bearer token"), ()
    if case.wrong == "kid":
        return ("foreign", "invalid signature, no keys found"), ()
    if case.wrong in (*BAD_SIGNATURE, "empty", "DER"):
        return BROKEN, ()
    if case.shown > case.seconds + 60:
        return ("expired", "service account token has expired"), ()
    if case.shown < -60:
        return ("foreign", "service account token is not valid yet"), ()
    if case.account == "gone":
        return ("revoked", 'serviceaccounts "robot" not found'), ()
    if case.account.startswith("anew"):
        return ("revoked", "service account UID (new) does not match claim (ServiceAccount-1)"), ()
    if case.account == "61":
        return ("revoked", "service account prod/robot has been deleted"), ()
    bound = list(case.bound) + (["Node"] if case.wrong == "nameless node" and "Node" not in case.bound else [])
    # The node of a pod is not asked for. Secrets come before pods.
    judged = [kind for kind in ("Secret", "Pod" if "Pod" in bound else "Node") if kind in bound]
    for kind in judged:
        if case.rest == "gone":
            return ("revoked", INVALIDATED), ()
        word, uid = kind.lower(), f"{kind}-1"
        known = "new" if case.rest.startswith("anew") else uid
        claimed = "" if kind == "Node" and case.wrong == "nameless node" else uid
        if known != claimed:
            return ("revoked", f"{word} UID ({known}) does not match service account {word} ref claim ({claimed})"), ()
        if case.rest == "61":
            return ("revoked", INVALIDATED), ()
    wanted = case.wanted or (OURS,)
    both = tuple(each for each in case.audiences if each in wanted)
    if not both:
        lists = [f"[{' '.join(json.dumps(each) for each in some)}]" for some in (case.audiences, wanted)]
        why = f"token audiences {lists[0]} is invalid for the target audiences {lists[1]}"
        return ("of another audience", why), ()
    extra = [(f"{EXTRA}credential-id", ("JTI=7",))]
    for kind in ("Node", "Pod"):
        if kind in bound:
            extra.append((f"{EXTRA}{kind.lower()}-name", ("web",)))
            if kind == "Pod" or case.wrong != "nameless node":
                extra.append((f"{EXTRA}{kind.lower()}-uid", (f"{kind}-1",)))
    return User(SUBJECT, tuple(GROUPS), "ServiceAccount-1", tuple(extra)), both


def outcome(objects: Objects, token: str, wanted: tuple[str, ...]) -> tuple[Outcome, tuple[str, ...]]:
    try:
        found = objects.tokens.authenticate(token, wanted)
    except Refused as refused:
        return (refused.why, str(refused)), ()
    return (None, ()) if found is None else (found.user, found.audiences)


def reviewed(expected: Outcome, audiences: Sequence[str]) -> Object:
    if isinstance(expected, User):
        extra = {key: list(values) for key, values in sorted(expected.extra)}
        info = {"username": expected.name, "uid": expected.uid, "groups": list(expected.groups), "extra": extra}
        shown = {key: value for key, value in info.items() if value}
        return {"authenticated": True, "user": shown, "audiences": list(audiences)}
    why = "" if expected is None else expected[1]
    twice = why and why != "invalid bearer token"
    return {"user": {}, "error": f"[invalid bearer token, {why}]" if twice else "invalid bearer token"}


def review(objects: Objects, token: str, wanted: tuple[str, ...]) -> Object:
    return token_status({"token": token, "audiences": list(wanted)}, lambda _: None, objects.tokens)


def test_a_drawn_token_counts_or_is_refused_by_the_rules() -> None:
    chance, seen = random.Random(41), set[str]()
    for number in range(1500):
        case, objects = draw(chance), Objects()
        objects.now = START + timedelta(seconds=case.shown)
        objects.put("ServiceAccount", "robot", case.account)
        for kind in ("Pod", "Secret", "Node"):
            objects.put(kind, "web", case.rest)
        token, expected = case.token(), by_the_rules(case)
        found = outcome(objects, token, case.wanted)
        assert found == expected, f"case {number}: {case}"
        # What is remembered of a token makes no difference.
        assert outcome(objects, token, case.wanted) == expected, f"case {number}, again: {case}"
        assert review(objects, token, case.wanted) == reviewed(*expected), f"case {number}: {case}"
        seen.add(expected[0][1][:40] if isinstance(expected[0], tuple) else type(expected[0]).__name__)
    assert len(seen) > 12, seen


def test_who_is_refused_is_named_once_the_signature_is_known_to_be_ours() -> None:
    chance = random.Random(42)
    for _ in range(300):
        case, objects = draw(chance), Objects()
        objects.now = START + timedelta(seconds=case.shown)
        for kind, name in (("ServiceAccount", "robot"), ("Pod", "web"), ("Secret", "web"), ("Node", "web")):
            objects.put(kind, name, case.account if kind == "ServiceAccount" else case.rest)
        if not isinstance(by_the_rules(case)[0], tuple):
            continue
        with pytest.raises(Refused) as refused:
            objects.tokens.authenticate(case.token(), case.wanted)
        unknown = case.wrong in (*BAD_SIGNATURE, "empty", "DER", "kid", "issuer")
        assert refused.value.owner == ("" if unknown else SUBJECT), case


def test_the_token_of_a_secret_counts_or_is_refused_by_the_rules() -> None:
    account = {"metadata": {"name": "robot", "namespace": "prod", "uid": "ServiceAccount-1"}}
    secret = {"metadata": {"name": "web", "namespace": "prod", "uid": "Secret-1"}}
    token = Objects().tokens.issue_for_secret(account, secret)
    assert json.loads(decoded(token.split(".")[1])) == {
        "iss": "kubernetes/serviceaccount",
        f"{LEGACY}namespace": "prod",
        f"{LEGACY}secret.name": "web",
        f"{LEGACY}service-account.name": "robot",
        f"{LEGACY}service-account.uid": "ServiceAccount-1",
        "sub": SUBJECT,
    }
    user = User(SUBJECT, tuple(GROUPS), "ServiceAccount-1")
    for rest in STATES:
        for state in STATES:
            for data in (token, f"{token}x", None):
                for wanted in ((), (OURS, "vault"), ("vault",)):
                    objects = Objects()
                    objects.put("ServiceAccount", "robot", state)
                    objects.put("Secret", "web", rest)
                    if data is not None and rest != "gone":
                        text = base64.b64encode(data.encode()).decode()
                        objects.known["Secret", "prod", "web"]["data"] = {"token": text}
                    why = ""
                    if rest == "gone" or rest[-1].isdigit():
                        why = "Token has been invalidated"
                    elif data != token:
                        why = "Token does not match server's copy"
                    elif state == "gone":
                        why = 'serviceaccounts "robot" not found'
                    elif state[-1].isdigit():
                        why = "ServiceAccount prod/robot has been deleted"
                    elif state == "anew":
                        why = "ServiceAccount UID (new) does not match claim (ServiceAccount-1)"
                    expected: tuple[Outcome, tuple[str, ...]] = (("revoked", why), ()) if why else (user, (OURS,))
                    if not why and wanted == ("vault",):
                        text = f'token audiences ["{OURS}"] is invalid for the target audiences ["vault"]'
                        expected = ("of another audience", text), ()
                    assert outcome(objects, token, wanted) == expected, (rest, state, data, wanted)
                    # A signature that was verified is not looked at again, and the rest always is.
                    if not why:
                        asked = KEY.asked
                        assert outcome(objects, token, wanted) == expected, (rest, state, data, wanted)
                        assert KEY.asked == asked
                        objects.put("Secret", "web", "gone")
                        assert outcome(objects, token, wanted)[0] == ("revoked", "Token has been invalidated")


def test_what_is_issued_claims_what_was_asked_for() -> None:
    chance = random.Random(43)
    x, y = (int.from_bytes(decoded(KEY.public[each]), "big") for each in "xy")
    numbers = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1())
    account = {"metadata": {"name": "robot", "namespace": "prod", "uid": "ServiceAccount-1"}}
    for _ in range(150):
        seconds, audiences = chance.choice((600, 3606, 3607, 3608, 2**32)), chance.choice(AUDIENCES)
        kind = chance.choice(("", "Pod", "Secret", "Node"))
        node = chance.choice((None, {"name": "n1", "uid": "9"}, {"name": "n1"})) if kind == "Pod" else None
        now = START + timedelta(milliseconds=chance.choice((0, 499, 999)))
        obj: Object = {"metadata": {"name": "web", "namespace": "prod", "uid": "1", "labels": {"a": "b"}}}
        binding = Binding(kind, obj, None if node is None else {"metadata": node}) if kind else None
        token = Objects().tokens.issue(account, seconds, audiences, binding, now=now, token_id="7")
        text, _, signature = token.rpartition(".")
        key, raw = numbers.public_key(), decoded(signature)
        key.verify(_der(raw), text.encode(), ec.ECDSA(SHA256()))
        header, claims = (json.loads(decoded(part)) for part in text.split("."))
        assert header == {"alg": "ES256", "kid": KEY.public["kid"]}
        bound: dict[str, Any] = {"namespace": "prod", "serviceaccount": {"name": "robot", "uid": "ServiceAccount-1"}}
        if kind:
            bound[kind.lower()] = {"name": "web", "uid": "1"}
        if node:
            bound["node"] = node
        lasts = seconds
        if kind == "Pod" and audiences == (OURS,) and seconds == 3607:
            bound["warnafter"], lasts = SECOND + 3607, 31_536_000
        assert list(claims["kubernetes.io"]) == sorted(bound)
        assert claims == {
            "aud": list(audiences),
            "exp": SECOND + lasts,
            "iat": SECOND,
            "iss": OURS,
            "jti": "7",
            "kubernetes.io": bound,
            "nbf": SECOND,
            "sub": SUBJECT,
        }


def test_the_signatures_of_the_tokens_used_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_VERIFIED_TOKENS", 3)
    chance, objects = random.Random(44), Objects()
    objects.put("ServiceAccount", "robot", "there")
    case = Case(600, 0, (), "there", "there", (OURS,), (), "")
    tokens = [case.token() for _ in range(6)]
    assert len(set(tokens)) == 6
    remembered = OrderedDict[str, None]()
    for _ in range(200):
        token, before = chance.choice(tokens), KEY.asked
        assert objects.tokens.authenticate(token) is not None
        assert KEY.asked - before == (token not in remembered)
        remembered[token] = None
        remembered.move_to_end(token)
        while len(remembered) > 3:
            remembered.popitem(last=False)
