"""From kubeconfigs to access: what kubectl takes is taken, what is wrong is named with file and field."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import ssl
import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mooring.client.access import Access
from mooring.client.kubeconfig import KubeconfigError, find_access
from mooring.client.own_kubeconfig import admin_token, with_cluster
from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml
from mooring.net.certificates import ensure_certificates

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
CA = "certificate-authority-data"


class Desk:
    """A folder with kubeconfigs, a clock, and an environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = NOW
        self.environ = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]}
        files = ensure_certificates(folder / "tls", ["localhost"], now=NOW)
        self.authority, self.certificate, self.key = (
            path.read_bytes() for path in (files.authority, files.certificate, files.key)
        )

    def write(self, name: str, content: str | Object) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else to_yaml(content))
        return path

    def script(self, name: str, answer: Object | str, *, then: str = "") -> Path:
        """A plug-in that notes each of its runs and prints its answer."""
        text = answer if isinstance(answer, str) else json.dumps(answer)
        lines = ["#!/bin/sh", f'echo "$KUBERNETES_EXEC_INFO" >> {self.folder}/runs', f"cat <<'END'\n{text}\nEND", then]
        path = self.write(name, "\n".join(lines) + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    @property
    def runs(self) -> list[Object]:
        path = self.folder / "runs"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def access(self, path: Path | None = None, context: str | None = None) -> Access:
        return find_access(
            path, context, environ=self.environ, service_account=self.folder / "account", clock=lambda: self.now
        )

    def to(self, cluster: Object | None = None, user: Object | None = None, **context: Any) -> Access:
        """Access by a kubeconfig with one cluster, user and context."""
        return self.access(self.write("config", self.config(cluster, user, **context)))

    def config(self, cluster: Object | None = None, user: Object | None = None, **context: Any) -> Object:
        return config(
            clusters={"c": {"server": "https://localhost:6443"} if cluster is None else cluster},
            users={"u": user or {}},
            contexts={"x": {"cluster": "c", "user": "u", **context}},
            current="x",
        )

    def complaint(self, cluster: Object | None = None, user: Object | None = None, **context: Any) -> str:
        with pytest.raises(KubeconfigError) as caught:
            self.to(cluster, user, **context)
        text = str(caught.value)
        start = f"{self.folder / 'config'}: "
        assert text.startswith(start), text
        return text.removeprefix(start)


def config(
    *, clusters: Object | None = None, users: Object | None = None, contexts: Object | None = None, current: str = ""
) -> Object:
    lists = {"cluster": clusters or {}, "user": users or {}, "context": contexts or {}}
    found: Object = {
        f"{field}s": [{"name": name, field: value} for name, value in items.items()] for field, items in lists.items()
    }
    return {"apiVersion": "v1", "kind": "Config", "current-context": current, **found}


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# Where it is looked for


def test_the_file_in_the_home_folder_is_the_last_resort(desk: Desk) -> None:
    desk.write("home/.kube/config", desk.config({"server": "https://home:1"}))
    assert desk.access().server == "https://home:1"
    desk.environ["KUBECONFIG"] = str(desk.write("env", desk.config({"server": "https://env:1"})))
    assert desk.access().server == "https://env:1"
    assert desk.access(desk.write("named", desk.config({"server": "https://named:1"}))).server == "https://named:1"


def test_of_several_files_the_first_that_has_an_entry_wins_as_a_whole(desk: Desk) -> None:
    one = config(users={"u": {"token": "one"}}, contexts={"x": {"cluster": "c", "user": "u"}})
    two = config(
        clusters={"c": {"server": "https://two:1", "tls-server-name": "two"}},
        users={"u": {"token": "two"}},
        current="x",
    )
    three = config(clusters={"c": {"server": "https://three:1"}}, current="y")
    paths = [desk.write(name, content) for name, content in (("1", one), ("2", two), ("3", three))]
    desk.environ["KUBECONFIG"] = os.pathsep.join(["", *map(str, paths), str(desk.folder / "missing")])
    access = desk.access()
    assert (access.server, access.server_name, dict(access.headers())) == (
        "https://two:1",
        "two",
        {"Authorization": "Bearer one"},
    )


def test_a_named_file_must_be_there(desk: Desk) -> None:
    with pytest.raises(KubeconfigError, match="nowhere: there is no such kubeconfig"):
        desk.access(desk.folder / "nowhere")


def test_nothing_anywhere_says_where_it_was_looked_for(desk: Desk) -> None:
    with pytest.raises(KubeconfigError, match=r"no cluster is configured \(looked in .*/home/\.kube/config\)"):
        desk.access()


def test_relative_paths_are_relative_to_the_file_they_stand_in(desk: Desk) -> None:
    desk.write("deep/ca.pem", desk.authority.decode())
    desk.write("deep/token", "from-file\n")
    path = desk.write(
        "deep/config",
        desk.config({"server": "https://a:1", "certificate-authority": "ca.pem"}, {"tokenFile": "token"}),
    )
    access = desk.access(path)
    assert access.tls is not None
    assert len(access.tls.get_ca_certs()) == 1
    assert access.headers() == {"Authorization": "Bearer from-file"}


# Contexts


def test_another_context_can_be_named(desk: Desk) -> None:
    both = config(
        clusters={"a": {"server": "https://a:1"}, "b": {"server": "https://b:1"}},
        users={"u": {}},
        contexts={"x": {"cluster": "a", "user": "u"}, "y": {"cluster": "b", "user": "u", "namespace": "ml"}},
        current="x",
    )
    path = desk.write("config", both)
    assert (desk.access(path).server, desk.access(path).namespace) == ("https://a:1", "default")
    assert (desk.access(path, "y").server, desk.access(path, "y").namespace) == ("https://b:1", "ml")
    with pytest.raises(KubeconfigError, match='contexts: there is no context "z"; known are: x, y'):
        desk.access(path, "z")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"current-context": ""}, "current-context: is not set; name one of the contexts: x"),
        ({"current-context": "z"}, 'current-context: there is no context "z"; known are: x'),
        ({"users": []}, 'contexts["x"].context.user: there is no user "u"; known are: none'),
        ({"clusters": []}, 'contexts["x"].context.cluster: there is no cluster "c"; known are: none'),
        ({"clusters": {}}, "clusters: must be a list"),
        ({"clusters": [{}]}, "clusters[0].name: required, and must be a string"),
        ({"clusters": [{"name": "c", "cluster": 1}]}, "clusters[0].cluster: must be a mapping"),
        ({"users": [{"name": "u"}, {"name": "u"}]}, 'users[1].name: "u" is there twice'),
        ({"kind": "Pod"}, "kind: is not that of a kubeconfig, Config"),
        ({"current-context": 1}, "kubeconfig.current-context: must be a string"),
    ],
)
def test_a_kubeconfig_that_makes_no_sense_is_named_with_its_field(desk: Desk, change: Object, complaint: str) -> None:
    path = desk.write("config", {**desk.config(), **change})
    with pytest.raises(KubeconfigError) as caught:
        desk.access(path)
    assert str(caught.value) == f"{path}: {complaint}"


