"""What follows from kubeconfigs that are drawn: each value of each field once, and several odd ones together.

Access, and the headers of a minute later and after a refusal, or one line that names the file.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mooring.client import kubeconfig
from mooring.client.access import Access
from mooring.client.kubeconfig import find_access
from mooring.client.own_kubeconfig import admin_token, cluster_entry, user_config, with_cluster
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.net.tls import show_certificate
from tests.client.desk import NOW, Desk, b64, config
from tests.support.golden import same_as_recorded

V1, BETA = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
EXTENSION = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}
GONE: Any = object()
# What no field can be, for one reason or another.
ENDS: tuple[Any, ...] = (5, "x", "%%", "gone", "folder", "bytes", "other", GONE)

Fields = Mapping[str, list[Any]]


def clusters(desk: Desk) -> Fields:
    return {
        "server": [
            *("https://a:1/k8s//", "http://a", "https://[::1]:7", "https://u@a:7", "ftp://a", "https://", "a:6443"),
            *("https://a:0x", "https://a:70000", "https://[a", "HTTPS://A", 5, None, "", GONE),
        ],
        "certificate-authority-data": [b64(desk.authority), b64(b"none"), "%%", " ", 5, None, "", GONE],
        "certificate-authority": ["ca.pem", "remarks.pem", "folder", "gone", "empty", "bytes", "token", 5, ""],
        "insecure-skip-tls-verify": [True, False, "yes", None, 0],
        "tls-server-name": ["other", 5, None, ""],
        "proxy-url": ["http://p:1", "http://u:s@p", "https://p:1", "socks5://p", "p:1", "http://", "http://p:x", 5, ""],
        "extensions": [[EXTENSION], [{"name": "other", "extension": {}}, EXTENSION], [5], {}, [{}], None],
        "disable-compression": [True],
    }


def users(desk: Desk, plugins: list[Object]) -> Fields:
    return {
        "token": ["t", "", None, 5, "a b"],
        "tokenFile": ["token", "gone", "folder", "empty", "bytes", str(desk.folder / "token"), 5, ""],
        "username": ["ada", "", 5, None, "a:b"],
        "password": ["lace", "", 5, None],
        "client-certificate-data": [b64(desk.certificate), b64(b"none"), "%%", 5, ""],
        "client-certificate": ["tls/tls.crt", "own.crt", "gone", "folder", "empty", ""],
        "client-key-data": [b64(desk.key), b64(b"none"), "%%", None],
        "client-key": ["own.key", "gone", "empty"],
        "auth-provider": [{"name": "gcp"}, {}, None, 5],
        "as": ["bob", "", 5, None],
        "as-uid": ["u1", "", 5],
        "as-groups": [["ml"], ["ml", "ops"], [], "ml", [5], None],
        "as-user-extra": [{"a": ["b"]}, {}, None],
        "exec": [*plugins, {}, None, 5, []],
    }


def contexts() -> Fields:
    return {
        "cluster": ["c", "other", "", None, 5, GONE],
        "user": ["u", "other", "", None, 5, GONE],
        "namespace": ["ml", "", None, 5, "a/b", "A", "x" * 64, "x" * 63],
        "extensions": [[{}]],
    }


def files() -> Fields:
    twice = [{"name": "x"}, {"name": "x"}]
    lists: list[Any] = [[], None, {}, "x", [5], [{}], [{"name": 5}], twice]
    return {
        "kind": ["Config", "config", "", None, 5, GONE],
        "apiVersion": ["v2", None, GONE],
        "current-context": ["x", "y", "", None, 5, GONE],
        "clusters": [*lists, [{"name": "c"}], [{"name": "c", "cluster": None}], [{"name": "c", "cluster": 5}]],
        "users": [*lists, [{"name": "u"}], [{"name": "u", "user": None}], [{"name": "u", "user": "x"}]],
        "contexts": [*lists, [{"name": "x"}], [{"name": "x", "context": []}]],
        "preferences": [{}],
    }


def plugins(desk: Desk) -> list[Object]:
    until = (NOW + timedelta(minutes=1)).isoformat()
    fits = {"clientCertificateData": desk.certificate.decode(), "clientKeyData": desk.key.decode()}
    statuses: list[Any] = [
        *({"token": "t"}, {"token": "t", "expirationTimestamp": until}, {"token": "t", **fits}, fits, {}, None, "x"),
        {"token": "t", "expirationTimestamp": "2026-11-15T12:00:30"},
        *({"token": "t", "expirationTimestamp": each} for each in ("soon", 5, "", None, "2026-11-15T12:00:30Z")),
        *({"token": 5}, {"token": None}, {"token": "t", "clientKeyData": "k"}, {"clientCertificateData": "c"}),
        {"token": "t", "clientCertificateData": "c", "clientKeyData": "k"},
    ]
    answers: list[Any] = [json.dumps({"apiVersion": V1, "status": each}) for each in statuses]
    answers += [
        "",
        "[]",
        "{",
        "5",
        '{"status":{"token":"t"}}',
        json.dumps({"apiVersion": BETA, "status": {"token": "b"}}),
    ]
    made: list[Object] = []
    for number, answer in enumerate(answers):
        desk.script(f"plugin{number}", answer)
        made.append({"command": f"./plugin{number}", "apiVersion": V1, "interactiveMode": "Never"})
    desk.script("failing", "", then="exit 7")
    first, beta = made[0], {**made[-1], "apiVersion": BETA}
    arguments: list[Any] = [["-a", "b"], [], None, "x", [5]]
    variables: list[Any] = [[{"name": "A", "value": "b"}], [{"name": "A"}], [{}], None, {}, [5]]
    more: list[Object] = [
        *({"command": each} for each in ("./failing", "./gone", "./token", "no-such-program", "", None, 5)),
        *({"command": "no-such-program", "installHint": each} for each in ("Install it.", "", 5)),
        {"command": str(desk.folder / "plugin0")},
        *({"apiVersion": each} for each in (BETA, "v1", None, 5)),
        *({"interactiveMode": each} for each in ("IfAvailable", "Always", "Sometimes", "", None, 5)),
        *({"args": each} for each in arguments),
        *({"env": each} for each in variables),
        *({"provideClusterInfo": each} for each in (True, False, "x", None)),
    ]
    return [*made, beta, {**beta, "interactiveMode": ""}, *({**first, **each} for each in more)]


def changed(values: Object, field: str, value: Any) -> Object:
    rest = {name: each for name, each in values.items() if name != field}
    return rest if value is GONE else {**rest, field: value}


class Drawn:
    """A kubeconfig that is good, with some fields changed."""

    def __init__(self, desk: Desk) -> None:
        every = {
            "cluster": clusters(desk),
            "user": users(desk, plugins(desk)),
            "context": contexts(),
            "file": files(),
        }
        self.every = [
            (place, field, value) for place, pool in every.items() for field, of in pool.items() for value in of
        ]

    def cases(self, draw: Random, drawn: int) -> Iterator[list[tuple[str, str, Any]]]:
        yield []
        yield from ([each] for each in self.every)
        # Most often of a user, whose fields depend on each other, and seldom what ends everything by itself.
        places = {"user": 4.0, "cluster": 0.8, "context": 0.4, "file": 0.1}
        weights = [
            places[place] / (12 if field == "exec" else 1) / (12 if value in ENDS else 1)
            for place, field, value in self.every
        ]
        for _ in range(drawn):
            yield draw.choices(self.every, weights, k=draw.choice((2, 2, 3, 4)))


def built(changes: list[tuple[str, str, Any]], authority: str) -> Object:
    parts: dict[str, Object] = {
        "cluster": {"server": "https://a:6443", "certificate-authority-data": authority},
        "user": {},
        "context": {"cluster": "c", "user": "u"},
    }
    for place, field, value in changes:
        if place == "cluster" and field == "certificate-authority":
            parts[place].pop("certificate-authority-data", None)
        if place != "file":
            parts[place] = changed(parts[place], field, value)
    whole = config(
        clusters={"c": parts["cluster"]}, users={"u": parts["user"]}, contexts={"x": parts["context"]}, current="x"
    )
    for place, field, value in changes:
        whole = changed(whole, field, value) if place == "file" else whole
    return whole


class Told:
    """What is said of a way to a server, without what differs from run to run."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.desk = desk
        self.shown: list[str] = []
        show = show_certificate

        def telling(tls: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
            show(tls, certificate, key)
            self.shown.append("shows a certificate")

        monkeypatch.setattr(kubeconfig, "show_certificate", telling)
        # Those of the system are many, and others on each machine.
        monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda tls: self.shown.append("trusts the system's"))
        self._secret = {
            b64(desk.authority): "<authority>",
            b64(desk.certificate): "<certificate>",
            b64(desk.key): "<key>",
            str(desk.folder): "DESK",
        }

    def plain(self, text: str) -> str:
        for secret, name in self._secret.items():
            text = text.replace(secret, name)
        return text

    def of(self, path: Path | None = None, context: str | None = None, **more: Any) -> str:
        desk, self.shown[:] = self.desk, []
        desk.now = NOW
        desk.write("token", "first\n")
        runs = len(desk.runs)
        try:
            access = find_access(
                path,
                context,
                environ=desk.environ,
                service_account=desk.folder / "account",
                clock=lambda: desk.now,
                **more,
            )
            lines = self._access(access)
        except MooringError as error:
            lines = [f"! {error}"]
        assert all("\n" not in each for each in lines), lines
        lines += [*self.shown, *(f"ran with {json.dumps(each['spec'], sort_keys=True)}" for each in desk.runs[runs:])]
        return self.plain("\n".join(lines))

    def _access(self, access: Access) -> list[str]:
        tls = access.tls
        trusted = "" if tls is None else f"{tls.verify_mode.name} {tls.check_hostname} {len(tls.get_ca_certs()) == 1}"
        lines = [
            f"{access.server} {access.namespace} name={access.server_name} proxy={access.proxy} tls={trusted}",
            f"cluster {json.dumps(access.cluster, sort_keys=True)}",
            f"user {json.dumps(access.user, sort_keys=True)}",
        ]
        before = None
        for moment in (0, 59, 60, 120, 121):
            self.desk.now = NOW + timedelta(seconds=moment)
            if (shown := dict(access.headers())) != before:
                lines.append(f"{moment} {shown}")
            before = shown
            if moment in (0, 120):
                self.desk.write("token", f"after {moment}")
        for _ in range(2):
            renewed = asyncio.run(_refreshed(access))
            lines.append(f"refreshed {renewed} {dict(access.headers())}")
        return lines


