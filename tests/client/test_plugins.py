"""Plug-ins that hand out credentials: when they are run, what they are told, and what they may answer."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mooring.kube.objects import Object
from tests.client.desk import CA, NOW, Desk, b64, refresh

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
    assert asyncio.run(refresh(access)) is False
    desk.script("login", credential(token="two"))
    assert asyncio.run(refresh(access)) is True
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