def test_a_file_that_is_not_yaml_is_named_with_its_line(desk: Desk) -> None:
    path = desk.write("config", "apiVersion: v1\nclusters: [}\n")
    with pytest.raises(KubeconfigError, match="config: line 2: not YAML"):
        desk.access(path)


def test_a_namespace_that_cannot_be_one_is_named(desk: Desk) -> None:
    assert desk.complaint(namespace="a/b") == 'contexts["x"].context.namespace: "a/b" cannot be the name of a namespace'


# Clusters


def test_an_authority_in_the_file_is_the_only_one_trusted(desk: Desk) -> None:
    tls = desk.to({"server": "https://a:1", CA: b64(desk.authority)}).tls
    assert tls is not None
    assert (len(tls.get_ca_certs()), tls.verify_mode, tls.check_hostname) == (1, ssl.CERT_REQUIRED, True)


def test_checking_can_be_switched_off(desk: Desk) -> None:
    tls = desk.to({"server": "https://a:1", "insecure-skip-tls-verify": True}).tls
    assert tls is not None
    assert (tls.verify_mode, tls.check_hostname) == (ssl.CERT_NONE, False)


def test_a_path_in_the_server_is_kept_and_its_last_slash_is_not(desk: Desk) -> None:
    assert desk.to({"server": "https://a/k8s/clusters/c-1/"}).server == "https://a/k8s/clusters/c-1"


def test_nothing_secret_goes_over_plain_http(desk: Desk) -> None:
    access = desk.to({"server": "http://a:1"}, {"token": "secret"})
    assert (access.tls, dict(access.headers())) == (None, {})