async def _refreshed(access: Access) -> bool:
    return await access.refresh()


@pytest.fixture
def told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Told:
    (desk.folder / "folder").mkdir()
    (desk.folder / "empty").write_text("")
    (desk.folder / "bytes").write_bytes(b"\xff\xfe")
    (desk.folder / "ca.pem").write_bytes(desk.authority)
    (desk.folder / "remarks.pem").write_bytes("# Äther\n".encode() + desk.authority)
    (desk.folder / "own.crt").write_bytes(desk.certificate)
    (desk.folder / "own.key").write_bytes(desk.key)
    return Told(desk, monkeypatch)


def test_a_kubeconfig_with_anything_in_it_gives_access_or_one_line(desk: Desk, told: Told) -> None:
    draw, said = Random(35), dict[str, str]()
    for number, changes in enumerate(Drawn(desk).cases(draw, 350)):
        whole = built(changes, b64(desk.authority))
        # JSON, because YAML says the same and is tested elsewhere.
        path = desk.write("config", json.dumps(whole))
        names = told.plain(
            "; ".join(f"{place}.{field}={value if value is not GONE else 'gone'}" for place, field, value in changes)
        )
        said[f"{number} {names}"] = told.of(path)
    same_as_recorded("client-kubeconfigs", said)


def test_files_places_and_accounts_are_looked_for_in_order(desk: Desk, told: Told) -> None:
    draw, said = Random(36), dict[str, str]()
    for number in range(150):
        desk.environ = _surroundings(desk, draw)
        named = draw.choice((*[None] * 20, *["a/config", "b/config"] * 3, "gone", "folder", "bytes", "empty", "torn"))
        context = draw.choice((*[None] * 6, "x", "y", "z"))
        wanted = draw.random() < 0.9
        name = told.plain(f"{number} {named} {context} {wanted} {json.dumps(desk.environ, sort_keys=True)}")
        path = None if named is None else desk.folder / named
        said[name] = told.of(path, context, with_credentials=wanted)
    same_as_recorded("client-places", said)


