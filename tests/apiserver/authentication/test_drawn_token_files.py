"""Drawn files of tokens, what happens to them while a server runs, drawn certificates, and drawn bootstrap tokens."""

from __future__ import annotations

import random
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from mooring.apiserver.authentication.bootstrap_tokens import authenticate_bootstrap_token
from mooring.apiserver.authentication.client_certificates import certificate_user
from mooring.apiserver.authentication.refusals import Refused
from mooring.apiserver.authentication.token_file import (
    Token,
    TokenFile,
    add_token,
    digest,
    put_token,
    readable_tokens,
    remove_token,
)
from mooring.apiserver.authentication.users import User
from mooring.kube.objects import Object
from mooring.net.tls import ClientCertificate

START: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
DIGEST: Final = digest("x")
LEGACY: Final = "mooring:legacy-token"
ALL: Final = "system:authenticated"
# Values of each part of a line, and whether a line may have them.
NAMES: Final = (("ada", True), ("a:b@c._-d", True), ("a", True), ("x" * 253, True), ("x" * 254, False), ("-a", False))
DIGESTS: Final = ((DIGEST, True), (DIGEST, True), (DIGEST.upper(), False), (DIGEST[1:], False), (DIGEST + "0", False))
GROUPS: Final = (("-", ()), ("ml", ("ml",)), ("ml,ops,,ml", ("ml", "ops", "ml")), ("-,ml", ("ml",)))
FIELDS: Final = (
    ("created", "2026-01-01T12:00:00Z", True),
    ("created", "2026-01-01T12:00:00Z", True),
    ("created", "yesterday", False),
    ("expires", "2026-01-02T12:00:00Z", True),
    ("expires", "", False),
    ("role", "edit", True),
    ("role", "cluster-admin", True),
    ("role", "king", False),
    ("namespace", "shop", True),
    ("own", "yes", True),
    ("own", "no", True),
    ("other", "x", False),
)


def test_drawn_lines_are_tokens_or_broken(tmp_path: Path) -> None:
    chance, path = random.Random(48), tmp_path / "tokens"
    counts = [0, 0]
    for _ in range(60):
        lines, tokens, broken = [], list[Token](), list[int]()
        for number in range(1, 21):
            if chance.random() < 0.15:
                lines.append(chance.choice(("", "  ", "# a comment", "#")))
                continue
            (name, good_name), (hashed, good_digest) = (
                chance.choice(NAMES[:4] * 3 + NAMES),
                chance.choice(DIGESTS[:2] * 3 + DIGESTS),
            )
            fields = chance.sample(FIELDS, chance.choice((0, 0, 1, 2, 3, 4)))
            if chance.random() < 0.5:
                fields = [FIELDS[0], *(each for each in fields if each[2] and each[0] != "created")]
            text, groups = chance.choice(GROUPS)
            if not fields and chance.random() < 0.5:
                text, groups = "", ()
            lines.append(" ".join((name, hashed, text, *(f"{key}={value}" for key, value, _ in fields))))
            keys = [key for key, _, _ in fields]
            good = all(each[2] for each in fields) and len(set(keys)) == len(keys)
            if not (good and good_name and good_digest and (not keys or "created" in keys)):
                broken.append(number)
                continue
            given = {key: value for key, value, _ in fields}
            tokens.append(
                Token(
                    name,
                    hashed,
                    groups,
                    created=START if "created" in given else None,
                    expires=START + timedelta(days=1) if "expires" in given else None,
                    role=given.get("role", ""),
                    namespace=given.get("namespace", ""),
                    own=given.get("own") == "yes",
                )
            )
        path.write_text("\n".join(lines))
        assert readable_tokens(path) == (tokens, broken), lines
        counts = [counts[0] + len(tokens), counts[1] + len(broken)]
        # What is written is read again, and stays the same text.
        path.write_text("".join(f"{each.line}\n" for each in tokens))
        assert readable_tokens(path) == (tokens, []), lines
        for each in tokens:
            more = (ALL,) if each.created else (LEGACY, ALL)
            assert each.user == User(each.name, tuple(dict.fromkeys((*each.groups, *more))))
    assert min(counts) > 200, counts


