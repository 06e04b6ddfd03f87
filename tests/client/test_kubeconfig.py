"""From kubeconfigs to access: what kubectl takes is taken, what is wrong is named with file and field."""

from __future__ import annotations

import asyncio
import os
import ssl
from datetime import timedelta

import pytest

from mooring.client.kubeconfig import KubeconfigError
from mooring.client.own_kubeconfig import admin_token, with_cluster
from mooring.kube.objects import Object
from tests.client.desk import CA, Desk, b64, config, refresh

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
    assert asyncio.run(refresh(access)) is True
    assert asyncio.run(refresh(access)) is False
    (desk.folder / "token").unlink()
    desk.now += timedelta(minutes=1)
    assert access.headers() == {"Authorization": "Bearer three"}


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


def test_other_programs_get_the_same_access_wherever_they_are_started(desk: Desk) -> None:
    (desk.folder / "token").write_text("kept")
    access = desk.to(user={"tokenFile": "token", "as": "bob", "as-groups": ["ml"]})
    assert access.user == {"tokenFile": str(desk.folder / "token")}
    assert access.cluster == {"server": access.server}


def test_requests_can_be_made_for_another_user_of_several_groups(desk: Desk) -> None:
    access = desk.to(user={"token": "t"}).impersonating("ada", ("ml", "platform"))
    headers = {"Impersonate-User": "ada", "Impersonate-Group": ("ml", "platform")}
    assert access.headers() == {"Authorization": "Bearer t", **headers}


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
    account = desk.folder / "account"
    assert access.cluster == {"server": access.server, "certificate-authority": str(account / "ca.crt")}
    assert access.user == {"tokenFile": str(account / "token")}
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