def test_an_http_proxy_is_passed_on(desk: Desk) -> None:
    assert desk.to({"server": "https://a:1", "proxy-url": "http://proxy:3128"}).proxy == "http://proxy:3128"


@pytest.mark.parametrize(
    ("cluster", "complaint"),
    [
        ({}, "server: is not set"),
        ({"server": "a:6443"}, 'server: "a:6443" must be a URL such as https://10.0.0.1:6443'),
        ({"server": "https://a:99999"}, 'server: "https://a:99999" is not a URL: Port out of range 0-65535'),
        ({"server": 6443}, "server: must be a string"),
        ({"server": "https://a", CA: "%%%"}, "certificate-authority-data: is not base64"),
        ({"server": "https://a", CA: b64(b"x")}, "certificate-authority-data: holds no certificate in PEM"),
        (
            {"server": "https://a", CA: "eA==", "insecure-skip-tls-verify": True},
            "insecure-skip-tls-verify: cannot be true where an authority to trust is given",
        ),
        (
            {"server": "https://a", "insecure-skip-tls-verify": "yes"},
            "insecure-skip-tls-verify: must be true or false",
        ),
        (
            {"server": "https://a", "proxy-url": "socks5://p:1"},
            "proxy-url: Mooring goes through proxies with http:// URLs only",
        ),
    ],
)
def test_a_cluster_that_cannot_be_reached_like_this_is_named(desk: Desk, cluster: Object, complaint: str) -> None:
    assert desk.complaint(cluster) == f'clusters["c"].cluster.{complaint}'


def test_an_authority_that_cannot_be_read_is_named_with_its_path(desk: Desk) -> None:
    complaint = desk.complaint({"server": "https://a", "certificate-authority": "gone.pem"})
    assert complaint == (
        f'clusters["c"].cluster.certificate-authority: {desk.folder}/gone.pem cannot be read: No such file or directory'
    )


# Users


def test_a_token_is_shown(desk: Desk) -> None:
    assert desk.to(user={"token": "t"}).headers() == {"Authorization": "Bearer t"}


def test_nobody_in_particular_shows_nothing(desk: Desk) -> None:
    assert dict(desk.to().headers()) == {}


def test_a_token_file_is_read_again_every_minute_and_when_refused(desk: Desk) -> None:
    desk.write("token", "one")
    access = desk.to(user={"tokenFile": "token"})
    desk.write("token", "two")
    assert access.headers() == {"Authorization": "Bearer one"}
    desk.now += timedelta(minutes=1)
    assert access.headers() == {"Authorization": "Bearer two"}
    desk.write("token", "three")
    assert asyncio.run(_refresh(access)) is True
    assert asyncio.run(_refresh(access)) is False
    (desk.folder / "token").unlink()
    desk.now += timedelta(minutes=1)
    assert access.headers() == {"Authorization": "Bearer three"}


async def _refresh(access: Access) -> bool:
    return await access.refresh()


def test_a_client_certificate_needs_its_key(desk: Desk) -> None:
    certificate = {"client-certificate-data": b64(desk.certificate)}
    desk.to(user={**certificate, "client-key-data": b64(desk.key)})
    assert desk.complaint(user=certificate) == (
        'users["u"].user.client-key: is not set, and a client certificate needs it'
    )
    assert desk.complaint(user={**certificate, "client-key-data": b64(b"x")}) == (
        'users["u"].user.client-certificate: certificate and key are not PEM that fit each other'
    )


def test_a_name_and_password_are_shown(desk: Desk) -> None:
    headers = desk.to(user={"username": "ada", "password": "lace"}).headers()
    assert headers == {"Authorization": f"Basic {b64(b'ada:lace')}"}


def test_acting_for_somebody_else_is_said_in_headers(desk: Desk) -> None:
    headers = desk.to(user={"token": "t", "as": "bob", "as-groups": ["ml"]}).headers()
    assert headers == {"Authorization": "Bearer t", "Impersonate-User": "bob", "Impersonate-Group": "ml"}