def test_a_server_knows_the_tokens_of_its_last_look_at_the_file(tmp_path: Path) -> None:
    for seed in range(8):
        chance, path, now, clock = random.Random(seed), tmp_path / f"tokens{seed}", 0.0, START
        put_token(path, "admin", ["system:masters"])
        tokens = TokenFile(path, monotonic=lambda: now, clock=lambda: clock)  # noqa: B023 - used in this round only
        # By secret: name and end, as the file has it and as the server knows it.
        listed: dict[str, tuple[str, datetime | None]] = {}
        known = dict(listed)
        revoked, looked, every = set[str](), 0.0, ["x"]
        for step in range(60):
            what = chance.choice(("add", "remove", "ask", "ask", "ask", "ask", "wait", "later"))
            if what == "add":
                ends = chance.choice((None, clock, clock + timedelta(seconds=30)))
                name = f"n{step}"
                every.append(add_token(path, name, ["g"], expires=ends))
                listed[every[-1]] = (name, ends)
            elif what == "remove" and listed:
                gone = chance.choice(list(listed))
                remove_token(path, listed.pop(gone)[0])
            elif what == "wait":
                now = round(now + chance.choice((0.05, 0.1, 0.15)), 2)
            elif what == "later":
                clock += timedelta(seconds=chance.choice((1, 29, 30)))
            else:
                token = chance.choice(every)
                if token not in known or now >= looked + 0.1:
                    looked = now
                    revoked |= known.keys() - listed.keys()
                    known = dict(listed)
                found = tokens.authenticate(token)
                name, ends = known.get(token, ("", None))
                counts = bool(name) and (ends is None or clock < ends)
                assert found == (User(name, ("g", ALL)) if counts else None), (seed, step)
                if not counts:
                    why = "expired" if name else "revoked" if token in revoked else "foreign"
                    assert tokens.refusal(token) == why, (seed, step)


def test_a_drawn_certificate_is_its_last_common_name_and_all_its_organizations() -> None:
    chance = random.Random(49)
    uid = "1.3.6.1.4.1.57683.2"
    for number in range(200):
        kinds = ("commonName", "organizationName", "organizationalUnitName", uid)
        subject = tuple((chance.choice(kinds), chance.choice(("a", "b", "", ALL))) for _ in range(chance.randrange(6)))
        ends, shown = 1000.0, chance.choice((999.0, 1000.0, 1000.5))
        certificate = ClientCertificate(subject, ends, f"d{number}")
        names, groups, uids = ([text for kind, text in subject if kind == each] for each in (*kinds[:2], uid))
        expected = None
        if names and names[-1] and shown <= ends:
            whole = [each for place, each in enumerate([*groups, ALL]) if each not in [*groups, ALL][:place]]
            extra = (("authentication.kubernetes.io/credential-id", (f"X509SHA256=d{number}",)),)
            expected = User(names[-1], tuple(whole), uids[0] if uids else "", extra)
        assert certificate_user(certificate, datetime.fromtimestamp(shown, UTC)) == expected, subject


def test_a_drawn_bootstrap_token_counts_or_is_refused_for_the_first_thing_that_is_wrong() -> None:
    chance, good = random.Random(50), ("abcdef", "0123456789abcdef")
    ends = {"": False, "2026-01-01T12:00:00Z": True, "2026-01-01T12:00:01Z": False, "2026-01-01T12:00:00": True}
    extras: dict[str, tuple[str, ...] | None] = {
        "": (),
        "system:bootstrappers:b,system:bootstrappers:a": ("system:bootstrappers:a", "system:bootstrappers:b"),
        "system:bootstrappers:B": None,
        "system:bootstrappers:": None,
        "system:bootstrappers:a-": None,
    }
    for _ in range(400):
        wrong = chance.choice(("", "", "", "gone", "deleted", "type", "id", "secret", "no data"))
        usage, extra, expiration = (
            chance.choice(("true", "true", "True")),
            chance.choice(list(extras)),
            chance.choice(list(ends)),
        )
        texts = {
            "token-id": "abcdeg" if wrong == "id" else good[0],
            "token-secret": good[1][:-1] if wrong == "secret" else good[1],
            "usage-bootstrap-authentication": usage,
            "auth-extra-groups": extra,
            "expiration": expiration,
        }
        data = {key: b64encode(text.encode()).decode() for key, text in texts.items() if text}
        stored: Object | None = {
            "metadata": {"name": "bootstrap-token-abcdef"} | ({"deletionTimestamp": "x"} if wrong == "deleted" else {}),
            "type": "Opaque" if wrong == "type" else "bootstrap.kubernetes.io/token",
            "data": None if wrong == "no data" else data,
        }
        stored = None if wrong == "gone" else stored
        shown, groups = "Secret kube-system/bootstrap-token-abcdef", extras[extra]
        expected: object
        if wrong in ("gone", "deleted"):
            expected = "revoked", f"there is no {shown}"
        elif wrong in ("type", "id", "no data"):
            expected = "foreign", f"{shown} is no bootstrap token"
        elif wrong == "secret":
            expected = "foreign", f"{shown} has another token-secret"
        elif ends[expiration]:
            expected = "expired", f"{shown} has expired"
        elif usage != "true":
            expected = "revoked", f"{shown} is not marked usage-bootstrap-authentication=true"
        elif groups is None:
            why = "has a group in auth-extra-groups that does not start with system:bootstrappers:"
            expected = "malformed", f"{shown} {why}"
        else:
            expected = User("system:bootstrap:abcdef", ("system:bootstrappers", *groups, ALL))
        try:
            found: object = authenticate_bootstrap_token(lambda *_: stored, lambda: START, ".".join(good))  # noqa: B023
        except Refused as refused:
            found = refused.why, str(refused)
        assert found == expected, (wrong, texts)
