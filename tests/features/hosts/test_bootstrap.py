"""One bootstrap token per object: minted once, short-lived, never shown, and gone when it has been used."""

from __future__ import annotations

import base64
import json
import re

from mooring.features.hosts.api.names import CLONED_FROM_NAME
from mooring.features.hosts.bootstrap.kubeconfig import address_in
from mooring.kube.objects import Object
from mooring.testing.hosts import bootstrap_kubeconfig, put_machine
from tests.features.hosts.world import HostWorld

AUTHORITY = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n").decode()
INFO = f"clusters:\n- cluster:\n    certificate-authority-data: {AUTHORITY}\n    server: https://10.0.0.1:6443\n"


def tokens(world: HostWorld) -> dict[str, Object]:
    return {name: each for name, each in world.all("Secret").items() if name.startswith("bootstrap-token-")}


def decoded(secret: Object, key: str) -> str:
    return base64.b64decode(secret["data"][key]).decode()


def kubeconfig(world: HostWorld, name: str) -> Object:
    found: Object = json.loads(decoded(world.get("Secret", name), "value"))
    return found


def server(world: HostWorld, name: str) -> str:
    return str(kubeconfig(world, name)["clusters"][0]["cluster"]["server"])


def test_a_token_is_minted_once_and_its_kubeconfig_is_in_a_secret() -> None:
    world = HostWorld(bootstrap_kubeconfig("join", **{"certificate-authority-data": AUTHORITY}))
    world.run()
    (name, token), *others = tokens(world).items()
    assert not others
    assert token["metadata"]["namespace"] == "kube-system"
    text = f"{decoded(token, 'token-id')}.{decoded(token, 'token-secret')}"
    assert re.fullmatch(r"[a-z0-9]{6}\.[a-z0-9]{16}", text)
    assert decoded(token, "auth-extra-groups") == "system:bootstrappers:byoh"
    assert decoded(token, "expiration") == "2026-01-01T00:30:00Z"
    made = kubeconfig(world, "join")
    assert made["users"][0]["user"] == {"token": text}
    assert made["clusters"][0]["cluster"] == {
        "server": "https://127.0.0.1:6443",
        "certificate-authority-data": AUTHORITY,
    }
    config = world.get("BootstrapKubeconfig", "join")
    assert config["status"]["dataSecretName"] == "join"
    assert config["status"]["initialization"] == {"dataSecretCreated": True}
    assert text.partition(".")[2] not in json.dumps(config), "the token stands in a status"
    world.patch("BootstrapKubeconfig", "join", {"metadata": {"labels": {"touched": "yes"}}})
    world.run(600)
    assert list(tokens(world)) == [name]


def test_an_expired_token_is_told_and_nothing_is_tried_again() -> None:
    world = HostWorld(bootstrap_kubeconfig("join"), settings={"bootstrap-token-lifetime": "1m"})
    world.run()
    world.wait(70).run()
    told = world.condition("BootstrapKubeconfig", "join", "Ready")
    assert (told["status"], told["reason"]) == ("False", "BootstrapTokenExpired")
    assert "delete BootstrapKubeconfig join, so that a new one is minted" in told["message"]
    steps = world.simulation.steps
    world.run(3600)
    assert world.simulation.steps - steps < 5


def test_a_token_goes_when_its_machine_has_joined() -> None:
    world = HostWorld()
    put_machine(world.simulation, "m", secret=None)
    machine = world.get("Machine", "m")
    owner = {"apiVersion": machine["apiVersion"], "kind": "Machine", "name": "m", "uid": machine["metadata"]["uid"]}
    made = bootstrap_kubeconfig("m")
    made["metadata"]["ownerReferences"] = [owner]
    world.put(made)
    world.run()
    assert len(tokens(world)) == 1
    world.patch("Machine", "m", {"status": {"nodeRef": {"name": "node10"}}}, "status")
    world.run()
    assert tokens(world) == {}
    assert world.condition("BootstrapKubeconfig", "m", "Ready")["reason"] == "BootstrapTokenUsed"


def test_an_empty_address_comes_from_what_it_is_a_copy_of() -> None:
    copy = bootstrap_kubeconfig("copy", apiserver="")
    copy["metadata"]["annotations"] = {CLONED_FROM_NAME: "shared"}
    world = HostWorld(bootstrap_kubeconfig("shared", apiserver="https://lb.example.com:8443"), copy)
    world.run()
    assert server(world, "copy") == "https://lb.example.com:8443"
    assert len(tokens(world)) == 2, "a copy has a token of its own"


def test_an_empty_address_comes_from_the_cluster_else() -> None:
    world = HostWorld(bootstrap_kubeconfig("join", apiserver=""))
    world.run()
    told = world.condition("BootstrapKubeconfig", "join", "Ready")
    assert told["reason"] == "APIServerUnknown"
    assert "kube-public/cluster-info" in told["message"]
    info = {"namespace": "kube-public", "name": "cluster-info"}
    world.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": info, "data": {"kubeconfig": INFO}})
    world.run()
    assert server(world, "join") == "https://10.0.0.1:6443"


def test_an_address_is_read_from_a_kubeconfig_without_users() -> None:
    found = address_in(INFO)
    assert found is not None
    assert (found.server, found.authority) == ("https://10.0.0.1:6443", AUTHORITY)
    assert address_in("nothing of the kind") is None