@pytest.mark.parametrize(
    ("user", "complaint"),
    [
        ({"auth-provider": {"name": "gcp"}}, "auth-provider: left Kubernetes with version 1.26; use an exec plug-in"),
        ({"token": "t", "username": "u"}, "username: cannot be given beside a token"),
        ({"tokenFile": "gone"}, "tokenFile: "),
        ({"as-groups": ["a"]}, "as: is not set, and as-uid and as-groups need it"),
        ({"as": "a", "as-groups": ["a", "b"]}, "as-groups: Mooring can act for one group, not for several"),
        ({"as": "a", "as-user-extra": {"a": ["b"]}}, "as-user-extra: is not supported"),
        ({"token": 5}, "token: must be a string"),
    ],
)
def test_what_cannot_be_shown_is_refused_and_never_left_out(desk: Desk, user: Object, complaint: str) -> None:
    assert desk.complaint(user=user).startswith(f'users["u"].user.{complaint}')


# Plug-ins

V1, V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"


def credential(version: str = V1, **status: Any) -> Object:
    return {"apiVersion": version, "kind": "ExecCredential", "status": status}


def plugin(command: Path | str, version: str = V1, /, **more: Any) -> Object:
    return {"exec": {"command": str(command), "apiVersion": version, "interactiveMode": "Never", **more}}


@pytest.mark.parametrize("version", [V1, V1BETA1])
def test_a_plug_in_hands_out_a_token_once(desk: Desk, version: str) -> None:
    access = desk.to(user=plugin(desk.script("login", credential(version, token="t")), version))
    assert [access.headers() for _ in range(3)] == [{"Authorization": "Bearer t"}] * 3
    assert desk.runs == [{"kind": "ExecCredential", "apiVersion": version, "spec": {"interactive": False}}]


def test_a_plug_in_is_asked_again_when_what_it_gave_has_ended(desk: Desk) -> None:
    until = (NOW + timedelta(minutes=5)).isoformat().replace("+00:00", "Z")
    access = desk.to(user=plugin(desk.script("login", credential(token="one", expirationTimestamp=until))))
    later = (NOW + timedelta(minutes=15)).isoformat()
    desk.script("login", credential(token="two", expirationTimestamp=later))
    assert access.headers() == {"Authorization": "Bearer one"}
    desk.now += timedelta(minutes=6)
    assert access.headers() == {"Authorization": "Bearer two"}
    assert len(desk.runs) == 2


def test_a_plug_in_is_asked_again_when_the_server_refuses(desk: Desk) -> None:
    access = desk.to(user=plugin(desk.script("login", credential(token="one"))))
    assert asyncio.run(_refresh(access)) is False
    desk.script("login", credential(token="two"))
    assert asyncio.run(_refresh(access)) is True
    assert access.headers() == {"Authorization": "Bearer two"}


def test_a_plug_in_may_hand_out_a_certificate(desk: Desk) -> None:
    pair = {"clientCertificateData": desk.certificate.decode(), "clientKeyData": desk.key.decode()}
    access = desk.to(user=plugin(desk.script("login", credential(**pair))))
    assert dict(access.headers()) == {}
    wrong = {**pair, "clientKeyData": "x"}
    assert "certificate and key that do not fit" in desk.complaint(
        user=plugin(desk.script("login", credential(**wrong)))
    )


def test_a_plug_in_gets_its_arguments_environment_and_cluster(desk: Desk) -> None:
    desk.script("login", credential(token="x"), then=f'echo "$1 $COLOUR" > {desk.folder}/said')
    desk.to(
        {
            "server": "https://a:1",
            CA: b64(desk.authority),
            "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}],
        },
        plugin("./login", args=["--now"], env=[{"name": "COLOUR", "value": "red"}], provideClusterInfo=True),
    )
    assert (desk.folder / "said").read_text() == "--now red\n"
    assert desk.runs[0]["spec"]["cluster"] == {
        "server": "https://a:1",
        CA: b64(desk.authority),
        "config": {"audience": "a"},
    }


def test_a_token_of_ones_own_makes_a_plug_in_superfluous(desk: Desk) -> None:
    access = desk.to(user={"token": "mine", **plugin(desk.script("login", credential(token="x")))})
    assert access.headers() == {"Authorization": "Bearer mine"}
    assert desk.runs == []


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("scribble secret", "did not answer with JSON"),
        (credential(V1BETA1, token="secret"), f"{V1} is asked for, and it answers with"),
        ({"apiVersion": V1}, "answered without a status"),
        (credential(), "answered with neither a token nor a certificate and key"),
        (credential(clientKeyData="secret"), "answered with only one of certificate and key"),
        (credential(token=["secret"]), "answered with credentials that are not strings"),
        (credential(token="secret", expirationTimestamp="soon"), 'answered with expirationTimestamp "soon"'),
    ],
)
def test_a_plug_in_that_answers_nonsense_is_named_and_its_secrets_are_not(
    desk: Desk, answer: Object | str, complaint: str
) -> None:
    said = desk.complaint(user=plugin(desk.script("login", answer)))
    assert said.startswith('users["u"].user.exec.')
    assert complaint in said
    assert "secret" not in said


