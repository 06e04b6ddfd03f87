"""The cluster's address and authority are signed with every token that is for it; tokens that have expired go."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest

from mooring.api.core.bootstrap_tokens import detached_signature
from mooring.builtin.authentication import bootstrap_signer, token_cleaner
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.drivers.simulation import START
from tests.builtin.town import Town

INFO = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "cluster-info", "namespace": "kube-public"},
    "data": {"kubeconfig": "payload"},
}


def secret(token_id: str = "joshua", **changes: str) -> Object:
    texts = {"token-id": token_id, "token-secret": "mysecret00000000", "usage-bootstrap-signing": "true"}
    texts |= {key.replace("_", "-"): value for key, value in changes.items()}
    data = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
    metadata = {"name": f"bootstrap-token-{token_id}", "namespace": "kube-system"}
    kind = {"apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token"}
    return {**kind, "metadata": metadata, "data": data}


@pytest.fixture
def town() -> Town:
    controllers = (bootstrap_signer.CONTROLLER, token_cleaner.CONTROLLER)
    return Town(controllers=controllers, before=[INFO], settled=True)


def add(town: Town, obj: Object) -> None:
    registry = town.registry
    registry.create(registry.resource("v1", "Secret"), obj, now=town.simulation.now)
    town.run()


def signatures(town: Town) -> Object:
    found = town.registry.find("v1", "ConfigMap", "kube-public", "cluster-info")
    assert found is not None
    assert found["data"]["kubeconfig"] == "payload"
    return {key: value for key, value in found["data"].items() if key != "kubeconfig"}


def test_a_token_for_signing_signs(town: Town) -> None:
    add(town, secret())
    (name, signature), *more = signatures(town).items()
    assert (name, more) == ("jws-kubeconfig-joshua", [])
    assert signature.startswith("eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..")


def test_a_signature_is_what_kubeadm_makes_of_the_same_text_and_token() -> None:
    known = "eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..7Ui1ALizW4jXphVUB7xUqC9vLYLL9RZeOFfVLoB7Tgk"
    assert detached_signature("", "joshua", "my voice is my passcode") == known


def test_signatures_follow_what_they_sign(town: Town) -> None:
    add(town, secret())
    before = signatures(town)
    registry = town.registry
    configs, body = registry.resource("v1", "ConfigMap"), {"data": {"kubeconfig": "other"}}
    registry.patch(configs, "kube-public", "cluster-info", "merge", body, now=town.simulation.now)
    town.run()
    registry.patch(configs, "kube-public", "cluster-info", "merge", {"data": INFO["data"]}, now=town.simulation.now)
    town.run()
    assert signatures(town) == before


@pytest.mark.parametrize(
    "other",
    [
        secret(usage_bootstrap_signing="false"),
        secret(token_secret=""),
        {**secret(), "type": "Opaque"},
        {**secret(), "metadata": {"name": "bootstrap-token-other0", "namespace": "kube-system"}, "type": "Opaque"},
        {**secret(), "metadata": {"name": "bootstrap-token-joshua", "namespace": "default"}},
    ],
)
def test_other_secrets_sign_nothing(town: Town, other: Object) -> None:
    add(town, other)
    assert signatures(town) == {}


def test_a_signature_goes_with_its_token(town: Town) -> None:
    add(town, secret())
    add(town, secret("second"))
    assert set(signatures(town)) == {"jws-kubeconfig-joshua", "jws-kubeconfig-second"}
    registry = town.registry
    registry.delete(registry.resource("v1", "Secret"), "kube-system", "bootstrap-token-joshua", now=town.simulation.now)
    town.run()
    assert set(signatures(town)) == {"jws-kubeconfig-second"}


def test_a_token_that_expires_is_deleted_then_and_signs_no_more(town: Town) -> None:
    add(town, secret(expiration=timestamp(START + timedelta(hours=5))))
    add(town, secret("lasts0"))
    assert set(signatures(town)) == {"jws-kubeconfig-joshua", "jws-kubeconfig-lasts0"}
    town.simulation.run(timedelta(hours=5))
    assert town.registry.find("v1", "Secret", "kube-system", "bootstrap-token-joshua") is None
    assert town.registry.find("v1", "Secret", "kube-system", "bootstrap-token-lasts0") is not None
    assert set(signatures(town)) == {"jws-kubeconfig-lasts0"}
