"""Who gets which certificate: kubelets and agents of hosts, and nobody in their name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from mooring.api.certificates.x509_requests import CLIENT, KUBELET_CLIENT, KUBELET_SERVING
from mooring.api.kinds import Key
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BYO_HOST
from mooring.features.hosts.api.names import AGENT
from mooring.features.hosts.approval.controller import CONTROLLER, reconcile
from mooring.kube.objects import Object
from mooring.runtime.decision import Patch
from mooring.testing.views import NOON, view_of
from mooring.workloads.kinds import CERTIFICATE_SIGNING_REQUEST
from mooring.workloads.kinds import NODE as NODE_KIND
from tests.builtin.certificates.requests import judged, pem, signing_request

API = "infrastructure.cluster.x-k8s.io/v1beta1"
TOKEN: Object = {"username": "system:bootstrap:abcdef", "groups": ["system:bootstrappers", "system:bootstrappers:byoh"]}
NODE: Object = {"username": "system:node:node10", "groups": ["system:nodes", "system:authenticated"]}
AGENT_10: Object = {"username": "byoh:host:node10", "groups": ["byoh:hosts"]}
SERVING = ("digital signature", "server auth")
CLIENT_USAGES = ("digital signature", "client auth")
KINDS = (CERTIFICATE_SIGNING_REQUEST, BYO_HOST, BOOTSTRAP_KUBECONFIG, NODE_KIND)
HEALTHY = {"type": "HostHealthy", "status": "True"}


def host(name: str = "node10", *, claim: str = "m1", address: str = "10.0.0.10", **more: Any) -> Object:
    status: Object = {"network": [{"macAddr": "m", "ipAddrs": [f"{address}/24", "127.0.0.1/8"]}], **more}
    spec: Object = {}
    if claim:
        status["machineRef"] = {"kind": "ByoMachine", "name": claim, "uid": claim}
        spec["bootstrapSecret"] = {"kind": "Secret", "name": claim}
    metadata = {"name": name, "namespace": "default", "uid": name}
    return {"apiVersion": API, "kind": "ByoHost", "metadata": metadata, "spec": spec, "status": status}


def config(name: str = "m1", token: str = "abcdef", *, of_machine: bool = True) -> Object:
    metadata: Object = {"name": name, "namespace": "default", "uid": f"config-{name}"}
    if of_machine:
        owner = {"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "name": name, "uid": "u"}
        metadata["ownerReferences"] = [owner]
    status = {"tokenID": token, "dataSecretName": name}
    return {"apiVersion": API, "kind": "BootstrapKubeconfig", "metadata": metadata, "status": status}


def verdict(request: Object, *objects: Object) -> tuple[str, str] | None:
    """The type and the reason of the condition that is written; None where nothing is."""
    decision = reconcile(
        Key("", request["metadata"]["name"]),
        view_of([request, *objects], kinds=KINDS, indexers=CONTROLLER.indexers),
        NOON,
    )
    if decision.empty:
        return None
    [write] = decision.status
    assert isinstance(write, Patch)
    assert write.subresource == "approval"
    [condition] = write.body["status"]["conditions"]
    assert condition["message"].endswith(".")
    return condition["type"], condition["reason"]


APPROVED = ("Approved", "HostRecognized")


def kubelet(node: str = "node10", **who: Any) -> Object:
    return signing_request(pem(f"system:node:{node}"), KUBELET_CLIENT, **(who or TOKEN))


def serving(dns: Sequence[str] = ("node10",), ips: Sequence[str] = ("10.0.0.10",), **who: Any) -> Object:
    request = pem("system:node:node10", dns=dns, ips=ips)
    return signing_request(request, KUBELET_SERVING, SERVING, **(who or NODE))


def agent(
    name: str = "node10", *, request: str = "", organizations: Sequence[str] = ("byoh:hosts",), **who: Any
) -> Object:
    asked = pem(f"byoh:host:{name}", organizations)
    return signing_request(asked, CLIENT, CLIENT_USAGES, name=request or f"byoh-csr-{name}", **(who or TOKEN))


# Client certificates of kubelets


def test_a_kubelet_gets_the_certificate_of_the_host_that_its_token_was_minted_for() -> None:
    assert verdict(kubelet(), host(), config()) == APPROVED


def test_a_token_is_of_no_use_for_another_node() -> None:
    other = host("node11", claim="m2", address="10.0.0.11")
    assert verdict(kubelet("node11"), host(), other, config(), config("m2", "other1")) == ("Denied", "ForeignNode")
    assert verdict(kubelet("control-plane"), host(), config()) == ("Denied", "ForeignNode")


@pytest.mark.parametrize(
    ("why", "objects"),
    [
        ("nobody has claimed the host yet", [host(claim=""), config()]),
        ("the host was claimed by another machine", [host(claim="m2"), config()]),
        ("the token is nobody's", [host()]),
        ("the token is another's", [host(), config(token="other1")]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_kubelet_waits_as_long_as(why: str, objects: list[Object]) -> None:
    assert verdict(kubelet(), *objects) is None


def test_a_token_without_the_group_of_hosts_is_left_to_others() -> None:
    plain = {**TOKEN, "groups": ["system:bootstrappers"]}
    assert verdict(kubelet(**plain), host(), config()) is None


def test_a_node_renews_its_certificate_while_its_host_is_claimed() -> None:
    assert verdict(kubelet(**NODE), host()) == APPROVED
    assert verdict(kubelet(**NODE), host(claim="")) is None
    assert verdict(kubelet("node11", **NODE), host(), host("node11")) is None


def test_of_two_hosts_of_one_name_neither_is_known_to_be_the_node() -> None:
    twin = host()
    twin["metadata"] = {**twin["metadata"], "namespace": "other", "uid": "twin"}
    assert verdict(kubelet(**NODE), host(), twin) is None


def test_what_was_judged_stays_so() -> None:
    assert verdict(judged(kubelet(), "Denied"), host(), config()) is None


# Certificates that kubelets serve with


def test_a_kubelet_serves_under_its_own_name_and_addresses() -> None:
    assert verdict(serving(), host()) == APPROVED


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (serving(dns=["node10", "node11"]), "ForeignName"),
        (serving(dns=["kubernetes.default.svc"]), "ForeignName"),
        (serving(ips=["10.0.0.10", "10.0.0.1"]), "ForeignAddress"),
        (serving(ips=["127.0.0.1"]), "ForeignAddress"),
    ],
)
def test_a_kubelet_does_not_serve_as_somebody_else(request_: Object, reason: str) -> None:
    assert verdict(request_, host()) == ("Denied", reason)


def test_an_address_that_two_hosts_claim_to_have_is_neithers() -> None:
    assert verdict(serving(), host(), host("node11", claim="")) == ("Denied", "ForeignAddress")


def node(name: str) -> Object:
    status = {"addresses": [{"type": "InternalIP", "address": "10.0.0.10"}]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def test_an_address_of_another_node_is_not_the_hosts() -> None:
    assert verdict(serving(), host(), node("node10")) == APPROVED
    assert verdict(serving(), host(), node("control-plane")) == ("Denied", "ForeignAddress")
    fake = node("simulated")
    fake["metadata"] = {**fake["metadata"], "annotations": {"kwok.x-k8s.io/node": "fake"}}
    assert verdict(serving(), host(), fake) == APPROVED


def test_a_person_says_whether_the_api_server_runs_on_a_host() -> None:
    server = {**config(), "spec": {"apiserver": "https://10.0.0.10:6443"}}
    assert verdict(serving(), host(), server) is None
    assert verdict(serving(ips=[]), host(), server) == APPROVED


def test_serving_certificates_of_other_nodes_are_left_to_others() -> None:
    assert verdict(serving()) is None
    assert verdict(serving(**TOKEN), host(), config()) is None


# Agents


def test_an_agent_registers_with_a_bootstrap_token_of_hosts() -> None:
    assert verdict(agent()) == APPROVED
    assert verdict(agent(), config(of_machine=False)) == APPROVED
    assert verdict(agent(request="byoh-csr-node10-0a1b2c3d"), host(claim="")) == APPROVED


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (agent("node11", request="byoh-csr-node10"), "ForeignHost"),
        (agent(organizations=["byoh:hosts", "system:masters"]), "NotAnAgent"),
        (agent(organizations=["system:masters"]), "NotAnAgent"),
        (agent("node11", **AGENT_10), "ForeignHost"),
    ],
)
def test_an_agent_gets_no_other_identity(request_: Object, reason: str) -> None:
    assert verdict(request_) == ("Denied", reason)


def test_the_token_of_a_kubelet_makes_no_agent() -> None:
    assert verdict(agent(), config()) == ("Denied", "NotAnAgent")


def test_nobody_takes_the_place_of_a_host_that_is_heard_of() -> None:
    alive = host(conditions=[HEALTHY])
    alive["metadata"] = {**alive["metadata"], "annotations": {AGENT: "1"}}
    assert verdict(agent(), alive) is None
    silent = {**alive, "status": {**alive["status"], "conditions": [{**HEALTHY, "status": "False"}]}}
    assert verdict(agent(), silent) == APPROVED


def test_an_agent_renews_its_certificate() -> None:
    assert verdict(agent(request="byoh-csr-node10-0a1b2c3d", **AGENT_10), host(conditions=[HEALTHY])) == APPROVED


@pytest.mark.parametrize(
    "request_",
    [
        signing_request(
            pem("byoh:host:node10", ("byoh:hosts",)), CLIENT, CLIENT_USAGES, name="byoh-csr-node10", username="ada"
        ),
        signing_request(pem("ada", ()), CLIENT, CLIENT_USAGES, name="byoh-csr-node10", **TOKEN),
        agent(request="something-else"),
    ],
)
def test_other_requests_of_clients_are_left_to_others(request_: Object) -> None:
    assert verdict(request_) is None
