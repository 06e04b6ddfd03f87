"""Secrets for tokens of accounts: filled at once, put right, and gone with their account."""

from __future__ import annotations

from base64 import b64decode

import pytest

from mooring.kube.objects import Object
from mooring.registry import MemoryStorage, Registry
from tests.registry.agreement import NOW


class Cluster:
    def __init__(self, storage: MemoryStorage | None = None) -> None:
        self.storage = storage or MemoryStorage()
        self.registry = Registry(self.storage, now=NOW)
        self.registry.bootstrap(now=NOW, host="127.0.0.1", port=1, authority="PEM", issue=_token)

    def create(self, kind: str, name: str, **more: object) -> Object:
        obj = {"metadata": {"name": name, "namespace": "default", **_metadata(more)}, **more}
        return self.registry.create(self.registry.resource("v1", kind), obj, now=NOW)

    def delete(self, kind: str, name: str) -> None:
        self.registry.delete(self.registry.resource("v1", kind), "default", name, now=NOW)

    def secret(self, name: str = "robots", /, **annotations: str) -> None:
        named = {"kubernetes.io/service-account.name": "robot"} | {
            f"kubernetes.io/service-account.{key}": value for key, value in annotations.items()
        }
        self.create("Secret", name, annotations=named, type="kubernetes.io/service-account-token")

    def find(self, name: str = "robots", kind: str = "Secret") -> Object | None:
        return self.registry.find("v1", kind, "default", name)

    def data(self, name: str = "robots") -> dict[str, str]:
        found = self.find(name)
        assert found is not None
        return {key: b64decode(value).decode() for key, value in found["data"].items()}


def _metadata(more: dict[str, object]) -> Object:
    return {"annotations": more.pop("annotations")} if "annotations" in more else {}


def _token(account: Object, secret: Object) -> str:
    return f"token of {account['metadata']['name']} in {secret['metadata']['name']}"


@pytest.fixture
def cluster() -> Cluster:
    found = Cluster()
    found.create("ServiceAccount", "robot")
    return found


def test_a_secret_gets_the_token_of_the_account_that_it_names(cluster: Cluster) -> None:
    cluster.secret()
    assert cluster.data() == {"token": "token of robot in robots", "namespace": "default", "ca.crt": "PEM"}
    secret, account = cluster.find(), cluster.find("robot", "ServiceAccount")
    assert secret is not None
    assert account is not None
    uid = secret["metadata"]["annotations"]["kubernetes.io/service-account.uid"]
    assert uid == account["metadata"]["uid"]


def test_what_is_taken_out_comes_back_and_the_token_stays(cluster: Cluster) -> None:
    cluster.secret()
    registry = cluster.registry
    body = {"data": {"ca.crt": None, "more": "eA=="}}
    registry.patch(registry.resource("v1", "Secret"), "default", "robots", "merge", body, now=NOW)
    assert cluster.data()["ca.crt"] == "PEM"
    assert cluster.data()["more"] == "x"
    assert cluster.data()["token"] == "token of robot in robots"


def test_a_secret_goes_with_its_account(cluster: Cluster) -> None:
    cluster.secret()
    cluster.create("ServiceAccount", "other")
    cluster.secret("others", name="other")
    cluster.create("Secret", "plain")
    cluster.delete("ServiceAccount", "robot")
    assert cluster.find() is None
    assert cluster.find("others") is not None
    assert cluster.find("plain") is not None


@pytest.mark.parametrize("annotations", [{"name": "nobody"}, {"uid": "older"}])
def test_a_secret_for_no_account_is_deleted(cluster: Cluster, annotations: dict[str, str]) -> None:
    cluster.secret(**annotations)
    assert cluster.find() is None


def test_a_secret_of_another_type_is_left_alone(cluster: Cluster) -> None:
    cluster.create("Secret", "plain", annotations={"kubernetes.io/service-account.name": "robot"})
    found = cluster.find("plain")
    assert found is not None
    assert not found.get("data")


def test_the_next_start_knows_the_secrets_that_are_there(cluster: Cluster) -> None:
    cluster.secret()
    again = Cluster(cluster.storage)
    again.delete("ServiceAccount", "robot")
    assert again.find() is None