def _surroundings(desk: Desk, draw: Random) -> dict[str, str]:
    """Kubeconfigs in some places, and a service account with or without its files."""
    desk.write("torn", "a: [")
    x, y = {"cluster": "c", "user": "u"}, {"cluster": "d", "user": "u", "namespace": "ml"}
    for place, port in (("a", 1), ("b", 2), ("home/.kube", 3)):
        entry = {"server": f"https://{place.partition('/')[0]}:{port}", "certificate-authority": "ca.pem"}
        lists: Object = {
            "clusters": draw.choice(({}, {"c": entry}, *[{"c": entry, "d": {**entry, "tls-server-name": "d"}}] * 3)),
            "users": draw.choice(({}, *[{"u": {"token": place}}, {"u": {"tokenFile": "token"}}] * 3)),
            "contexts": draw.choice(({}, {"x": x}, {"y": y}, {"x": x, "y": y}, {"x": x, "y": y})),
        }
        desk.write(f"{place}/config", json.dumps(config(**lists, current=draw.choice(("", "x", "x", "y")))))
        desk.write(f"{place}/ca.pem", desk.authority.decode())
        desk.write(f"{place}/token", f"of {place}")
    for name, texts in {
        "token": ("one\n", "", GONE),
        "ca.crt": (desk.authority.decode(), desk.authority.decode(), "none", GONE),
        "namespace": ("ml\n", "", GONE),
    }.items():
        text = draw.choice((texts[0], *texts))
        desk.write(f"account/{name}", "" if text is GONE else text)
        if text is GONE:
            (desk.folder / "account" / name).unlink()
    folder = desk.folder
    given = {
        "HOME": draw.choice((GONE, "", str(folder / "nobody"), *[str(folder / "home")] * 4)),
        "KUBECONFIG": draw.choice(
            (
                GONE,
                GONE,
                "",
                f"{folder}/gone",
                f"{folder}/a/config:{folder}/b/config",
                f":{folder}/b/config:{folder}/a/config",
            )
        ),
        "KUBERNETES_SERVICE_HOST": draw.choice((GONE, "10.0.0.1", "fd00::1", "")),
        "KUBERNETES_SERVICE_PORT": draw.choice((GONE, "443", "443", "")),
    }
    return {name: value for name, value in given.items() if value is not GONE}