def test_a_plug_in_that_fails_is_named_with_its_exit_code(desk: Desk) -> None:
    assert desk.complaint(user=plugin(desk.script("login", "", then="exit 3"))) == (
        f'users["u"].user.exec.command: "{desk.folder}/login" failed with exit code 3'
    )


def test_a_plug_in_that_is_not_installed_brings_its_hint(desk: Desk) -> None:
    assert desk.complaint(user=plugin("no-such-login", installHint="Try apt install login.")) == (
        'users["u"].user.exec.command: there is no executable "no-such-login". Try apt install login.'
    )


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"command": ""}, "exec.command: is not set"),
        ({"apiVersion": "v1"}, 'exec.apiVersion: "v1" is not supported'),
        ({"interactiveMode": ""}, 'exec.interactiveMode: "" must be one of Never, IfAvailable, Always'),
        ({"env": [{"value": "x"}]}, "exec.env[0].name: is not set"),
        ({"env": "x"}, "exec.env: must be a list of mappings"),
        ({"args": [1]}, "exec.args: must be a list of strings"),
    ],
)
def test_a_plug_in_that_is_declared_wrongly_is_named(desk: Desk, change: Object, complaint: str) -> None:
    assert desk.complaint(user=plugin("login", **change)).startswith(f'users["u"].user.{complaint}')


@pytest.mark.skipif(sys.stdin is not None and sys.stdin.isatty(), reason="needs a standard input that is no terminal")
def test_a_plug_in_that_must_ask_needs_a_terminal(desk: Desk) -> None:
    asking = plugin(desk.script("login", credential(token="x")), interactiveMode="Always")
    assert "standard input is not a terminal" in desk.complaint(user=asking)


# Inside a pod


def test_a_pod_uses_its_service_account(desk: Desk) -> None:
    desk.environ |= {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    with pytest.raises(KubeconfigError, match="account/token: cannot be read: No such file"):
        desk.access()
    desk.write("account/token", "one\n")
    desk.write("account/ca.crt", "scribble")
    with pytest.raises(KubeconfigError, match=r"account/ca\.crt: holds no certificate"):
        desk.access()
    desk.write("account/ca.crt", desk.authority.decode())
    desk.write("account/namespace", "ml")
    access = desk.access()
    assert (access.server, access.namespace) == ("https://[fd00::1]:443", "ml")
    assert access.headers() == {"Authorization": "Bearer one"}
    desk.write("account/token", "two\n")
    desk.now += timedelta(minutes=1)
    assert access.headers() == {"Authorization": "Bearer two"}


# Our own


def test_a_kubeconfig_of_ours_gives_access(desk: Desk) -> None:
    made = with_cluster({}, server="https://127.0.0.1:7443", authority=desk.authority, token="t")
    access = desk.access(desk.write("config", made))
    assert (access.server, dict(access.headers())) == ("https://127.0.0.1:7443", {"Authorization": "Bearer t"})
    assert admin_token(made) == "t"


def test_what_its_user_changed_stays(desk: Desk) -> None:
    made = with_cluster({}, server="https://127.0.0.1:1", authority=desk.authority, token="t")
    made["contexts"][0]["context"]["namespace"] = "ml"
    made["contexts"].append({"name": "other", "context": {"cluster": "mooring", "user": "bob"}})
    made["users"].append({"name": "bob", "user": {"token": "b"}})
    made["current-context"] = "other"
    again = with_cluster(made, server="https://127.0.0.1:2", authority=desk.authority, token="t2")
    access = desk.access(desk.write("config", again))
    assert (access.server, dict(access.headers())) == ("https://127.0.0.1:2", {"Authorization": "Bearer b"})
    mine = desk.access(desk.write("config", again), "mooring")
    assert (mine.namespace, dict(mine.headers())) == ("ml", {"Authorization": "Bearer t2"})


def test_a_second_start_changes_nothing(desk: Desk) -> None:
    made = with_cluster({}, server="https://127.0.0.1:1", authority=desk.authority, token="t")
    assert with_cluster(made, server="https://127.0.0.1:1", authority=desk.authority, token="t") == made