def test_a_kubeconfig_of_ours_is_put_right_and_keeps_what_is_not_ours() -> None:
    entries: list[Any] = [
        *(GONE, None, [], {}, "x", [5, {}], [{"name": "own"}]),
        *(
            [{"name": name, field: value}, {"name": "own"}]
            for name in ("mooring", "mooring-admin")
            for field in ("cluster", "user", "context")
            for value in ({"kept": 1}, {"server": "s"}, {"token": "t"}, {"token": 5}, {"token": ""}, None, "x")
        ),
    ]
    draw, said = Random(37), dict[str, str]()
    for number in range(200):
        given: Object = {}
        for name in ("clusters", "users", "contexts", "current-context", "colour"):
            given = changed(given, name, draw.choice(("", "own", GONE) if name[-1] != "s" else entries))
        made = with_cluster(given, server="https://h:1", authority=b"pem", token="new")
        assert with_cluster(made, server="https://h:1", authority=b"pem", token="new") == made
        assert (admin_token(made), (cluster_entry(made) or {})["server"]) == ("new", "https://h:1")
        lines = [admin_token(given), cluster_entry(given), made, user_config(made["clusters"][0], "bob", "b")]
        said[f"{number} {json.dumps(given)}"] = "\n".join(map(json.dumps, lines))
    same_as_recorded("client-own-kubeconfigs", said)
